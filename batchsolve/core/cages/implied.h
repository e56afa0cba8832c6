// Cages that follow from the cages of a grid, because the digits of a house have a known sum.
//
// The cages within some disjoint houses tell the sum of the cells that they leave there, and the
// cages that cover them the sum of the cells that stick out. Solvers of killers know them as
// *innies* and *outies*. If their digits differ, such cells are a cage. They say nothing new, but a
// search that propagates them visits a fortieth of the nodes on published killers.
//
// `ImpliedCages` checks the cells and sizes of cages, `RowRules` those of houses and regions.
#pragma once

#include <ranges>
#include <tuple>
#include <utility>

#include "bit_sets.h"

namespace batchsolve::cages {

using Cell = std::uint16_t;

/// The total of cells that differ, whatever their sum.
constexpr std::int64_t no_sum = -(std::int64_t{1} << 60);

/// The cages of rows: those that are said, then those that follow from them.
struct Cages {
    std::vector<std::int64_t> cages_of{0};        // row -> its first cage, and the last end
    GrowingLists<Cell> cells;                     // of each cage
    Matrix<std::int64_t> sets_of{0, 2};           // cage -> begin and end in `digit_sets`, or -1
    std::span<const std::uint64_t> digit_sets{};  // a view

    auto parts() { return std::tie(cages_of, cells, sets_of); }
    std::size_t size() const { return cells.size(); }

    bool has_sum(std::int64_t cage) const { return sets_of[cage][0] >= 0; }
    /// The sets of digits that may fill a cage; empty also if it has no sum.
    std::span<const std::uint64_t> sets(std::int64_t cage) const {
        if (!has_sum(cage)) return {};
        return digit_sets.subspan(sets_of[cage][0], sets_of[cage][1] - sets_of[cage][0]);
    }
};

class ImpliedCages {
public:
    /// `ranges` has the begin and the end of the sets of digits, by size and sum; `no_sum` if they
    /// are not known. Cages that follow have up to `most_cells`, whose sets are all known: those of
    /// a row do not depend on the sets that other rows need.
    ImpliedCages(std::size_t n_cells, const Matrix<Cell>& houses, Rows<const std::int64_t> ranges,
                 std::size_t most_cells)
        : n_cells_(n_cells),
          n_(houses.width),
          most_cells_(most_cells),
          most_(static_cast<std::int64_t>(n_ * (n_ + 1) / 2)),
          ranges_(ranges),
          n_shared_(houses.size()),
          houses_(houses.size(), words_for(n_cells)),
          cage_at_(n_cells) {
        require(ranges.size() == n_ + 1 && std::cmp_equal(ranges.width, 2 * (most_ + 1)),
                "sets by size and sum");
        for (std::size_t house = 0; house < houses.size(); ++house) {
            for (const Cell cell : houses[house]) set_bit(houses_[house], cell);
        }
    }

    /// Begin with the cages of a row; each is added next.
    void begin_row() {
        cages_.clear(0, houses_.width);
        totals_.clear();
        taken_.assign(houses_.width, 0);
        first_ = made_.size();
    }

    void add(std::span<const Cell> cells, std::int64_t total) {
        require(cells.size() <= n_, "a cage has no more cells than there are digits");
        require(are_below(cells, n_cells_), "a cage has another cell");
        const auto is_free = [&](Cell cell) { return !has_bit(taken_, cell); };
        if (total >= 0 && total <= most_ && std::ranges::all_of(cells, is_free)) {
            totals_.push_back(total);
            cages_.resize(totals_.size());
            const auto cage = cages_[totals_.size() - 1];
            for (const Cell cell : cells) {
                set_bit(cage, cell);
                cage_at_[cell] = totals_.size() - 1;
            }
            join(taken_, cage);
        }
        keep(cells, total);
    }

    /// Add the cages that follow from those of the row, whose regions are houses as well.
    void end_row(Bytes regions) {
        if (most_cells_ > 0 && made_.size() > first_) {
            if (!regions.empty()) add_regions(regions);
            find_cages_of_houses();
            for (std::size_t house = 0; house < houses_.size(); ++house) follow_from(house);
        }
        made_.cages_of.push_back(static_cast<std::int64_t>(made_.size()));
    }

    Cages& made() { return made_; }

private:
    static constexpr std::size_t longest_run = 3;  // of houses that are looked at together
    static constexpr std::int64_t most_sets = 24;  // of a cage; those with more exclude little

    void add_regions(Bytes regions) {
        houses_.resize(n_shared_);
        houses_.resize(n_shared_ + n_);
        for (std::size_t cell = 0; cell < n_cells_; ++cell) {
            set_bit(houses_[n_shared_ + regions[cell]], cell);
        }
    }

