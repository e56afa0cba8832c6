// Canonical forms of completed 9×9 grids, from a table of second rows.
//
// If no cell is blank, the first row of a form is 123456789, and its second row depends only on the
// column of the first row in which each digit of the second row stands. That is a permutation of
// the columns that leaves no column in its stack, one of 12,096. For each of them, a table holds
// the least second row and the orders of columns that lead to it. All other rows follow from such
// an order: labels are read off the first row, and rows and bands stand in the order of their first
// labels.
//
// A grid has 36 pairs of rows that can come first, 18 of them columns. The pairs with the least
// second row are tried, one or a few for most grids, and their rows compared one by one.
//
// Digits are indices: `canonical_forms` checks grids.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "symmetry/forms.h"

namespace batchsolve::symmetry {

/// The table of second rows, and the search by it.
class FormTable {
public:
    /// The one table of a process; its first use makes it.
    static const FormTable& shared();

    /// Find the form of a completed grid whose digits do not clash.
    void find(std::span<const std::uint8_t, 81> grid, Form& form) const;

private:
    using Line = std::array<std::uint8_t, 9>;
    using Packed = std::int64_t;  // a row, 4 bits a label

    /// Two rows of a band, the first of the form; `moves` is the number of their permutation.
    struct Pair {
        std::uint8_t turned, one, two;
        std::int16_t moves;
    };
    class Candidate;

    FormTable();
    void add(const Line& moved, const std::vector<Line>& places);
    std::size_t pairs_of(const std::array<std::array<Line, 9>, 2>& grids,
                         std::array<Pair, 36>& pairs) const;

    std::vector<Line> orders_;          // of columns: the column at each position
    std::vector<std::int16_t> number_;  // rank of a permutation among all 9! -> its number
    std::vector<Packed> second_rows_;   // number -> the least second row
    GrowingLists<std::int16_t> ways_;   // number -> the orders that lead to the least second row
};

}  // namespace batchsolve::symmetry
