// The rules of grids; see `batchsolve.problems.rules`.
//
// The constructors check every cell, digit and place that the arrays name.
#pragma once

#include <utility>

#include "cages/implied.h"

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

/// What rows say beyond the rules that they share, as `OwnRules` of `batchsolve.problems.rules`: a
/// view of arrays that the caller keeps.
struct Said {
    Rows<const std::uint8_t> regions;   // row, cell -> region; or empty
    Rows<const std::uint64_t> allowed;  // row, cell -> the digits that marks leave; or empty
    Ints pairs_of;                      // row -> its begin in `pairs`, and the last end
    Rows<const std::uint16_t> pairs;    // two cells, and the number of their relation
    Ints cages_of;                      // row -> its begin in `totals`, and the last end
    Ints totals;                        // cage -> its sum, or `cages::no_sum`
    Ints cells_of;                      // cage -> its begin in `cells`, and the last end
    std::span<const std::uint16_t> cells;

    auto parts() {
        return std::tie(regions, allowed, pairs_of, pairs, cages_of, totals, cells_of, cells);
    }
};

/// What rows say, and the cages that follow from it.
class RowRules : public Said {
public:
    /// See `cages::ImpliedCages` for what tells the sets of digits that fill a cage.
    RowRules(const Rules& shared, const Said& said, Rows<const std::int64_t> ranges,
             std::span<const std::uint64_t> digit_sets, std::size_t most_cells);
    void parts() = delete;  // they would be those of `Said` alone

    std::size_t n_rows() const { return cages_of.size() - 1; }
    std::int64_t n_said(std::size_t row) const { return cages_of[row + 1] - cages_of[row]; }
    bool has_regions() const { return !regions.values.empty(); }
    void check_rows(Ints rows) const {
        const auto exists = [&](auto row) { return 0 <= row && std::cmp_less(row, n_rows()); };
        require(std::ranges::all_of(rows, exists), "there is no such row");
    }

    /// The digits that the marks of a row leave to a cell, all if there are no marks.
    std::uint32_t allowed_in(std::size_t row, int cell, std::uint32_t all_digits) const {
        if (allowed.values.empty()) return all_digits;
        return static_cast<std::uint32_t>(allowed[row][cell]);
    }

    Related pair(std::int64_t x) const { return {pairs[x][0], pairs[x][1], pairs[x][2]}; }

    /// The cells of a cage of a row.
    std::span<const std::uint16_t> cage(std::size_t row, std::int64_t k) const {
        return all.cells[all.cages_of[row] + k];
    }

    const Rules& shared;
    cages::Cages all;  // of a row those that it says, then those that follow
};

/// The place that an option fills, and its digits. The places of a row are the cells, behind them
/// the marks, if they exclude a digit, and then the cages that are said.
struct Filled {
    std::int64_t place;  // -1 if there is no such option
    std::uint64_t digits;
};

Filled filled_by(const RowRules& own, std::size_t row, std::uint32_t option);

/// Return for each grid, a row of digits with 0 for blanks, the position among its clues of the
/// first that clashes with one before it or whose digit is too high, or -1. Grid k follows the
/// rules of row rows[k].
std::vector<std::int64_t> first_clashes(const RowRules& own, Ints rows,
                                        Rows<const std::uint8_t> grids);

/// Return -1, or the position of an option that clashes with one before it or does not exist.
std::int32_t first_clash(const RowRules& own, std::size_t row,
                         std::span<const std::uint32_t> stack);

}  // namespace batchsolve::lanes
