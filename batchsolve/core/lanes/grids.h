// Grids in lanes, with boxes or other rules.
#pragma once

#include <array>

#include "lanes/cells.h"
#include "lanes/rules.h"
#include "task.h"

namespace batchsolve::lanes {

/// The steps of a search that depend on the kind of rules: a pass of propagation over all lanes,
/// and the choice of branch cells, which returns the lanes where a cell has no candidate.
template <class T>
struct Steps {
    Found (*propagate)(const Rules& rules, std::span<Vector<T>> cells,
                       std::span<const Vector<T>> regions);
    LaneBits (*choose)(const Rules& rules, std::span<const Vector<T>> cells, Vector<T>& chosen);
};

Steps<std::uint16_t> steps_of(const Rules& rules, std::uint16_t);
Steps<std::uint32_t> steps_of(const Rules& rules, std::uint32_t);

/// The grids of all lanes. The constructor checks that rows exist; callers pass cells and lanes
/// that exist, and `place` checks the options of a stack.
template <class T>
class LaneGrids {
public:
    using Digits = T;

    /// `rows` has, for each stack or row of a task, the row of `own` whose rules hold.
    LaneGrids(const RowRules& own, Ints rows)
        : cells(own.shared.n_cells),
          has_row_rules(own.shared.box.rows == 0),
          rules_(own.shared),
          own_(own),
          rows_(rows),
          steps_(steps_of(rules_, T{})),
          all_digits_(lowest_bits<T>(rules_.n_digits)),
          inverse_((std::uint64_t{1} << 32) / static_cast<std::uint64_t>(rules_.n_digits) + 1) {
        own.check_rows(rows);
        require(has_row_rules || std::min(rules_.box.rows, rules_.box.columns) > 1,
                "boxes have two rows and columns or more");
        if (own.has_regions()) regions_.resize(static_cast<std::size_t>(rules_.n_cells));
    }

    int n_digits() const { return rules_.n_digits; }

    /// Let the rules of a row hold in a lane, and put an empty grid into it.
    void follow(int lane, std::size_t place) {
        row_of_lane_[lane] = row_of(place);
        if (has_row_rules) return follow_rules(lane, row_of(place));
        for (int cell = 0; cell < cells.size(); ++cell) cells.at(cell, lane) = all_digits_;
    }
    void follow_lane(int lane, int other) {
        row_of_lane_[lane] = row_of_lane_[other];
        for (auto& region : regions_) region[lane] = region[other];
    }

    T blank(std::size_t place, int cell) const {
        return static_cast<T>(own_.allowed_in(row_of(place), cell, all_digits_));
    }

    /// Put a stack into an empty grid; return true if each option exists and has its own place.
    bool place(int lane, std::size_t place, std::span<const Option> stack) {
        return has_row_rules ? place_all(lane, row_of(place), stack) : place_clues(lane, stack);
    }

    std::int32_t clash(std::size_t place, std::span<const Option> stack) const {
        return first_clash(own_, row_of(place), stack);
    }

    /// Propagate all grids, until some of the busy ones need attention.
    Events propagate(LaneBits busy) {
        Events events;
        LaneBits stuck = 0;
        while (events.all == 0) {
            Found found = steps_.propagate(rules_, cells.vectors(), regions_);
            found.stuck &= busy;
            found.solved &= busy;
            if (has_row_rules) settle(found);
            events = {found.bad, found.solved, 0, (found.bad | found.solved) & busy};
            // one choice serves all lanes that are stuck, and costs half as much as a pass
            stuck = 8 * std::popcount(found.stuck) >= std::popcount(busy) ? found.stuck : 0;
            events.all |= stuck;
        }
        if (stuck != 0) {
            const LaneBits empty = steps_.choose(rules_, std::as_const(cells).vectors(), chosen_);
            events.bad |= empty & stuck;
            events.full = ~empty;
        } else if (events.solved != 0) {
            events.full = cells.full();
        }
        settled_ &= ~events.all;
        return events;
    }
    /// The branch cell of a lane that is stuck.
    int chosen(int lane) const { return static_cast<int>(chosen_[lane]); }

    Cells<T> cells;
    const bool has_row_rules;  // or there are boxes alone

private:
    /// `place` where options fill cells, and all digits are possible before.
    bool place_clues(int lane, std::span<const Option> stack) {
        const auto n = static_cast<Option>(n_digits());
        const T all_digits = all_digits_;
        for (const Option o : stack) {
            if (o >= n * n * n) return false;
            // a division takes as long as all the rest; this is exact for all options
            const auto cell = static_cast<Option>(o * inverse_ >> 32), digit = o - cell * n;
            T& here = cells.at(static_cast<int>(cell), lane);
            if (here != all_digits) return false;
            here = static_cast<T>(1u << digit);
        }
        return true;
    }

    // what follows is not inlined: most grids have boxes alone, and are searched in 200 nanoseconds

    [[gnu::noinline]] void follow_rules(int lane, std::size_t row) {
        for (std::size_t cell = 0; cell < regions_.size(); ++cell) {
            regions_[cell][lane] = own_.regions[row][cell];
        }
        for (int cell = 0; cell < cells.size(); ++cell) {
            cells.at(cell, lane) = static_cast<T>(own_.allowed_in(row, cell, all_digits_));
        }
    }

