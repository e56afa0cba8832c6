// XY-wings and XYZ-wings.
#pragma once

#include "rate/step.h"

namespace batchsolve::rate {

/// Remove a digit from some cells; return true if one had it.
inline bool remove_seen(Board& board, CellSet cells, unsigned digit) {
    bool changed = false;
    for (const unsigned cell : elements(cells)) {
        if (!board.has({cell, digit})) continue;
        board.remove({cell, digit});
        changed = true;
    }
    return changed;
}

/// Use a cell with candidates xy (or xyz) that sees a cell with xz and one with yz.
///
/// One of the two (or of the three) has the digit z, so cells that see them all do not.
inline bool use_wings(Board& board, Step* step, unsigned size) {
    bool changed = false;
    const auto& digits_of = board.candidates;
    for (unsigned pivot = 0; pivot < n_cells; ++pivot) {
        if (count(digits_of[pivot]) != size) continue;
        for (unsigned j = 0; j < n_peers; ++j) {
            const unsigned one = peers_of[pivot][j];
            const Bits digits = digits_of[pivot] | digits_of[one];
            if (count(digits_of[one]) != 2 || count(digits) != 3) continue;
            for (unsigned i = 0; i < j; ++i) {
                const unsigned two = peers_of[pivot][i];
                const Bits z = digits_of[one] & digits_of[two];
                if (count(digits_of[two]) != 2 || digits_of[two] & ~digits || !is_single(z))
                    continue;
                if (size == 2 && z & digits_of[pivot]) continue;
                CellSet seen = set_of_peers[one] & set_of_peers[two];
                if (size == 3) seen &= set_of_peers[pivot];
                if (!remove_seen(board, seen, first(z))) continue;
                changed = true;
                if (step) {
                    for (const unsigned cell : {pivot, one, two}) step->cells |= CellSet{1} << cell;
                    step->digits = digits;
                    return true;
                }
            }
        }
    }
    return changed;
}

}  // namespace batchsolve::rate
