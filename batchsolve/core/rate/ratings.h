// Ratings of 9×9 puzzles, and the steps that solve one.
#pragma once

#include "arrays.h"
#include "rate/step.h"

namespace batchsolve::rate {

using Grid = std::span<const std::uint8_t, n_cells>;

/// The largest backdoor that is looked for; that takes a tenth of a second.
constexpr int most_backdoor = 3;

/// The ratings of grids.
struct Ratings {
    std::vector<std::uint8_t> levels;     // of the hardest technique
    std::vector<std::int64_t> dead_ends;  // of a search; -1 unless there is one solution
    std::vector<std::int8_t> backdoors;   // the size of the least; -1 if it was not found

    auto parts() { return std::tie(levels, dead_ends, backdoors); }
};

/// Rate grids of 81 cells; look for backdoors if asked to.
Ratings rate_grids(Rows<const std::uint8_t> grids, bool uniqueness, bool with_backdoors);

/// Return the steps that solve a puzzle, as far as the ladder goes.
std::vector<Step> steps_of(Bytes grid, bool uniqueness);

}  // namespace batchsolve::rate
