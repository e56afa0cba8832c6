"""Splits: the expansion of a search tree to depth *d*, whose partial covers are stacks.

A job array of any cluster can search them: split a problem into files, count each, merge. Every
file and every result holds the identity of its split and its number in it. So a merge can name the
results that are missing or came twice.
"""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from batchsolve import errors
from batchsolve.engines import Task, engine_for
from batchsolve.errors import InputError, InWords, OutputError, counted
from batchsolve.formats.whole_files import SEAL, is_whole, loads, parse, sealed, text_of
from batchsolve.problems.exact_cover import ExactCover
from batchsolve.problems.stacks import Stacks
from batchsolve.runs.count import Stack
from batchsolve.runs.reading import Puzzle, problem_and_stacks
from batchsolve.settings.arguments import UNLIMITED, folder_of, whole_number

BLOCK = 4096  # stacks expanded by one level at a time, between checks for Ctrl-C
MOST_FILES = 1000  # without --files; clusters commonly allow job arrays of a thousand
MOST_PARTS = 1_000_000  # of any split, because a merge lists missing parts

_PLACE = ("problem", "split", "part", "of")
_SUMS = ("count", "nodes")


@dataclass(frozen=True, eq=False, repr=False)
class Split(InWords):
    """The stacks at the depth of a split, and the sums above them.

    Attributes
    ----------
    stacks : Stacks
        The partial covers at depth d that are neither complete nor dead ends, in tree order.
        Every root is 0.
    count : int
        Covers above or at depth d.
    nodes : int
        Nodes visited: all above depth d, and the covers and dead ends at depth d.

    Examples
    --------
    >>> parts = split("queens:6", depth=1)
    >>> len(parts.stacks), parts.count, parts.nodes
    (6, 0, 1)
    """

    stacks: Stacks
    count: int
    nodes: int

    def __str__(self) -> str:
        above = f"{counted(self.count, 'cover')} and {counted(self.nodes, 'node')}"
        return f"{counted(len(self.stacks), 'stack')}; {above} above"


def split(problem: Puzzle, stack: Stack = (), depth: int = 1, engine: str = "dlx") -> Split:
    """Expand the search tree below a stack to a depth.

    Searching all returned stacks, and adding `count` and `nodes`, gives the same sums as searching
    the stack itself.

    Parameters
    ----------
    problem : ExactCover, Reading or str
        As for `count`.
    stack : sequence of int
        The stack to begin at; by default the clues that were read, or the whole problem.
    depth : int
        Number of options to choose beyond the stack.
    engine : str
        The engine whose tree is expanded.

    Raises
    ------
    ProblemError
        If two options of the stack clash.
    InputError
        If the depth is out of bounds, or the engine does not support the problem.

    Examples
    --------
    >>> from batchsolve.problems.sudoku import Sudoku
    >>> parts = split(Sudoku(2, 2), depth=2)
    >>> len(parts.stacks), parts.count, parts.nodes
    (8, 0, 5)
    """
    task = problem_and_stacks(problem, stack, is_one=True)
    stacks, _, count, nodes = _expanded(*task, depth, engine, keep=0)
    return Split(stacks, count, nodes)


def _expanded(
    problem: ExactCover, begin: Stacks, depth: int, engine: str, keep: int
) -> tuple[Stacks, Stacks, int, int]:
    """Return the parts of a split, the covers above or at its depth to be kept, and the sums."""
    depth = whole_number("a split depth", depth)
    kernel = engine_for(engine, problem)
    count, nodes, covers = 0, 0, [Stacks.empty()]
    for _ in range(max(depth, 1)):
        parts = []
        for k in range(0, len(begin), BLOCK):
            block = begin.between(k, min(k + BLOCK, len(begin)))
            outcome = kernel.search(problem, Task.of(block, depth=min(depth, 1), keep=keep))
            covers.append(outcome.solutions)
            count += int(outcome.counts.sum())
            nodes += int(outcome.nodes.sum())
            parts.append(outcome.frontier)
        begin = Stacks.concatenate(parts)
        if not len(begin):
            break
    return begin, Stacks.concatenate(covers), count, nodes


