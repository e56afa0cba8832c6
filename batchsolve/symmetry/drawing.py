"""The drawing of random images of puzzles, by a kernel, and in NumPy before that is compiled.

The random numbers of a row are a stream of its own, begun with the seed and the number of the row.
Permutations and images are exactly uniform.
"""

# compiled kernels are typed by their arguments
# mypy: disallow-untyped-defs=False, disallow-untyped-decorators=False

from __future__ import annotations

import numpy as np

from batchsolve.kernels import helper, with_counterpart
from batchsolve.splitmix import GOLDEN, all_below, all_streams, below, mixed, shuffle, stream_of

NO_LABELS, REVERSED, ALL_LABELS = range(3)
"""The ways to relabel digits: none, reversing their order, or all of them."""

_LOST_DRAWS = 16  # images drawn again, beside four for each found, before the orbit is closed
_MOST_AT_ONCE = 1 << 20  # cells of images that NumPy draws, some 100 MB


@helper
def _shuffle_lines(state, size, groups, within, lines):
    """Permute groups of `size` lines, and the lines within each."""
    n = lines.size
    for k in range(n // size):
        groups[k] = k
    shuffle(state, 0, groups[: n // size])
    for k in range(n // size):
        for x in range(size):
            within[x] = x
        shuffle(state, 0, within[:size])
        for x in range(size):
            lines[k * size + x] = groups[k] * size + within[x]


@helper
def _move(grid, cells, labels, image):
    for cell in range(image.size):
        image[cell] = labels[grid[cells[cell]]]


@helper
def _slot_of(images, slots, image):
    """Return the slot of an image among those found, or the free one where it belongs."""
    key = np.uint64(0)
    for cell in range(image.size):
        key += np.uint64(image[cell]) * (np.uint64(2 * cell + 1) * GOLDEN)
    last = slots.size - 1
    slot = np.intp(mixed(key) & np.uint64(last))
    while slots[slot] >= 0:
        other, cell = images[slots[slot]], 0
        while cell < image.size and other[cell] == image[cell]:
            cell += 1
        if cell == image.size:
            break
        slot = (slot + 1) & last
    return slot


@helper
def _is_orbit(images, n_found, slots, moves, relabels, same_cells, same_labels, image):
    """Return True if no generator of the group makes another image of those found."""
    for k in range(n_found):
        for move in moves:
            _move(images[k], move, same_labels, image)
            if slots[_slot_of(images, slots, image)] < 0:
                return False
        for relabel in relabels:
            _move(images[k], same_cells, relabel, image)
            if slots[_slot_of(images, slots, image)] < 0:
                return False
    return True


@helper
def _draw_cells(state, box_rows, box_columns, turns, lines, cells):
    """Draw a permutation of the cells: of bands, stacks and lines, or one of `turns`."""
    if box_rows == 0:
        cells[:] = turns[below(state, 0, turns.shape[0])]
        return
    rows, columns = lines[0], lines[1]
    _shuffle_lines(state, box_rows, lines[2], lines[3], rows)
    _shuffle_lines(state, box_columns, lines[2], lines[3], columns)
    n = rows.size
    down, right = n, 1
    if box_rows == box_columns and below(state, 0, 2) == 1:
        down, right = 1, n
    for c in range(n):
        columns[c] *= right
    for r in range(n):
        first = np.uint16(down * rows[r])
        for c in range(n):
            cells[r * n + c] = first + columns[c]


@helper
def _draw_labels(state, kind, labels):
    """Draw a relabelling of a kind."""
    n = labels.size - 1
    if kind == ALL_LABELS:
        shuffle(state, 0, labels[1:])
    elif kind == REVERSED:
        is_reversed = below(state, 0, 2) == 1
        for digit in range(1, n + 1):
            labels[digit] = n + 1 - digit if is_reversed else digit


def _bounds(n, box, n_turns, kind):
    """Return the bounds of the random numbers of an image, in order."""
    sizes = [each for size in box if size for each in (n // size, *[size] * (n // size))]
    bounds = [bound for size in sizes for bound in range(size, 1, -1)]
    if not sizes:
        bounds.append(n_turns)
    elif box[0] == box[1]:
        bounds.append(2)
    return [*bounds, *(range(n, 1, -1) if kind == ALL_LABELS else [2] * (kind == REVERSED))]


def _orders(draws, n_rows, size):
    """Return random orders of the numbers below `size`, as `shuffle` makes them."""
    orders, every = np.tile(np.arange(size), (n_rows, 1)), np.arange(n_rows)
    for k in range(size - 1, 0, -1):
        other = next(draws)
        orders[every, k], orders[every, other] = orders[every, other], orders[:, k].copy()
    return orders


def _all_cells(draws, n_images, n, box, turns):
    """Return permutations of the cells, as `_draw_cells` draws them."""
    if box[0] == 0:
        return turns[next(draws)]
    lines = []
    for size in box:
        groups = _orders(draws, n_images, n // size)
        within = [_orders(draws, n_images, size) for _ in range(n // size)]
        lines.append(np.repeat(groups * size, size, axis=1) + np.concatenate(within, axis=1))
    rows, columns = lines[0][:, :, None], lines[1][:, None, :]
    cells = rows * n + columns
    if box[0] == box[1]:
        cells = np.where(next(draws)[:, None, None] == 1, rows + columns * n, cells)
    return cells.reshape(n_images, n * n)


def _all_labels(draws, last, most, kind):
    """Return `most` relabellings after the last of each puzzle, as `_draw_labels` draws them."""
    m, n = len(last), last.shape[1] - 1
    labels = np.repeat(last[:, None], most, axis=1)
    if kind == REVERSED:
        is_reversed, digits = next(draws).reshape(m, most, 1) == 1, np.arange(1, n + 1)
        labels[:, :, 1:] = np.where(is_reversed, n + 1 - digits, digits)
    elif kind == ALL_LABELS:
        orders = _orders(draws, m * most, n).reshape(m, most, n)
        for k in range(most):
            last = np.take_along_axis(last[:, 1:], orders[:, k], axis=1)
            labels[:, k, 1:] = last
            last = labels[:, k]
    return labels


def _images_at_once(puzzles, sources, cells, labels):
    """Return images of puzzles, each by its cells and labels."""
    if puzzles.shape[1] == 0:
        return puzzles[sources]
    moved = np.take_along_axis(puzzles[sources], cells, axis=1)
    return np.take_along_axis(labels, moved, axis=1)


def _draw_at_once(
    puzzles, solutions, numbers, words, most, original, group, drawn, solved, n_found
):
    """Do as `draw`, in NumPy: many images of many puzzles, and more where that is not enough."""
    *box, turns, kind, moves, relabels = group
    n = relabels.shape[1] - 1
    at_once = max(1, _MOST_AT_ONCE // max(1, puzzles.shape[1]))
    many = min(most, at_once)
    bounds = np.tile(np.array(_bounds(n, box, len(turns), kind), np.uint64), many)
    states = all_streams(words, numbers)
    labels = np.tile(np.arange(n + 1, dtype=np.uint8), (len(puzzles), 1))
    seen = [{puzzle.tobytes()} if original else set() for puzzle in puzzles]
    if original:
        drawn[::most], solved[::most] = puzzles, solutions
    n_found[:] = original
    waiting = np.flatnonzero(n_found < most)
    while waiting.size:
        rows = waiting[: at_once // many]
        words_of_rows, states[rows] = all_below(states[rows], bounds)
        n_images = rows.size * many
        draws = iter(words_of_rows.reshape(n_images, -1).T)
        cells = _all_cells(draws, n_images, n, box, turns)
        labels_of_rows = _all_labels(draws, labels[rows], many, kind)
        labels[rows] = labels_of_rows[:, -1]
        labels_of_rows = labels_of_rows.reshape(n_images, n + 1)
        sources = np.repeat(rows, many)
        images = _images_at_once(puzzles, sources, cells, labels_of_rows)
        kept, places = [], []
        for k, (row, image) in enumerate(zip(sources.tolist(), images, strict=True)):
            found = len(seen[row])
            if found < most:
                seen[row].add(image.tobytes())
                if len(seen[row]) > found:
                    kept.append(k)
                    places.append(row * most + found)
        drawn[places] = images[kept]
        solved[places] = _images_at_once(
            solutions, sources[kept], cells[kept], labels_of_rows[kept]
        )
        before, n_found[rows] = n_found[rows], [len(seen[row]) for row in rows.tolist()]
        again = [
            row
            for row, n_new in zip(rows.tolist(), n_found[rows] - before, strict=True)
            if n_found[row] < most
            and (
                n_new == many
                or not _is_closed(drawn[row * most :][: n_found[row]], seen[row], moves, relabels)
            )
        ]
        waiting = np.append(np.array(again, np.intp), waiting[rows.size :])


def _is_closed(images, seen, moves, relabels):
    """Return True if no generator of the group makes another image of those found."""
    moved = [*(images[:, move] for move in moves), *(relabel[images] for relabel in relabels)]
    return all(image.tobytes() in seen for each in moved for image in each)


@with_counterpart(_draw_at_once)
def draw(puzzles, solutions, numbers, words, most, original, group, drawn, solved, n_found):
    """Draw `most` different images of each puzzle; the first is the puzzle itself if `original`.

    Images that repeat are drawn again. After many, they are an orbit if it is closed.
    """
    box_rows, box_columns, turns, kind, moves, relabels = group
    n_cells, n = puzzles.shape[1], relabels.shape[1] - 1
    state, image = np.empty(1, np.uint64), np.empty(n_cells, np.uint8)
    cells, same_cells = np.empty(n_cells, np.uint16), np.arange(n_cells).astype(np.uint16)
    labels, same_labels = np.empty(n + 1, np.uint8), np.arange(n + 1).astype(np.uint8)
    lines = np.empty((4, n), np.uint16)
    n_slots = 4
    while n_slots < 2 * most:
        n_slots *= 2
    slots = np.empty(n_slots, np.int64)
    for k in range(puzzles.shape[0]):
        state[0] = stream_of(words, numbers[k], 0)
        cells[:], labels[:], slots[:] = same_cells, same_labels, -1
        images, found, n_lost = drawn[k * most : (k + 1) * most], 0, 0
        is_drawn = not original
        while found < most:
            if is_drawn:
                _draw_cells(state, box_rows, box_columns, turns, lines, cells)
                _draw_labels(state, kind, labels)
            is_drawn = True
            _move(puzzles[k], cells, labels, image)
            slot = _slot_of(images, slots, image)
            if slots[slot] < 0:
                slots[slot] = found
                images[found] = image
                _move(solutions[k], cells, labels, solved[k * most + found])
                found += 1
                continue
            n_lost += 1
            if n_lost >= 4 * found + _LOST_DRAWS:
                n_lost = 0
                if _is_orbit(images, found, slots, moves, relabels, same_cells, same_labels, image):
                    break
        n_found[k] = found
