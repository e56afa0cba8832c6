"""The keywords that functions take as settings, for users and their editors.

A function unpacks one of these classes: ``**settings: Unpack[SolveFields]``. Each of its fields is
that of a class of `batchsolve.settings`, an argument of the workers, or ``on_progress``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar, get_args, get_type_hints, overload

from batchsolve.errors import InputError, listed, quoted
from batchsolve.settings import FileSettings, PuzzleSettings, SearchSettings, fields_of
from batchsolve.settings.arguments import Box, Depth, Range

if TYPE_CHECKING:
    from batchsolve.runs.progress import OnProgress


class WorkerFields(TypedDict, total=False):
    """The workers of a function: the arguments of `batchsolve.workers.Pool`."""

    jobs: int | None
    backend: str
    address: str | None


class _TableFields(WorkerFields, total=False):
    """Workers, their progress, and `FileSettings` that are given whole."""

    on_progress: OnProgress
    files: FileSettings | None


class _BoundFields(WorkerFields, total=False):
    """Workers, and the `SearchSettings` of every search, whole or field by field."""

    search: SearchSettings | None
    limit: int | None
    node_limit: int | None
    split_depth: Depth
    budget: int | None


class RunSearchFields(_BoundFields, total=False):
    """Workers, and the `SearchSettings` of a run, whose engine and branching rule stay the same."""

    time_limit: float | None


class SearchFields(RunSearchFields, total=False):
    """Workers, and all `SearchSettings`."""

    engine: str
    branch: str


class RunFields(TypedDict, total=False):
    """The `FileSettings` of functions that go from file to file."""

    chunk: int | None
    filename: bool
    stop_on_invalid: bool
    resume: bool


class SignFields(TypedDict, total=False):
    """The `FileSettings` of the signs and the size of grids."""

    alphabet: str | None
    blank: str | None
    box: Box | None


class GridFields(SignFields, total=False):
    """The `FileSettings` of grids with any rules."""

    rules: str | None
    regions: str | None


class NotationFields(GridFields, total=False):
    """The `FileSettings` of grids of a corpus: the keywords of `read_problem`."""

    column: str | None
    rule_columns: str | None


class CountFields(SearchFields, GridFields, total=False):
    """The keywords of `count`: a text may be a grid."""


class RateFields(_TableFields, SignFields, total=False):
    """The keywords of `rate`: workers, and the `FileSettings` of grids with the usual rules."""

    backdoor: bool
    steps: bool
    uniqueness: bool
    column: str | None
    rule_columns: str | None


class RateFileFields(RateFields, RunFields, total=False):
    """The keywords of `rate_file`."""


class EvaluateFields(_TableFields, NotationFields, total=False):
    """The keywords of `evaluate`."""

    prediction: str | None
    truth: str | None
    by: str | Sequence[str] | None
    bins: Sequence[float]
    chunk: int | None


class GivenFields(_TableFields, NotationFields, total=False):
    """Workers, and the `FileSettings` of grids with any rules and given solutions."""

    solution_column: str | None


class AugmentFields(GivenFields, total=False):
    """The keywords of `augment`."""

    seed: int | None
    original: bool


class AugmentFileFields(AugmentFields, RunFields, total=False):
    """The keywords of `augment_file`."""


class AuditFields(GivenFields, total=False):
    """The keywords of `audit` and `partition`."""

    chunk: int | None


class DedupeFields(AuditFields, total=False):
    """The keywords of `dedupe`."""

    up_to_symmetry: bool
    against: Any
    mark: bool
    filename: bool


class SolveFields(_BoundFields, GivenFields, total=False):
    """The keywords of `solve_table` and `solve_stream`: the time of a row has no limit."""

    engine: str
    branch: str
    stats: bool
    canonical: bool


class SolveFileFields(SolveFields, RunFields, total=False):
    """The keywords of `solve_file`."""


class CountFileFields(SearchFields, _TableFields, RunFields, total=False):
    """The keywords of `count_file`."""

    column: str | None
    stats: bool


class GenerateFields(_TableFields, SignFields, total=False):
    """The keywords of `generate`: workers, `PuzzleSettings`, and grids."""

    wanted: PuzzleSettings | None
    seed: int | None
    clues: Range | None
    rating: Range | None
    cages: Range | None
    cage_layout: str | None
    marks: str | None
    lines: str | None
    line_cells: Range | None
    jigsaw: bool
    constraints: str | None
    minimal: bool
    pattern: str | None
    symmetry: str
    weights: bool
    unlike: Sequence[Any]
    node_limit: int
    rules: str | None
    regions: str | None
    chunk: int | None


class GenerateTableFields(GenerateFields, total=False):
    """The keywords of `generate_table`."""

    columns: tuple[str, str] | str


class GenerateFileFields(GenerateTableFields, total=False):
    """The keywords of `generate_file`."""

    resume: bool


_WHOLE = {SearchSettings: "search", FileSettings: "files", PuzzleSettings: "wanted"}
"""The keywords of settings that are given whole."""

_A = TypeVar("_A")
_B = TypeVar("_B")


@overload
def settings_of(
    caller: Callable[..., object], keywords: Mapping[str, Any], kind: type[_A], /
) -> tuple[dict[str, Any], _A]: ...


@overload
def settings_of(
    caller: Callable[..., object], keywords: Mapping[str, Any], kind: type[_A], other: type[_B], /
) -> tuple[dict[str, Any], _A, _B]: ...


def settings_of(caller: Callable[..., object], keywords: Mapping[str, Any], *kinds: Any) -> Any:
    """Return the settings among the keywords of a function: those of its run, then of each kind.

    Those of its run are the arguments of workers, and `on_progress` if it is among the keywords.
    The function declares its keywords once: they are the fields of the class that its parameter
    ``settings`` unpacks, such as `RateFields`. Settings of a kind are given whole
    (``search=SearchSettings(…)``), or else field by field.

    Raises
    ------
    InputError
        If they are given in both ways, or the function does not take one of them: it would be
        ignored.
    TypeError
        If the setting is unknown.

    Examples
    --------
    >>> from batchsolve import solve_table
    >>> settings_of(solve_table, {"search": SearchSettings(), "limit": 1}, SearchSettings)
    Traceback (most recent call last):
        ...
    batchsolve.errors.InputError: settings are given whole, and beside them 'limit'; ...
    >>> settings_of(solve_table, {"search": SearchSettings(time_limit=1)}, SearchSettings)
    Traceback (most recent call last):
        ...
    batchsolve.errors.InputError: solve_table() takes no `time_limit`; ...
    """
    names = _keywords_of(caller)
    of_kind = {kind: fields_of(kind) for kind in kinds}
    for name in keywords:
        if name not in names:
            is_known = any(name in declared for declared in of_kind.values())
            raise _not_taken(caller, name) if is_known else _no_keyword(caller, name)
    of_run = *WorkerFields.__annotations__, "on_progress"
    result = [{name: keywords[name] for name in of_run if name in keywords}]
    for kind, declared in of_kind.items():
        values = {name: keywords[name] for name in declared if name in keywords}
        whole = keywords.get(_WHOLE.get(kind, ""))
        if whole is not None and values:
            raise InputError(
                f"settings are given whole, and beside them {listed(values)}; change the whole "
                f"ones with dataclasses.replace"
            )
        if whole is not None and not isinstance(whole, kind):
            raise InputError(f"settings are a {kind.__name__}, not {quoted(whole)}")
        whole = kind(**values) if whole is None else whole
        for name in sorted(declared.keys() - names):  # the branch, which changes the engine, first
            if getattr(whole, name) != declared[name].default:
                raise _not_taken(caller, name)
        result.append(whole)
    return tuple(result)


@cache
def _keywords_of(caller: Callable[..., object]) -> frozenset[str]:
    """Return the names of the settings that a function takes."""
    [declared] = get_args(get_type_hints(caller)["settings"])
    return frozenset(declared.__annotations__)


_INSTEAD = {
    "time_limit": ("node_limit", "`node_limit` does not depend on the machine"),
    "solution_column": ("truth", "name it with `truth`"),
    "engine": ("self", "name it where the run begins: Run(…, engine=…)"),
    "branch": ("self", "name it with the engine where the run begins: Run(…, engine='dlx:first')"),
}
"""For settings that some functions do not take, another argument, and advice to take that."""


def _not_taken(caller: Callable[..., object], name: str) -> InputError:
    """Return the error of a setting that other functions take."""
    from inspect import signature

    instead, advice = _INSTEAD.get(name, ("", ""))
    if instead not in {*_keywords_of(caller), *signature(caller).parameters}:
        advice = "leave it out"
    return InputError(f"{caller.__qualname__}() takes no `{name}`; {advice}")


def _no_keyword(caller: Callable[..., object], name: str) -> TypeError:
    """Return Python's error of a keyword that a function lacks, with the one that may be meant."""
    from difflib import get_close_matches

    hints = get_type_hints(caller)
    del hints["settings"]
    near = get_close_matches(name, [*hints, *_keywords_of(caller)], 1)
    meant = f"; did you mean {near[0]!r}?" if near else ""
    return TypeError(f"{caller.__qualname__}() got an unexpected keyword argument {name!r}{meant}")
