"""Results in words."""

from __future__ import annotations


class InWords:
    """A result that ``str`` says in sentences, and ``repr`` in one line.

    Dataclasses that are results inherit both, and are declared with ``repr=False``.
    """

    @property
    def in_short(self) -> str:
        """The first line of the words; results that are tables have another."""
        return str(self).partition("\n")[0]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.in_short})"
