"""Code that a user may write, for type checkers only: nothing here runs."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

import batchsolve as bs


def solve_some(folder: Path) -> int:
    summary: bs.Summary = bs.solve_file(folder / "in.csv", folder / "out.csv", limit=1, jobs=2)
    answer: bs.Answer = bs.solve("1.....2..3.....4", bs.Sudoku(2, 2))
    text: str | None = answer.solution
    bs.solve_file("in.csv", "out.csv", limt=1)  # type: ignore[call-arg]
    bs.count("queens:6", limit="2")  # type: ignore[call-overload]
    batch: bs.BatchResult = bs.solve_batch(np.zeros((1, 81), np.uint8))
    texts: list[str | None] = batch.text()
    return summary.rows + len(texts) + len(text or "")


def count_some(folder: Path) -> int:
    reading: bs.Reading = bs.read_problem("queens:8")
    result: bs.Count = bs.count("grid.txt", box=(2, 2), rules="x", limit=3)
    result = bs.count(reading, search=bs.SearchSettings(limit=10, split_depth="auto"))
    with bs.Run(folder / "run", "queens:8", resume=True) as run:
        again: bs.Count = run.search()
    guess: bs.Estimate = bs.estimate(bs.Sudoku(3, 3), probes=10)
    parts: bs.Split = bs.split(bs.family("latin:4"), depth=2)
    stacks: bs.Stacks = parts.stacks
    covers: Iterator[npt.NDArray[np.uint32]] = bs.solutions("queens:6", stacks)
    each: list[bs.Count] = bs.count(["queens:4", "langford:3", bs.Sudoku(2, 2)])
    names: list[str] = ["queens:4"]
    each += bs.count(names) + bs.count((bs.family("latin:4"), "queens:4"))
    guess = bs.estimate("queens:4", bs.split("queens:4", stacks).stacks)
    n_nodes: float = guess.nodes
    return result.count + again.count + len(stacks) + len(list(covers)) + int(n_nodes)


def draw_one(path: Path) -> str:
    problem: bs.ExactCover = bs.tiling("2x3", ["I2", {"A": [[True, True]]}], use={"I2": 2})
    picture: bs.Picture = bs.draw(problem, next(bs.solutions(problem)))
    picture.save(path)
    return picture.svg


def make_one() -> bs.ExactCover:
    try:
        return bs.ExactCover.from_options([["a", "b"], ["c"]])
    except bs.ProblemError as error:
        raise SystemExit(str(error)) from error


class Frame:
    """The interface of a data frame, for a type checker."""

    columns: list[str]
    shape: tuple[int, int]


def solve_a_table(frame: Frame) -> Frame:
    bs.solve_table(frame, colum="puzzle")  # type: ignore[call-overload]
    return bs.solve_table(frame, bs.Sudoku(2, 2), column="puzzle", limit=1)


def learn_from_tables(frame: Frame) -> Frame:
    for each in bs.solve_stream(frame):
        frame = each
    for each in bs.solve_stream([frame, frame]):
        frame = each
    kept: Frame = bs.dedupe(bs.rate(frame), against=[frame, "test.csv"])
    summary: bs.DedupeSummary = bs.dedupe("train.csv", "kept.csv", against="test.csv")
    bs.generate_table(summary.kept, clues=25, rating=(4.0, None), box="3x3", unlike=[kept])
    return bs.augment(kept, 8, seed=None, on_progress=True)
