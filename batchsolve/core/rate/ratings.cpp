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

Rating rating_of(Grid grid, bool uniqueness, bool with_backdoor) {
    Rating rating{Climb(grid, uniqueness).to_the_end(), 0, std::nullopt};
    if (is_by_singles(rating.level)) {
        if (with_backdoor) rating.backdoor = 0;
        return rating;
    }
    const Guesses guesses(grid);
    if (!guesses.is_unique()) return {rating.level, std::nullopt, std::nullopt};
    rating.n_dead_ends = guesses.n_dead_ends();
    if (with_backdoor) rating.backdoor = guesses.backdoor(most_backdoor);
    return rating;
}

std::vector<Step> steps_of(Grid grid, bool uniqueness) {
    std::vector<Step> steps;
    Climb climb(grid, uniqueness);
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
