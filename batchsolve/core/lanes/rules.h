// The rules of grids; see `batchsolve.problems.rules`.
//
// The constructors check every cell, digit and place that the arrays name, and `RowRules::check`
// that they are of grids of the same size.
#pragma once

#include <utility>

#include "arrays.h"

namespace batchsolve::lanes {

/// Two cells and the number of their relation.
struct Related {
    std::uint16_t one, other, relation;
};

/// Two houses that share two cells or more.
struct Meet {
    std::span<const std::uint16_t> shared, one, other;  // the cells of both; of one house alone
};

/// The rows and columns of a box of up to 32 cells; 0 if there is none.
struct AnyBox {
    int rows, columns;
    static constexpr int most_rows = 16, most_columns = 16, most_digits = 32;
};

/// The rules that all rows share, but for marks and cages. They have a `box` if they are those of
/// Sudoku and no more, for all rows.
class Rules {
public:
    Rules(int n_cells, int n_digits, int box_rows, int box_columns,
          Rows<const std::uint16_t> houses, Rows<const std::uint16_t> distinct,
          Rows<const std::uint16_t> related, Rows<const std::uint32_t> relations)
        : n_cells(n_cells),
          n_digits(n_digits),
          box{box_rows, box_columns},
          houses(houses),
          relations_(relations) {
        const auto n = static_cast<std::size_t>(n_digits);
        require(0 < n_digits && n_digits <= 32, "grids have up to 32 digits");
        require(0 < n_cells && n_cells < 0x10000, "grids have up to 65,535 cells");
        require(
            box.rows == 0 || (box.rows > 0 && std::int64_t{box.rows} * box.columns == n_digits &&
                              n_cells == n_digits * n_digits),
            "a box has a cell for each digit");
        require(houses.width == n && distinct.width == 2 && related.width == 3 &&
                    relations.width == n && relations.size() % 2 == 0,
                "houses have as many cells as there are digits, pairs have two");
        require(are_below(houses.values, n_cells) && are_below(distinct.values, n_cells),
                "a rule has another cell");
        for (std::size_t x = 0; x < distinct.size(); ++x) {
            this->distinct.emplace_back(distinct[x][0], distinct[x][1]);
        }
        for (std::size_t x = 0; x < related.size(); ++x) {
            require(are_below(related[x].first(2), n_cells), "a rule has another cell");
            require(related[x][2] < n_relations(), "a rule has another relation");
            this->related.push_back({related[x][0], related[x][1], related[x][2]});
        }
        find_meets();
    }

    std::size_t n_meets() const { return meets_.size() / 3; }
    Meet meet(std::size_t k) const { return {meets_[3 * k], meets_[3 * k + 1], meets_[3 * k + 2]}; }

    std::size_t n_relations() const { return relations_.size() / 2; }

    /// Return the digits that each digit of one cell leaves to the other one.
    std::span<const std::uint32_t> left_to_other(std::size_t relation) const {
        return relations_[2 * relation];
    }
    std::span<const std::uint32_t> left_to_one(std::size_t relation) const {
        return relations_[2 * relation + 1];
    }

    const int n_cells, n_digits;
    const AnyBox box;
    const Matrix<std::uint16_t> houses;                             // n_digits cells each
    std::vector<std::pair<std::uint16_t, std::uint16_t>> distinct;  // cells that no house has both
    std::vector<Related> related;

private:
    void find_meets() {
        for (std::size_t h = 0; h < houses.size(); ++h) {
            for (std::size_t g = h + 1; g < houses.size(); ++g) {
                std::vector<std::uint16_t> one(houses[h].begin(), houses[h].end());
                std::vector<std::uint16_t> other(houses[g].begin(), houses[g].end());
                std::ranges::sort(one), std::ranges::sort(other);
                std::vector<std::uint16_t> shared;
                std::ranges::set_intersection(one, other, std::back_inserter(shared));
                if (shared.size() < 2 || shared.size() == one.size()) continue;
                meets_.append(shared);
                std::ranges::set_difference(one, other, std::back_inserter(meets_.values));
                meets_.end_list();
                std::ranges::set_difference(other, one, std::back_inserter(meets_.values));
                meets_.end_list();
            }
        }
    }

