"""Records in JSON that carry a checksum, their *seal*, which shows whether they were changed.

A record whose seal is right has the fields with which it was written.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from batchsolve.errors import InputError, quoted, repeated

SEAL = "seal"  # the field that holds it
SEAL_BYTES = 8
MOST_NESTED = 100  # lists and objects in one another

_TOO_DEEP = f"nested more than {MOST_NESTED} deep"


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


def parse(text: str) -> dict[str, Any]:
    """Read a record; `is_whole` tells whether it is as it was written.

    Raises
    ------
    ValueError
        If the text is not a JSON object with a seal.

    Examples
    --------
    >>> parse('{"part": 3, "of": 8}')
    Traceback (most recent call last):
        ...
    batchsolve.errors.InputError: '{"part": 3, "of": 8}' is not a JSON object with a seal
    """
    record = loads(text)
    if not isinstance(record, dict) or SEAL not in record:
        raise InputError(f"{quoted(text)} is not a JSON object with a seal")
    return record


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
