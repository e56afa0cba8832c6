"""`SolutionGraph`: all covers of a problem as one diagram that is queried without a search.

The number of covers below a node is the sum of those below its two children. With these counts
every cover has a number, in the order in which paths come when *high* goes before *low*; the k-th
is found by going down once. So sampling means drawing numbers, and listing means counting up.

Counts have as many words of 64 bits as the largest needs.

Files have the text format of SAPPORO and graphillion for decision diagrams. A line is a node: its
number, its element counted from 1, its low child and its high child, where ``B`` and ``T`` are the
terminals no set and the empty set. Children come before their parents, the last node is the root,
elements ascend on every path, and a line with a full stop ends the diagram. graphillion reads no
further (``GraphSet.load``, ``setset.load``). One line of JSON follows: the fingerprint of the
problem; ``options``, the number of the option that each element stands for; the count; and a seal
over all of the file.

Arrow is imported where it is used: that is half of the time of a short command.
"""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

import numpy as np

from batchsolve.core import native
from batchsolve.core.arrays import UInts, Words
from batchsolve.core.interrupts import check_interrupt
from batchsolve.errors import InputError, ProblemError, counted, named_errors, prefixed, quoted
from batchsolve.formats.whole_files import is_whole, opened, parse, sealed, whole_file
from batchsolve.problems.exact_cover import ExactCover, check_belongs, check_kind, option_numbers
from batchsolve.problems.stacks import Stacks
from batchsolve.settings import GRAPH_MEGABYTES
from batchsolve.settings.arguments import MOST_SEED, flag_of, path_of, whole_number

BLOCK = 4096  # covers that are found at a time
MOST_SAMPLES = 100_000_000  # whose options are in memory
LEAST_DRAWN = 64
BYTES_OF_A_TERM = 160  # two integers in a dictionary
STEP = 1 << 14  # nodes between two looks at Ctrl-C

_VERSION = 1  # of files
_EMPTY, _UNIT = "B", "T"
_END = "\n.\n"
_COLUMNS = ("node", "element", "low", "high")

Nodes = tuple[UInts, UInts, UInts, int]
"""Option, low and high of all nodes, and the root."""


