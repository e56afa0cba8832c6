// Grids as stacks, and back: option cell · N + digit - 1 puts a digit into a cell.
//
// Options are checked here before they are indices.
#pragma once

#include "arrays.h"
#include "problem.h"

namespace batchsolve {

/// Return the clues of grids of digits up to n_digits as stacks.
inline GrowingLists<Option> stacks_of_grids(Rows<const std::uint8_t> grids, Option n_digits) {
    GrowingLists<Option> stacks;
    for (std::size_t k = 0; k < grids.size(); ++k) {
        std::uint32_t n_clues = 0;
        for (const auto digit : grids[k]) n_clues += digit != 0;
        stacks.bounds.push_back(stacks.bounds.back() + n_clues);
    }
    stacks.values.resize(static_cast<std::size_t>(stacks.bounds.back()) + 1);
    const std::span<Option> options(stacks.values);
    std::size_t end = 0;
    for (std::size_t k = 0; k < grids.size(); ++k) {
        const auto grid = grids[k];
        Option first = 0;  // the option of the cell's first digit
        for_each_below(grid.size(), [&](std::size_t cell) {
            options[end] = first + grid[cell] - 1;  // overwritten if the cell is blank
            end += grid[cell] != 0;
            first += n_digits;
        });
    }
    stacks.values.pop_back();
    return stacks;
}

/// Return the grids of stacks; options that fill no cell are left out.
inline Matrix<std::uint8_t> grids_of_stacks(Lists<Option> stacks, Option n_cells, Option n_digits) {
    require(n_digits > 0, "grids have digits");
    Matrix<std::uint8_t> grids(stacks.size(), n_cells);
    for (std::size_t k = 0; k < stacks.size(); ++k) {
        const auto grid = grids[k];
        for (const Option option : stacks[k]) {
            const Option cell = option / n_digits;
            if (cell < n_cells) grid[cell] = static_cast<std::uint8_t>(option % n_digits + 1);
        }
    }
    return grids;
}

}  // namespace batchsolve
