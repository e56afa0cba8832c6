"""The table of recorded answers: a line for each engine and case."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from pathlib import Path

from answers.cases import COLUMNS, Answer, Case

PATH = Path(__file__).resolve().parents[2] / "tests" / "answers.csv"

Key = tuple[str, str]
"""An engine and the name of a case."""


def answer_of(case: Case) -> Answer:
    """Return the answer of a case; of a call that fails, the error."""
    try:
        return case.answer()
    except Exception as error:  # the others are to be compared all the same
        return {"error": f"{type(error).__name__}: {error}"}


def key_of(case: Case) -> Key:
    """Return the place of a case in the table."""
    return case.engine, case.name


def read() -> dict[Key, Answer]:
    """Return the recorded answers."""
    with PATH.open(newline="", encoding="utf-8") as file:
        return {
            (row.pop("engine"), row.pop("case")): {part: text for part, text in row.items() if text}
            for row in csv.DictReader(file)
        }


def text_of(answers: dict[Key, Answer]) -> str:
    """Return the table as text."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["engine", "case", *COLUMNS])
    for key in sorted(answers):
        parts = [answers[key].get(part, "") for part in COLUMNS]
        while not parts[-1]:
            parts.pop()
        writer.writerow([*key, *parts])
    return file.getvalue()


def differences(cases: Iterable[Case], recorded: dict[Key, Answer]) -> Iterator[str]:
    """Yield a line for each part of a case that differs from its record."""
    for case in cases:
        before, now = recorded.get(key_of(case)), answer_of(case)
        if before is None:
            yield f"{case.engine}, {case.name}: is not recorded"
            continue
        for part in [*COLUMNS, "error"]:
            was, is_ = before.get(part, "nothing"), now.get(part, "nothing")
            if was != is_:
                yield f"{case.engine}, {case.name}: {part} was {was}, is {is_}"
