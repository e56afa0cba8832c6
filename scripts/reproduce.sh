#!/usr/bin/env bash
# Make every figure of the README from nothing: environment, measurements, scaling reports.
set -euo pipefail
cd "$(dirname "$0")/.."

usage() {
    cat <<'EOF'
usage: scripts/reproduce.sh [--inputs DIR] [--yardstick PROGRAM] [--venv DIR] [--out DIR]

Makes the figures of the README: sets up a virtual environment, runs scripts/bench_corpus.py,
scripts/bench_search.py and "batchsolve scale", and leaves the results in --out.

  --inputs DIR         where sudoku9_17clue.txt, sudoku9_top1465.txt, kaggle_rated_7034.csv,
                       bell12.ec, matching8.ec and pentomino_6_10.ec are; none of them is shipped.
                       Without it, shipped problems stand in for them.
  --yardstick PROGRAM  plain dancing links in C, which prints "covers nodes seconds" for an .ec file;
                       without it nothing is compared with C
  --venv DIR           the virtual environment; .venv by default, made if it is not there
  --out DIR            a new directory for the results; reproduced by default
  --estimate           print what would be done and how long it takes, and stop

An otherwise idle machine gives the best figures.
EOF
}

inputs="" yardstick="" venv=.venv out=reproduced estimate=no
while [ $# -gt 0 ]; do
    case $1 in
        -h | --help) usage; exit 0 ;;
        --estimate) estimate=yes; shift; continue ;;
        --inputs | --yardstick | --venv | --out) [ $# -ge 2 ] || { usage >&2; exit 2; } ;;
        *) usage >&2; exit 2 ;;
    esac
    case $1 in
        --inputs) inputs=$2 ;;
        --yardstick) yardstick=$2 ;;
        --venv) venv=$2 ;;
        --out) out=$2 ;;
    esac
    shift 2
done

many=datasets/many16.csv#3
if [ -n "$inputs" ]; then
    corpora=("$inputs"/{sudoku9_17clue.txt,sudoku9_top1465.txt,kaggle_rated_7034.csv})
    problems=("$inputs"/{bell12,matching8,pentomino_6_10}.ec queens:12 "$many")
    rows=(1000000 10000000)
else
    corpora=(datasets/sudoku9.csv)
    problems=(pentominoes:6x10 queens:12 "$many")
    rows=(1000000)
fi
against_c=()
corpus_yardstick=()
if [ -n "$yardstick" ]; then
    against_c=(--yardstick "$yardstick")
    [ -z "$inputs" ] || corpus_yardstick=(--yardstick "$yardstick" "$inputs/bell12.ec")
fi

cat <<EOF
Results go to $out. On two cores this takes about
   2 min  a virtual environment in $venv, unless it is there, and compiled kernels
   $([ -n "$inputs" ] && echo 5 || echo 2) min  corpora: ${corpora[*]}
   2 min  single problems: ${problems[*]}
   1 min  scaling of $many and pentominoes:6x10 on one and two workers
   1 min  time against split depth
   1 min  weak scaling over datasets/sudoku9.csv
   4 min  the forecast for 1,024 workers, of queens:22
EOF
[ "$estimate" = no ] || exit 0
mkdir "$out"

[ -x "$venv/bin/python" ] || python3 -m venv "$venv"
"$venv/bin/pip" install --quiet -e '.[plot]'
run() {
    echo "+ $*"
    "$venv/bin/$@"
}

run python scripts/bench_corpus.py "${corpora[@]}" "${corpus_yardstick[@]}" --repeat 7 \
    --memory-rows "${rows[@]}" --out "$out/corpus.json"
run python scripts/bench_search.py "${problems[@]}" "${against_c[@]}" \
    --workers "$many" pentominoes:6x10 --enumerate "$many" --out "$out/search.json"
run batchsolve scale "$many" pentominoes:6x10 --jobs 1,2 --repeat 5 -o "$out/strong"
run batchsolve scale "$many" --jobs 2 --split-depth 0..4,auto --repeat 3 -o "$out/depth"
run batchsolve scale datasets/sudoku9.csv --weak 5000 --jobs 1,2 --repeat 5 -o "$out/weak"
run batchsolve scale queens:22 --jobs 1,2 --repeat 2 --time-limit 20 \
    --forecast-workers 1024 -o "$out/forecast"
echo "done: $out/*.json and $out/*/report.html"
