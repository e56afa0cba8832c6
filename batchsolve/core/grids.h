// Grids as stacks: option cell · N + digit - 1 puts a digit into a cell.
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

}  // namespace batchsolve
