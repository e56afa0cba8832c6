"""Partition of a table into parts, such as for training and tests, without a leak between them.

Rows that have a puzzle or a solution in common, up to symmetry, are one *group*, and stay together.
Groups of several rows are drawn first, the largest first, each into a part with room for it; single
rows then fill what is left.
"""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Unpack

import numpy as np

from batchsolve.core.arrays import Bools, Floats, Ints
from batchsolve.errors import InputError, OutputError, counted, disk_errors, quoted
from batchsolve.formats.whole_files import only_writer, whole_target_of
from batchsolve.runs.outputs import FORMATS
from batchsolve.runs.progress import Summary, note_columns
from batchsolve.runs.repeats import FORM, KEYS, UNSEEN, Decision, Seen, kept_table, solved_keys
from batchsolve.runs.specs import Spec, outputs_of, refuse_own_output, run_with, table_or_file
from batchsolve.search.rows import Answers
from batchsolve.settings import PARTS, FileSettings, PartSettings
from batchsolve.settings.arguments import FileName, folder_of, table_or_each
from batchsolve.settings.keywords import AuditFields, settings_of
from batchsolve.tables.answers import OutputRows
from batchsolve.tables.corpus import Corpus
from batchsolve.tables.detection import files_and_tables
from batchsolve.tables.frames import with_columns_of
from batchsolve.tables.judged import check_ranges, in_order, ranges, shown_key, strata_of
from batchsolve.tables.places import Facts, exists, facts_of, split_suffixes
from batchsolve.tables.reader import Batch
from batchsolve.tables.sources import Block, changed
from batchsolve.workers import LOG, Pool

FORMS = tuple(name for name in KEYS if name.endswith(FORM))
SUFFIXES = (".csv", ".tsv", ".jsonl", ".parquet")


@dataclass(repr=False)
class PartitionSummary(Summary):
    """The result of `partition`; see `Summary`.

    Attributes
    ----------
    parts : dict of str to int
        The rows of each part.
    groups : int
        Groups of several rows, which have a puzzle or a solution in common and stay together.
    largest : int
        The rows of the largest group.
    undecided : int
        Rows whose canonical form was not found; they are compared as they are written.
    strata : dict of str to dict of str to int
        The rows of each value of the column ``by``, in each part.
    seed : int
        The seed of the random numbers, given or drawn.

    Examples
    --------
    >>> parts = {"train": 8, "test": 2}
    >>> print(PartitionSummary(rows=10, parts=parts, groups=1, largest=3))
    10 rows: 8 train (80.0 %), 2 test (20.0 %), 1 group of up to 3 rows, seed 0; 0.0 s, 0 rows/s
    """

    parts: dict[str, int] = field(default_factory=dict)
    groups: int = 0
    largest: int = 0
    undecided: int = 0
    strata: dict[str, dict[str, int]] = field(default_factory=dict)
    seed: int = 0

    @property
    def complete(self) -> bool:
        """True if every row was compared, and every part has rows."""
        return all(self.parts.values()) and not (self.invalid or self.undecided)

    def __str__(self) -> str:
        parts = [
            f"{n:,} {name} ({100 * n / max(1, self.rows):.1f} %)" for name, n in self.parts.items()
        ]
        if self.groups:
            parts.append(f"{counted(self.groups, 'group')} of up to {self.largest:,} rows")
        if self.invalid:
            parts.append(f"{self.invalid:,} invalid")
        if self.undecided:
            parts.append(f"{self.undecided:,} without a canonical form, compared as written")
        return self.said([*parts, f"seed {self.seed}"])


