"""The errors this package raises: each says what was wrong, where, and what would be right."""

from __future__ import annotations


class BatchsolveError(Exception):
    """Base class of every error that batchsolve raises on purpose."""


class ProblemError(BatchsolveError, ValueError):
    """An exact cover problem, a stack or a cover that breaks the rules."""


class InputError(BatchsolveError, ValueError):
    """A file, a column or an argument that cannot be used as it is."""


class OutputError(BatchsolveError, OSError):
    """The output cannot be written: a full disk, a missing directory, a closed pipe."""


class JournalError(BatchsolveError):
    """The record of an interrupted run is damaged, foreign, or in use."""
