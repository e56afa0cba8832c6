// Patterns that a puzzle with one solution cannot have: unique rectangles, unique loops, and BUG.
//
// A *loop* has two digits in each of its cells, and two of its cells in each house that it visits.
// With these digits alone its cells have two solutions or none. So one of its cells has another
// digit, an *extra*. A *bivalue universal grave* (BUG) is a board with two candidates in each open
// cell, and two places of each digit in each house that lacks it; it has two solutions or none,
// too.
//
// The patterns need not help any more when there are fewer candidates. So all that those of the
// least level remove is removed at once, when nothing else helps up to that level: the rating does
// not depend on the order of cells and digits.
#pragma once

#include "rate/step.h"
#include "rate/techniques.h"

namespace batchsolve::rate {

class Patterns {
public:
    /// Find what the patterns of the least level remove from a board.
    explicit Patterns(Board& board) : board_(board) {
        for (unsigned cell = 0; cell < n_cells; ++cell) {
            if (count(board_.candidates[cell]) == 2) extend(Loop(cell, board_.candidates[cell]));
        }
        find_bug();
    }

    /// The level of the patterns, or `guess`.
    unsigned level() const { return level_; }

    void use(Step* step) const {
        for (unsigned cell = 0; cell < n_cells; ++cell) {
            for (const unsigned digit : elements(gone_[cell])) board_.remove({cell, digit});
        }
        if (step) {
            step->cells = cells_;
            step->digits = digits_;
        }
    }

private:
    static constexpr unsigned longest = 18;  // two cells in each of nine houses

    /// The houses of each cell.
    static constexpr auto houses_of = [] {
        std::array<Bits, n_cells> houses{};
        for (unsigned cell = 0; cell < n_cells; ++cell) {
            for (const Seat seat : seats_of[cell]) houses[cell] |= Bits{1} << seat.house;
        }
        return houses;
    }();

    /// A loop that grows from the first of its cells with two candidates.
    struct Loop {
        Loop(unsigned cell, Bits both) : digits(both) { add(cell, 0); }

        unsigned start() const { return path[0]; }
        unsigned last() const { return path[size - 1]; }
        bool is_closed() const { return size >= 4 && visited[0] == visited[1]; }

        void add(unsigned cell, Bits others) {
            path[size] = static_cast<std::uint8_t>(cell);
            visited[size % 2] |= houses_of[cell];
            cells |= CellSet{1} << cell;
            if (others) extra_cells |= CellSet{1} << cell;
            extras |= others;
            ++size;
        }

        Bits digits, extras = 0;  // those of all cells, and others
        CellSet cells = 0, extra_cells = 0;
        std::array<Bits, 2> visited{};  // the houses of every second cell
        unsigned size = 0;
        std::array<std::uint8_t, longest> path;
    };

    /// A pattern with two solutions or none but for extras, one of which is the digit of its cell.
    struct Deadly {
        void add(unsigned cell, Bits some) {
            extra_cells |= CellSet{1} << cell;
            extras[cell] = some;
            digits |= some;
        }

        Kind kind;
        unsigned added;  // tenths, to the least rating of the kind
        CellSet cells;
        CellSet extra_cells = 0;
        std::array<Bits, n_cells> extras{};
        Bits digits = 0;  // of all extras
    };

    /// Find all loops that begin as a path does, each in one direction.
    void extend(const Loop& loop) {
        for (const unsigned cell : elements(set_of_peers[loop.last()])) {
            if (cell == loop.start() && loop.is_closed() && loop.path[1] < loop.last())
                use_loop(loop);
            const Bits digits = board_.candidates[cell], others = digits & ~loop.digits;
            if (loop.size == longest || (digits & loop.digits) != loop.digits) continue;
            if (loop.visited[loop.size % 2] & houses_of[cell] || loop.cells >> cell & 1) continue;
            if (!others && cell < loop.start()) continue;
            Loop more = loop;
            more.add(cell, others);
            if (!others || count(more.extra_cells) <= 2 || is_single(more.extras)) extend(more);
        }
    }

    void use_loop(const Loop& loop) {
        const Kind kind = loop.size == 4 ? Kind::unique_rectangle : Kind::unique_loop;
        Deadly found{kind, loop.size <= 6 ? 0u : loop.size == 8 ? 1u : 4u, loop.cells};
        for (const unsigned cell : elements(loop.extra_cells)) {
            found.add(cell, board_.candidates[cell] & ~loop.digits);
        }
        use_pattern(found);
    }

    /// Find a board that would be a BUG without some extras.
    void find_bug() {
        Deadly bug{Kind::bug, 1, 0};
        Bits digits = 0;  // of the extras
        const auto is_big = [&](unsigned cell) { return count(board_.candidates[cell]) > 2; };
        for (unsigned item = n_cells; item < n_items; ++item) {
            const Bits places = board_.candidates[item];
            if (places == 0 || count(places) == 2) continue;
            const unsigned house = (item - n_cells) / n_digits;
            const Bits digit = Bits{1} << (item - n_cells) % n_digits;
            const Bits big = places & places_where(house, is_big);
            if (!big) return;
            digits |= digit;
            if (is_single(big)) bug.extras[cells_of[house][first(big)]] |= digit;
        }
        for (unsigned cell = 0; cell < n_cells; ++cell) {
            // several extras of one digit may lie in one house
            Bits& extras = bug.extras[cell];
            if (is_single(digits) && is_big(cell)) extras = board_.candidates[cell] & digits;
            if (extras) bug.add(cell, extras);
        }
        bug.cells = bug.extra_cells;
        if (count(bug.cells) == 1) bug.added = 0;
        if (is_bug_without(bug.extras)) use_pattern(bug);
    }