# ---- job arrays -----------------------------------------------------------------------------


def write_parts(
    problem: Puzzle,
    directory: str,
    stack: Stack = (),
    *,
    depth: int,
    files: int | None = None,
    engine: str = "dlx",
) -> dict[str, Any]:
    """Split a problem into files of stacks.

    Parameters
    ----------
    problem : ExactCover, Reading or str
        As for `count`.
    directory : str
        The directory of ``0000.jsonl``, ``0001.jsonl``, …; created if it does not exist.
    stack : sequence of int
        The stack to begin at; by default the clues that were read, or the whole problem.
    depth : int
        The depth to which the tree is expanded.
    files : int, optional
        The largest number of files; by default one per stack, but no more than 1,000.
    engine : str
        The engine whose tree is expanded.

    Returns
    -------
    dict
        ``split`` (its identity), ``files``, ``stacks``, and ``count`` and ``nodes`` above the
        depth; covers above it are stacks, too, and not in ``count``, if no item has bounds.

    Raises
    ------
    InputError
        If the number of files exceeds `MOST_PARTS`, which a merge can take.
    OutputError
        If the directory is not empty or cannot be written.
    """
    directory = folder_of("the folder of the parts", directory)
    if files is not None:
        files = whole_number("the number of files", files, 1, MOST_PARTS)
    problem, begin = problem_and_stacks(problem, stack, is_one=True)
    # a search of a cover finds it, unless an item with bounds may be in further options; it is one
    # node, so the sums of the split stay the same, and each solution is in the list of some part
    is_kept = problem.bounds is None and not engine_for(engine, problem).counts_only
    keep = UNLIMITED if is_kept else 0
    stacks, covers, count, nodes = _expanded(problem, begin, depth, engine, keep)
    stacks = Stacks.concatenate([stacks, covers])
    sums = {"count": count - len(covers), "nodes": nodes - len(covers)}
    n_files = max(1, min(len(stacks), files or MOST_FILES))
    clues = begin[0].tolist()
    about = f"{problem.fingerprint} {clues} {depth} {n_files} {engine}"
    identity = hashlib.sha256(about.encode()).hexdigest()[:16]
    header = {"split": identity, "of": n_files, "begin": clues, **sums}
    with errors.disk_errors(directory):
        os.makedirs(directory, exist_ok=True)
        if os.listdir(directory):
            raise OutputError(f"{directory}: is not empty; name another directory")
        paths = [os.path.join(directory, f"{k:04d}.jsonl") for k in range(n_files)]
        try:
            for k, path in enumerate(paths):
                # dealt in turn, because subtrees of neighbours tend to be similar in size
                share = stacks.take(np.arange(k, len(stacks), n_files))
                with open(path, "w") as file:
                    file.write(share.to_jsonl(problem, part=k, **header))
        except BaseException:
            for path in filter(os.path.exists, paths):
                os.remove(path)
            raise
    return {"split": identity, "files": n_files, "stacks": len(stacks), **sums}


def read_part(path: str, problem: ExactCover, stack: Stack = ()) -> tuple[Stacks, dict[str, Any]]:
    """Read a file of stacks of the split of a problem that began at a stack.

    Returns
    -------
    stacks : Stacks
    header : dict
        Its header: ``problem``, ``split``, ``part``, ``of``, and ``count`` and ``nodes`` above the
        depth.

    Raises
    ------
    InputError
        If the file cannot be read, is damaged, or belongs to another problem or stack.
    """
    with errors.named_errors(path):
        text = text_of(path)
        stacks = Stacks.from_jsonl(text, problem)
        header = parse(text.partition("\n")[0])
        if "split" not in header:
            raise InputError("these stacks are not of a split; name a file that split has written")
        if header.get("begin") != np.asarray(stack, np.int64).tolist():
            raise InputError("these stacks are of other clues; name the problem that was split")
    return stacks, {key: header[key] for key in (*_PLACE, *_SUMS)}


