// The dead ends of a backtracking search, and backdoors: cells without which singles get stuck.
#pragma once

#include <algorithm>
#include <ranges>

#include "rate/singles.h"

namespace batchsolve::rate {

/// Fill naked and hidden singles, and use locked candidates if `with_locked`, until nothing helps;
/// return false at a dead end.
inline bool settle(Board& board, bool with_locked = false) {
    for (Uses uses{board}; !board.is_dead_end(); uses.changed = false) {
        fill_singles(uses, 0, n_cells);
        if (!uses.changed) fill_singles(uses, n_cells, n_items);
        if (with_locked && !uses.changed) {
            use_locked(uses, in_box, false);
            use_locked(uses, in_line, false);
        }
        if (!uses.changed) return true;
    }
    return false;
}

/// A backtracking search of one puzzle.
///
/// At each node it fills singles and uses locked candidates (pointing, claiming), as tdoku does (T.
/// Dillon, 2019), whose guesses rate sudoku-extreme. Then it tries each candidate of the first cell
/// with the fewest.
class Guesses {
public:
    explicit Guesses(std::span<const std::uint8_t, n_cells> grid) {
        Board board;
        if (start_.begin(grid)) search(board = start_);
    }

    bool is_unique() const { return n_solutions_ == 1; }
    unsigned n_dead_ends() const { return n_dead_ends_; }

    /// Return the least number of cells to fill so that singles solve the rest; -1 if it is above
    /// `most`.
    int backdoor(int most) const {
        Board board = start_;
        settle(board);
        int size = 0;
        while (size <= most && !is_solved_with(board, 0, static_cast<unsigned>(size))) ++size;
        return size <= most ? size : -1;
    }

private:
    void search(Board& board) {
        if (!settle(board, true)) {
            ++n_dead_ends_;
        } else if (!board.n_open) {
            ++n_solutions_;
            solution_ = board.digits;
        } else {
            const unsigned cell = fewest_candidates(board);
            for (const unsigned digit : elements(board.candidates[cell])) {
                Board next = board;
                next.fill({cell, digit});
                search(next);
                if (n_solutions_ > 1) return;
            }
        }
    }

    /// Return the first open cell with the fewest candidates.
    static unsigned fewest_candidates(const Board& board) {
        return std::ranges::min(std::views::iota(0u, n_cells), {}, [&](unsigned cell) {
            return board.digits[cell] ? n_digits + 1 : count(board.candidates[cell]);
        });
    }

    /// Return true if singles solve a board when at most n cells, from one on, are filled.
    bool is_solved_with(const Board& board, unsigned begin, unsigned n) const {
        if (!board.n_open) return true;
        for (unsigned cell = begin; n && cell < n_cells; ++cell) {
            if (board.digits[cell]) continue;
            Board next = board;
            next.fill({cell, solution_[cell] - 1u});
            settle(next);
            if (is_solved_with(next, cell + 1, n - 1)) return true;
        }
        return false;
    }

    Board start_;
    unsigned n_dead_ends_ = 0, n_solutions_ = 0;
    decltype(Board::digits) solution_;
};

}  // namespace batchsolve::rate
