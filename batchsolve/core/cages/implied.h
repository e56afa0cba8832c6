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
    /// are not known. Cages that follow have up to `most_cells`, whose sets are all known: those of
    /// a row do not depend on the sets that other rows need.
    ImpliedCages(std::size_t n_cells, Rows<const Cell> houses, Rows<const std::int64_t> ranges,
                 std::int64_t most_cells)
        : n_cells_(n_cells),
          n_(ranges.size() - 1),
          most_cells_(most_cells),
          most_(static_cast<std::int64_t>(n_ * (n_ + 1) / 2)),
          ranges_(ranges) {
        require(ranges.size() > 1 && std::cmp_equal(ranges.width, 2 * (most_ + 1)),
                "sets by size and sum");
        require(houses.width == n_, "houses have as many cells as there are digits");
        for (const Cell cell : houses.values) require(cell < n_cells, "a house has another cell");
        for (std::size_t house = 0; house < houses.size(); ++house) {
            houses_.emplace_back(houses[house].begin(), houses[house].end());
        }
        n_shared_ = houses_.size();
        find_runs();
        find_houses_of_cells();
    }

    /// Begin with the cages of a row; each is added next.
    void begin_row() {
        row_.sums.clear();
        row_.cage_of.assign(n_cells_, none);
        first_ = made_.size();
    }

    void add(std::span<const Cell> cells, std::int64_t total) {
        require(cells.size() <= n_, "a cage has no more cells than there are digits");
        for (const Cell cell : cells) require(cell < n_cells_, "a cage has another cell");
        const auto is_free = [&](Cell cell) { return row_.cage_of[cell] == none; };
        if (total >= 0 && total <= most_ && std::ranges::all_of(cells, is_free)) {
            for (const Cell cell : cells) row_.cage_of[cell] = row_.sums.size();
            row_.sums.push_back({static_cast<std::int64_t>(cells.size()), total});
        }
        keep(cells, total);
    }

    /// Add the cages that follow from those of the row, whose regions are houses as well.
    void end_row(Bytes regions) {
        if (n_shared_ && made_.size() > first_) {
            if (!regions.empty()) add_regions(regions);
            for (std::size_t house = 0; house < houses_.size(); ++house) follow_from(house);
        }
        made_.cages_of.push_back(static_cast<std::int64_t>(made_.size()));
    }

    Cages& made() { return made_; }

