// The board of a 9×9 puzzle in progress.
//
// A *house* is a row (0-8), a column (9-17) or a box (18-26). As in an exact cover, an *item* is a
// cell (0-80) or a digit of a house (from 81 on, house by house), and a *candidate* of an open
// cell, a digit that it may still have, belongs to four items. The board keeps the candidates of
// items as sets: the digits of a cell, and the places of a digit in a house. All indices come from
// the tables of this file, from sets of nine bits, or from digits that `begin` has checked.
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <tuple>

#include "rate/sets.h"

namespace batchsolve::rate {

constexpr unsigned n_digits = 9, n_cells = 81, n_houses = 27;
constexpr unsigned n_items = n_cells + n_houses * n_digits;

/// The first house of each kind.
constexpr unsigned rows = 0, columns = 9, boxes = 18;

/// All digits of a cell, or all places of a house.
constexpr Bits all = 511;

template <class T, unsigned n_rows, unsigned n_columns>
using Table = std::array<std::array<T, n_columns>, n_rows>;

/// The cell at each place of each house, in ascending order.
inline constexpr auto cells_of = [] {
    Table<std::uint8_t, n_houses, n_digits> cells{};
    for (unsigned house = 0; house < n_digits; ++house) {
        for (unsigned place = 0; place < n_digits; ++place) {
            const unsigned row = house / 3 * 3 + place / 3, column = house % 3 * 3 + place % 3;
            cells[rows + house][place] = static_cast<std::uint8_t>(9 * house + place);
            cells[columns + house][place] = static_cast<std::uint8_t>(9 * place + house);
            cells[boxes + house][place] = static_cast<std::uint8_t>(9 * row + column);
        }
    }
    return cells;
}();

/// A house of a cell, and the place of the cell in it.
struct Seat {
    std::uint8_t house, place;
};

/// The seats of each cell in its row, column and box.
inline constexpr auto seats_of = [] {
    Table<Seat, n_cells, 3> seats{};
    for (std::uint8_t house = 0; house < n_houses; ++house) {
        for (std::uint8_t place = 0; place < n_digits; ++place) {
            seats[cells_of[house][place]][house / n_digits] = {house, place};
        }
    }
    return seats;
}();

/// The cells of each house.
inline constexpr auto set_of_house = [] {
    std::array<CellSet, n_houses> sets{};
    for (unsigned house = 0; house < n_houses; ++house) {
        for (const unsigned cell : cells_of[house]) sets[house] |= CellSet{1} << cell;
    }
    return sets;
}();

/// The cells that share a house with each cell.
inline constexpr auto set_of_peers = [] {
    std::array<CellSet, n_cells> sets{};
    for (unsigned cell = 0; cell < n_cells; ++cell) {
        for (const Seat seat : seats_of[cell]) sets[cell] |= set_of_house[seat.house];
        sets[cell] &= ~(CellSet{1} << cell);
    }
    return sets;
}();

/// Return the cells that see all of some.
constexpr CellSet seen_by(CellSet cells) {
    CellSet seen = ~CellSet{0} >> (128 - n_cells);
    for (const unsigned cell : elements(cells)) seen &= set_of_peers[cell];
    return seen;
}

/// The places of a house (first index) that lie in another.
inline constexpr auto shared_places = [] {
    Table<Bits, n_houses, n_houses> places{};
    for (unsigned house = 0; house < n_houses; ++house) {
        for (unsigned place = 0; place < n_digits; ++place) {
            for (const Seat seat : seats_of[cells_of[house][place]]) {
                places[house][seat.house] |= Bits{1} << place;
            }
        }
    }
    return places;
}();

/// A digit of a cell.
struct Candidate {
    unsigned cell, digit;
    auto parts() { return std::tie(cell, digit); }
    friend bool operator==(const Candidate&, const Candidate&) = default;
};

/// Return the item of a digit in a house.
constexpr unsigned item_of(unsigned house, unsigned digit) {
    return n_cells + n_digits * house + digit;
}

/// Return the candidate that an element of the set of an item stands for.
constexpr Candidate candidate_of(unsigned item, unsigned element) {
    if (item < n_cells) return {item, element};
    return {cells_of[(item - n_cells) / n_digits][element], (item - n_cells) % n_digits};
}

struct Board {
    std::array<Bits, n_items> candidates;      // of each item; none if it is covered
    std::array<Bits, n_houses> missing;        // the digits that each house lacks
    std::array<std::uint8_t, n_cells> digits;  // counted from 1; 0 if the cell is open
    unsigned n_open;                           // cells

    Board() : n_open(n_cells) {
        candidates.fill(all);
        missing.fill(all);
        digits.fill(0);
    }

    /// Fill the clues of a grid; return false if it has other digits than 0 to 9, or clashes.
    bool begin(std::span<const std::uint8_t, n_cells> grid) {
        for (unsigned cell = 0; cell < n_cells; ++cell) {
            if (grid[cell] > n_digits || (grid[cell] && !fill({cell, grid[cell] - 1u})))
                return false;
        }
        return true;
    }

    Bits places(unsigned house, unsigned digit) const { return candidates[item_of(house, digit)]; }

    bool has(Candidate c) const { return candidates[c.cell] >> c.digit & 1; }

    /// Remove a candidate; return true if it was there.
    bool remove(Candidate c) {
        const bool was_there = has(c);
        candidates[c.cell] &= ~(Bits{1} << c.digit);
        for (const auto [house, place] : seats_of[c.cell]) {
            candidates[item_of(house, c.digit)] &= ~(Bits{1} << place);
        }
        return was_there;
    }

    /// Fill an open cell; return false if the digit is not a candidate of it.
    bool fill(Candidate c) {
        if (!has(c)) return false;
        const Bits rest = candidates[c.cell] & ~(Bits{1} << c.digit);
        for (const unsigned other : elements(rest)) remove({c.cell, other});
        for (const auto [house, _] : seats_of[c.cell]) {
            missing[house] &= ~(Bits{1} << c.digit);
            const Bits others = places(house, c.digit);
            for (const unsigned at : elements(others)) remove({cells_of[house][at], c.digit});
        }
        digits[c.cell] = static_cast<std::uint8_t>(c.digit + 1);
        --n_open;
        return true;
    }

    /// True if an item has no candidates although it is not covered, as four are by each digit.
    bool is_dead_end() const {
        return std::ranges::count(candidates, Bits{0}) != 4 * (n_cells - n_open);
    }
};

}  // namespace batchsolve::rate
