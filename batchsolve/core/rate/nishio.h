// Nishio: a candidate is refuted by what follows for its digit alone.
//
// If the candidate is on, those of its digit that see it are off. A house with one place left has
// the digit there, and so on, until some candidate is both on and off. The *proof* that one is on
// has the nodes on, and those off, that it needs; the rating counts the nodes of the two shortest
// proofs. Shortest proofs do not depend on the order of search, and are no longer when candidates
// are fewer.
#pragma once

#include <algorithm>
#include <ranges>

#include "rate/board.h"

namespace batchsolve::rate {

/// The shortest proofs that cells have a digit if one of them has it.
class Proofs {
public:
    static constexpr unsigned unknown = 1 << 20;  // nodes of a proof that does not exist

    /// Find the proofs of `most` nodes or fewer that refute a candidate.
    Proofs(const Board& board, Candidate candidate, unsigned most)
        : cell_(candidate.cell), most_(most) {
        nodes_.fill(unknown);
        for (unsigned row = rows; row < columns; ++row) {
            places_ |= CellSet{board.places(row, candidate.digit)} << (n_digits * row);
        }
        const State start{set_of(cell_), set_of_peers[cell_], 0};
        if (!is_refuted(start)) return;
        path_[0] = static_cast<std::uint8_t>(cell_);
        keep_if_shorter(cell_, 1, 1);
        extend(start, nullptr, 1, 0);
    }

    /// Return the nodes of the two shortest proofs that refute the candidate, or `unknown`.
    unsigned n_nodes() const {
        unsigned least = unknown;
        for (const unsigned cell : elements(proved_)) least = std::min(least, n_nodes_with(cell));
        return least <= most_ ? least : unknown;
    }

    /// Return the first cell that the two shortest proofs show on and off.
    unsigned refuted_cell() const {
        return std::ranges::min(std::views::iota(0u, n_cells), {},
                                [this](unsigned cell) { return n_nodes_with(cell); });
    }

    /// Return the cell with the shortest proof of those that see a cell.
    unsigned refuter_of(unsigned cell) const {
        unsigned best = first(set_of_peers[cell]);
        for (const unsigned peer : elements(set_of_peers[cell])) {
            if (nodes_[peer] < nodes_[best]) best = peer;
        }
        return best;
    }

    /// Return the cells that are on in the proof of a cell, in order.
    Bytes order_of(unsigned cell) const { return std::span(order_[cell]).first(n_on_[cell]); }

private:
    /// Cells that are on; those that therefore are off; and those off that the proof needs.
    struct State {
        CellSet on, off, needed;
    };
    using Path = std::array<std::uint8_t, n_digits + 1>;

    static constexpr CellSet set_of(unsigned cell) { return CellSet{1} << cell; }

    unsigned n_nodes_with(unsigned cell) const {
        return nodes_[cell] + 1 + nodes_[refuter_of(cell)];
    }

    /// Return true if what follows from a state is a contradiction.
    bool is_refuted(State state) const {
        for (bool changed = true; changed;) {
            changed = false;
            for (const CellSet house : set_of_house) {
                if (house & state.on || !(house & places_)) continue;
                const CellSet left = house & places_ & ~state.off;
                if (count(left) > 1) continue;
                if (!left) return true;
                state.on |= left;
                state.off |= set_of_peers[first(left)];
                changed = true;
            }
        }
        return (state.on & state.off) != 0;
    }

    /// Lengthen the proof of a state, whose path has n cells, by one house, in all ways.
    ///
    /// `above` is the state before the last cell, which was found in `last_house`.
    void extend(const State& state, const State* above, unsigned n, unsigned last_house) {
        for (unsigned house = 0; house < n_houses; ++house) {
            const CellSet here = set_of_house[house] & places_, left = here & ~state.off;
            if (set_of_house[house] & state.on || !here || count(left) > 1) continue;
            // the two houses come in the other order, too
            if (left && above && house < last_house && count(here & ~above->off) < 2) continue;
            for (const unsigned cell : elements(left ? left : here)) {
                const CellSet needed = state.needed | (here & ~set_of(cell));
                const unsigned nodes = n + 1 + count(needed);
                if (nodes + 2 > most_) continue;
                path_[n] = static_cast<std::uint8_t>(cell);
                keep_if_shorter(cell, nodes, n + 1);
                if (left && n < n_digits) {
                    extend({state.on | left, state.off | set_of_peers[cell], needed}, &state, n + 1,
                           house);
                }
            }
        }
    }

    void keep_if_shorter(unsigned cell, unsigned nodes, unsigned n) {
        if (nodes >= nodes_[cell]) return;
        proved_ |= set_of(cell);
        nodes_[cell] = nodes;
        n_on_[cell] = n;
        order_[cell] = path_;
    }

    unsigned cell_, most_;
    CellSet places_ = 0;                    // of the digit
    CellSet proved_ = 0;                    // the cells that have a proof
    std::array<unsigned, n_cells> nodes_;   // of the shortest proof of each cell
    std::array<unsigned, n_cells> n_on_{};  // of them, those on
    std::array<Path, n_cells> order_;
    Path path_{};
};

}  // namespace batchsolve::rate