    [[gnu::noinline]] bool place_all(int lane, std::size_t row, std::span<const Option> stack) {
        const auto marks = cells.size();  // the place of them; those of cages follow
        is_filled_.assign(static_cast<std::size_t>(marks + 1 + own_.n_said(row)), false);
        for (const Option o : stack) {
            const auto [filled, digits] = filled_by(own_, row, o);
            if (filled < 0 || is_filled_[filled]) return false;
            is_filled_[filled] = true;
            if (filled < marks) {
                cells.at(static_cast<int>(filled), lane) &= static_cast<T>(digits);
            } else if (filled > marks) {
                for (const auto cell : own_.cage(row, filled - marks - 1)) {
                    cells.at(cell, lane) &= static_cast<T>(digits);
                }
            }
        }
        return true;
    }

    std::size_t row_of(std::size_t place) const { return static_cast<std::size_t>(rows_[place]); }

    /// Apply the rules of single rows where propagation leads no further.
    [[gnu::noinline]] void settle(Found& found) {
        for (LaneBits left = (found.stuck | found.solved) & ~settled_; left; left &= left - 1) {
            const int lane = lowest_lane(left);
            const Settled done = settle_lane(lane);
            if (done == Settled::same) {
                settled_ |= bit_of(lane);
                continue;
            }
            found.stuck &= ~bit_of(lane);
            found.solved &= ~bit_of(lane);
            if (done == Settled::wrong) found.bad |= bit_of(lane);
        }
    }

    /// Apply the pairs and the cages of the row of a lane.
    Settled settle_lane(int lane) {
        const auto row = row_of_lane_[lane];
        Settled done = Settled::same;
        for (auto x = own_.pairs_of[row]; x < own_.pairs_of[row + 1]; ++x) {
            done = std::max(done, review_pair(own_.pair(x), lane));
        }
        const auto& cages_of = own_.all.cages_of;
        for (auto cage = cages_of[row]; cage < cages_of[row + 1] && done != Settled::wrong;
             ++cage) {
            done = std::max(done, review_cage(cage, lane));
        }
        return done;
    }

    /// Take the digits from each cell that no digit of the other one allows.
    Settled review_pair(const Related& pair, int lane) {
        const auto [one, other, relation] = pair;
        const auto first = review_by(one, other, lane, rules_.left_to_other(relation));
        if (first == Settled::wrong) return first;
        return std::max(first, review_by(other, one, lane, rules_.left_to_one(relation)));
    }

    /// Leave to a cell the digits that those of another one leave to it.
    Settled review_by(int other, int cell, int lane, std::span<const std::uint32_t> digits_left) {
        std::uint32_t allowed = 0;
        for (std::uint32_t rest = cells.at(other, lane); rest != 0; rest &= rest - 1) {
            allowed |= digits_left[std::countr_zero(rest)];
        }
        return leave(cell, lane, allowed);
    }

    Settled leave(int cell, int lane, std::uint32_t digits) {
        T& here = cells.at(cell, lane);
        const T left = here & static_cast<T>(digits);
        if (left == 0) return Settled::wrong;
        if (left == here) return Settled::same;
        here = left;
        return Settled::changed;
    }

    /// Look for naked singles in a cage, for the digits of no set that its cells can still hold,
    /// and for the only cell for a digit that all such sets have.
    Settled review_cage(std::int64_t cage, int lane) {
        const auto members = own_.all.cells[cage];
        Once<std::uint32_t> places{};
        std::uint32_t naked = 0;
        for (const auto cell : members) {
            const std::uint32_t here = cells.at(cell, lane);
            places.add(here);
            if (std::has_single_bit(here) || here == 0) {
                if (naked & here) return Settled::wrong;
                naked |= here;
            }
        }
        std::uint32_t may = places.once, alone = 0;
        if (own_.all.has_sum(cage)) {
            may = 0, alone = ~places.twice;
            for (const auto set : own_.all.sets(cage)) {
                const auto digits = static_cast<std::uint32_t>(set);
                if ((digits & ~places.once) != 0 || (naked & ~digits) != 0) continue;
                const auto has_any = [&](auto cell) { return cells.at(cell, lane) & digits; };
                if (!std::ranges::all_of(members, has_any)) continue;
                may |= digits;
                alone &= digits;
            }
        }
        Settled done = Settled::same;
        for (const auto cell : members) {
            const std::uint32_t here = cells.at(cell, lane);
            std::uint32_t left = here & may;
            if (here & (here - 1)) left &= ~naked;
            if (left & alone) left &= alone;
            // two digits that the cage needs have no other cell
            if ((left & alone) && (left & (left - 1))) return Settled::wrong;
            done = std::max(done, leave(cell, lane, left));
            if (done == Settled::wrong) return done;
        }
        return done;
    }

    const Rules& rules_;
    const RowRules& own_;
    Ints rows_;
    const Steps<T> steps_;
    const T all_digits_;
    const std::uint64_t inverse_;  // 2³² / n_digits, rounded up
    std::array<std::size_t, n_lanes<T>> row_of_lane_{};
    std::vector<Vector<T>> regions_;  // of every cell, if regions differ from row to row
    std::vector<bool> is_filled_;     // cells, the marks and cages, by the stack that is placed
    Vector<T> chosen_{};
    LaneBits settled_ = 0;  // lanes that the rules of their rows lead no further, too
};

}  // namespace batchsolve::lanes
