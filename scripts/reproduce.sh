#!/usr/bin/env bash
# Make the figures of docs/performance.md: environment, measurements, scaling reports.
set -euo pipefail
caller=$PWD
cd "$(dirname "$0")/.."

usage() {
    cat <<'EOF'
usage: scripts/reproduce.sh [--estimate] [--inputs DIR] [--yardstick PROGRAM] [--venv DIR]
                            [--out DIR]

Makes the figures of docs/performance.md: sets up a virtual environment, runs scripts/bench_engines.py,
bench_counters.py, bench_search.py, bench_corpus.py, bench_canonical.py, bench_augment.py, bench_rate.py,
bench_variants.py, bench_instances.py, bench_tasks.py, bench_forecast.py and "batchsolve scale", and leaves the results in --out.

  --inputs DIR         where sudoku9_17clue.txt, sudoku9_top1465.txt, bell12.ec, matching8.ec and
                       pentomino_6_10.ec are; none of them is shipped. Without it, shipped problems
                       stand in for them.
  --yardstick PROGRAM  plain dancing links in C, which prints "covers nodes seconds" for an .ec file;
                       without it nothing is compared with C
  --venv DIR           the virtual environment; .venv by default, made if it is not there
  --out DIR            a new directory for the results; reproduced by default
  --estimate           print what would be done and how long it takes, and stop

An otherwise idle machine gives the best figures.
EOF
}

absolute() { case $1 in /*) echo "$1" ;; *) echo "$caller/$1" ;; esac; }

inputs="" yardstick="" venv=.venv out=reproduced estimate=no
while [ $# -gt 0 ]; do
    case $1 in
        -h | --help) usage; exit 0 ;;
        --estimate) estimate=yes; shift; continue ;;
        --inputs | --yardstick | --venv | --out) [ $# -ge 2 ] || { usage >&2; exit 2; } ;;
        *) usage >&2; exit 2 ;;
    esac
    case $1 in
        --inputs) inputs=$(absolute "$2") ;;
        --yardstick) yardstick=$(absolute "$2") ;;
        --venv) venv=$(absolute "$2") ;;
        --out) out=$(absolute "$2") ;;
    esac
    shift 2
done

many=datasets/many16.csv#3
if [ -n "$inputs" ]; then
    puzzles=("$inputs"/{sudoku9_17clue,sudoku9_top1465}.txt)
    corpora=("$inputs/sudoku9_17clue.txt" datasets/sudoku9.csv)
    problems=("$inputs"/{bell12,matching8,pentomino_6_10}.ec queens:12 "$many")
    listed=("$many" "$inputs/matching8.ec" langford:12)
    rows=(10000000)
else
    puzzles=()
    corpora=(datasets/sudoku9.csv)
    problems=(pentominoes:6x10 queens:12 "$many")
    listed=("$many" langford:12)
    rows=(1000000)
fi
puzzles+=(datasets/{hard9,sudoku9,sudoku4,sudoku6,sudoku16,sudoku25}.csv)
in_memory=()  # keeps the disk out of the figures
[ ! -w /dev/shm ] || in_memory=(--folder /dev/shm)
against_c=()
corpus_yardstick=()
if [ -n "$yardstick" ]; then
    against_c=(--yardstick "$yardstick")
    [ -z "$inputs" ] || corpus_yardstick=(--yardstick "$yardstick" "$inputs/bell12.ec")
fi

cat <<EOF
Results go to $out. On two cores this takes about
   2 min  a virtual environment in $venv with the package, unless it is there
   3 min  scaling of $many and pentominoes:6x10 on one and two workers
   1 min  time against split depth
   1 min  weak scaling over datasets/sudoku9.csv
   5 min  forecasts for queens:20 on 1,024 workers and for queens:22 on 100,000
   6 min  engines and other programs on langford:12, pentominoes:6x10 and $many, and on puzzles
   8 min  the same, and graphillion, on tilings, graphs, and problems with bounds and costs
   1 min  programs that count with diagrams
   $([ -n "$inputs" ] && echo 6 || echo 3) min  single problems: ${problems[*]}
   2 min  solutions written down: ${listed[*]}
   $([ -n "$inputs" ] && echo 5 || echo 2) min  corpora: ${corpora[*]}
   1 min  canonical forms: ${corpora[*]}
   4 min  grids with other rules
EOF
[ "$estimate" = no ] || exit 0
mkdir "$out"

[ -x "$venv/bin/python" ] || python3 -m venv "$venv"
"$venv/bin/pip" install --quiet -e '.[bench,dask,plot,ray,sat]'
export ARROW_DEFAULT_MEMORY_POOL=system  # as commands have it, for what is measured in a script
run() {
    echo "+ $*"
    "$venv/bin/$@"
}

run batchsolve scale "$many" pentominoes:6x10 --jobs 1,2 --engine dlx,auto --repeat 5 -o "$out/strong"
run batchsolve scale "$many" --jobs 2 --split-depth 0..4,auto --repeat 3 -o "$out/depth"
run batchsolve scale datasets/sudoku9.csv --weak 50000 --engine dlx --jobs 1,2 --repeat 5 -o "$out/weak"
run batchsolve scale queens:20 --jobs 1,2 --repeat 3 --time-limit 20 \
    --forecast-workers 1024 -o "$out/forecast"
run batchsolve scale queens:22 --jobs 1,2 --repeat 2 --time-limit 20 \
    --forecast-workers 1024,100000 -o "$out/forecast-22"
run python scripts/bench_engines.py langford:12 pentominoes:6x10 "$many" "${against_c[@]}" \
    --repeat 5 --patience 4 --most 12 --out "$out/engines.json"
run python scripts/bench_engines.py dominoes:12x12 matchings:7 edgecovers:7 --kinds \
    "${against_c[@]}" --repeat 5 --patience 4 --most 15 --out "$out/kinds.json"
run python scripts/bench_counters.py --most 20 -o "$out/counters.json"
run python scripts/bench_engines.py --puzzles "${puzzles[@]}" --grids datasets/deep16.csv#{1,2,3} \
    --out "$out/puzzles.json"
run python scripts/bench_search.py "${problems[@]}" "${against_c[@]}" \
    --workers "$many" pentominoes:6x10 --out "$out/search.json"
run python scripts/bench_search.py "${against_c[@]}" --enumerate "${listed[@]}" "${in_memory[@]}" \
    --out "$out/listing.json"
run python scripts/bench_corpus.py "${corpora[@]}" "${corpus_yardstick[@]}" \
    --rows 1000000 --memory-rows "${rows[@]}" "${in_memory[@]}" --out "$out/corpus.json"
run python scripts/bench_canonical.py "${corpora[@]}" datasets/sudoku{6,16}.csv \
    --memory-rows "${rows[@]}" "${in_memory[@]}" --out "$out/canonical.json"
run python scripts/bench_augment.py "${corpora[@]}" datasets/sudoku16.csv "${in_memory[@]}" \
    --out "$out/augment.json"
run python scripts/bench_rate.py datasets/{sudoku,hard}9.csv --out "$out/rate.json"
run python scripts/bench_variants.py -o "$out/variants.json"
run python scripts/bench_instances.py --puzzles 10 --copies 100 -o "$out/instances.json"
run python scripts/bench_wide.py -o "$out/wide.json"
run python scripts/bench_tasks.py -o "$out/tasks.json"
run python scripts/bench_forecast.py -o "$out/forecast.json"
echo "done: $out/*.json and $out/*/report.html"
