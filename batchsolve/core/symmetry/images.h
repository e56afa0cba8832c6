// Random images of puzzles under the symmetries that keep their rules.
//
// The random numbers of a row are a stream of its own, begun with the seed and the number of the
// row. Permutations and images are exactly uniform. `Group` checks the cells and digits that it
// uses as indices, `draw_images` the digits of grids.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace batchsolve::symmetry {

/// The symmetries of grids with the same rules.
struct Group {
    using Cell = std::uint16_t;
    using Digit = std::uint8_t;

    /// The ways to relabel digits: none, reversing their order, or all of them.
    enum class Labels { none, reversed, all };

    int n_digits;
    std::size_t n_cells;
    int box_rows, box_columns;  // 0 if bands and stacks are not permuted
    Labels labels;
    std::span<const Cell> turns;      // without a box: all permutations of the cells
    std::span<const Cell> moves;      // permutations of the cells that generate all of them
    std::span<const Digit> relabels;  // labels of 0 .. n_digits, relabellings that generate all

    /// Throw std::invalid_argument if arrays do not fit together, or name no cell or digit.
    void check() const;
};

/// The grids to draw images of.
struct Originals {
    std::span<const std::uint8_t> puzzles;    // n_cells digits each
    std::span<const std::uint8_t> solutions;  // as many, or none
    std::span<const std::int64_t> numbers;    // of the rows, which choose their random numbers
};

/// Images of grids, those of a grid one after the other.
struct Images {
    std::vector<std::uint8_t> puzzles, solutions;
    std::vector<std::int64_t> sources;  // the grid of each
};

/// Draw up to `most` different images of each grid; the first is the grid itself if `original`.
///
/// Images that repeat are drawn again. After many, they are an orbit if it is closed.
Images draw_images(const Group& group, const Originals& grids,
                   std::span<const std::uint64_t, 2> keys, std::size_t most, bool original);

}  // namespace batchsolve::symmetry
