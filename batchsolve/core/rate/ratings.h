// Ratings of 9×9 puzzles, and the steps that solve one.
#pragma once

#include <optional>

#include "rate/step.h"

namespace batchsolve::rate {

using Grid = std::span<const std::uint8_t, n_cells>;

/// The largest backdoor that is looked for; that takes a tenth of a second.
constexpr unsigned most_backdoor = 3;

struct Rating {
    unsigned level;                       // of the hardest technique
    std::optional<unsigned> n_dead_ends;  // of a search; none unless there is one solution
    std::optional<unsigned> backdoor;     // the size of the least, if it was looked for and found
};

Rating rating_of(Grid grid, bool uniqueness, bool with_backdoor);

/// Return the steps that solve a puzzle, as far as the ladder goes.
std::vector<Step> steps_of(Grid grid, bool uniqueness);

}  // namespace batchsolve::rate
