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

    /// Find all loops that begin as a path does, each in one direction.
    void extend(const Loop& loop) {
        for (const unsigned cell : peers_of[loop.last()]) {
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

    /// Note that a pattern of some level removes digits of a cell.
    void note(unsigned level, unsigned cell, Bits digits, CellSet pattern) {
        digits &= board_.candidates[cell];
        if (!digits || level > level_) return;
        if (level < level_) {
            level_ = level;
            gone_.fill(0);
            cells_ = 0;
            digits_ = 0;
        }
        gone_[cell] |= digits;
        cells_ |= pattern;
        digits_ |= digits;
    }

    /// Note that a pattern removes digits at places of a house.
    void note_house(unsigned level, unsigned house, Bits places, Bits digits, CellSet pattern) {
        for (const unsigned at : elements(places)) {
            note(level, cells_of[house][at], digits, pattern);
        }
    }

    /// Note that a pattern removes digits of the cells that see all of some.
    void note_seen(unsigned level, CellSet some, Bits digits, CellSet pattern) {
        CellSet seen = ~CellSet{0} >> (128 - n_cells);
        for (const unsigned cell : elements(some)) seen &= set_of_peers[cell];
        for (const unsigned cell : elements(seen)) note(level, cell, digits, pattern);
    }

    /// Use cells that form a naked set with the extras, of which one is at the places `mine`: of a
    /// kind of patterns to whose least rating `added` tenths are added, and one for each cell.
    void use_naked_sets(Kind kind, unsigned added, unsigned house, Bits mine, Bits extras, Bits own,
                        CellSet pattern) {
        const Bits others = board_.open[house] & ~mine;
        for (Bits cells = others; cells; cells = (cells - 1) & others) {
            const unsigned k = count(cells) + 1;
            if (k > 4) continue;
            Bits digits = 0;
            for (const unsigned at : elements(cells))
                digits |= board_.candidates[cells_of[house][at]];
            if (count(digits | extras) != k || count(digits | own) != k) continue;
            note_house(level_with(kind, added + k - 1), house, others & ~cells, digits | extras,
                       pattern);
        }
    }

    /// Note what a loop removes.
    void use_loop(const Loop& loop) {
        const Kind kind = loop.size == 4 ? Kind::unique_rectangle : Kind::unique_loop;
        const unsigned added = loop.size <= 6 ? 0 : loop.size == 8 ? 1 : 4;
        const unsigned n_extra = count(loop.extra_cells), one = first(loop.extra_cells);
        if (n_extra == 1) {
            note(level_with(kind, added), one, loop.digits, loop.cells);
        } else if (n_extra && is_single(loop.extras)) {
            note_seen(level_with(kind, added), loop.extra_cells, loop.extras, loop.cells);
        }
        if (n_extra != 2) return;
        const unsigned two = first(loop.extra_cells & (loop.extra_cells - 1));
        for (unsigned j = 0; j < 3; ++j) {
            const Seat seat = seats_of[one][j], other = seats_of[two][j];
            if (seat.house != other.house) continue;
            const Bits mine[2]{Bits{1} << seat.place, Bits{1} << other.place};
            use_locked_digits(loop, level_with(kind, added), {one, two}, seat.house,
                              mine[0] | mine[1]);
            if (is_single(loop.extras)) continue;
            const Bits own = loop.extras & board_.candidates[one] & board_.candidates[two];
            use_naked_sets(kind, added, seat.house, mine[0] | mine[1], loop.extras, own,
                           loop.cells);
            use_hidden_sets(loop, kind, added, seat.house, mine);
        }
    }

    /// If one of the digits of a loop has no other place in a house than two cells, those do not
    /// have the other digit.
    void use_locked_digits(const Loop& loop, unsigned level, const std::array<unsigned, 2>& cells,
                           unsigned house, Bits mine) {
        for (const unsigned digit : elements(loop.digits)) {
            if (board_.places[house][digit] != mine) continue;
            for (const unsigned cell : cells) {
                note(level, cell, loop.digits & ~(Bits{1} << digit), loop.cells);
            }
        }
    }

    /// Use digits, with those of a loop, that form a hidden set with two of its cells in a house.
    void use_hidden_sets(const Loop& loop, Kind kind, unsigned added, unsigned house,
                         const Bits (&mine)[2]) {
        const auto& places_of = board_.places[house];
        const Bits rest = all & ~loop.digits & ~loop.extras;
        for (Bits more = rest;; more = (more - 1) & rest) {
            const Bits digits = loop.digits | more;
            const unsigned k = count(digits);
            if (k <= 4 && 2 * k < count(board_.open[house])) {
                Bits places = 0;
                bool are_without[2]{true, true};  // true if all digits have a place beside a cell
                for (const unsigned digit : elements(digits)) {
                    places |= places_of[digit];
                    for (unsigned i = 0; i < 2; ++i)
                        are_without[i] &= (places_of[digit] & ~mine[i]) != 0;
                }
                places &= ~(mine[0] | mine[1]);
                if ((are_without[0] || are_without[1]) && count(places) == k - 1) {
                    note_house(level_with(kind, added + k - 2), house, places, ~digits, loop.cells);
                }
            }
            if (!more) break;
        }
    }

    /// Find a board that would be a BUG without some extras.
    void find_bug() {
        std::array<Bits, n_cells> extras{};
        Bits digits = 0;  // of the extras
        for (unsigned house = 0; house < n_houses; ++house) {
            for (unsigned digit = 0; digit < n_digits; ++digit) {
                const Bits places = board_.places[house][digit];
                if (is_zero_or_two(places)) continue;
                Bits big = 0;  // the places with more than two candidates
                for (const unsigned at : elements(places)) {
                    if (count(board_.candidates[cells_of[house][at]]) > 2) big |= Bits{1} << at;
                }
                if (!big) return;
                digits |= Bits{1} << digit;
                if (is_single(big)) extras[cells_of[house][first(big)]] |= Bits{1} << digit;
            }
        }
        if (is_single(digits)) {  // several extras may lie in one house
            for (unsigned cell = 0; cell < n_cells; ++cell) {
                const Bits candidates = board_.candidates[cell];
                if (count(candidates) > 2) extras[cell] = candidates & digits;
            }
        }
        if (is_bug_without(extras)) use_bug(extras, digits);
    }

    static bool is_zero_or_two(Bits places) { return places == 0 || count(places) == 2; }

    bool is_bug_without(const std::array<Bits, n_cells>& extras) const {
        const auto left = [&](unsigned cell) { return board_.candidates[cell] & ~extras[cell]; };
        for (unsigned cell = 0; cell < n_cells; ++cell) {
            if (!board_.digits[cell] && count(left(cell)) != 2) return false;
        }
        for (const auto& house : cells_of) {
            for (unsigned digit = 0; digit < n_digits; ++digit) {
                const auto has = [&](unsigned cell) { return left(cell) >> digit & 1; };
                const auto n = std::ranges::count_if(house, has);
                if (n != 0 && n != 2) return false;
            }
        }
        return true;
    }

    /// Note what a BUG with extras of these digits removes.
    void use_bug(const std::array<Bits, n_cells>& extras, Bits digits) {
        CellSet cells = 0;
        for (unsigned cell = 0; cell < n_cells; ++cell) {
            if (extras[cell]) cells |= CellSet{1} << cell;
        }
        const unsigned n = count(cells), one = first(cells);
        if (n == 1) {
            note(level_with(Kind::bug, 0), one, ~digits, cells);
        } else if (is_single(digits)) {
            note_seen(level_with(Kind::bug, 1), cells, digits, cells);
        }
        if (n < 2) return;
        const unsigned two = first(cells & (cells - 1));
        for (const auto [house, _] : seats_of[one]) {
            if (cells & ~set_of_house[house]) continue;
            const Bits common = board_.candidates[one] & board_.candidates[two] & ~digits;
            if (n == 2 && is_single(common)) {  // the house has no other place for that digit
                for (const unsigned cell : {one, two}) {
                    note(level_with(Kind::bug, 1), cell, ~(extras[cell] | common), cells);
                }
            }
            if (count(digits) < 2) continue;
            Bits mine = 0;
            for (unsigned at = 0; at < n_digits; ++at) {
                if (extras[cells_of[house][at]]) mine |= Bits{1} << at;
            }
            use_naked_sets(Kind::bug, 1, house, mine, digits, 0, cells);
        }
    }

    Board& board_;
    unsigned level_ = guess;
    std::array<Bits, n_cells> gone_{};  // the digits that each cell loses
    CellSet cells_ = 0;                 // of the patterns, and the digits that they remove
    Bits digits_ = 0;
};

}  // namespace batchsolve::rate
