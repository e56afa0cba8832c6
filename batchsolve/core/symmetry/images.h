// Random images of puzzles under the symmetries that keep their rules.
//
// The random numbers of a row are a stream of its own, begun with the seed and the number of the
// row. Permutations and images are exactly uniform. `Group` checks the cells and digits that it
// uses as indices, `draw_images` the digits of grids.
#pragma once

#include "random.h"

namespace batchsolve::symmetry {

/// The symmetries of grids with the same rules.
struct Group {
    using Cell = std::uint16_t;
    using Digit = std::uint8_t;

    /// The ways to relabel digits: none, reversing their order, or all of them.
    enum Labels { none, reversed, all };

    int n_digits;
    int box_rows, box_columns;   // 0 if bands and stacks are not permuted
    int labels;                  // of `Labels`
    Rows<const Cell> turns;      // without a box: all permutations of the cells
    Rows<const Cell> moves;      // permutations of the cells that generate all of them
    Rows<const Digit> relabels;  // labels of 0 .. n_digits, relabellings that generate all

    std::size_t n_cells() const { return moves.width; }

    /// Throw std::invalid_argument if arrays do not fit together, or name no cell or digit.
    void check() const;
};

/// Images of grids, those of a grid one after the other.
struct Images {
    std::vector<std::int64_t> sources;  // the grid of each
    Matrix<std::uint8_t> puzzles, solutions;
};

/// Draw up to `most` different images of each puzzle, and those of its solution; the first is the
/// puzzle itself if `original`. The rows' numbers choose their random numbers.
///
/// Images that repeat are drawn again. After many, they are an orbit if it is closed.
Images draw_images(Rows<const std::uint8_t> puzzles, Rows<const std::uint8_t> solutions,
                   Ints numbers, const Streams& streams, std::size_t most, bool original,
                   const Group& group);

}  // namespace batchsolve::symmetry