def check_list(path: str, header: Mapping[str, Any]) -> None:
    """Raise `InputError` if parts of a split do not list all solutions."""
    if above := header["count"]:
        raise InputError(
            f"{path}: {counted(above, 'solution')} above the depth of the split would be in no "
            f"list, because items have bounds (or an engine split that only counts); split with a "
            f"smaller --depth"
        )


def result_of_part(header: Mapping[str, Any], result: Mapping[str, Any]) -> dict[str, Any]:
    """Return the sealed result of a part for `merge_results`.

    Parameters
    ----------
    header : mapping
        The header from `read_part`.
    result : mapping
        ``count``, ``nodes`` and ``complete`` of its search.
    """
    above = {key: header[key] for key in _SUMS}
    place = {key: header[key] for key in _PLACE}
    return sealed({**{key: result[key] for key in (*_SUMS, "complete")}, **place, "above": above})


def merge_results(paths: Sequence[str]) -> dict[str, Any]:
    """Add up the results of the parts of one split.

    Parameters
    ----------
    paths : sequence of str
        Files that ``batchsolve count --stacks PART --json`` printed, or ``enumerate``, perhaps with
        warnings.

    Returns
    -------
    dict
        ``count``, ``nodes``, ``complete``, ``of``, and the part numbers that are ``missing``,
        ``doubled`` (but counted once) or ``unfinished``. A part is missing, too, if its time was up
        before it was read, because its result does not have its number.

    Raises
    ------
    InputError
        If a file is not such a result or is damaged, the files belong to different splits, or
        doubled results differ.
    """
    results = [(path, result) for path in paths if (result := _read_result(path))]
    if not results:
        reason = "the time was up before a part was read" if paths else "no file is named"
        raise InputError(f"no results to merge: {reason}; name what count --stacks --json printed")
    begin, first = results[0]
    by_part: dict[int, dict[str, Any]] = {}
    for path, result in results:
        if any(result[key] != first[key] for key in ("split", "problem", "of", "above")):
            raise InputError(
                f"{path}: belongs to split {result['split'][:60]}, {begin} to {first['split'][:60]}"
            )
        known = by_part.setdefault(result["part"], result)
        if known["count"] != result["count"] and known["complete"] and result["complete"]:
            raise InputError(
                f"{path}: part {result['part']} has {result['count']} covers here and "
                f"{known['count']} elsewhere; one of the two is wrong"
            )
        if result["complete"]:
            by_part[result["part"]] = result
    times = Counter(result["part"] for _, result in results)
    missing = [part for part in range(first["of"]) if part not in by_part]
    unfinished = sorted(part for part, result in by_part.items() if not result["complete"])
    return {
        "count": first["above"]["count"] + sum(result["count"] for result in by_part.values()),
        "nodes": first["above"]["nodes"] + sum(result["nodes"] for result in by_part.values()),
        "complete": not missing and not unfinished,
        "of": first["of"],
        "missing": missing,
        "doubled": sorted(part for part, n in times.items() if n > 1),
        "unfinished": unfinished,
    }


def _read_result(path: str) -> dict[str, Any]:
    """Return the result in a file; an empty one if the time was up before the part was read."""
    with errors.named_errors(path):
        text = text_of(path)
        with errors.prefixed(
            "not a result of batchsolve count --stacks PART --json", InputError, ValueError
        ):
            whole = loads(text := _json_of(text))
            if isinstance(whole, dict) and whole.get("engine") == "" and SEAL not in whole:
                return {}
            whole = parse(text)
        result = {key: whole.get(key) for key in (*_PLACE, *_SUMS, "complete", "above", SEAL)}
        if not is_whole(result):
            raise InputError(
                "is damaged: its seal is not that of its numbers; count that part again"
            )
    return result


def _json_of(text: str) -> str:
    """Return the one line of a text that is a JSON object; other lines are warnings.

    Without such a line, or with several, the text as it is.
    """
    lines = [line for line in text.splitlines() if line[:1] == "{" and line[-1:] == "}"]
    return lines[0] if len(lines) == 1 else text