class SolutionGraph:
    """All covers of a problem, drawn as a decision diagram.

    It answers without a search: the number of covers, the k-th of them, all in order, those with an
    option and those without. `solution_graph` draws one, `save` keeps it in a file.

    Parameters
    ----------
    problem : ExactCover
    option, low, high : ndarray of uint32, shape (n + 2,)
        The diagram: node ``x`` stands for the covers of node ``low[x]``, and those of ``high[x]``
        with ``option[x]`` added. Children have smaller numbers than their parents. Nodes 0 and 1
        are the terminals, no cover and the empty one.
    root : int
        The node that stands for all covers.
    order : ndarray of uint32, shape (n_options,), optional
        The options in the order in which they come on every path: then it is a zero-suppressed
        decision diagram. By default other paths may have other orders.
    stack : sequence of int
        The options that were chosen before it was drawn, such as clues.

    Examples
    --------
    >>> import batchsolve as bs
    >>> graph = bs.solution_graph("dominoes:8x8")
    >>> graph.count
    12988816
    >>> graph.covers([0, 12_988_815])
    Stacks(2 stacks of 32 options)
    >>> [graph.with_option(0).count, graph.without_option(0).count]
    [6494408, 6494408]
    >>> len(next(iter(graph)))
    32
    """

    def __init__(
        self,
        problem: ExactCover,
        option: UInts,
        low: UInts,
        high: UInts,
        root: int,
        order: UInts | None = None,
        stack: Sequence[int] = (),
    ) -> None:
        if not (
            option.size >= 2
            and option.shape == low.shape == high.shape == (option.size,)
            and 0 <= root < option.size
            and np.all(np.maximum(low, high)[2:] < np.arange(2, option.size))
            and option.max() < max(1, problem.n_options)
        ):
            raise ProblemError(
                "nodes have an option of the problem, and two children among them that come before"
            )
        self.problem = problem
        self.option, self.low, self.high, self.root = native.pruned((option, low, high, root))
        self.order, self.stack = order, tuple(stack)

    def __repr__(self) -> str:
        kind = "ordered" if self.is_ordered else "not ordered"
        return f"SolutionGraph({self.problem!r}, {counted(self.n_nodes, 'node')}, {kind})"

    @property
    def n_nodes(self) -> int:
        """Number of nodes, the terminals left out."""
        return self.option.size - 2

    @property
    def n_used_options(self) -> int:
        """Number of options that are in some cover."""
        return int(np.unique(self.option[2:]).size)

    @property
    def is_ordered(self) -> bool:
        """True if options come in the same order on all paths."""
        return self.order is not None

    @property
    def count(self) -> int:
        """The exact number of covers."""
        return int.from_bytes(self._counts[self.root].astype("<u8").tobytes(), "little")

    def __contains__(self, cover: Iterable[int]) -> bool:
        """Return True if options, each named once, are one of the covers."""
        wanted = set(options := option_numbers(cover))
        x, n_met = self.root, 0
        while x > 1:
            is_in = int(self.option[x]) in wanted
            n_met += is_in
            x = int(self.high[x] if is_in else self.low[x])
        return x == 1 and n_met == len(options)

    def __iter__(self) -> Iterator[UInts]:
        """Yield the covers in the order of their numbers."""
        return (cover for block in self.blocks() for cover in block)

    def blocks(self, size: int = BLOCK) -> Iterator[Stacks]:
        """Return an iterator of the covers in the order of their numbers, `size` at a time."""
        numbers, size = range(self.count), whole_number("size", size, 1)
        return (self.covers(numbers[begin : begin + size]) for begin in numbers[::size])

    def covers(self, numbers: Iterable[int]) -> Stacks:
        """Return covers by their numbers.

        Parameters
        ----------
        numbers : iterable of int
            Each from 0 to ``count - 1``, in any order.

        Returns
        -------
        Stacks
            One stack a number: the options of a cover.

        Raises
        ------
        InputError
            If a number is out of range, or not a whole number.

        Examples
        --------
        >>> import batchsolve as bs
        >>> graph = bs.solution_graph("queens:6")
        >>> [sorted(cover.tolist()) for cover in graph.covers(range(graph.count))][0]
        [1, 9, 17, 18, 26, 34]
        """
        wanted = option_numbers(numbers, "numbers of covers")
        count = self.count
        if wanted and not 0 <= min(wanted) <= max(wanted) < count:
            wrong = min(wanted) if min(wanted) < 0 else max(wanted)
            raise InputError(f"{counted(count, 'cover')} in all, numbered from 0; not {wrong}")
        return self.covers_at(as_words(wanted, self._counts.shape[1]))

    def covers_at(self, numbers: Words) -> Stacks:
        """Return covers by numbers that are known to be less than the count.

        Parameters
        ----------
        numbers : ndarray of uint64, shape (n, `n_words`)
            The words of each number, lowest first.

        Returns
        -------
        Stacks
        """
        parts = []
        for begin in range(0, len(numbers), BLOCK):
            if begin:
                check_interrupt()
            block = numbers[begin : begin + BLOCK]
            offsets, options = native.covers_at(self._core, self._counts, block)
            parts.append(Stacks(offsets, options, np.arange(begin, begin + len(block))))
        return Stacks.concatenate(parts)

    def sample(self, n: int, seed: int = 0, *, distinct: bool = False) -> Stacks:
        """Draw covers at random, each with the same chance.

        Parameters
        ----------
        n : int
            The number of covers.
        seed : int
            Seed of the random numbers, 0 or more.
        distinct : bool
            True to draw no cover twice.

        Returns
        -------
        Stacks
            One stack a cover, in the order in which they were drawn.

        Raises
        ------
        InputError
            If the graph has no covers, or fewer than n where they must differ.

        Examples
        --------
        >>> import batchsolve as bs
        >>> graph = bs.solution_graph("queens:6")
        >>> drawn = graph.sample(4, seed=1, distinct=True)
        >>> sorted(sorted(cover.tolist())[0] for cover in drawn)
        [1, 2, 3, 4]
        """
        n, seed, distinct = checked_draws(n, seed, distinct)
        count = self.count
        if n and not count:
            raise InputError("the graph has no covers to draw")
        if distinct and n > count:
            raise InputError(f"{counted(count, 'cover')} in all, not {n:,} different ones")
        return self.covers_at(random_numbers(count, n, seed, distinct, self.n_words))

    @property
    def n_words(self) -> int:
        """Words of 64 bits that a count takes here."""
        return int(self._counts.shape[1])

    def with_option(self, option: int) -> SolutionGraph:
        """Return the graph of the covers that contain an option.

        Raises
        ------
        ProblemError
            If the problem has no such option.
        """
        return self._restricted(option, True)

    def without_option(self, option: int) -> SolutionGraph:
        """Return the graph of the covers that do not contain an option; raises as `with_option`."""
        return self._restricted(option, False)

    def below(self, stack: Iterable[int]) -> SolutionGraph:
        """Return the graph of the covers below a stack, whose options join those of this graph.

        Raises
        ------
        ProblemError
            If the problem has no such option.
        """
        kept, options = self, set(option_numbers(stack))
        for option in sorted(options.difference(self._on_top())):
            kept = kept.with_option(option)
        stack = (*self.stack, *sorted(options.difference(self.stack)))
        nodes = kept.option, kept.low, kept.high, kept.root
        return SolutionGraph(kept.problem, *nodes, kept.order, stack)

    def _on_top(self) -> Iterator[int]:
        """Yield the options of the first nodes that all covers have."""
        node = self.root
        while node > 1 and self.low[node] == 0:
            yield int(self.option[node])
            node = int(self.high[node])

    def distribution(
        self, weights: Iterable[int] | None = None, *, memory: int = GRAPH_MEGABYTES
    ) -> dict[int, int]:
        """Return the number of covers of each size, or of each sum of weights of their options.

        Parameters
        ----------
        weights : iterable of int, optional
            One for each option, such as the costs of the problem; by default 1 each.
        memory : int
            Upper bound of the megabytes that the sums may take.

        Returns
        -------
        dict of int to int
            For each sum that occurs, ascending, the exact number of covers.

        Raises
        ------
        InputError
            If there are too few or too many weights, or the sums take more memory.

        Examples
        --------
        >>> import batchsolve as bs
        >>> graph = bs.solution_graph("partitions:4")
        >>> graph.distribution()
        {1: 1, 2: 7, 3: 6, 4: 1}
        """
        n_options = self.problem.n_options
        weight_of = [1] * n_options if weights is None else option_numbers(weights, "weights")
        if len(weight_of) != n_options:
            raise InputError(f"{len(weight_of):,} weights for {counted(n_options, 'option')}")
        memory = whole_number("memory", memory, 1)
        n_terms, most = 0, memory * (1 << 20) // BYTES_OF_A_TERM
        lasts = self._last_parents()
        # A node has a polynomial: that of its low child, and that of its high child times x to the
        # weight of its option. It is dropped after its last use.
        polynomials: dict[int, dict[int, int]] = {0: {}, 1: {0: 1}}
        for x, option, low, high in self._nodes():
            weight, terms = weight_of[option], dict(polynomials[low])
            for total, n in polynomials[high].items():
                terms[total + weight] = terms.get(total + weight, 0) + n
            polynomials[x] = terms
            n_terms += len(terms)
            if n_terms > most:
                raise InputError(
                    f"the sums of all covers take more than {counted(memory, 'megabyte')}; allow "
                    f"more memory, or give options fewer different weights"
                )
            for child in {low, high}:
                if lasts[child] == x and child > 1:
                    n_terms -= len(polynomials.pop(child))
        return dict(sorted(polynomials[self.root].items()))

    def _last_parents(self) -> list[int]:
        """Return the last node that has each node as a child."""
        last = np.arange(self.option.size)
        for children in (self.low, self.high):
            np.maximum.at(last, children[2:], np.arange(2, last.size))
        return last.tolist()

    def uses(self) -> list[int]:
        """Return for each option the exact number of covers that contain it.

        Examples
        --------
        >>> import batchsolve as bs
        >>> bs.solution_graph("queens:4").uses()
        [0, 1, 1, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 1, 1, 0]
        """
        # a node is on as many paths as lead to it, times those from its high child on
        below, above = [0, 1], [0] * self.option.size
        for _, _, low, high in self._nodes():
            below.append(below[low] + below[high])
        above[self.root] = 1
        uses = [0] * self.problem.n_options
        for x, option, low, high in self._nodes(-1):
            above[low] += above[x]
            above[high] += above[x]
            uses[option] += above[x] * below[high]
        return uses

    def _nodes(self, step: int = 1) -> Iterator[tuple[int, int, int, int]]:
        """Yield the nodes, each with its option, low and high child; children come first."""
        numbers = range(2, self.option.size)[::step]
        for begin in range(0, len(numbers), STEP):
            check_interrupt()
            batch = numbers[begin : begin + STEP]
            parts = (array[batch].tolist() for array in (self.option, self.low, self.high))
            yield from zip(batch, *parts, strict=True)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the graph to a file that graphillion can read, too.

        Raises
        ------
        InputError
            If the graph is not ordered; `solution_graph` draws one that is.
        OutputError
            If the file cannot be written.

        Examples
        --------
        >>> import batchsolve as bs, tempfile
        >>> graph, path = bs.solution_graph("queens:6"), tempfile.mkdtemp() + "/queens.zdd"
        >>> graph.save(path)
        >>> bs.SolutionGraph.load(path, bs.family("queens:6")).count
        4
        """
        if self.order is None:
            raise InputError(
                "only a graph with options in one order can be saved; draw an ordered one"
            )
        text = self._nodes_as_text(self.order)
        about = {
            "batchsolve": "graph",
            "version": _VERSION,
            "problem": self.problem.fingerprint,
            "options": self.order.tolist(),
            "stack": self.stack,
            "count": self.count,
        }
        with whole_file(path) as file:
            file.write((text + json.dumps(sealed(about, text)) + "\n").encode("ascii"))

    @classmethod
    def load(
        cls, path: str | os.PathLike[str], problem: ExactCover, stack: Iterable[int] | None = None
    ) -> SolutionGraph:
        """Read what `save` wrote.

        Parameters
        ----------
        path : str or path
        problem : ExactCover
        stack : sequence of int, optional
            The options that have been chosen: the graph must not be that of others. By default it
            may be that of any.

        Raises
        ------
        InputError
            If the file is not a graph, is damaged, or belongs to another problem or stack.
        OSError
            If it cannot be read.
        """
        check_kind(problem, ExactCover)
        name = path_of("the graph", path)
        with prefixed(name, InputError), opened(path) as file:
            data = file.read()
        with named_errors(name):
            graph = cls._parsed(data, problem)
            if others := set(graph.stack).difference(graph.stack if stack is None else stack):
                raise InputError(
                    f"this graph has the clue {problem.option_name(min(others))!r}, which is none "
                    f"here; name the puzzle that it was drawn for, or draw another graph"
                )
            return graph

    def _nodes_as_text(self, order: UInts) -> str:
        """Return the lines of the diagram, the full stop included."""
        import pyarrow as pa
        import pyarrow.compute as pc
        from pyarrow import csv

        if self.root < 2:
            return (_UNIT if self.root else _EMPTY) + _END
        place = 1 + np.argsort(order)
        nodes = np.arange(2, self.option.size)
        texts = pa.concat_arrays([pa.array([_EMPTY, _UNIT]), pc.cast(pa.array(nodes), pa.string())])
        children = [texts.take(pa.array(child[2:])) for child in (self.low, self.high)]
        table = pa.table([nodes, place[self.option[2:]], *children], _COLUMNS)
        buffer = io.BytesIO()
        options = csv.WriteOptions(include_header=False, delimiter=" ", quoting_style="none")
        csv.write_csv(table, buffer, options)
        return buffer.getvalue().decode("ascii") + _END[1:]

    @classmethod
    def _parsed(cls, data: bytes, problem: ExactCover) -> SolutionGraph:
        """Return the graph that the content of a file describes."""
        head, end, tail = data.partition(_END.encode())
        lines, record = (head + end).decode("ascii"), tail.decode("ascii")
        if not end or not record.endswith("\n"):
            raise InputError(
                "not a whole solution graph: lines of nodes, one with a full stop, and one that "
                "says which problem it belongs to; draw it again with count --memo --graph"
            )
        what = "the line after the full stop does not describe a graph"
        with prefixed(what, InputError, ValueError):
            about = parse(record)
        if not is_whole(about, lines):
            raise InputError(
                "the graph is damaged: its seal does not match the file; draw it again"
            )
        if (form := (about.get("batchsolve"), about.get("version"))) != ("graph", _VERSION):
            raise InputError(
                f"it holds {quoted(form[0])} of version {quoted(form[1])}, not a graph of version "
                f"{_VERSION}; read it with the version of batchsolve that wrote it, or draw it "
                f"again"
            )
        check_belongs(about["problem"], problem, "this graph belongs")
        order = np.array(about["options"], np.uint32)
        option, low, high = _nodes_of(head, order)
        root = option.size - 1 if option.size > 2 else int(head == b"T")
        return cls(problem, option, low, high, root, order, about.get("stack", ()))

    def _restricted(self, option: int, wanted: bool) -> SolutionGraph:
        [option] = option_numbers([option])
        if not 0 <= option < self.problem.n_options:
            raise ProblemError(
                f"unknown option {option}; the last one is {self.problem.n_options - 1}"
            )
        nodes: Nodes = native.restricted(self._core, option, wanted)
        return SolutionGraph(self.problem, *nodes, self.order, self.stack)

    @property
    def _core(self) -> Nodes:
        """The nodes as the core takes them."""
        return self.option, self.low, self.high, self.root

    @cached_property
    def _counts(self) -> Words:
        return native.count_covers(self._core)


def _nodes_of(head: bytes, order: UInts) -> tuple[UInts, ...]:
    """Return option, low and high of the nodes in some lines."""
    import pyarrow as pa
    from pyarrow import csv

    if head in (_EMPTY.encode(), _UNIT.encode()):
        return tuple(np.zeros((3, 2), np.uint32))
    table = csv.read_csv(
        io.BytesIO(head.replace(_EMPTY.encode(), b"0").replace(_UNIT.encode(), b"1")),
        csv.ReadOptions(column_names=list(_COLUMNS)),
        csv.ParseOptions(delimiter=" ", quote_char=False),
        csv.ConvertOptions(column_types=dict.fromkeys(_COLUMNS, pa.uint32())),
    )
    _, element, low, high = (column.to_numpy() for column in table.columns)
    terminals = np.zeros(2, np.uint32)
    return tuple(np.concatenate([terminals, values]) for values in (order[element - 1], low, high))


def checked_draws(n: int, seed: int, distinct: bool) -> tuple[int, int, bool]:
    """Return the size of a sample, its seed and whether its covers must differ, if all are valid.

    Raises
    ------
    InputError
        If one is not.
    """
    return (
        whole_number("the size of a sample", n, most=MOST_SAMPLES),
        whole_number("a seed", seed, most=MOST_SEED),
        flag_of("distinct", distinct),
    )


def random_numbers(count: int, n: int, seed: int, distinct: bool, n_words: int) -> Words:
    """Draw integers from 0 to ``count - 1``, each with exactly the same probability.

    Returns
    -------
    ndarray of uint64, shape (n, n_words)
        The words of each number, lowest first. The first numbers of a seed are the same for
        every n, unless they have to be distinct.
    """
    import pyarrow as pa

    bits = np.random.PCG64(seed)  # whose stream of words NumPy promises not to change
    if distinct and 2 * n > count:
        keys = bits.random_raw(count)
        while np.unique(keys).size < count:  # equal keys would make some orders likelier
            keys = bits.random_raw(count)
        chosen = np.zeros((n, n_words), np.uint64)
        chosen[:, 0] = np.argsort(keys)[:n]
        return chosen
    numbers = np.zeros((0, n_words), np.uint64)
    while len(numbers) < n:
        drawn = _some_numbers(count, max(n - len(numbers), LEAST_DRAWN), n_words, bits)
        numbers = np.concatenate([numbers, drawn])
        if distinct:
            kind, data = pa.binary(8 * n_words), [None, pa.py_buffer(numbers)]
            first = pa.Array.from_buffers(kind, len(numbers), data).unique()
            numbers = np.frombuffer(first.buffers()[1], np.uint64).reshape(-1, n_words)
    return numbers[:n]


def _some_numbers(count: int, n: int, n_words: int, bits: np.random.PCG64) -> Words:
    """Draw n numbers of as many bits as the largest needs; return those less than `count`."""
    n_bits = max((count - 1).bit_length(), 1)
    n_drawn = (n_bits + 63) // 64
    words = np.zeros((n, n_words), np.uint64)
    words[:, :n_drawn] = bits.random_raw(n * n_drawn).reshape(n, n_drawn)
    words[:, n_drawn - 1] >>= np.uint64(64 * n_drawn - n_bits)
    is_small = np.ones(n, np.bool_)
    for w, bound in enumerate(as_words([count - 1], n_words)[0]):  # the last that differs decides
        is_small = (words[:, w] < bound) | ((words[:, w] == bound) & is_small)
    return words[is_small]


def as_words(numbers: list[int], n_words: int) -> Words:
    """Return integers as words, lowest first, shape (n, n_words)."""
    data = b"".join(number.to_bytes(8 * n_words, "little") for number in numbers)
    return np.frombuffer(data, "<u8").reshape(len(numbers), n_words).astype(np.uint64)
