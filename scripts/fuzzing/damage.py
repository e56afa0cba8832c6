"""Changes of any file: its bytes, its lines, the JSON in its lines."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

from fuzzing.cases import Change, Draft

BITS = 8
NO_TEXT = [b"\0", b"\xff", b"\xfe\xff", b"\xc3", b"\xed\xa0\x80", b"\x80" * 5]
ODD_TEXT = [
    *(b"\r", b"\n", b"\r\n", b"\t", b" ", b'"', b'""', b"'", b",", b";", b"|", b"#", b":", b"\\"),
    *(b"\xef\xbb\xbf", "é".encode(), "١".encode(), "\u2028".encode(), "\U0001f9e9".encode()),
    *(b"\x0b", b"\x0c", b"\x1a", b"\x1b[31m", b"\x7f", b"\xc2\x85", b"{", b"}", b"[", b"null"),
    *(b"-1", b"0", b"NaN", b"1e999", b"9" * 30, b"9" * 5000, b"x" * 3000, b"[" * 3000),
]
ODD_VALUES: list[Any] = [
    *(None, True, False, 0, -1, 1, 1.5, -0.0, 2**31, 2**32, 2**63, 2**64, 10**30, 10**5000),
    *(1e308, float("inf"), float("nan"), "", "x", "é", "\0", "0", "-1", "\ud800", [], {}, [[]]),
    *([None], [0, "x"], [2**70], {"a": 1}, [[[[[[[]]]]]]], "x" * 3000, [0] * 3000),
]


def of_files(change: Callable[[bytes, Random], bytes], **how: bool) -> Change:
    """Return the change that applies a function of bytes to one file, drawn at random."""

    def apply(draft: Draft, rng: Random) -> None:
        if draft.files:
            name = rng.choice(sorted(draft.files))
            draft.files[name] = change(draft.files[name], rng)

    return Change(apply, **how)


# ---- bytes ----------------------------------------------------------------------------------


def flip_a_bit(data: bytes, rng: Random) -> bytes:
    """Flip a bit outside of zero bytes."""
    places = [k for k, byte in enumerate(data) if byte]
    if not places:
        return data
    place = rng.choice(places)
    return _replaced(data, place, place + 1, bytes([data[place] ^ 1 << rng.randrange(BITS)]))


def set_a_byte(data: bytes, rng: Random) -> bytes:
    """Overwrite a byte with another."""
    place = rng.randrange(len(data) + 1)
    return _replaced(data, place, place + 1, rng.randbytes(1))


def cut_off(data: bytes, rng: Random) -> bytes:
    """Cut off the end."""
    return data[: rng.randrange(len(data) + 1)]


def cut_out(data: bytes, rng: Random) -> bytes:
    """Leave some bytes out."""
    begin, end = _stretch(data, rng)
    return data[:begin] + data[end:]


def write_zeros(data: bytes, rng: Random) -> bytes:
    """Overwrite some bytes with zeros, as a disk may."""
    begin, end = _stretch(data, rng)
    return _replaced(data, begin, end, bytes(end - begin))


def repeat(data: bytes, rng: Random) -> bytes:
    """Write some bytes twice, or the whole file."""
    begin, end = _stretch(data, rng) if rng.random() < 0.7 else (0, len(data))
    return data[:end] + data[begin:]


def append(data: bytes, rng: Random) -> bytes:
    """Append bytes that do not belong there."""
    return data + rng.choice([*NO_TEXT, *ODD_TEXT, rng.randbytes(50)])


def empty(data: bytes, rng: Random) -> bytes:
    """Empty the file."""
    return b""


def _stretch(data: bytes, rng: Random) -> tuple[int, int]:
    begin = rng.randrange(len(data) + 1)
    return begin, min(len(data), begin + rng.choice([1, 2, 8, 64, 512]))


def _replaced(data: bytes, begin: int, end: int, other: bytes) -> bytes:
    return data[:begin] + other + data[end:]


# ---- text -----------------------------------------------------------------------------------


def insert(data: bytes, rng: Random) -> bytes:
    """Insert a text that has a meaning to some reader."""
    place = rng.randrange(len(data) + 1)
    return _replaced(data, place, place, rng.choice(ODD_TEXT if rng.random() < 0.8 else NO_TEXT))


def insert_in_the_first_line(data: bytes, rng: Random) -> bytes:
    """Insert such a text where a header may stand."""
    place = rng.randrange(len(data.split(b"\n", 1)[0]) + 1)
    return _replaced(data, place, place, rng.choice(ODD_TEXT if rng.random() < 0.8 else NO_TEXT))


def change_line_ends(data: bytes, rng: Random) -> bytes:
    """Change the line endings, all of them or some."""
    end = rng.choice([b"\r\n", b"\r", b"\n\n", b"\n\r", b"\r\r\n", b"\x0b", b""])
    if rng.random() < 0.5:
        return data.replace(b"\n", end)
    return b"".join(
        line + (end if rng.random() < 0.5 else b"\n")
        for line in data.removesuffix(b"\n").split(b"\n")
    )


def change_encoding(data: bytes, rng: Random) -> bytes:
    """Write the text in another encoding, or with a byte order mark."""
    text = data.decode(errors="replace")
    return text.encode(
        rng.choice(["utf-8-sig", "utf-16", "utf-16-le", "utf-32", "cp037"]), "replace"
    )


def shuffle_lines(data: bytes, rng: Random) -> bytes:
    """Leave out, repeat or swap lines."""
    lines = data.splitlines(keepends=True)
    if not lines:
        return data
    k, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    how = rng.randrange(4)
    if how == 0:
        del lines[k]
    elif how == 1:
        lines.insert(other, lines[k])
    elif how == 2:
        lines[k], lines[other] = lines[other], lines[k]
    else:
        lines[k] = lines[k].rstrip(b"\r\n")
    return b"".join(lines)


BYTES = (flip_a_bit, set_a_byte, cut_off, cut_out, write_zeros, repeat, append, empty)
TEXT = (insert, insert_in_the_first_line, change_line_ends, change_encoding, shuffle_lines)


# ---- JSON -----------------------------------------------------------------------------------


def change_json(data: bytes, rng: Random) -> bytes:
    """Change the value of a field in a line of JSON, delete the field, or repeat its name."""
    lines = data.decode(errors="replace").split("\n")
    k = rng.randrange(len(lines)) if rng.random() < 0.5 else 0
    try:
        record = json.loads(lines[k])
    except (ValueError, RecursionError):
        return data
    if not isinstance(record, dict) or not record:
        return data
    place, name = rng.choice(list(_fields(record)))
    how = rng.randrange(8)
    if how == 0:
        del place[name]
    elif how == 1:
        place[name + " "] = place.pop(name)
    elif how == 2:
        place["more"] = rng.choice(ODD_VALUES)
    elif isinstance(place[name], int) and rng.random() < 0.7:
        place[name] += rng.choice([-1, 1, 10])
    else:
        place[name] = rng.choice(ODD_VALUES)
    lines[k] = _json(record)
    if how == 4:  # a repeated name: the second counts
        lines[k] = lines[k][:-1] + f", {json.dumps(name)}: {_json(rng.choice(ODD_VALUES))}}}"
    if how == 5:
        lines[k] = '{"deep": ' * 5000 + lines[k] + "}" * 5000
    return "\n".join(lines).encode(errors="surrogatepass")


def _fields(record: dict[str, Any]) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield every field of a record, nested ones too, as a pair of parent and name."""
    for name, value in record.items():
        yield record, name
        if isinstance(value, dict):
            yield from _fields(value)


def _json(value: Any) -> str:
    # some values have more digits than Python writes at once
    text = json.dumps(value, default=str) if not _is_huge(value) else ""
    return text or json.dumps(_without_huge(value)).replace('"HUGE"', "1" + "0" * 5000)


def _is_huge(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(_is_huge, value.values()))
    return isinstance(value, int) and abs(value) >= 10**4000


def _without_huge(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_huge(each) for name, each in value.items()}
    return "HUGE" if _is_huge(value) else value