def partition(
    inputs: Any,
    output: FileName | None = None,
    *,
    parts: str | Mapping[str, float] = PARTS,
    by: str | Sequence[str] | None = None,
    bins: Sequence[float] = (),
    seed: int | None = 0,
    **settings: Unpack[AuditFields],
) -> Any:
    r"""Divide the rows of a table into parts, such as for training and tests, without leaks.

    Rows that have a puzzle or a solution in common, up to symmetry, come into the same part. Every
    puzzle is solved, so no column of solutions is needed.

    Parameters
    ----------
    inputs : table, str or path, or a sequence of them
        A table as of `solve_table`, or files as of `solve_file`.
    output : str or path, optional
        The folder of a file for each part, such as ``train.csv``, in the format of the input, or
        in CSV; that of a table is Parquet. It holds no other tables but the input. By default the
        parts are returned as tables.
    parts : dict of str to float, or str
        The share of each part; they add up to 1.
    by : str or sequence of str, optional
        As in `evaluate`: each stratum has the same shares, as far as groups allow that.
    bins : sequence of float
        As in `evaluate`.
    seed : int or None
        The seed of the random numbers; None draws one, and logs it. The parts depend on it and on
        the rows alone.
    on_progress : callable or True, optional
        See `Progress`.
    **settings
        As in `audit`.

    Returns
    -------
    PartitionSummary, or dict of str to pandas.DataFrame, polars.DataFrame or pyarrow.Table
        Without an output, the rows of each part, in their order, as a table of the library of
        `inputs`, or else of Arrow; the summary is logged.

    Raises
    ------
    InputError
        If the shares do not add up to 1, or a table cannot be read.
    OutputError
        If the folder holds other tables, such as a part of an earlier run.

    Notes
    -----
    The solution of a row is the one that solving finds, if there is one only; otherwise the given
    one, if it is right. Malformed rows are compared with none. A group that is larger than a part
    comes into the part with the most room, and the others get less than their share. Grids with
    other rules have no canonical form, and are compared as they are written.

    Examples
    --------
    >>> import pyarrow as pa
    >>> rows = ["1.....2..3.....4", "4.....3..2.....1", "12....2..3.....4", "12.............."]
    >>> tables = partition(pa.table({"puzzle": rows}), parts={"train": 0.75, "test": 0.25})
    >>> tables["train"].num_rows, tables["test"]["puzzle"].to_pylist()
    (3, ['12..............'])
    """
    start = time.perf_counter()
    pool_settings, files = settings_of(partition, settings, FileSettings)
    keywords: dict[str, Any] = {"parts": parts, "by": by, "bins": bins, "seed": seed}
    wanted, shares = PartSettings(**keywords), shares_of(parts)
    inputs = table_or_each(inputs)
    sources = files_and_tables("the input", inputs)
    if "-" in sources:
        raise InputError("the rows are read twice; write them to a file in place of standard input")
    folder = None if output is None else folder_of("the folder of the parts", output)
    corpus, totals = Corpus(sources, files), PartitionSummary(seed=wanted.seed)
    targets = {} if folder is None else _targets(folder, shares, sources)
    for target in targets.values():
        refuse_own_output(inputs, sources, target)
    note_columns(totals, corpus)
    facts = _facts_of(sources)
    for name in wanted.by:
        corpus.check_column(name)
    pool, told = run_with(**pool_settings)
    with told as tell, pool:
        labels, strata, names = _groups_of(corpus, wanted, totals, pool, (tell, files.chunk))
    sizes = np.bincount(labels, minlength=len(labels))
    totals.groups, totals.largest = int(np.sum(sizes > 1)), int(sizes.max(initial=0))
    part_of = _drawn(labels, strata, shares, wanted.seed)
    for s, name in enumerate(names if wanted.by else []):
        counts = np.bincount(part_of[strata == s], minlength=len(shares))
        totals.strata[name] = dict(zip(shares, counts.tolist(), strict=True))
    tables = {}
    with nullcontext("") if folder is None else _beside(folder) as beside:
        if folder is not None:  # other runs may have left tables, or rows, by now
            for target in _targets(folder, shares, sources).values():
                whole_target_of(target)
        for k, name in enumerate(shares):
            is_in = part_of == k
            totals.parts[name] = int(np.count_nonzero(is_in))
            part = os.path.join(beside, os.path.basename(targets[name])) if targets else None
            arguments = part, files, {**pool_settings, "on_progress": None}
            rows = table_or_file(_part_spec(corpus, is_in), inputs, *arguments)
            if rows is not None:
                tables[name] = with_columns_of(rows, inputs, np.flatnonzero(is_in))
        now = _facts_of(sources)
        for path in facts:
            if now.get(path) != facts[path]:
                raise changed().of(path)
        _put_in_place(beside, targets.values())
    totals.seconds = time.perf_counter() - start
    totals.rows_per_second = totals.rows / totals.seconds
    LOG.info("%s", totals)
    return tables if folder is None else totals


def shares_of(parts: str | Mapping[str, float]) -> dict[str, float]:
    """Return the share of each part.

    Examples
    --------
    >>> shares_of("train=0.8,test=0.2")
    {'train': 0.8, 'test': 0.2}
    >>> shares_of({"train": 0.8, "test": 0.1})
    Traceback (most recent call last):
        ...
    batchsolve.errors.InputError: `parts` are shares that add up to 1, such as ..., not 0.9
    """
    pairs: list[Any] = [part.strip().split("=", 1) for part in str(parts).split(",")]
    if isinstance(parts, Mapping):
        pairs = list(parts.items())
    rule = f"`parts` are shares that add up to 1, such as {PARTS}, not"
    try:
        shares = {str(name): float(share) for name, share in pairs}
    except (TypeError, ValueError):
        raise InputError(f"{rule} {quoted(parts)}") from None
    if len(shares) < len(pairs):
        raise InputError(f"`parts` name a part twice: {quoted(parts)}")
    total = round(sum(shares.values()), 6)  # single precision has 7 digits
    if total != 1 or min(shares.values()) <= 0:
        raise InputError(f"{rule} {total}" if total != 1 else f"{rule} {quoted(parts)}")
    if unusable := [name for name in shares if not re.fullmatch(r"\w[\w.-]*", name)]:
        raise InputError(f"a part is named by a word, such as train, not {quoted(unusable[0])}")
    return shares


