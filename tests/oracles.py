"""Slow, obvious solvers that check the fast ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from copy import deepcopy
from heapq import heappop, heappush
from itertools import chain, combinations, permutations, product

import numpy as np

from batchsolve import ExactCover
from batchsolve.problems.rules import RELATIONS


def covers(problem: ExactCover, stack: tuple[int, ...] = ()) -> set[frozenset[int]]:
    """Return all covers that contain a stack, by Algorithm X on a dict of sets."""
    options = {o: problem.coloring(o) for o in range(problem.n_options)}
    columns = {i: {o for o in options if i in options[o]} for i in range(problem.n_items)}
    for o in stack:
        _select(columns, options, o)
    return {frozenset(cover) for cover in _search(columns, options, problem.n_primary, list(stack))}


def _search(columns, options, n_primary, chosen) -> Iterator[list[int]]:
    open_items = [i for i in columns if i < n_primary]
    if not open_items:
        yield list(chosen)
        return
    item = min(open_items, key=lambda i: len(columns[i]))
    for o in sorted(columns[item]):
        rest = {i: set(members) for i, members in columns.items()}
        _select(rest, options, o)
        yield from _search(rest, options, n_primary, [*chosen, o])


def _select(columns, options, o) -> None:
    for i, color in options[o].items():
        for other in list(columns[i]):
            if color == 0 or options[other][i] != color:
                for j in options[other]:
                    if j in columns:
                        columns[j].discard(other)
    for i, color in options[o].items():
        if color == 0:
            del columns[i]


def bounded_covers(problem: ExactCover, stack: Iterable[int] = ()) -> set[frozenset[int]]:
    """Return all covers below a stack by definition, also with bounds: try every set of options."""
    n = problem.n_options
    taken, refused = {o for o in stack if o < n}, {o - n for o in stack if o >= n}
    free = [o for o in useful_options(problem) if o not in taken | refused]
    sets = chain.from_iterable(combinations(free, size) for size in range(len(free) + 1))
    return {frozenset([*taken, *some]) for some in sets if _is_cover(problem, [*taken, *some])}


def useful_options(problem: ExactCover) -> list[int]:
    """Return the options with primary items."""
    return [o for o in range(problem.n_options) if min(problem.option(o)) < problem.n_primary]


def cheapest_costs(problem: ExactCover, wanted: int, stack: Iterable[int] = ()) -> list[int]:
    """Return the costs of the cheapest covers below a stack."""
    found = bounded_covers(problem, stack)
    return sorted(int(problem.costs[list(cover)].sum()) for cover in found)[:wanted]


def _is_cover(problem: ExactCover, chosen: list[int]) -> bool:
    colors = [problem.coloring(o) for o in chosen]
    for i in range(problem.n_items):
        mine = [coloring[i] for coloring in colors if i in coloring]
        if i >= problem.n_primary:
            if len(mine) > 1 and (0 in mine or len(set(mine)) > 1):
                return False
        else:
            least, most = (1, 1) if problem.bounds is None else problem.bounds[i]
            if not least <= len(mine) <= most:
                return False
    return True


def tilings(cells, pieces, fill=True) -> int:
    """Count the tilings of a board, cell by cell.

    `pieces` are lists: the shapes of a piece, and the minimum and the maximum of its uses
    (None is any number).
    """
    board = sorted(cells)

    def count(left: frozenset, used: tuple[int, ...]) -> int:
        cell = next((cell for cell in board if cell in left), None)
        if cell is None:
            return all(n >= least for n, (_, least, _) in zip(used, pieces, strict=True))
        total = 0 if fill else count(left - {cell}, used)
        for k, (shapes, _, most) in enumerate(pieces):
            if most is not None and used[k] >= most:
                continue
            more = (*used[:k], used[k] + 1, *used[k + 1 :])
            for shape in shapes:
                for corner in shape:
                    step = [a - b for a, b in zip(cell, corner, strict=True)]
                    where = frozenset(
                        tuple(a + b for a, b in zip(square, step, strict=True)) for square in shape
                    )
                    if where <= left:
                        total += count(left - where, more)
        return total

    return count(frozenset(board), (0,) * len(pieces))


def lines_in_all_orders(n, size):
    """Yield all orders of n lines that keep the lines of a band, or of a stack, together."""
    for order in permutations(range(first, first + size) for first in range(0, n, size)):
        for within in product(*map(permutations, order)):
            yield list(chain.from_iterable(within))


def solved(box_rows, box_columns):
    """Return a solved grid with many symmetries, shape (n, n)."""
    rows = np.arange(box_rows * box_columns)
    return (rows[:, None] * box_columns + rows[:, None] // box_rows + rows) % len(rows) + 1


def shuffled(square, box_rows, box_columns, rng):
    """Apply a random symmetry to a grid, shape (n, n)."""
    n = len(square)
    if box_rows == box_columns and rng.integers(2):
        square = square.T

    def order(size):
        bands = rng.permutation(n // size)
        return np.concatenate([band * size + rng.permutation(size) for band in bands])

    labels = np.append(0, 1 + rng.permutation(n))
    return labels[square[order(box_rows)][:, order(box_columns)]]


def moved_in_all_ways(grid, box_rows, box_columns):
    """Yield a grid under all symmetries that keep its digits, as flat arrays."""
    n = box_rows * box_columns
    square = np.asarray(grid).reshape(n, n)
    for each in [square, square.T] if box_rows == box_columns else [square]:
        for rows in lines_in_all_orders(n, box_rows):
            for columns in lines_in_all_orders(n, box_columns):
                yield each[np.ix_(rows, columns)].reshape(-1)


def canonical_form(grid, box_rows, box_columns) -> tuple[tuple[int, ...], int]:
    """Return the lexicographic minimum of a grid's orbit, and the number of symmetries to it."""
    least, ways = None, 0
    for moved in moved_in_all_ways(grid, box_rows, box_columns):
        labels = {0: 0}
        form = tuple(labels.setdefault(digit, len(labels)) for digit in moved.tolist())
        if least is None or form < least:
            least, ways = form, 0
        ways += form == least
    return least, ways


