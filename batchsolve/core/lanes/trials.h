// Clues that are taken away from a solved grid, one after another, and the trials that tell which
// of them have to stay.
//
// A *trial* takes several clues at once: if the puzzle still has one solution, so has it with any
// of them. If it has a second one, this tells the first clue of the trial that has to stay, should
// all before it go: the last one where the solutions differ. So trials save searches, and change no
// puzzle.
//
// `Wish` has checked the cells of units.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "lanes/made.h"
#include "random.h"
#include "task.h"

namespace batchsolve::lanes {

/// What a search for a second solution says: nothing yet, that there is none, that there is one, or
/// that the search takes too long.
enum class Verdict { open, one, two, too_long };

/// The clues of a puzzle while they are dug out.
class Trials {
public:
    Trials(const Wish& wish, int n_cells)
        : wish_(&wish),
          n_cells_(n_cells),
          gone_(static_cast<std::size_t>(n_cells)),
          order_(static_cast<std::size_t>(wish.n_units())) {}

    /// Draw the order of units and the number of clues; leave the clues that may stand.
    void begin(Random& random) {
        for (int x = 0; x < wish_->n_units(); ++x) {
            const auto y = random.below(static_cast<std::uint32_t>(x) + 1);
            order_[x] = order_[y];
            order_[y] = x;
        }
        target_ = fewest();
        if (!wish_->is_minimal && wish_->most < unlimited) {
            target_ += random.below(static_cast<std::uint32_t>(wish_->most - wish_->fewest + 1));
        }
        std::ranges::fill(gone_, stays);
        for (const auto cell : wish_->outside) gone_[cell] = -1;
        first_ = last_ = n_kept_ = 0;
        n_clues_ = n_cells_ - static_cast<std::int64_t>(wish_->outside.size());
    }

    /// Take away the clues of the next units, `size` of them or as many as a trial should. Returns
    /// false if none is left to take.
    bool begin_trial(std::int64_t size) {
        if (size == 0) size = std::max<std::int64_t>(1, (n_clues_ * 16 - n_cells_ * 7) / 16);
        int begin = first_, x = first_;
        while (x < wish_->n_units() && x < begin + size && n_clues_ > target_) {
            const auto cells = wish_->units[order_[x]];
            const auto n = static_cast<std::int64_t>(cells.size());
            if (n_clues_ - n >= fewest()) {
                for (const auto cell : cells) gone_[cell] = x;
                n_clues_ -= n;
            } else if (x == begin) {
                ++begin;  // the unit is larger than the number of clues that may go
            } else {
                break;
            }
            ++x;
        }
        first_ = begin, last_ = x, n_kept_ = 0;
        return x > begin;
    }

    /// Return the cell of a trial that takes one clue away, else -1.
    int single() const {
        const auto cells = wish_->units[order_[first_]];
        return last_ == first_ + 1 && cells.size() == 1 ? cells[0] : -1;
    }
    /// Draw the conclusion from a trial, given where the second solution differs.
    ///
    /// Returns the size of the next one, 0 if that is open, or -1 if the trial goes on with fewer
    /// units.
    int end_trial(Verdict found, auto differs) {
        const int begin = first_, end = last_;
        if (found == Verdict::one) {
            first_ = end + n_kept_;
            return 0;
        }
        const int last = found == Verdict::two ? last_difference(differs) : begin;
        for (int x = last; x < end; ++x) {
            const auto cells = wish_->units[order_[x]];
            for (const auto cell : cells) gone_[cell] = stays;
            n_clues_ += static_cast<std::int64_t>(cells.size());
        }
        last_ = last;
        if (last > begin) {
            n_kept_ = 1;
            return -1;
        }
        if (found == Verdict::two || end == begin + 1) {
            ++first_;
            return 0;
        }
        return (end - begin) / 2;
    }

    bool has_one_unit() const { return last_ == first_ + 1; }
    std::int64_t n_clues() const { return n_clues_; }

    /// The place in the order at which the clue of a cell has gone, or `stays`.
    std::int32_t gone(int cell) const { return gone_[cell]; }
    bool has_gone_at(int place) const {
        return gone_[wish_->units.values()[order_[place]]] != stays;
    }
    static constexpr std::int32_t stays = 1 << 30;

private:
    std::int64_t fewest() const { return wish_->is_minimal ? 0 : wish_->fewest; }

    /// Return the place of the last unit of the trial where the second solution differs.
    int last_difference(auto differs) const {
        for (int x = last_ - 1; x > first_; --x) {
            if (std::ranges::any_of(wish_->units[order_[x]], differs)) return x;
        }
        return first_;
    }

    const Wish* wish_;
    int n_cells_;
    std::vector<std::int32_t> gone_;
    std::vector<int> order_;    // place -> unit
    int first_ = 0, last_ = 0;  // the places of the first unit of the trial, and after the last
    int n_kept_ = 0;            // 1 if the unit at `last_` has to stay once the trial succeeds
    std::int64_t n_clues_ = 0;  // without those of the trial
    std::int64_t target_ = 0;   // the number of clues at which to stop
};

}  // namespace batchsolve::lanes
