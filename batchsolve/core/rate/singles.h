// Cells that have one candidate, or are the only place of a digit in a house.
#pragma once

#include "rate/step.h"

namespace batchsolve::rate {

/// Return the house behind lines, or boxes.
constexpr unsigned end_of(unsigned houses) { return houses == boxes ? n_houses : boxes; }

/// Fill the last open cells of houses.
inline void fill_last_cells(Uses& uses) {
    for (unsigned house = 0; house < n_houses; ++house) {
        const Bits digits = uses.board.missing[house];
        if (!is_single(digits)) continue;
        const unsigned item = item_of(house, first(digits));
        const Bits at = uses.board.candidates[item];
        if (at && uses.are_enough(uses.board.fill(candidate_of(item, first(at))), item, at)) return;
    }
}

/// Cover items of a range that have one candidate.
inline void fill_singles(Uses& uses, unsigned begin, unsigned end) {
    for (unsigned item = begin; item < end; ++item) {
        const Bits left = uses.board.candidates[item];
        if (!is_single(left)) continue;
        if (uses.are_enough(uses.board.fill(candidate_of(item, first(left))), item, left)) return;
    }
}

}  // namespace batchsolve::rate