def chi_square(drawn, every):
    """Return Pearson's statistic for equal probabilities of every outcome, in standard units."""
    tally = Counter(drawn)
    assert set(tally) <= every
    mean = len(drawn) / len(every)
    statistic = sum((tally[cover] - mean) ** 2 / mean for cover in every)
    freedom = len(every) - 1
    return (statistic - freedom) / (2 * freedom) ** 0.5


def orbits(found: set[frozenset[int]], images) -> set[frozenset[frozenset[int]]]:
    """Return the orbits of covers under symmetries, as sets."""
    return {frozenset(frozenset(image[o] for o in cover) for image in images) for cover in found}


def grids_by_rules(rules, clues) -> set[tuple[int, ...]]:
    """Return all grids with these clues (0: blank) that follow the rules, filled cell by cell."""
    cells = list(map(int, clues))  # of NumPy, differences would wrap around
    together = [*rules.houses, *rules.groups, *(cage.cells for cage in rules.cages)]
    found = set()

    def follows() -> bool:
        for some in together:
            known = [cells[c] for c in some if cells[c]]
            if len(set(known)) < len(known):
                return False
        for a, b, relation in rules.pairs:
            if cells[a] and cells[b] and not RELATIONS[relation](cells[a], cells[b]):
                return False
        for cage in rules.cages:
            known = [cells[c] for c in cage.cells]
            if 0 not in known and sum(known) != cage.total:
                return False
        return all(not cells[c] or mask >> (cells[c] - 1) & 1 for c, mask in rules.marks)

    def fill(cell: int) -> None:
        if not follows():
            return
        if cell == len(cells):
            found.add(tuple(cells))
        elif cells[cell]:
            fill(cell + 1)
        else:
            for digit in range(1, rules.n_digits + 1):
                cells[cell] = digit
                fill(cell + 1)
            cells[cell] = 0

    fill(0)
    return found