def _facts_of(sources: list[Any]) -> dict[str, Facts]:
    """Return the facts about those sources that are files, not tables or the text of a grid."""
    return {path: facts_of(path) for path in sources if isinstance(path, str) and exists(path)}


def _targets(folder: str, shares: dict[str, float], sources: list[Any]) -> dict[str, str]:
    """Return the file of each part in a folder; its format is that of the input.

    Raises
    ------
    InputError
        If it is not a folder of this machine.
    OutputError
        If it holds other tables, such as a part of an earlier run, whose rows could be those of
        the new parts.
    """
    suffix, packed = ".parquet", ""
    if isinstance(sources[0], str):
        suffix, packed = split_suffixes(sources[0])
    ending = suffix + (packed if suffix != ".parquet" else "") if suffix in SUFFIXES else ".csv"
    targets = {name: os.path.join(folder, name + ending) for name in shares}
    ours = {*targets.values(), *(path for path in sources if isinstance(path, str))}
    expected = set(map(os.path.realpath, ours))
    for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
        path = os.path.join(folder, name)
        if split_suffixes(name)[0] in FORMATS and os.path.realpath(path) not in expected:
            raise OutputError(
                f"{path}: is another table in the folder of the parts, and may have rows in common "
                f"with them; move or delete it, or name another folder"
            )
    return targets


@contextmanager
def _beside(folder: str) -> Iterator[str]:
    """Be the only partition into a folder; lend another one for parts until all are written."""
    with disk_errors(folder):
        os.makedirs(folder, exist_ok=True)
    beside = os.path.join(folder, "parts")
    try:
        with only_writer(beside) as beside:
            yield beside
    except OutputError as error:  # users know the folder alone
        raise OutputError(str(error).replace(beside, folder)) from error


def _put_in_place(beside: str, targets: Iterable[str]) -> None:
    """Replace the parts of an earlier run, whose rows could be those of the new parts.

    All of them are removed first, so that parts of both are never there.
    """
    with ExitStack() as held:
        ready = {}
        for target in targets:
            place = whole_target_of(target)
            with disk_errors(target):  # a link may lead to another disk
                near = held.enter_context(only_writer(place))
                path = os.path.join(beside, os.path.basename(target))
                ready[place] = shutil.move(path, near)
        for place in ready:
            with disk_errors(place), suppress(FileNotFoundError):
                os.remove(place)
        for place, path in ready.items():
            with disk_errors(place):
                os.replace(path, place)


def _part_spec(corpus: Corpus, is_in: Bools) -> Spec:
    """Return the specification of the rows of one part."""

    def decide(first: int, block: Block, n_rows: int) -> Decision:
        return np.where(is_in[first : first + n_rows], UNSEEN, 0), None

    return Spec("partition", corpus, corpus.reader, partial(kept_table, False), decide=decide)


def _with_strata(secret: bytes, wanted: PartSettings, batch: Batch, answers: Answers) -> OutputRows:
    """Return the `Keys` of solved rows, and the result of `strata_of`."""
    rows = solved_keys(secret, FORMS, batch, answers)
    return replace(rows, data=(rows.data, strata_of(batch.table, wanted)))


