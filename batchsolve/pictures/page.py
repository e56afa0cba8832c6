"""Pages of HTML that need no network, and the tables on them.

A page of drawings shows one of them large and all of them small; arrow keys and buttons go from one
to the next. Without scripts it is a list of all drawings.
"""

from __future__ import annotations

from collections.abc import Sequence

from batchsolve.errors import counted, printable
from batchsolve.pictures.svg import STYLE, Drawing, as_svg, escape, filled, text_beside

PAGE_STYLE = f"\n{text_beside(__file__, 'page.css')}"


def page(drawings: Sequence[Drawing], title: str, note: str) -> str:
    """Return a page of HTML that shows drawings.

    Parameters
    ----------
    drawings : sequence of Drawing
        One or more.
    title : str
        The subject of the drawings.
    note : str
        A line below the title.

    Examples
    --------
    >>> text = page([Drawing(80, 40, "", "a board")] * 2, "dominoes:1x2", "both")
    >>> text.count("<figure>"), "http" in text.replace("http://www.w3.org/2000/svg", "")
    (2, False)
    """
    several = len(drawings) > 1
    figures = "".join(
        f"<figure>{as_svg(drawing, f'{title}, drawing {k}' if several else title, style=False)}"
        f"{f'<figcaption>{k}</figcaption>' if several else ''}</figure>\n"
        for k, drawing in enumerate(drawings, 1)
    )
    script = f"<script>\n{text_beside(__file__, 'page.js')}</script>\n" if several else ""
    return html_page(
        f"{title}: {counted(len(drawings), 'drawing')}",
        f"{STYLE}{PAGE_STYLE}",
        f"<h1>{escape(title)}</h1>\n<p>{escape(note)}</p>\n"
        f"{text_beside(__file__, 'viewer.html') if several else ''}"
        f'<main id="{"all" if several else "one"}">\n{figures}</main>\n'
        f"{script}",
    )


def html_page(title: str, style: str, body: str) -> str:
    """Return a page of HTML that needs no other file: a title in plain text, CSS, and its body."""
    return filled(__file__, "page.html", title=escape(title), style=style, body=body)


def text_table(lines: Sequence[Sequence[str]]) -> str:
    """Return a table as text: the first column on the left, all others on the right.

    Examples
    --------
    >>> print(text_table([["", "rows"], ["train", "1,000"], ["test", "7"]]))
            rows
    train  1,000
    test       7
    """
    cells = [list(map(printable, line)) for line in lines]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return "\n".join(
        "  ".join(
            text.rjust(width) if k else text.ljust(width)
            for k, (text, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in cells
    )


def html_table(lines: Sequence[Sequence[str]]) -> str:
    """Return a table as HTML; the first line holds the heads."""
    heads, *rows = ([escape(text) for text in line] for line in lines)
    body = "".join(f"<tr>{''.join(f'<td>{text}</td>' for text in row)}</tr>\n" for row in rows)
    head = "".join(f"<th>{text}</th>" for text in heads)
    return f"<table><thead><tr>{head}</tr></thead>\n<tbody>{body}</tbody></table>\n"
