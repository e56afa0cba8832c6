#include "rate/ratings.h"

#include "rate/climb.h"
#include "rate/guesses.h"

namespace batchsolve::rate {

namespace {

/// Return true for levels of puzzles that the first fill of a search solves: it meets no dead end.
bool is_by_singles(unsigned level) {
    return level == none || (level < guess && ladder[level].kind <= Kind::hidden_single);
}

/// Write what differs between two boards into a step.
void note_changes(Step& step, const Board& before, const Board& after) {
    for (unsigned cell = 0; cell < n_cells; ++cell) {
        if (after.digits[cell] != before.digits[cell]) {
            step.filled.push_back({cell, after.digits[cell] - 1u});
        }
        for (const unsigned digit : elements(before.candidates[cell] & ~after.candidates[cell])) {
            step.removed.push_back({cell, digit});
        }
    }
}

}  // namespace

Ratings rate_grids(Rows<const std::uint8_t> grids, bool uniqueness, bool with_backdoors) {
    require(grids.width == n_cells, "grids to rate have 81 cells");
    Ratings ratings;
    for (std::size_t k = 0; k < grids.size(); ++k) {
        const Grid grid = grids[k].first<n_cells>();
        const unsigned level = Climb(grid, uniqueness).to_the_end();
        std::int64_t n_dead_ends = 0;
        int backdoor = with_backdoors ? 0 : -1;
        if (!is_by_singles(level)) {
            const Guesses guesses(grid);
            n_dead_ends = guesses.is_unique() ? std::int64_t{guesses.n_dead_ends()} : -1;
            if (!guesses.is_unique()) backdoor = -1;
            if (backdoor == 0) backdoor = guesses.backdoor(most_backdoor);
        }
        ratings.levels.push_back(static_cast<std::uint8_t>(level));
        ratings.dead_ends.push_back(n_dead_ends);
        ratings.backdoors.push_back(static_cast<std::int8_t>(backdoor));
    }
    return ratings;
}

std::vector<Step> steps_of(Bytes grid, bool uniqueness) {
    require(grid.size() == n_cells, "a grid to solve by steps has 81 cells");
    std::vector<Step> steps;
    Climb climb(grid.first<n_cells>(), uniqueness);
    while (climb.is_open()) {
        const Board before = climb.board();
        Step step;
        if (climb.next(&step) == guess) break;
        note_changes(step, before, climb.board());
        steps.push_back(std::move(step));
    }
    return steps;
}

}  // namespace batchsolve::rate
