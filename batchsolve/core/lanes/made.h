// The puzzles that are wanted and made; see `batchsolve.engines.lanes`.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <stdexcept>

namespace batchsolve::lanes {

/// The puzzles that are wanted.
struct Wish {
    std::span<const std::int64_t> begins;  // the place in `cells` where each unit begins
    std::span<const std::uint16_t> cells, outside, free;
    std::int64_t fewest, most;  // clues
    bool is_minimal, is_weighed;
    std::int64_t n_fills;
    bool is_single;
    std::int64_t row_nodes, trial_nodes, fill_nodes;

    int n_units() const { return static_cast<int>(begins.size()) - 1; }

    std::span<const std::uint16_t> unit(int u) const {
        const auto begin = static_cast<std::size_t>(begins[u]);
        return cells.subspan(begin, static_cast<std::size_t>(begins[u + 1]) - begin);
    }

    /// Check that all cells are there, and that units have all cells that are not outside.
    void check(int n_cells) const {
        const bool fit = !begins.empty() && begins.front() == 0 &&
                         begins.back() == static_cast<std::int64_t>(cells.size()) &&
                         std::ranges::is_sorted(begins) && n_fills > 0 && fewest <= most;
        if (!fit) throw std::invalid_argument("the units of a wish do not fit together");
        for (const auto& some : {cells, outside, free}) {
            for (const auto cell : some) {
                if (cell >= n_cells) throw std::invalid_argument("a wish has another cell");
            }
        }
        if (is_weighed && cells.size() + 1 != begins.size()) {
            throw std::invalid_argument("puzzles are weighed where each unit is a cell");
        }
    }
};

/// The puzzles of rows, which are written in place.
struct Made {
    std::span<std::uint8_t> puzzles, solutions;  // row, cell -> digit
    std::span<std::int64_t> attempts;            // the first attempt to make, then the last one
    std::span<std::int64_t> nodes;
    std::span<std::int64_t> reasons;  // row, reason -> attempts that failed
    std::span<std::int64_t> fewest, most;
    std::span<double> weights;

    std::size_t n_reasons() const { return nodes.empty() ? 0 : reasons.size() / nodes.size(); }

    void check(std::size_t n_rows, int n_cells) const {
        const auto n_digits = n_rows * static_cast<std::size_t>(n_cells);
        const bool fit = puzzles.size() == n_digits && solutions.size() == n_digits &&
                         attempts.size() == n_rows && nodes.size() == n_rows &&
                         reasons.size() >= 4 * n_rows && fewest.size() == n_rows &&
                         most.size() == n_rows && weights.size() == n_rows;
        if (!fit) throw std::invalid_argument("the arrays of puzzles do not fit together");
    }
};

/// The puzzles to make: those of some rows, with random numbers by these keys.
struct Digs {
    Wish wish;
    std::array<std::uint64_t, 2> keys;
    std::span<const std::int64_t> rows;
    Made made;
};

}  // namespace batchsolve::lanes