    GrowingLists<std::uint16_t> meets_;  // three lists each, see `Meet`
    Matrix<std::uint32_t> relations_;    // relation, direction, digit -> digits of the other
};

/// The rules of single rows. They are views of arrays that the caller keeps.
///
/// The cages of a row are those that are said, then those that follow from them.
struct RowRules {
    Rows<const std::uint8_t> regions;   // row, cell -> region; or empty
    Rows<const std::uint64_t> allowed;  // row, cell -> the digits that marks leave; or empty
    Ints pairs_of;                      // row -> its begin in `pairs`, and the last end
    Rows<const std::uint16_t> pairs;    // two cells, and the number of their relation
    Ints cages_of;                      // row -> the begin of its cages, and the last end
    Ints n_said;                        // row -> the number of cages that are said
    Lists<std::uint16_t> cages;         // of cells
    Rows<const std::int64_t> sets_of;   // cage -> begin and end in `digit_sets`, or -1
    std::span<const std::uint64_t> digit_sets;

    /// As `OwnRules.in_core` of `batchsolve.problems.rules` packs them, in order.
    auto parts() {
        return std::tie(regions, allowed, pairs_of, pairs, cages_of, n_said, cages, sets_of,
                        digit_sets);
    }

    /// Check that the arrays fit together, and to the rules that rows share.
    void check(const Rules& shared) const {
        const auto n_cells = static_cast<std::size_t>(shared.n_cells);
        require(n_said.size() + 1 == pairs_of.size() && pairs_of.size() == cages_of.size() &&
                    pairs.width == 3,
                "each row has pairs and cages");
        require(cages.size() == sets_of.size() && sets_of.width == 2,
                "each cage has sets of digits");
        check_bounds(pairs_of, pairs.size());
        check_bounds(cages_of, sets_of.size());
        const auto has_all = [&](const auto& rows) {
            return rows.values.empty() || (rows.size() == n_rows() && rows.width == n_cells);
        };
        require(has_all(regions) && has_all(allowed), "regions and marks of each row");
        require(are_below(regions.values, shared.n_digits), "a region more");
        require(are_below(cages.values(), n_cells), "a cage has another cell");
        for (std::size_t x = 0; x < pairs.size(); ++x) {
            const auto [one, other, relation] = pair(static_cast<std::int64_t>(x));
            require(one < n_cells && other < n_cells && relation < shared.n_relations(),
                    "a pair of a row has another cell or relation");
        }
        for (std::size_t row = 0; row < n_rows(); ++row) {
            require(0 <= n_said[row] && n_said[row] <= cages_of[row + 1] - cages_of[row],
                    "more cages are said than there are");
        }
        for (std::size_t cage = 0; cage < sets_of.size(); ++cage) {
            require(
                sets_of[cage][0] <= sets_of[cage][1] && sets_of[cage][1] <= std::ssize(digit_sets),
                "a cage has sets of digits that are not there");
        }
    }

    std::size_t n_rows() const { return n_said.size(); }
    bool has_regions() const { return !regions.values.empty(); }

    /// The digits that the marks of a row leave to a cell, all if there are no marks.
    std::uint32_t allowed_in(std::size_t row, int cell, std::uint32_t all_digits) const {
        if (allowed.values.empty()) return all_digits;
        return static_cast<std::uint32_t>(allowed[row][cell]);
    }

    Related pair(std::int64_t x) const { return {pairs[x][0], pairs[x][1], pairs[x][2]}; }

    /// The sets of digits that may fill a cage; empty also if it has no sum.
    std::span<const std::uint64_t> sets(std::int64_t cage) const {
        if (!has_sum(cage)) return {};
        return digit_sets.subspan(sets_of[cage][0], sets_of[cage][1] - sets_of[cage][0]);
    }
    bool has_sum(std::int64_t cage) const { return sets_of[cage][0] >= 0; }
};

/// The place that an option fills, and its digits. The places of a row are the cells, behind them
/// the marks, if they exclude a digit, and then the cages that are said.
struct Filled {
    std::int64_t place;  // -1 if there is no such option
    std::uint64_t digits;
};

Filled filled_by(const Rules& rules, const RowRules& own, std::size_t row, std::uint32_t option);

/// Return for each grid, a row of digits with 0 for blanks, the position among its clues of the
/// first that clashes with one before it or whose digit is too high, or -1. Grid k follows the
/// rules of row rows[k].
std::vector<std::int64_t> first_clashes(const Rules& rules, const RowRules& own, Ints rows,
                                        Rows<const std::uint8_t> grids);

/// Return -1, or the position of an option that clashes with one before it or does not exist.
std::int32_t first_clash(const Rules& rules, const RowRules& own, std::size_t row,
                         std::span<const std::uint32_t> stack);

}  // namespace batchsolve::lanes
