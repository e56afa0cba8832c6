// Grids of Sudoku with boxes of any shape, of up to 32 digits, in lanes.
#pragma once

#include "lanes/box_pass.h"
#include "lanes/cells.h"
#include "task.h"

namespace batchsolve::lanes {

/// A pass of propagation and the choice of branch cells, for one shape of box.
template <class T>
struct BoxSteps {
    Found (*propagate)(std::span<Vector<T>> cells, AnyBox box);
    LaneBits (*choose)(std::span<const Vector<T>> cells, AnyBox box, Vector<T>& chosen);
};

/// Return the steps for a box: the usual shapes have their own code.
BoxSteps<std::uint16_t> box_steps(AnyBox box, std::uint16_t);
BoxSteps<std::uint32_t> box_steps(AnyBox box, std::uint32_t);

/// The grids of all lanes. The constructor checks the shape; callers pass cells and lanes that
/// exist, and `place` checks the options of a stack.
template <class T>
class BoxGrids {
public:
    using Digits = T;
    static constexpr bool has_row_rules = false;

    BoxGrids(int rows, int columns)
        : cells(rows * columns * rows * columns), box_{rows, columns}, n_(rows * columns) {
        require(2 <= std::min(rows, columns) && std::max(rows, columns) <= 16 &&
                    n_ <= 8 * int{sizeof(T)},
                "boxes have 2 rows and columns or more, and a bit a cell");
        steps_ = box_steps(box_, T{});
        all_digits_ = lowest_bits<T>(n_);
        inverse_ = (std::uint64_t{1} << 32) / static_cast<std::uint64_t>(n_) + 1;
    }

    int n_digits() const { return n_; }

    void follow(int, std::size_t) {}
    void follow_lane(int, int) {}
    T blank(std::size_t, int) const { return all_digits_; }

    /// Put a stack into an empty grid; tell whether each option exists and has its own cell.
    bool place(int lane, std::size_t, std::span<const Option> stack) {
        for (const Option o : stack) {
            if (o >= static_cast<Option>(n_ * n_ * n_)) return false;
            // a division takes as long as all the rest; this is exact for all options
            const auto cell = static_cast<int>(o * inverse_ >> 32), digit = int(o) - cell * n_;
            T& here = cells.at(cell, lane);
            if (here != all_digits_) return false;
            here = static_cast<T>(1u << digit);
        }
        return true;
    }

    /// Return -1, or the position of an option that clashes with one before, or does not exist.
    std::int32_t clash(std::size_t, std::span<const Option> stack) const {
        const auto n = static_cast<Option>(n_);
        std::vector<bool> is_filled(n * n);
        std::vector<std::uint32_t> row(n), column(n), box(n);
        for (std::size_t x = 0; x < stack.size(); ++x) {
            const auto cell = stack[x] / n, digits = 1u << stack[x] % n;
            const auto r = cell / n, c = cell % n;
            if (r >= n || is_filled[cell]) return static_cast<std::int32_t>(x);
            const auto b = r / box_.rows * box_.rows + c / box_.columns;
            if ((row[r] | column[c] | box[b]) & digits) return static_cast<std::int32_t>(x);
            row[r] |= digits, column[c] |= digits, box[b] |= digits;
            is_filled[cell] = true;
        }
        return -1;
    }

    Found propagate() { return steps_.propagate(cells.vectors(), box_); }
    LaneBits choose() { return steps_.choose(cells.vectors(), box_, chosen_); }
    int chosen(int lane) const { return static_cast<int>(chosen_[lane]); }
    Settled settle(int) { return Settled::same; }

    Cells<T> cells;

private:
    AnyBox box_;
    int n_;
    T all_digits_ = 0;
    std::uint64_t inverse_ = 0;  // 2³² / n, rounded up
    BoxSteps<T> steps_;
    Vector<T> chosen_{};
};

}  // namespace batchsolve::lanes