class Pencilmarks:
    """The candidates of a 9×9 puzzle as sets, and techniques that use them one step at a time."""

    def __init__(self, grid) -> None:
        self.candidates = {cell: set(range(1, 10)) for cell in product(range(9), repeat=2)}
        lines = [[(i, j) for j in range(9)] for i in range(9)]
        lines += [[(i, j) for i in range(9)] for j in range(9)]
        corners = product((0, 3, 6), repeat=2)
        self.boxes = [[(r + i, c + j) for i, j in product(range(3), repeat=2)] for r, c in corners]
        self.lines, self.houses = lines, [*self.boxes, *lines]
        self.peers = {
            cell: set().union(*(house for house in self.houses if cell in house)) - {cell}
            for cell in self.candidates
        }
        for cell, digit in zip(product(range(9), repeat=2), grid, strict=True):
            if digit:
                self.fill(cell, digit)

    def sees(self, one, two) -> bool:
        return two in self.peers[one]

    def fill(self, cell, digit) -> bool:
        del self.candidates[cell]
        for other in self.candidates:
            if self.sees(cell, other):
                self.candidates[other].discard(digit)
        return True

    def remove(self, cells, digits) -> bool:
        before = sum(map(len, self.candidates.values()))
        for cell in cells:
            self.candidates[cell] -= set(digits)
        return sum(map(len, self.candidates.values())) < before

    def open(self, house):
        return [cell for cell in house if cell in self.candidates]

    def places(self, house, digit):
        return {cell for cell in house if digit in self.candidates.get(cell, ())}

    def has_places(self, house) -> bool:
        cells = self.open(house)
        return len(set().union(*(self.candidates[cell] for cell in cells))) >= len(cells)

    def last_cell(self) -> bool:
        single = [self.open(house) for house in self.houses if len(self.open(house)) == 1]
        return bool(single) and self.fill(single[0][0], min(self.candidates[single[0][0]]))

    def hidden_single(self, houses) -> bool:
        for house, digit in product(houses, range(1, 10)):
            if len(places := self.places(house, digit)) == 1:
                return self.fill(*places, digit)
        return False

    def naked_single(self) -> bool:
        single = [cell for cell, digits in self.candidates.items() if len(digits) == 1]
        return bool(single) and self.fill(single[0], *self.candidates[single[0]])

    def locked(self, houses, others, direct=False) -> bool:
        for house, other, digit in product(houses, others, range(1, 10)):
            places = self.places(house, digit)
            if len(places) < 2 or not places <= set(other):
                continue
            if not direct:
                if self.remove(set(self.open(other)) - places, {digit}):
                    return True
                continue
            for third in houses:
                at = self.places(third, digit)
                if third != house and len(at) > 1 and len(at - set(other)) == 1:
                    return self.fill(*(at - set(other)), digit)
        return False

    def naked_set(self, size) -> bool:
        for house in self.houses:
            for cells in combinations(self.open(house), size):
                digits = set().union(*(self.candidates[cell] for cell in cells))
                others = set(self.open(house)) - set(cells)
                if len(digits) == size and self.remove(others, digits):
                    return True
        return False

    def hidden_set(self, size, direct=False) -> bool:
        for house in self.houses:
            missing = set().union(*(self.candidates[cell] for cell in self.open(house)))
            for digits in combinations(sorted(missing), size):
                cells = set().union(*(self.places(house, digit) for digit in digits))
                if len(cells) != size:
                    continue
                if not direct:
                    if self.remove(cells, missing - set(digits)):
                        return True
                    continue
                for digit in missing - set(digits):
                    at = self.places(house, digit)
                    if len(at) > 1 and len(at - cells) == 1:
                        return self.fill(*(at - cells), digit)
        return False

    def fish(self, size) -> bool:
        for crossing, digit in product((1, 0), range(1, 10)):  # places of columns, then of rows
            lines = self.lines[:9] if crossing else self.lines[9:]
            places = [self.places(line, digit) for line in lines]
            for at in combinations(filter(None, places), size):
                union = set().union(*at)
                crossed = {cell[crossing] for cell in union}
                others = {cell for cell in self.candidates if cell[crossing] in crossed} - union
                if len(crossed) == size and self.remove(others, {digit}):
                    return True
        return False

    def wing(self, size) -> bool:
        pairs = [cell for cell, digits in self.candidates.items() if len(digits) == 2]
        pivots = [cell for cell, digits in self.candidates.items() if len(digits) == size]
        for pivot, (one, two) in product(pivots, combinations(pairs, 2)):
            if not (self.sees(pivot, one) and self.sees(pivot, two)):
                continue
            sets = [self.candidates[cell] for cell in (pivot, one, two)]
            common = sets[1] & sets[2]
            is_wing = len(common) == 1 and len(set().union(*sets)) == 3
            if not is_wing or (common <= sets[0]) != (size == 3):
                continue
            ends = (one, two) if size == 2 else (pivot, one, two)
            others = {cell for cell in self.candidates if all(self.sees(cell, e) for e in ends)}
            if self.remove(others, common):
                return True
        return False

    def ladder(self):
        """Return the techniques of Sudoku Explainer, without uniqueness, with their ratings."""
        boxes, lines = self.boxes, self.lines
        return [
            (1.0, self.last_cell),
            (1.2, lambda: self.hidden_single(boxes)),
            (1.5, lambda: self.hidden_single(lines)),
            (1.7, lambda: self.locked(boxes, lines, direct=True)),
            (1.9, lambda: any(self.locked(some, boxes, True) for some in (lines[:9], lines[9:]))),
            (2.0, lambda: self.hidden_set(2, direct=True)),
            (2.3, self.naked_single),
            (2.5, lambda: self.hidden_set(3, direct=True)),
            (2.6, lambda: self.locked(boxes, lines)),
            (2.8, lambda: self.locked(lines, boxes)),
            (3.0, lambda: self.naked_set(2)),
            (3.2, lambda: self.fish(2)),
            (3.4, lambda: self.hidden_set(2)),
            (3.6, lambda: self.naked_set(3)),
            (3.8, lambda: self.fish(3)),
            (4.0, lambda: self.hidden_set(3)),
            (4.2, lambda: self.wing(2)),
            (4.4, lambda: self.wing(3)),
            (5.0, lambda: self.naked_set(4)),
            (5.2, lambda: self.fish(4)),
            (5.4, lambda: self.hidden_set(4)),
        ]


