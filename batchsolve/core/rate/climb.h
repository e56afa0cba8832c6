// The way of one puzzle up the ladder: the easiest technique that helps, again and again.
#pragma once

#include "rate/chains.h"
#include "rate/singles.h"
#include "rate/subsets.h"
#include "rate/uniqueness.h"
#include "rate/wings.h"

namespace batchsolve::rate {

class Climb {
public:
    Climb(std::span<const std::uint8_t, n_cells> grid, bool uniqueness)
        : uniqueness_(uniqueness), is_valid_(board_.begin(grid)) {}

    const Board& board() const { return board_; }

    /// Return the level of the hardest technique that the puzzle needs.
    unsigned to_the_end() {
        if (!is_valid_) return invalid;
        while (is_open() && next(nullptr) != guess) {
        }
        return is_open() ? guess : hardest_;
    }

    bool is_open() const { return is_valid_ && board_.n_open; }

    /// Use the easiest technique that helps, with a step once; return its level, or `guess`.
    unsigned next(Step* step) {
        unsigned level = use_ladder(uniqueness_ ? first_pattern : guess, step);
        if (level == guess && uniqueness_) level = use_patterns(step);
        if (level == guess) level = use_chains(step);
        if (level != guess && (hardest_ == none || level > hardest_)) hardest_ = level;
        if (step) step->level = level;
        return level;
    }

private:
    /// The hardest level so far, as a limit.
    unsigned limit() const { return hardest_ == none ? 0 : hardest_; }

    /// Use the easiest technique without chains below a level, or no harder than the hardest.
    unsigned use_ladder(unsigned end, Step* step) {
        const unsigned begun = hardest_ == none ? 0 : hardest_ + 1;
        end = std::min(std::max(end, begun), first_chain);
        unsigned level = 0;
        while (level < end && !use(ladder[level], step)) ++level;
        return level < end ? level : guess;
    }

    bool use(const Technique& technique, Step* step) {
        const auto [name, tenths, kind, size, is_direct] = technique;
        Uses uses{board_, step};
        switch (kind) {
            case Kind::last_cell:
                fill_last_cells(uses);
                break;
            case Kind::hidden_single:
                fill_singles(uses, item_of(size, 0), item_of(end_of(size), 0));
                break;
            case Kind::naked_single:
                fill_singles(uses, 0, n_cells);
                break;
            case Kind::locked:
                use_locked(uses, size, is_direct);
                break;
            case Kind::naked_set:
            case Kind::hidden_set:
            case Kind::fish:
                use_sets(uses, kind, size, is_direct);
                break;
            case Kind::wing:
                use_wings(uses, size);
                break;
            default:
                break;
        }
        return uses.changed;
    }

    /// Use patterns, or a technique that is easier.
    unsigned use_patterns(Step* step) {
        const Patterns patterns(board_);
        const unsigned easier = use_ladder(patterns.level(), step);
        if (easier != guess || patterns.level() == guess) return easier;
        patterns.use(step);
        return patterns.level();
    }

    unsigned use_chains(Step* step) {
        Chains chains(board_, limit());
        if (chains.level() == guess) return guess;
        step ? chains.use_easiest(*step) : chains.use_all();
        return chains.level();
    }

    Board board_;
    bool uniqueness_, is_valid_;
    unsigned hardest_ = none;
};

}  // namespace batchsolve::rate
