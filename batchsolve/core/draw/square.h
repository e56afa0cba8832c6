// Square grids of n rows and columns: the cells beside a cell.
#pragma once

#include <array>
#include <numeric>

#include "random.h"

namespace batchsolve::draw {

/// No cell.
constexpr std::uint32_t outside = ~std::uint32_t{0};

class Square {
public:
    explicit Square(std::uint32_t n) : n(n), around_(n * n) {
        for (std::uint32_t cell = 0; cell < n * n; ++cell) {
            for (std::uint32_t place = 0; place < 9; ++place) {
                // -1 is a large number, too
                const std::uint32_t row = cell / n + place / 3 - 1,
                                    column = cell % n + place % 3 - 1;
                around_[cell][place] = row < n && column < n ? row * n + column : outside;
            }
        }
    }

    std::uint32_t n_cells() const { return n * n; }

    /// Return all cells in random order.
    std::vector<std::uint32_t> shuffled(Random& random) const {
        std::vector<std::uint32_t> cells(n_cells());
        std::iota(cells.begin(), cells.end(), 0u);
        random.shuffle(std::span(cells));
        return cells;
    }

    /// The cell above, left, right or below, for sides 0 to 3; `outside` beyond the border.
    std::uint32_t neighbour(std::uint32_t cell, std::uint32_t side) const {
        return around_[cell][2 * side + 1];
    }

    /// Visit the cells above, left, right and below.
    void for_each_side(std::uint32_t cell, auto visit) const {
        for (std::uint32_t side = 0; side < 4; ++side) {
            const std::uint32_t near = neighbour(cell, side);
            if (near != outside) visit(near);
        }
    }

    /// Visit the cells that meet a cell at an edge or a corner, row by row.
    void for_each_king_move(std::uint32_t cell, auto visit) const {
        for (const std::uint32_t near : around_[cell]) {
            if (near != outside && near != cell) visit(near);
        }
    }

    const std::uint32_t n;

private:
    std::vector<std::array<std::uint32_t, 9>> around_;  // the 3×3 square around each cell
};

/// A random one of what is found, each equally likely, whose number is not known beforehand.
class Pick {
public:
    explicit Pick(Random& random) : random_(random) {}
    /// Note one more; return true if it is to replace the one before.
    bool is_next() { return random_.below(++n_found_) == 0; }

private:
    Random& random_;
    std::uint32_t n_found_ = 0;
};

}  // namespace batchsolve::draw