def distances(weak, strong, is_on):
    """Return the links from each node, all of them on or off, to each candidate on and off."""
    now = np.eye(len(weak), dtype=bool)
    found = {on: np.where(now & (on == is_on), 0, np.inf) for on in (True, False)}
    links = 0
    while now.any():
        now = now @ (weak if is_on else strong).astype(np.float32) > 0
        links, is_on = links + 1, not is_on
        now &= np.isinf(found[is_on])
        found[is_on][now] = links
    return found[True], found[False]


def shortest_paths(weak, strong, start, end, is_on, left, to_end):
    """Yield the shortest paths from a node to an end, as lists of candidates."""
    if not left:
        yield [start]
        return
    for k in np.flatnonzero((weak if is_on else strong)[start] & (to_end[not is_on] == left - 1)):
        for path in shortest_paths(weak, strong, k, end, not is_on, left - 1, to_end):
            yield [start, *path]


def nodes_to_refute(marks: Pencilmarks, start, digit) -> float:
    """Return the least nodes of two proofs by one digit that refute a candidate; see `nishio`."""
    houses = [places for house in marks.houses if (places := marks.places(house, digit))]
    forced, more = set(), {start}
    while more - forced:
        forced |= more
        lefts = [{cell for cell in house if not forced & marks.peers[cell]} for house in houses]
        more = {cell for left in lefts if len(left) == 1 for cell in left}
    if all(lefts) and not any(forced & marks.peers[cell] for cell in forced):
        return np.inf
    proofs, todo, known, least = {start: 1}, [(1, 0, {start}, set())], set(), np.inf
    while todo and todo[0][0] + 3 <= least:
        _, _, on, off = heappop(todo)
        for house in houses:
            left = {cell for cell in house if not on & marks.peers[cell]}
            if on & house or len(left) > 1:
                continue
            for cell in left or house:
                state = on | {cell}, off | (house - {cell})
                nodes = sum(map(len, state))
                proofs[cell] = min(nodes, proofs.get(cell, nodes))
                if left and (key := tuple(map(frozenset, state))) not in known:
                    known.add(key)
                    heappush(todo, (nodes, len(known), *state))
        for cell, nodes in proofs.items():
            refuted = [proofs[other] for other in marks.peers[cell] & proofs.keys()]
            least = min([least, *(nodes + 1 + other for other in refuted)])
    return least


