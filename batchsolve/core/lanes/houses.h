// Grids with other rules than boxes, in lanes.
#pragma once

#include <span>
#include <vector>

#include "lanes/house_pass.h"
#include "task.h"

namespace batchsolve::lanes {

/// The grids of all lanes. The constructor checks that rules fit together and that rows exist;
/// callers pass cells and lanes that exist, and `place` checks the options of a stack.
template <class T>
class HouseGrids {
public:
    using Digits = T;
    static constexpr bool has_row_rules = true;

    /// `rows` has, for each stack or row of a task, the row of `own` whose rules hold.
    HouseGrids(const Rules& rules, const RowRules& own, Ints rows)
        : cells(rules.n_cells), rules_(rules), own_(own), rows_(rows) {
        own.check(rules);
        require(rules.n_digits <= 8 * int{sizeof(T)}, "a lane has a bit for each digit");
        for (const auto row : rows) {
            require(0 <= row && row < static_cast<std::int64_t>(own.n_rows()), "no such row");
        }
        if (own.has_regions()) {
            require(rules.n_cells == rules.n_digits * rules.n_digits &&
                        rules.n_houses() >= 2 * std::size_t(rules.n_digits),
                    "grids with regions are squares, with rows and columns");
            regions_.resize(static_cast<std::size_t>(rules.n_cells));
        }
    }

    int n_digits() const { return rules_.n_digits; }

    void follow(int lane, std::size_t place) {
        row_of_lane_[lane] = row_of(place);
        if (regions_.empty()) return;
        const auto regions = own_.regions[row_of(place)];
        for (std::size_t cell = 0; cell < regions_.size(); ++cell) {
            regions_[cell][lane] = regions[cell];
        }
    }
    void follow_lane(int lane, int other) {
        row_of_lane_[lane] = row_of_lane_[other];
        for (auto& region : regions_) region[lane] = region[other];
    }

    T blank(std::size_t place, int cell) const {
        return static_cast<T>(own_.allowed_in(row_of(place), cell, lowest_bits<T>(n_digits())));
    }

    /// Put a stack into an empty grid; tell whether each option exists and has its own place.
    bool place(int lane, std::size_t place, std::span<const Option> stack) {
        const auto row = row_of(place);
        const auto marks = cells.size();  // the place of them; those of cages follow
        is_filled_.assign(static_cast<std::size_t>(marks + 1 + own_.n_said[row]), false);
        for (const Option o : stack) {
            const auto [filled, digits] = filled_by(rules_, own_, row, o);
            if (filled < 0 || is_filled_[filled]) return false;
            is_filled_[filled] = true;
            if (filled < marks) {
                cells.at(static_cast<int>(filled), lane) &= static_cast<T>(digits);
            } else if (filled > marks) {
                for (const auto cell : own_.cells(own_.cages_of[row] + filled - marks - 1)) {
                    cells.at(cell, lane) &= static_cast<T>(digits);
                }
            }
        }
        return true;
    }

    std::int32_t clash(std::size_t place, std::span<const Option> stack) const {
        return first_clash(rules_, own_, row_of(place), stack);
    }

    Found propagate() {
        if constexpr (sizeof(T) == 2) {
            if (n_digits() == 9) return HousePass<T, 9>(rules_, cells.vectors(), regions_).run();
        }
        return HousePass<T>(rules_, cells.vectors(), regions_).run();
    }

    /// Choose the first cell with the fewest candidates, two or more.
    LaneBits choose() {
        Vector<T> least = Vector<T>{} + 63, number{}, smallest = cells.vectors()[0];
        for (const auto& here : cells.vectors()) {
            const Vector<T> size = popcount(here);
            const auto is_better = (least > size) & (size > 1);
            least = is_better ? size : least;
            chosen_ = is_better ? number : chosen_;
            number += 1;
            smallest = here < smallest ? here : smallest;
        }
        return bits(smallest == 0);
    }
    int chosen(int lane) const { return static_cast<int>(chosen_[lane]); }

    /// Apply the pairs and the cages of the row of a lane; see `RowReview`.
    Settled settle(int lane) {
        const auto row = row_of_lane_[lane];
        Settled done = Settled::same;
        for (auto x = own_.pairs_of[row]; x < own_.pairs_of[row + 1]; ++x) {
            done = std::max(done, review_pair(own_.pair(x), lane));
        }
        for (auto cage = own_.cages_of[row];
             cage < own_.cages_of[row + 1] && done != Settled::wrong; ++cage) {
            done = std::max(done, review_cage(cage, lane));
        }
        return done;
    }

    Cells<T> cells;

private:
    std::size_t row_of(std::size_t place) const { return static_cast<std::size_t>(rows_[place]); }

    /// Take the digits from each cell that no digit of the other one allows.
    Settled review_pair(const Related& pair, int lane) {
        const auto [one, other, relation] = pair;
        const auto first =
            leave(other, lane, allowed_by(one, lane, rules_.left_to_other(relation)));
        if (first == Settled::wrong) return first;
        return std::max(first,
                        leave(one, lane, allowed_by(other, lane, rules_.left_to_one(relation))));
    }

    std::uint32_t allowed_by(int cell, int lane, std::span<const std::uint32_t> digits_left) const {
        std::uint32_t allowed = 0;
        for (std::uint32_t rest = cells.at(cell, lane); rest != 0; rest &= rest - 1) {
            allowed |= digits_left[std::countr_zero(rest)];
        }
        return allowed;
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
        const auto members = own_.cells(cage);
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
        if (own_.has_sum(cage)) {
            may = 0, alone = ~places.twice;
            for (const auto set : own_.sets(cage)) {
                const auto digits = static_cast<std::uint32_t>(set);
                if ((digits & ~places.once) != 0 || (naked & ~digits) != 0) continue;
                if (!std::ranges::all_of(members,
                                         [&](auto c) { return cells.at(c, lane) & digits; })) {
                    continue;
                }
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
    std::array<std::size_t, n_lanes<T>> row_of_lane_{};
    std::vector<Vector<T>> regions_;  // of every cell, if regions differ from row to row
    std::vector<bool> is_filled_;     // cells, the marks and cages, by the stack that is placed
    Vector<T> chosen_{};
};

}  // namespace batchsolve::lanes