private:
    static constexpr std::size_t none = ~std::size_t{0};
    static constexpr std::size_t longest_run = 3;  // of houses that are looked at together
    static constexpr std::int64_t most_sets = 24;  // of a cage; those with more exclude little

    struct Sum {
        std::int64_t size, total;
    };

    /// The cages of a row that have a sum and no cell of one before them.
    struct Row {
        std::vector<Sum> sums;
        std::vector<std::size_t> cage_of;  // cell -> cage, or none
    };

    /// Find for each house how many from it on are disjoint, up to a limit.
    void find_runs() {
        for (std::size_t house = 0; house < n_shared_; ++house) {
            std::vector<bool> is_taken(n_cells_);
            std::size_t end = house;
            const auto is_free = [&](Cell cell) { return !is_taken[cell]; };
            while (end < std::min(house + longest_run, n_shared_) &&
                   std::ranges::all_of(houses_[end], is_free)) {
                for (const Cell cell : houses_[end]) is_taken[cell] = true;
                ++end;
            }
            runs_.push_back(end - house);
        }
    }

    /// Set the houses of each cell, as bits.
    void find_houses_of_cells() {
        houses_of_.clear(n_cells_, words_for(houses_.size()));
        for (std::size_t house = 0; house < houses_.size(); ++house) {
            for (const Cell cell : houses_[house]) set_bit(houses_of_[cell], house);
        }
    }

    void add_regions(Bytes regions) {
        require(regions.size() == n_cells_, "each cell has a region");
        houses_.resize(n_shared_);
        houses_.resize(n_shared_ + n_);
        for (std::size_t cell = 0; cell < n_cells_; ++cell) {
            require(regions[cell] < n_, "there are as many regions as digits");
            houses_[n_shared_ + regions[cell]].push_back(static_cast<Cell>(cell));
        }
        for (std::size_t r = n_shared_; r < houses_.size(); ++r) {
            require(houses_[r].size() == n_, "regions have as many cells as there are digits");
        }
        find_houses_of_cells();
    }

    bool are_in_one_house(std::span<const Cell> cells) const {
        for (std::size_t word = 0; word < houses_of_.width; ++word) {
            auto shared = ~Word{0};
            for (const Cell cell : cells) shared &= houses_of_[cell][word];
            if (shared) return true;
        }
        return false;
    }

    std::size_t run_of(std::size_t house) const {
        return house < n_shared_ ? runs_[house] : std::min(houses_.size() - house, longest_run);
    }

    /// Add the cages that follow from the sums of a house, and of those behind it.
    void follow_from(std::size_t house) {
        here_.assign(row_.sums.size(), 0);
        is_inside_.assign(n_cells_, 0);
        const auto n = static_cast<std::int64_t>(n_);
        bool is_covered = true;  // by cages
        for (std::size_t last = house; last < house + run_of(house); ++last) {
            for (const Cell cell : houses_[last]) {
                is_inside_[cell] = 1;
                const std::size_t cage = row_.cage_of[cell];
                is_covered &= cage != none;
                if (cage != none) ++here_[cage];
            }
            const auto length = static_cast<std::int64_t>(last + 1 - house);
            Sum left{length * n, length * most_}, out{-left.size, -left.total};
            for (std::size_t cage = 0; cage < here_.size(); ++cage) {
                const auto [size, total] = row_.sums[cage];
                const std::int64_t is_whole = here_[cage] == size, meets = here_[cage] > 0;
                left = {left.size - size * is_whole, left.total - total * is_whole};
                out = {out.size + size * meets, out.total + total * meets};
            }
            if (left.size < n && is_worth(left)) {
                cells_.clear();
                for (std::size_t h = house; h <= last; ++h) {
                    for (const Cell cell : houses_[h]) {
                        if (!is_whole(row_.cage_of[cell])) cells_.push_back(cell);
                    }
                }
                add_if_new(left);
            }
            if (is_covered && out.size <= n && is_worth(out)) {
                cells_.clear();
                for (std::size_t cell = 0; cell < n_cells_; ++cell) {
                    const std::size_t cage = row_.cage_of[cell];
                    if (cage != none && here_[cage] > 0 && !is_inside_[cell]) {
                        cells_.push_back(static_cast<Cell>(cell));
                    }
                }
                add_if_new(out);
            }
        }
    }

    bool is_whole(std::size_t cage) const {
        return cage != none && here_[cage] == row_.sums[cage].size;
    }

    /// Return the begin and the end of the sets of digits of a cage.
    std::pair<std::int64_t, std::int64_t> sets_of(Sum sum) const {
        if (sum.total == no_sum) return {no_sum, no_sum};
        if (sum.total < 0 || sum.total > most_) return {0, 0};  // none, as the sum is out of reach
        const auto of_size = ranges_[static_cast<std::size_t>(sum.size)];
        const auto place = 2 * static_cast<std::size_t>(sum.total);
        return {of_size[place], of_size[place + 1]};
    }

    /// True if there are cells, and their sets of digits are known and few.
    bool is_worth(Sum sum) const {
        if (sum.size < 1 || sum.size > most_cells_) return false;
        const auto [begin, end] = sets_of(sum);
        return begin >= 0 && end - begin <= most_sets;
    }

    void keep(std::span<const Cell> cells, std::int64_t total) {
        made_.cells.append(cells);
        made_.sets_of.resize(made_.size());
        const auto sets = made_.sets_of[made_.size() - 1];
        std::tie(sets[0], sets[1]) = sets_of({static_cast<std::int64_t>(cells.size()), total});
    }

    /// Keep the cells of a cage that follows if their digits differ, because they lie in one house
    /// or in one cage, and no cage of the row says the same.
    void add_if_new(Sum sum) {
        if (static_cast<std::int64_t>(cells_.size()) != sum.size)
            return;  // a cage has a cell twice
        std::ranges::sort(cells_);
        const std::size_t cage = row_.cage_of[cells_.front()];
        const auto is_there = [&](Cell cell) { return row_.cage_of[cell] == cage; };
        const bool are_in_one_cage = cage != none && std::ranges::all_of(cells_, is_there);
        if (!are_in_one_cage && !are_in_one_house(cells_)) return;
        const auto begin = sets_of(sum).first;
        for (std::size_t other = first_; other < made_.size(); ++other) {
            if (made_.sets_of[other][0] != begin) continue;
            if (std::ranges::equal(made_.cells[other], cells_)) return;
        }
        keep(cells_, sum.total);
    }

    std::size_t n_cells_, n_, n_shared_;
    std::int64_t most_cells_;  // of a cage that follows
    std::int64_t most_;        // the sum of all digits
    Rows<const std::int64_t> ranges_;
    std::vector<std::vector<Cell>> houses_;  // those of all rows, then the regions of a row
    std::vector<std::size_t> runs_;
    Matrix<Word> houses_of_;  // cell -> its houses, as bits
    Row row_;
    std::size_t first_ = 0;                // cage of the row
    std::vector<std::int64_t> here_;       // cage -> its cells in the houses at hand
    std::vector<std::uint8_t> is_inside_;  // cell -> true if it is in these houses
    std::vector<Cell> cells_;              // of a cage that follows
    Cages made_;
};

/// Return the cages of all rows, those that follow behind those that are given.
inline Cages complete_cages(Rows<const std::uint8_t> regions, Ints cages_of, Ints totals,
                            Lists<Cell> cages, Rows<const Cell> houses,
                            Rows<const std::int64_t> ranges, std::int64_t most_cells,
                            std::size_t n_cells) {
    check_bounds(cages_of, totals.size());
    require(cages.size() == totals.size() && regions.size() + 1 == cages_of.size(),
            "each row has regions, and each cage has cells");
    ImpliedCages implied(n_cells, houses, ranges, most_cells);
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