def chains(marks: Pencilmarks):
    """Return the chains that help, the easiest first: rating, and the candidates that they remove.

    Each is searched for as its definition says, by powers of the matrices of links.
    """
    nodes = [(cell, d) for cell, digits in marks.candidates.items() for d in sorted(digits)]
    n, found = len(nodes), []
    same_digit, same_cell = (
        np.array([[a != b and a[i] == b[i] for b in nodes] for a in nodes]) for i in (1, 0)
    )
    seen = same_digit & [[marks.sees(a[0], b[0]) for b in nodes] for a in nodes]
    pairs = same_cell & (same_cell.sum(axis=1) == 1)[:, None]
    conjugates = np.zeros((n, n), bool)
    for house, digit in product(marks.houses, range(1, 10)):
        places = marks.places(house, digit)
        if len(places) == 2:
            one, two = (nodes.index((cell, digit)) for cell in places)
            conjugates[one, two] = conjugates[two, one] = True

    def add(base, length, removed):
        more = sum(length - 2 > limit for limit in (4, 6, 8, 12, 16, 24, 32, 48, 64))
        if len(removed) and base + more / 10 <= 8.5:
            found.append((round(base + more / 10, 1), [nodes[k] for k in removed]))

    def conclude(base, lengths, is_on):
        for k in np.flatnonzero(np.isfinite(lengths)):
            add(base, lengths[k], np.flatnonzero(same_cell[k]) if is_on else [k])

    for cycle, forcing, weak, strong in (
        (6.5, 6.6, seen, conjugates),
        (6.5, None, seen | same_cell, pairs),
        (7.0, 7.0, seen | same_cell, pairs | conjugates),
    ):
        on_on, on_off = distances(weak, strong, True)
        off_on, _ = distances(weak, strong, False)
        if forcing:
            conclude(forcing, on_off.diagonal() + 1, False)
            conclude(forcing, off_on.diagonal() + 1, True)
        for on, off in np.argwhere(seen & np.isfinite(off_on.T)):
            length = off_on[off, on] + 1
            add(cycle, length, np.flatnonzero(seen[on] & seen[off]))
            if cycle == 6.5 and length > 3:
                to_end = {True: on_on[:, on], False: off_on[:, on]}
                for path in shortest_paths(weak, strong, off, on, False, length - 1, to_end):
                    for one, two in product(path[1::2], path[::2]):
                        if same_digit[one, two]:
                            add(cycle, length, np.flatnonzero(seen[one] & seen[two]))
    for k, (cell, digit) in enumerate(nodes):
        if np.isfinite(length := nodes_to_refute(marks, cell, digit)):
            add(7.5, length, [k])
    starts = [[k for k in range(n) if nodes[k][0] == cell] for cell in marks.candidates]
    for house, digit in product(marks.houses, range(1, 10)):
        starts.append([nodes.index((cell, digit)) for cell in marks.places(house, digit)])
    for some in starts:
        if len(some) > 2:
            conclude(8.0, (on_on[some] + 1).sum(axis=0), True)
            conclude(8.0, (on_off[some] + 1).sum(axis=0), False)
    return sorted(found)


