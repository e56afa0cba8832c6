// Cages that follow from the cages of a grid, because the digits of a house have a known sum.
//
// The cages within some disjoint houses tell the sum of the cells that they leave there, and the
// cages that cover them the sum of the cells that stick out. Solvers of killers know them as
// *innies* and *outies*. If their digits differ, such cells are a cage. They say nothing new, but a
// search that propagates them visits a fortieth of the nodes on published killers.
//
// `ImpliedCages` checks all cells, sizes and regions.
#pragma once

#include <tuple>
#include <utility>

#include "bit_sets.h"

namespace batchsolve::cages {

using Cell = std::uint16_t;

/// The total of cells that differ, whatever their sum.
constexpr std::int64_t no_sum = -(std::int64_t{1} << 60);

/// The cages of rows as `RowRules` has them: begins of rows and of cages, and of sets of digits.
struct Cages {
    std::vector<std::int64_t> cages_of{0};
    GrowingLists<Cell> cells;
    Matrix<std::int64_t> sets_of{0, 2};

    auto parts() { return std::tie(cages_of, cells, sets_of); }
    std::size_t size() const { return cells.size(); }
};

class ImpliedCages {
public:
    /// `ranges` has the begin and the end of the sets of digits, by size and sum; `no_sum` if they
    /// are not known.
    ImpliedCages(std::size_t n_cells, std::span<const Cell> houses, Rows<const std::int64_t> ranges)
        : n_cells_(n_cells),
          n_(ranges.size() - 1),
          most_(static_cast<std::int64_t>(n_ * (n_ + 1) / 2)),
          ranges_(ranges),
          cages_(0, words_for(n_cells)),
          caged_(words_for(n_cells)),
          inside_(caged_),
          left_(caged_),
          out_(caged_) {
        require(ranges.size() > 1 && std::cmp_equal(ranges.width, 2 * (most_ + 1)),
                "sets by size and sum");
        require(houses.size() % n_ == 0, "houses have as many cells as there are digits");
        for (const Cell cell : houses) require(cell < n_cells, "a house has another cell");
        houses_ = {houses.size() / n_, caged_.size()};
        for (std::size_t x = 0; x < houses.size(); ++x) set_bit(houses_[x / n_], houses[x]);
        n_shared_ = houses_.size();
    }

    /// Begin with the cages of a row; each is added next.
    void begin_row() {
        cages_.resize(0);
        totals_.clear();
        std::ranges::fill(caged_, 0);
        first_ = made_.size();
    }

    void add(std::span<const Cell> cells, std::int64_t total) {
        require(cells.size() <= n_, "a cage has no more cells than there are digits");
        for (const Cell cell : cells) require(cell < n_cells_, "a cage has another cell");
        const auto is_free = [&](Cell cell) { return !has_bit(caged_, cell); };
        if (total != no_sum && std::ranges::all_of(cells, is_free)) {
            totals_.push_back(total);
            cages_.resize(totals_.size());
            for (const Cell cell : cells) set_bit(cages_[totals_.size() - 1], cell);
            join(caged_, cages_[totals_.size() - 1]);
        }
        keep(cells, total);
    }

    /// Add the cages that follow from those of the row, whose regions are houses as well.
    void end_row(Bytes regions) {
        if (n_shared_ && made_.size() > first_) {
            houses_.resize(n_shared_);
            if (!regions.empty()) add_regions(regions);
            for (std::size_t house = 0; house < houses_.size(); ++house) follow_from(house);
        }
        made_.cages_of.push_back(static_cast<std::int64_t>(made_.size()));
    }

    Cages& made() { return made_; }

private:
    static constexpr std::size_t longest_run = 3;  // of houses that are looked at together
    static constexpr std::int64_t most_sets = 24;  // of a cage; those with more exclude little

    void add_regions(Bytes regions) {
        require(regions.size() == n_cells_, "each cell has a region");
        houses_.resize(n_shared_ + n_);
        for (std::size_t cell = 0; cell < n_cells_; ++cell) {
            require(regions[cell] < n_, "there are as many regions as digits");
            set_bit(houses_[n_shared_ + regions[cell]], cell);
        }
        for (std::size_t r = n_shared_; r < houses_.size(); ++r) {
            require(size_of(houses_[r]) == n_, "regions have as many cells as there are digits");
        }
    }

