"""Kinds of files that are not text, by their first bytes, for messages."""

from __future__ import annotations

_PARQUET = "write it as Parquet or CSV"
_KINDS: dict[bytes | tuple[bytes, ...], tuple[str, str]] = {
    b"PK\x03\x04": ("a zip archive, as spreadsheets (.xlsx) are", "unpack it, or export it as CSV"),
    b"\x93NUMPY": ("an array of NumPy", "name a row of it, such as FILE.npy#1"),
    b"PAR1": ("a table in Parquet", "name a row of it, such as FILE.parquet#1"),
    (b"ARROW1", b"FEA1"): ("a table in Arrow IPC (Feather)", _PARQUET),
    b"\xff\xff\xff\xff": ("a stream of Arrow IPC", _PARQUET),
    b"ORC": ("a table in ORC", _PARQUET),
    b"\x89HDF": ("an HDF5 file", _PARQUET),
    b"SQLite format 3": ("an SQLite database", "export a table as CSV"),
    b"\xd0\xcf\x11\xe0": ("a spreadsheet of old Excel", "export it as CSV"),
    b"\xfd7zXZ": ("compressed by xz", "unpack it, or use gzip, bzip2 or zstd"),
    b"7z\xbc\xaf": ("a 7z archive", "unpack it"),
    b"Rar!": ("a rar archive", "unpack it"),
    (b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05"): (
        "a pickle of Python, which is never loaded",
        _PARQUET,
    ),
    b"%PDF": ("a PDF", "copy its puzzles to a text file"),
    (b"\x89PNG", b"\xff\xd8\xff", b"GIF8"): ("a picture", "type its puzzles into a text file"),
}
_UTF_16 = "UTF-16 text; convert it: iconv -f utf-16 -t utf-8"


def not_text(data: bytes, otherwise: str = "") -> str:
    """Return the fault of a file that is not UTF-8 text: its kind, or else what is given."""
    kind = kind_of(data)
    return f"not UTF-8 text{otherwise}" if kind is None else f"not UTF-8 text, but {kind}"


def not_decoded(error: UnicodeDecodeError, where: str = "") -> str:
    """Return the fault of a file with a byte that no UTF-8 text has there; `where` is its place."""
    byte = f"byte 0x{error.object[error.start]:02x}{where}"
    return not_text(error.object, f" ({byte}); convert it, for instance with iconv")


def kind_of(data: bytes) -> str | None:
    r"""Return the kind of a file that is not UTF-8 text, and what to do; None if it may be text.

    A few zero bytes are faults of the rows that hold them.

    Examples
    --------
    >>> kind_of(b"PK\x03\x04")
    'a zip archive, as spreadsheets (.xlsx) are; unpack it, or export it as CSV'
    >>> kind_of("id,puzzle".encode("utf-16-le"))
    'UTF-16 text; convert it: iconv -f utf-16 -t utf-8'
    >>> kind_of(bytes(8)), kind_of(b"id,puzzle\n1,1\0.")
    ('a binary file', None)
    """
    if data.startswith(b"PK\x03\x04") and b".npy" in data[:256]:
        return "arrays of NumPy (.npz); save the array of grids with numpy.save, as .npy"
    for start, (what, advice) in _KINDS.items():
        if data.startswith(start):
            return f"{what}; {advice}"
    if data[257:262] == b"ustar":
        return "a tar archive; unpack it"
    begin = data[:4096]
    halves = begin[::2], begin[1::2]
    if begin[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return _UTF_16
    if any(a.count(0) > len(a) // 2 and not b.count(0) for a, b in (halves, halves[::-1])):
        return _UTF_16
    return "a binary file" if begin.count(0) > len(begin) // 8 else None