def loops(marks: Pencilmarks):
    """Yield the cells of each unique loop, its digits, and its cells with extras."""
    for both in map(set, combinations(range(1, 10), 2)):
        cells = {cell: found - both for cell, found in marks.candidates.items() if both <= found}
        todo = [(cell,) for cell, extras in cells.items() if not extras]
        while todo:
            path = todo.pop()
            extras = [cell for cell in path if cells[cell]]
            if len(extras) > 2 and len(set().union(*map(cells.get, extras))) > 1:
                continue
            halves = [
                [sum(cell in half for cell in house) for house in marks.houses]
                for half in (path[::2], path[1::2])
            ]
            if max(max(half) for half in halves) > 1:
                continue
            if halves[0] == halves[1] and path[0] in marks.peers[path[-1]]:
                yield path, both, extras
            todo += [(*path, cell) for cell in marks.peers[path[-1]] & cells.keys() - set(path)]


def naked_patterns(marks: Pencilmarks, house, mine, extras, own):
    """Yield the other cells of each naked set with extras in a house: number, digits removed."""
    others = set(marks.open(house)) - set(mine)
    for size in (1, 2, 3):
        for some in combinations(others, size):
            digits = set().union(*map(marks.candidates.get, some))
            if len(digits | extras) == len(digits | own) == size + 1:
                yield size, dict.fromkeys(others - set(some), digits | extras)


def patterns(marks: Pencilmarks):
    """Return the patterns of uniqueness that help: rating, and pairs of cell and digits."""
    found, cells = [], marks.candidates
    for path, both, some in loops(marks):
        base = {4: 4.5, 6: 4.6, 8: 4.7}.get(len(path), 5.0)
        extras = set().union(*(cells[cell] - both for cell in some))
        if len(some) == 1:
            found.append((base, {some[0]: both}))
        elif len(extras) == 1:
            seen = set.intersection(*map(marks.peers.get, some))
            found.append((base, dict.fromkeys(seen, extras)))
        for house in marks.houses:
            if len(some) != 2 or not set(some) <= set(house):
                continue
            alone = [digit for digit in both if marks.places(house, digit) == set(some)]
            found += [(base, dict.fromkeys(some, both - {digit})) for digit in alone]
            if len(extras) > 1:
                own = extras & cells[some[0]] & cells[some[1]]
                for size, gone in naked_patterns(marks, house, some, extras, own):
                    found.append((base + size / 10, gone))
                missing = set().union(*map(cells.get, marks.open(house))) - both - extras
                for size in (0, 1, 2):
                    for more in combinations(missing, size):
                        at = [marks.places(house, digit) for digit in {*both, *more}]
                        places = set().union(*at) - set(some)
                        fits = all(each - {some[1]} for each in at) and len(places) == size + 1
                        if fits and 2 * size + 4 < len(marks.open(house)):
                            gone = {cell: cells[cell] - both - set(more) for cell in places}
                            found.append((base + size / 10, gone))
    found += bugs(marks)
    cut = []
    for rate, gone in found:
        there = [(cell, digits & cells[cell]) for cell, digits in gone.items() if cell in cells]
        if any(digits for _, digits in there):
            cut.append((round(rate, 1), there))
    return cut