def _groups_of(
    corpus: Corpus, wanted: PartSettings, totals: PartitionSummary, pool: Pool, last: Any
) -> tuple[Ints, Ints, list[str]]:
    """Read the rows of a corpus; `last` are the last arguments of `outputs_of`.

    Returns
    -------
    labels : ndarray of int64
        The first row of the group of each row.
    strata : ndarray of int64
        The number of the stratum of each row.
    names : list of str
        The names of strata.
    """
    seen, edges, blocks = Seen(), [np.zeros((0, 2), np.int64)], []
    spec = Spec("partition", corpus, corpus.reader, totals=totals).searched()
    for _, rows in outputs_of(spec, partial(_with_strata, seen.secret, wanted), pool, *last):
        keys, labelled = rows.data
        every = np.arange(seen.n_rows, seen.n_rows + rows.n_rows)
        for first in seen.first_rows(keys).values():
            is_later = first != UNSEEN
            edges.append(np.column_stack([every[is_later], first[is_later]]))
        blocks.append(labelled)
        totals.add(rows.sums)
    spec.end(pool, start=0)  # the parts are yet to be written, and the time taken then
    known = {label for _, labels in blocks for label in labels}
    check_ranges(wanted, known)
    names = in_order(known, [ranges(wanted.bins) if wanted.bins else ()] * len(wanted.by))
    number_of = {name: k for k, name in enumerate(names)}  # whatever the blocks are
    strata = [np.zeros(0, np.int64)]
    for numbers, labels in blocks:  # one of blank lines has none
        strata.append(np.array([number_of[label] for label in labels], np.int64)[numbers])
    labels_of = _labels(seen.n_rows, np.concatenate(edges))
    return labels_of, np.concatenate(strata), [*map(shown_key, names)]


def _drawn(labels: Ints, strata: Ints, shares: dict[str, float], seed: int) -> Ints:
    """Return the number of the part of each row, given its group and its stratum."""
    rng, sizes = np.random.default_rng(seed), np.bincount(labels, minlength=len(labels))
    groups = np.flatnonzero(sizes > 1)
    quotas = np.outer(list(shares.values()), np.bincount(strata))
    room, part_of = quotas.astype(np.float64), np.full(len(labels), -1)
    order = np.argsort(labels, kind="stable")
    begins = np.searchsorted(labels[order], groups)
    mixed = rng.permutation(len(groups))
    for k in mixed[np.argsort(-sizes[groups[mixed]], kind="stable")].tolist():
        rows = order[begins[k] : begins[k] + sizes[groups[k]]]
        part_of[rows] = _part_for(strata[rows], room, quotas.sum(axis=1), rng)
    _fill(part_of, strata, room, rng)
    return part_of


def _fill(part_of: Ints, strata: Ints, room: Floats, rng: np.random.Generator) -> None:
    """Draw the parts of single rows; what a stratum cannot have right, the next ones make up.

    The largest strata come last, for which that matters least, and others of one size in any order.
    """
    singles = np.flatnonzero(part_of < 0)
    counts = np.bincount(strata[singles], minlength=room.shape[1])
    carried = np.zeros(len(room))
    order = rng.spawn(1)[0].permutation(counts.size)
    for s in order[np.argsort(counts[order], kind="stable")].tolist():
        quotas = room[:, s] + carried
        n_each = _whole(quotas, int(counts[s]))
        rows = rng.permutation(singles[strata[singles] == s])
        part_of[rows] = np.repeat(np.arange(len(room)), n_each)
        carried = quotas - n_each


def _labels(n: int, edges: Ints) -> Ints:
    """Return the least row of the connected component of each row.

    Examples
    --------
    >>> _labels(5, np.array([[2, 0], [3, 1], [3, 2]])).tolist()
    [0, 0, 0, 0, 4]
    """
    labels, before = np.arange(n), np.zeros(0, np.int64)
    later, first = edges.T
    while not np.array_equal(labels, before):
        before = labels.copy()
        least = np.minimum(labels[later], labels[first])
        np.minimum.at(labels, later, least)
        np.minimum.at(labels, first, least)
        labels = labels[labels]
    return labels


def _part_for(strata: Ints, room: Floats, quotas: Floats, rng: np.random.Generator) -> int:
    """Draw the part of a group, and take its room; parts with more room are more likely.

    A group that fits into none comes into that with the most room, of several into the emptiest.
    """
    present, counts = np.unique(strata, return_counts=True)
    free = room[:, present].clip(0).sum(axis=1)
    fits = free * (free >= len(strata))
    if fits.any():
        part = int(rng.choice(len(free), p=fits / fits.sum()))
    else:
        remaining = room[:, present].sum(axis=1).round(6)
        part = max(range(len(remaining)), key=lambda p: (remaining[p], remaining[p] / quotas[p]))
    room[part, present] -= counts
    return part


def _whole(quotas: Floats, n: int) -> Ints:
    """Return whole numbers near some numbers, none of them negative, that add up to n.

    Examples
    --------
    >>> _whole(np.array([2.6, 1.9, -0.5]), 4).tolist()
    [2, 2, 0]
    """
    share = quotas.clip(0)
    share = share * n / share.sum() if share.sum() else np.full(len(share), n / len(share))
    numbers = np.floor(share + 1e-9).astype(np.int64)
    numbers[np.argsort(numbers - share, kind="stable")[: n - numbers.sum()]] += 1
    return numbers
