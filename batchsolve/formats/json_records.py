"""Records in JSON, with fields that are checked when they are read, and a checksum.

A *form* has a `Kind` for every field that a record must have, or the form of a nested record.
A *seal* is a checksum of a record, kept in it, which shows whether the record was changed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from batchsolve.errors import InputError, quoted, repeated

SEAL = "seal"  # the field that holds it
SEAL_BYTES = 8
MOST_NESTED = 100  # lists and objects in one another
MOST_DIGITS = 4000  # of a number; Python refuses to write more than 4,300 of them

_TOO_DEEP = f"nested more than {MOST_NESTED} deep"

Kind = tuple[str, Callable[[Any], bool]]
"""A description of the values of a field, for messages, and a function that knows them."""

Form: TypeAlias = "Mapping[str, Kind | Form]"


def whole(least: int = 0, most: int = 10**MOST_DIGITS - 1) -> Kind:
    """Return the kind of whole numbers between two bounds."""
    if least == most:
        what = f"{least}"
    elif most < 10**MOST_DIGITS - 1:
        what = f"a whole number from {least} to {most}"
    else:
        what = f"a whole number from {least} on, of at most {MOST_DIGITS:,} digits"
    return what, lambda value: type(value) is int and least <= value <= most


def list_of(kind: Kind) -> Kind:
    """Return the kind of lists of values of a kind."""
    what, holds = kind
    return f"a list, each of it {what}", lambda v: isinstance(v, list) and all(map(holds, v))


TEXT: Kind = "a text", lambda value: isinstance(value, str)
TRUTH: Kind = "true or false", lambda value: isinstance(value, bool)


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the fields of an object of JSON; of two with one name, Python would lose the first."""
    fields = dict(pairs)
    if len(fields) < len(pairs):
        name = repeated(name for name, _ in pairs)
        raise ValueError(f"an object has two fields {quoted(name)}; name each once")
    return fields


_DECODER = json.JSONDecoder(object_pairs_hook=_each_once)


def loads(text: str) -> Any:
    """Parse JSON whose objects name each field once, and whose texts can be written as UTF-8.

    Raises
    ------
    ValueError
        If it is not such JSON, or is nested more than `MOST_NESTED` deep: Python's own limit
        depends on the calls around, which differ between workers.

    Examples
    --------
    >>> loads('{"a": 1, "a": 2}')
    Traceback (most recent call last):
        ...
    ValueError: an object has two fields 'a'; name each once
    """
    try:
        value = _DECODER.decode(text)
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None
    if text.count("[") + text.count("{") > MOST_NESTED and _is_deep(value):
        raise ValueError(_TOO_DEEP)
    if "\\u" in text:
        try:
            json.dumps(value, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise ValueError("half of a surrogate pair") from None
    return value


def _is_deep(value: Any) -> bool:
    """Return True if lists and objects are nested more than `MOST_NESTED` deep."""
    level = [value]
    for _ in range(MOST_NESTED):
        inner = (one.values() if isinstance(one, dict) else one for one in level)
        level = [each for some in inner for each in some if isinstance(each, list | dict)]
        if not level:
            return False
    return True


def parse(text: str, form: Form) -> dict[str, Any]:
    """Read a record; fields beyond the form are allowed.

    Raises
    ------
    InputError
        If the text is not a JSON object, or a field is missing or holds something else.

    Examples
    --------
    >>> parse('{"part": 3, "of": 8}', {"part": whole(), "of": whole(1)})
    {'part': 3, 'of': 8}
    >>> parse('{"part": "3"}', {"part": whole(0, 7)})
    Traceback (most recent call last):
        ...
    batchsolve.errors.InputError: the field 'part' is "3"; expected a whole number from 0 to 7
    """
    try:
        record = json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(f"not JSON ({error.msg}, at character {error.pos + 1})") from error
    except ValueError as error:
        raise InputError(f"a number of more than {MOST_DIGITS:,} digits") from error
    except Exception as error:
        raise InputError(f"not JSON that can be read ({error})") from error
    check(record, form)
    return dict(record)


def check(record: Any, form: Form, name: str = "") -> None:
    """Raise `InputError` unless a record has the fields of a form.

    Parameters
    ----------
    record : object
        A result of `json.loads`.
    form : mapping
    name : str
        The name of the record in messages; empty for a record at the top level.
    """
    if not isinstance(record, dict):
        raise InputError(_expected(record, f"an object with the fields {', '.join(form)}", name))
    for key, kind in form.items():
        path = f"{name}.{key}" if name else key
        if key not in record:
            raise InputError(f"the field {path!r} is missing")
        value = record[key]
        if isinstance(kind, Mapping):
            check(value, kind, path)
            continue
        what, holds = kind
        if not holds(value):
            raise InputError(_expected(value, what, path))


def _expected(value: Any, what: str, name: str) -> str:
    found = json.dumps(value)
    shown = found if len(found) <= 60 else f"{found[:60]}…"
    return f"{f'the field {name!r} is ' if name else ''}{shown}; expected {what}"


def sealed(record: Mapping[str, Any], content: str = "") -> dict[str, Any]:
    """Return a record with its seal, which also covers the content that follows the record.

    Examples
    --------
    >>> record = sealed({"part": 3})
    >>> is_whole(record), is_whole({**record, "part": 4}), is_whole(record, "more")
    (True, False, False)
    """
    return {**record, SEAL: _checksum(record, content)}


def is_whole(record: Mapping[str, Any], content: str = "") -> bool:
    """Return True if a record and the content that follows it match the seal."""
    fields = {key: value for key, value in record.items() if key != SEAL}
    return bool(record[SEAL] == _checksum(fields, content))


def _checksum(record: Mapping[str, Any], content: str) -> str:
    text = json.dumps(record, sort_keys=True) + "\n" + content
    return hashlib.blake2b(text.encode(), digest_size=SEAL_BYTES).hexdigest()