    /// Add the cages that follow from the sums of a house, and of those behind it that are
    /// disjoint.
    void follow_from(std::size_t house) {
        std::ranges::fill(inside_, 0);
        std::int64_t total = 0;
        const std::size_t end = house < n_shared_ ? n_shared_ : houses_.size();
        for (std::size_t h = house; h < std::min(house + longest_run, end); ++h) {
            if (do_meet(inside_, houses_[h])) return;
            join(inside_, houses_[h]);
            total += most_;
            left_ = inside_;
            std::ranges::fill(out_, 0);
            std::int64_t total_left = total, total_out = -total;
            for (std::size_t cage = 0; cage < totals_.size(); ++cage) {
                const auto cells = cages_[cage];
                if (is_within(cells, inside_)) {
                    total_left -= totals_[cage];
                    take_away(left_, cells);
                } else if (!do_meet(cells, inside_)) {
                    continue;
                }
                total_out += totals_[cage];
                join(out_, cells);
            }
            add_if_new(left_, total_left, n_ - 1);
            take_away(out_, inside_);
            if (is_within(inside_, caged_)) add_if_new(out_, total_out, n_);
        }
    }

    /// Return the begin and the end of the sets of digits of a cage.
    std::pair<std::int64_t, std::int64_t> sets_of(std::size_t size, std::int64_t total) const {
        if (total == no_sum) return {no_sum, no_sum};
        if (total < 0 || total > most_) return {0, 0};  // none, as the sum is out of reach
        const auto of_size = ranges_[size];
        const auto place = 2 * static_cast<std::size_t>(total);
        return {of_size[place], of_size[place + 1]};
    }

    void keep(std::span<const Cell> cells, std::int64_t total) {
        made_.cells.append(cells);
        made_.sets_of.resize(made_.size());
        const auto sets = made_.sets_of[made_.size() - 1];
        std::tie(sets[0], sets[1]) = sets_of(cells.size(), total);
    }

    /// Keep the cells of a cage that follows if its sets of digits are known and few, if its digits
    /// differ, because they lie in one house or in one cage, and if no cage of the row says the
    /// same.
    void add_if_new(std::span<const Word> set, std::int64_t total, std::size_t most) {
        const std::size_t size = size_of(set);
        if (size == 0 || size > most) return;
        const auto [begin, end] = sets_of(size, total);
        if (begin < 0 || end - begin > most_sets) return;
        if (!is_within_one(set, houses_) && !is_within_one(set, cages_)) return;
        cells_.clear();
        for_each_bit(set, [&](std::size_t cell) { cells_.push_back(static_cast<Cell>(cell)); });
        for (std::size_t other = first_; other < made_.size(); ++other) {
            if (made_.sets_of[other][0] != begin) continue;
            if (std::ranges::equal(made_.cells[other], cells_)) return;
        }
        keep(cells_, total);
    }

    static bool is_within_one(std::span<const Word> set, const Matrix<Word>& some) {
        std::size_t k = 0;
        while (k < some.size() && !is_within(set, some[k])) ++k;
        return k < some.size();
    }

    std::size_t n_cells_, n_, n_shared_;
    std::int64_t most_;  // the sum of all digits
    Rows<const std::int64_t> ranges_;
    Matrix<Word> houses_;               // those of all rows, then the regions of a row
    Matrix<Word> cages_;                // of the row, that have a sum and no cell of one before
    std::vector<std::int64_t> totals_;  // of these cages
    std::vector<Word> caged_;           // the cells of these cages
    std::size_t first_ = 0;             // cage of the row
    std::vector<Word> inside_;          // the cells of the houses at hand
    std::vector<Word> left_, out_;      // those in no cage that is inside; those that stick out
    std::vector<Cell> cells_;           // of a cage that follows
    Cages made_;
};

/// Return the cages of all rows, those that follow behind those that are given.
inline Cages complete_cages(Rows<const std::uint8_t> regions, Ints cages_of, Ints totals,
                            Lists<Cell> cages, std::span<const Cell> houses,
                            Rows<const std::int64_t> ranges, std::size_t n_cells) {
    check_bounds(cages_of, totals.size());
    require(cages.size() == totals.size() && regions.size() + 1 == cages_of.size(),
            "each row has regions, and each cage has cells");
    ImpliedCages implied(n_cells, houses, ranges);
    for (std::size_t row = 0; row < regions.size(); ++row) {
        implied.begin_row();
        for (auto cage = static_cast<std::size_t>(cages_of[row]);
             std::cmp_less(cage, cages_of[row + 1]); ++cage) {
            implied.add(cages[cage], totals[cage]);
        }
        implied.end_row(regions[row]);
    }
    return std::move(implied.made());
}

}  // namespace batchsolve::cages