    /// Add the cages that follow from the sum of a house, and of those behind it that are disjoint.
    void follow_from(std::size_t house) {
        const std::size_t end = house < n_shared_ ? n_shared_ : houses_.size();
        for (auto* set : {&inside_, &left_, &out_}) set->assign(houses_.width, 0);
        std::int64_t of_left = 0, of_out = 0;
        for (std::size_t h = house; h < std::min(house + longest_run, end); ++h) {
            if (do_meet(houses_[h], inside_)) return;
            join(inside_, houses_[h]);
            join(left_, houses_[h]);
            of_left += most_;
            of_out -= most_;
            for_each_bit(cages_of_[h], [&](std::size_t k) {
                if (!do_meet(cages_[k], out_)) {
                    join(out_, cages_[k]);
                    of_out += totals_[k];
                }
                if (is_within(cages_[k], inside_)) {
                    take_away(left_, cages_[k]);
                    of_left -= totals_[k];
                }
            });
            add_if_new(left_, n_ - 1, of_left);
            if (!is_within(inside_, out_)) continue;
            beyond_ = out_;
            take_away(beyond_, inside_);
            add_if_new(beyond_, n_, of_out);
        }
    }

    /// Find the cages that each house meets.
    void find_cages_of_houses() {
        cages_of_.clear(houses_.size(), words_for(cages_.size()));
        for (std::size_t house = 0; house < houses_.size(); ++house) {
            for_each_bit(houses_[house], [&](std::size_t cell) {
                if (has_bit(taken_, cell)) set_bit(cages_of_[house], cage_at_[cell]);
            });
        }
    }

    /// Return the begin and the end of the sets of digits of a cage.
    std::pair<std::int64_t, std::int64_t> sets_of(std::size_t size, std::int64_t total) const {
        if (total == no_sum) return {no_sum, no_sum};
        if (total < 0 || total > most_) return {0, 0};  // none, as the sum is out of reach
        return {ranges_[size][2 * total], ranges_[size][2 * total + 1]};
    }

    void keep(std::span<const Cell> cells, std::int64_t total) {
        made_.cells.append(cells);
        made_.sets_of.resize(made_.size());
        const auto sets = made_.sets_of[made_.size() - 1];
        std::tie(sets[0], sets[1]) = sets_of(cells.size(), total);
    }

    /// Keep up to `most` cells as a cage that follows if their digits differ, because they lie in
    /// one house or in one cage, their sets of digits are known and few, and no cage of the row
    /// says the same.
    void add_if_new(std::span<const Word> set, std::size_t most, std::int64_t total) {
        const std::size_t size = size_of(set);
        if (size < 1 || size > std::min(most, most_cells_)) return;
        const auto [begin, end] = sets_of(size, total);
        if (begin < 0 || end < begin || end - begin > most_sets) return;
        cells_.clear();
        for_each_bit(set, [&](std::size_t cell) { cells_.push_back(static_cast<Cell>(cell)); });
        if (!are_in_one(houses_, set) && !are_in_one(cages_, set)) return;
        for (std::size_t other = first_; other < made_.size(); ++other) {
            if (made_.sets_of[other][0] != begin) continue;
            if (std::ranges::equal(made_.cells[other], cells_)) return;
        }
        keep(cells_, total);
    }

    bool are_in_one(const Matrix<Word>& wholes, std::span<const Word> set) const {
        return std::ranges::any_of(std::views::iota(std::size_t{0}, wholes.size()), [&](auto k) {
            return has_bit(wholes[k], cells_[0]) && is_within(set, wholes[k]);
        });
    }

    std::size_t n_cells_, n_;
    std::size_t most_cells_;  // of a cage that follows
    std::int64_t most_;       // the sum of all digits
    Rows<const std::int64_t> ranges_;
    std::size_t n_shared_;
    Matrix<Word> houses_;  // their cells: those that all rows share, then the regions of a row
    // the cages of a row that have a sum and no cell of one before them, and all their cells
    Matrix<Word> cages_;
    std::vector<std::int64_t> totals_;
    std::vector<Word> taken_;
    std::vector<std::size_t> cage_at_;  // taken cell -> its cage
    std::size_t first_ = 0;             // cage of the row
    Matrix<Word> cages_of_;             // house -> the cages that meet it
    // the cells of the houses at hand, those in no cage within them, of cages that meet them, and
    // of these those beyond the houses
    std::vector<Word> inside_, left_, out_, beyond_;
    std::vector<Cell> cells_;  // of a cage that follows
    Cages made_;
};

}  // namespace batchsolve::cages
