"""Record the answers of engines and commands, or compare with the record.

::

    python scripts/record_answers.py                        # writes tests/answers.csv
    python scripts/record_answers.py --check                # compares; exit code 1 if any differs
    python scripts/record_answers.py --check --engine dlx   # only of this engine, or of generate …
    python scripts/record_answers.py --check --case queens  # only those with this in their name
    python scripts/record_answers.py --check --slowest 20   # and says which take longest
    python scripts/record_answers.py --check --aloud        # names each case before it is answered

An answer is recorded as numbers and digests of arrays; a difference names the case and the part. A
search stops being the same when its counts, nodes, first covers or frontier change, so a table that
has not changed shows that a rewritten engine walks the same tree.
"""

from __future__ import annotations

import argparse
import sys
import time

from answers import all_cases, table
from answers.cases import Case


def main() -> int:
    """Record, or compare."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="Compare instead of writing.")
    parser.add_argument("--engine", help="Only this engine, command or part of the library.")
    parser.add_argument("--case", default="", help="Only cases with this text in their name.")
    parser.add_argument("--slowest", type=int, default=0, help="Name the N that take longest.")
    parser.add_argument("--aloud", action="store_true", help="Name each case before its answer.")
    how = parser.parse_args()
    if (how.engine or how.case) and not how.check:
        parser.error("the table is written whole; --engine and --case go with --check")
    cases = [
        case
        for case in all_cases.cases()
        if how.engine in (None, case.engine) and how.case in case.name
    ]
    if not cases:
        parser.error("there is no such case")
    return _check(cases, how.slowest, how.aloud) if how.check else _record(cases)


def _record(cases: list[Case]) -> int:
    answers = {table.key_of(case): table.answer_of(case) for case in cases}
    failed = {key: answer["error"] for key, answer in answers.items() if "error" in answer}
    for (engine, name), error in failed.items():
        print(f"{engine}, {name}: {error}", file=sys.stderr)
    if failed:
        return 1
    table.PATH.write_text(table.text_of(answers), encoding="utf-8")
    print(f"{len(answers):,} answers in {table.PATH.name}")
    return 0


def _check(cases: list[Case], n_slowest: int, aloud: bool) -> int:
    recorded, n_different, seconds = table.read(), 0, list[tuple[float, str]]()
    for case in cases:
        if aloud:
            print(f"{case.engine}, {case.name}", flush=True)
        begin = time.perf_counter()
        found = list(table.differences([case], recorded))
        seconds.append((time.perf_counter() - begin, f"{case.engine}, {case.name}"))
        n_different += bool(found)
        for line in found:
            print(line, flush=True)
    for each, name in sorted(seconds, reverse=True)[:n_slowest]:
        print(f"{each:7.3f} s  {name}")
    total = sum(each for each, _ in seconds)
    print(f"{len(cases):,} cases in {total:.1f} s, {n_different:,} differ")
    return 1 if n_different else 0


if __name__ == "__main__":
    sys.exit(main())
