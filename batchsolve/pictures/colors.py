"""Colours of pieces: one for each label, and different ones where pieces meet.

There are twelve hues in six shades, all light enough for black letters and strong enough for a dark
page.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import cos, pi, sin

from batchsolve.pictures.boards import BoardPiece, Place

N_HUES = 12
_STRIDE = 5  # hues that follow each other are far apart on the circle
_FIRST_HUE = 250.0  # degrees; a blue
# lightness and chroma; hues beside each other on the circle begin with different ones
_SHADES = ((0.83, 0.11), (0.67, 0.14), (0.92, 0.06), (0.75, 0.08), (0.87, 0.03), (0.62, 0.08))


def colored(pieces: Sequence[BoardPiece], labels: dict[str, int]) -> list[str]:
    """Return a colour for every piece, as ``#rrggbb``.

    A label has the same hue in every cover, and its own unless there are more labels than hues.
    Pieces of one hue that meet have different shades. Pieces without labels have few hues,
    different ones where they meet. If all six shades or all hues are taken, only outlines separate
    two pieces that meet.

    Parameters
    ----------
    pieces : sequence of BoardPiece
    labels : dict of str to int
        The number of every label.

    Examples
    --------
    >>> left, right = BoardPiece(((0, 1, 1),), "A", "A"), BoardPiece(((0, 1, 2),), "A", "A")
    >>> one, other = colored([left, right], {"A": 0})
    >>> one != other
    True
    """
    owner = {place: k for k, piece in enumerate(pieces) for place in piece.places}
    chosen: list[tuple[int, int]] = []  # hue and shade
    for k, piece in enumerate(pieces):
        meets = {owner[place] for each in piece.places for place in _around(each) if place in owner}
        taken = {chosen[other] for other in meets if other < k}
        number = labels.get(piece.label, 0)
        if piece.label:
            first = number // N_HUES + number % 2
            wished = [(number % N_HUES, (first + n) % len(_SHADES)) for n in range(len(_SHADES))]
        else:
            wished = [(hue, hue % 2) for hue in range(N_HUES)]
        chosen.append(next((each for each in wished if each not in taken), wished[0]))
    return [color(*each) for each in chosen]


def _around(place: Place) -> list[Place]:
    layer, r, c = place
    flat = [(layer, r - 1, c), (layer, r + 1, c), (layer, r, c - 1), (layer, r, c + 1)]
    return [*flat, (layer - 1, r, c), (layer + 1, r, c)]


@cache
def color(hue: int, shade: int) -> str:
    """Return a colour as ``#rrggbb``.

    Hues and shades are those of Oklch (B. Ottosson, *A perceptual color space for image
    processing*, 2020), in which equal steps look equally large.

    Examples
    --------
    >>> color(0, 0), color(1, 0)
    ('#8fcdff', '#ffaf91')
    """
    lightness, chroma = _SHADES[shade]
    angle = (_FIRST_HUE + hue * _STRIDE * 360 / N_HUES) * pi / 180
    a, b = chroma * cos(angle), chroma * sin(angle)
    long = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
    medium = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
    short = (lightness - 0.0894841775 * a - 1.2914855480 * b) ** 3
    linear = (
        4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short,
        -1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short,
        -0.0041960863 * long - 0.7034186147 * medium + 1.7076147010 * short,
    )
    return "#" + "".join(f"{_byte(value):02x}" for value in linear)


def _byte(linear: float) -> int:
    """Return a channel of sRGB from 0 to 255."""
    inside = min(max(linear, 0.0), 1.0)
    gamma = 12.92 * inside if inside <= 0.0031308 else 1.055 * inside ** (1 / 2.4) - 0.055
    return round(255 * gamma)
