// The puzzles that are wanted and made; `batchsolve.engines.native` has the same fields, in order.
#pragma once

#include <utility>

#include "arrays.h"

namespace batchsolve::lanes {

/// The puzzles that are wanted.
struct Wish {
    Lists<std::uint16_t> units;                    // of cells
    std::span<const std::uint16_t> outside, free;  // cells; houses that share no cell
    std::int64_t fewest, most;  // clues; `most` is unlimited where no number is aimed at
    bool is_minimal, is_weighed;
    std::int64_t n_fills;
    bool is_single;
    std::int64_t row_nodes, trial_nodes, fill_nodes;

    auto parts() {
        return std::tie(units, outside, free, fewest, most, is_minimal, is_weighed, n_fills,
                        is_single, row_nodes, trial_nodes, fill_nodes);
    }
    int n_units() const { return static_cast<int>(units.size()); }
    bool has_single_units() const { return units.size() >= units.values().size(); }

    /// Check that all cells are there, and that houses are whole.
    void check(int n_cells, int n_digits) const {
        require(units.has_all_values() && n_fills > 0 && fewest <= most &&
                    free.size() % std::size_t(n_digits) == 0,
                "the units of a wish do not fit together");
        for (const auto& some : {units.values(), outside, free}) {
            require(are_below(some, n_cells), "a wish has another cell");
        }
        require(!is_weighed || units.size() == units.values().size(),
                "puzzles are weighed where each unit is a cell");
    }
};

/// The puzzles of rows, which are written in place.
struct Made {
    Rows<std::uint8_t> puzzles, solutions;  // row, cell -> digit
    std::span<std::int64_t> attempts;       // the first attempt to make, then the last one
    std::span<std::int64_t> nodes;
    Rows<std::int64_t> reasons;  // row, reason -> attempts that failed
    std::span<std::int64_t> fewest, most;
    std::span<double> weights;

    auto parts() {
        return std::tie(puzzles, solutions, attempts, nodes, reasons, fewest, most, weights);
    }
    void check(std::size_t n_rows, int n_cells, int n_digits) const {
        for (const auto& grids : {puzzles, solutions}) {
            require(grids.size() == n_rows && std::cmp_equal(grids.width, n_cells),
                    "the grids of puzzles do not fit together");
        }
        require(are_below(solutions.values, n_digits + 1), "a solution has another digit");
        for (const auto& of_rows : {attempts, nodes, fewest, most}) {
            require(of_rows.size() == n_rows, "the numbers of puzzles do not fit together");
        }
        for (const auto& numbers : {attempts, nodes}) {
            for (const auto k : numbers) require(k >> 62 == 0, "a number is too large to count on");
        }
        require(reasons.size() == n_rows && reasons.width >= 4 && weights.size() == n_rows,
                "the reasons and weights of puzzles do not fit together");
    }
};

}  // namespace batchsolve::lanes
