"""Solution graphs in files, in the text format of SAPPORO and graphillion for decision diagrams.

A line is a node: its number, its element counted from 1, its low child and its high child, where
``B`` and ``T`` are the terminals no set and the empty set. Children come before their parents, the
last node is the root, elements ascend on every path, and a line with a full stop ends the diagram.
graphillion reads no further (``GraphSet.load``, ``setset.load``). One line of JSON follows: the
fingerprint of the problem; ``options``, the number of the option that each element stands for; the
count; and a seal over all of the file.
"""

from __future__ import annotations

import io
import json
import os
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from batchsolve.core.arrays import UInts
from batchsolve.errors import InputError, named_errors, prefixed, quoted
from batchsolve.formats.json_records import is_whole, parse, sealed
from batchsolve.formats.whole_files import opened, whole_file
from batchsolve.problems.exact_cover import ExactCover, check_belongs, check_kind
from batchsolve.settings import path_of

if TYPE_CHECKING:
    from batchsolve.graphs.solution_graph import SolutionGraph

_VERSION = 1
_EMPTY, _UNIT = "B", "T"
_END = "\n.\n"
_COLUMNS = ("node", "element", "low", "high")


def write_graph(graph: SolutionGraph, path: str | os.PathLike[str]) -> None:
    """Write a graph; see `SolutionGraph.save`."""
    if graph.order is None:
        raise InputError("only a graph with options in one order can be saved; draw an ordered one")
    text = _nodes_as_text(graph, graph.order)
    about = {
        "batchsolve": "graph",
        "version": _VERSION,
        "problem": graph.problem.fingerprint,
        "options": graph.order.tolist(),
        "count": graph.count,
    }
    with whole_file(path) as file:
        file.write((text + json.dumps(sealed(about, text)) + "\n").encode("ascii"))


def _nodes_as_text(graph: SolutionGraph, order: UInts) -> str:
    """Return the lines of a diagram, the full stop included."""
    if graph.root < 2:
        return (_UNIT if graph.root else _EMPTY) + _END
    place = np.zeros(order.size, np.int64)
    place[order] = np.arange(1, order.size + 1)
    names = pa.array([_EMPTY, _UNIT])
    nodes = np.arange(2, graph.option.size)
    texts = pa.concat_arrays([names, pc.cast(pa.array(nodes), pa.string())])
    table = pa.table(
        {
            "node": nodes,
            "element": place[graph.option[2:]],
            "low": texts.take(pa.array(graph.low[2:])),
            "high": texts.take(pa.array(graph.high[2:])),
        }
    )
    buffer = io.BytesIO()
    options = csv.WriteOptions(include_header=False, delimiter=" ", quoting_style="none")
    csv.write_csv(table, buffer, options)
    return buffer.getvalue().decode("ascii") + _END[1:]


def read_graph(path: str | os.PathLike[str], problem: ExactCover) -> SolutionGraph:
    """Read a graph; see `SolutionGraph.load`."""
    check_kind(problem, ExactCover)
    name = path_of("the graph", path)
    with prefixed(name, InputError), opened(path) as file:
        data = file.read()
    with named_errors(name):
        return _parse(data, problem)


def _parse(data: bytes, problem: ExactCover) -> SolutionGraph:
    from batchsolve.graphs.solution_graph import SolutionGraph

    head, end, tail = data.partition(_END.encode())
    lines, record = (head + end).decode("ascii"), tail.decode("ascii")
    if not end or not record.endswith("\n"):
        raise InputError(
            "not a whole solution graph: lines of nodes, one with a full stop, and one that says "
            "which problem it belongs to; draw it again with count --memo --graph"
        )
    with prefixed("the line after the full stop does not describe a graph", InputError, ValueError):
        about = parse(record)
    if not is_whole(about, lines):
        raise InputError("the graph is damaged: its seal does not match the file; draw it again")
    if (form := (about.get("batchsolve"), about.get("version"))) != ("graph", _VERSION):
        raise InputError(
            f"it holds {quoted(form[0])} of version {quoted(form[1])}, not a graph of version "
            f"{_VERSION}; read it with the version of batchsolve that wrote it, or draw it again"
        )
    check_belongs(about["problem"], problem, "this graph belongs")
    order = np.array(about["options"], np.uint32)
    option, low, high = _nodes_of(head, order)
    root = option.size - 1 if option.size > 2 else int(head == b"T")
    return SolutionGraph(problem, option, low, high, root, order)


def _nodes_of(head: bytes, order: UInts) -> tuple[UInts, ...]:
    """Return option, low and high of the nodes in some lines."""
    if head in (_EMPTY.encode(), _UNIT.encode()):
        return tuple(np.zeros((3, 2), np.uint32))
    numbers = head.replace(_EMPTY.encode(), b"0").replace(_UNIT.encode(), b"1")
    table = csv.read_csv(
        io.BytesIO(numbers),
        csv.ReadOptions(column_names=list(_COLUMNS)),
        csv.ParseOptions(delimiter=" ", quote_char=False),
        csv.ConvertOptions(column_types=dict.fromkeys(_COLUMNS, pa.uint32())),
    )
    _, element, low, high = (column.to_numpy() for column in table.columns)
    none = np.zeros(2, np.uint32)
    return tuple(np.concatenate([none, each]) for each in (order[element - 1], low, high))