def bugs(marks: Pencilmarks):
    """Yield the ratings of BUGs, and the digits that they remove by cell."""
    cells = marks.candidates
    all_places = [(house, digit) for house in marks.houses for digit in range(1, 10)]
    odd = [each for each in all_places if len(marks.places(*each)) not in (0, 2)]
    big = [[c for c in marks.places(*each) if len(cells[c]) > 2] for each in odd]
    digits = {digit for _, digit in odd}
    if len(digits) == 1:
        extras = {cell: digits & cells[cell] for cell in cells if len(cells[cell]) > 2}
    else:
        extras = {}
        for (_, digit), some in zip(odd, big, strict=True):
            if len(some) == 1:
                extras.setdefault(some[0], set()).add(digit)
    rest = deepcopy(marks)
    for cell, gone in extras.items():
        rest.candidates[cell] -= gone
    whole = all(len(left) == 2 for left in rest.candidates.values()) and all(map(len, big))
    if not whole or any(len(rest.places(*each)) not in (0, 2) for each in all_places):
        return
    some = list(extras)
    if len(some) == 1:
        yield 5.6, {some[0]: cells[some[0]] - digits}
    elif len(digits) == 1:
        yield 5.7, dict.fromkeys(set.intersection(*map(marks.peers.get, some)), digits)
    for house in marks.houses:
        if len(some) > 1 and set(some) <= set(house):
            common = set.intersection(*map(cells.get, some)) - digits
            if len(some) == 2 and len(common) == 1:
                yield 5.7, {cell: cells[cell] - extras[cell] - common for cell in some}
            if len(digits) > 1:
                for size, gone in naked_patterns(marks, house, some, digits, set()):
                    yield 5.7 + size / 10, gone


def rating(grid, uniqueness=False) -> float:
    """Return the hardest technique of a solver that takes the easiest steps each time.

    It is 8.6 if it gets stuck. Patterns of uniqueness come when nothing else helps that is as easy
    as the hardest before, and all the easiest are used at once.
    """
    marks, hardest = Pencilmarks(grid), 0.0
    while marks.candidates and hardest < 8.6:
        found = None
        if uniqueness:
            first = [each for each in marks.ladder() if each[0] <= max(hardest, 4.4)]
            found = next((rate for rate, use in first if use()), None)
        if uniqueness and found is None:
            unique = patterns(marks)
            least = min((rate for rate, _ in unique), default=9)
            found = next((rate for rate, use in marks.ladder() if rate < least and use()), None)
            if found is None and unique:
                found = least
                for cell, digits in (pair for rate, cut in unique if rate == least for pair in cut):
                    marks.candidates[cell] -= digits
        hardest = max(hardest, easiest_step(marks) if found is None else found)
    return hardest


def easiest_step(marks: Pencilmarks) -> float:
    """Use the easiest technique, or the easiest chains; return the rating, 8.6 if none helps."""
    found = next((rate for rate, technique in marks.ladder() if technique()), None)
    if found is None:
        found, _ = min(some := chains(marks), default=(8.6, []))
        for _, removed in (each for each in some if each[0] == found):
            for cell, digit in removed:
                marks.candidates[cell].discard(digit)
    return found


def dead_ends(marks: Pencilmarks) -> int:
    """Return the dead ends of a search with singles and locked candidates.

    It branches at the first cell with the fewest candidates.
    """
    boxes, lines = marks.boxes, marks.lines
    while (
        marks.naked_single()
        or marks.hidden_single(marks.houses)
        or (marks.locked(boxes, lines) or marks.locked(lines, boxes))
    ):
        pass
    if not all(marks.candidates.values()) or not all(map(marks.has_places, marks.houses)):
        return 1
    total, cells = 0, marks.candidates
    if cells:
        cell = min(cells, key=lambda each: (len(cells[each]), each))
        for digit in cells[cell]:
            child = deepcopy(marks)
            child.fill(cell, digit)
            total += dead_ends(child)
    return total


def is_backdoor(grid, cells) -> bool:
    """Return True if singles solve a grid once some cells, by number, have their digits."""
    marks = Pencilmarks(grid)
    for cell, digit in cells.items():
        if divmod(cell, 9) in marks.candidates:
            marks.fill(divmod(cell, 9), digit)
    while marks.naked_single() or marks.hidden_single(marks.houses):
        pass
    return not marks.candidates