    /// True if without extras each item that is not covered has two candidates.
    bool is_bug_without(const std::array<Bits, n_cells>& extras) const {
        Board left = board_;
        for (unsigned cell = 0; cell < n_cells; ++cell) {
            for (const unsigned digit : elements(extras[cell])) left.remove({cell, digit});
        }
        const auto is_pair = [](Bits set) { return count(set) == 2; };
        return std::ranges::count_if(left.candidates, is_pair) == 4 * left.n_open;
    }

    /// Return the places of the cells of a house that fit.
    static Bits places_where(unsigned house, auto fits) {
        Bits places = 0;
        for (unsigned at = 0; at < n_digits; ++at) {
            if (fits(cells_of[house][at])) places |= Bits{1} << at;
        }
        return places;
    }

    /// Note what a pattern removes.
    void use_pattern(const Deadly& found) {
        const unsigned n = count(found.extra_cells);
        if (n == 1) note(found, 0, first(found.extra_cells), ~found.digits);
        if (n < 2) return;
        if (is_single(found.digits)) {
            for (const unsigned cell : elements(seen_by(found.extra_cells))) {
                note(found, 0, cell, found.digits);
            }
        }
        for (const auto [house, _] : seats_of[first(found.extra_cells)]) {
            if (found.extra_cells & ~set_of_house[house]) continue;
            if (n == 2) use_locked_digits(found, house);
            if (is_single(found.digits)) continue;
            use_naked_sets(found, house);
            if (found.kind != Kind::bug) use_hidden_sets(found, house);
        }
    }

    /// Return the digits beside extras that all cells with extras have.
    Bits common_digits(const Deadly& found) const {
        Bits digits = all & ~found.digits;
        for (const unsigned cell : elements(found.extra_cells)) digits &= board_.candidates[cell];
        return digits;
    }

    Bits places_of_extras(const Deadly& found, unsigned house) const {
        return places_where(house, [&](unsigned cell) { return found.extras[cell] != 0; });
    }

    /// If a digit has no other place in a house than the cells with extras, they have no third.
    void use_locked_digits(const Deadly& found, unsigned house) {
        for (const unsigned digit : elements(common_digits(found))) {
            if (board_.places(house, digit) != places_of_extras(found, house)) continue;
            for (const unsigned cell : elements(found.extra_cells)) {
                note(found, 0, cell, ~(found.extras[cell] | Bits{1} << digit));
            }
        }
    }

    /// Use cells of a house that form a naked set with the extras, as if these were of one cell.
    void use_naked_sets(const Deadly& found, unsigned house) {
        const Bits others = places_where(
            house, [&](unsigned cell) { return !board_.digits[cell] && !found.extras[cell]; });
        Bits shared = found.kind == Kind::bug ? 0 : all;
        for (const unsigned cell : elements(found.extra_cells)) shared &= found.extras[cell];
        for (Bits cells = others; cells; cells = (cells - 1) & others) {
            const unsigned k = count(cells) + 1;
            if (k > 4) continue;
            Bits digits = 0;
            for (const unsigned at : elements(cells)) {
                digits |= board_.candidates[cells_of[house][at]];
            }
            if (count(digits | found.digits) != k || count(digits | shared) != k) continue;
            note_places(found, k - 1, house, others & ~cells, digits | found.digits);
        }
    }

    /// Use digits, with those of a loop, that form a hidden set with two of its cells in a house.
    void use_hidden_sets(const Deadly& found, unsigned house) {
        const Bits both = common_digits(found);
        const Bits rest = board_.missing[house] & ~both & ~found.digits;
        const Bits extras = places_of_extras(found, house);
        for (Bits more = rest;; more = (more - 1) & rest) {
            const Bits digits = both | more;
            const unsigned k = count(digits);
            if (k <= 4 && 2 * k < count(board_.missing[house])) {
                Bits places = 0, only_places = 0;  // of a digit that has no other
                for (const unsigned digit : elements(digits)) {
                    const Bits of_digit = board_.places(house, digit);
                    places |= of_digit;
                    if (is_single(of_digit)) only_places |= of_digit;
                }
                places &= ~extras;
                if (extras & ~only_places && count(places) == k - 1) {
                    note_places(found, k - 2, house, places, ~digits);
                }
            }
            if (!more) break;
        }
    }

    /// Note that a pattern removes digits of a cell, with some tenths more than its least rating.
    void note(const Deadly& found, unsigned more, unsigned cell, Bits digits) {
        digits &= board_.candidates[cell];
        if (!digits) return;
        const unsigned level = level_with(found.kind, found.added + more);
        if (level > level_) return;
        if (level < level_) {
            level_ = level;
            gone_.fill(0);
            cells_ = 0;
            digits_ = 0;
        }
        gone_[cell] |= digits;
        cells_ |= found.cells;
        digits_ |= digits;
    }

    void note_places(const Deadly& found, unsigned more, unsigned house, Bits places, Bits digits) {
        for (const unsigned at : elements(places)) note(found, more, cells_of[house][at], digits);
    }

    Board& board_;
    unsigned level_ = guess;
    std::array<Bits, n_cells> gone_{};  // the digits that each cell loses
    CellSet cells_ = 0;                 // of the patterns, and the digits that they remove
    Bits digits_ = 0;
};

}  // namespace batchsolve::rate
