// Cells that have one candidate, or are the only place of a digit in a house.
#pragma once

#include "rate/step.h"

namespace batchsolve::rate {

/// Return the house behind lines, or boxes.
constexpr unsigned end_of(unsigned houses) { return houses == boxes ? n_houses : boxes; }

/// Fill the last open cells of houses.
inline bool fill_last_cells(Board& board, Step* step) {
    bool changed = false;
    for (unsigned house = 0; house < n_houses; ++house) {
        const Bits at = board.open[house], digits = board.missing[house];
        if (!is_single(at)) continue;
        changed |= board.fill({cells_of[house][first(at)], first(digits)});
        if (changed && step) {
            step->note_places(house, at, digits);
            return true;
        }
    }
    return changed;
}

/// Fill cells that are the only place of a digit in one of some houses.
inline bool fill_hidden_singles(Board& board, Step* step, unsigned houses) {
    bool changed = false;
    for (unsigned house = houses; house < end_of(houses); ++house) {
        for (const unsigned digit : elements(board.missing[house])) {
            const Bits at = board.places[house][digit];
            if (!is_single(at)) continue;
            changed |= board.fill({cells_of[house][first(at)], digit});
            if (changed && step) {
                step->note_places(house, at, Bits{1} << digit);
                return true;
            }
        }
    }
    return changed;
}

/// Fill cells with one candidate.
inline bool fill_naked_singles(Board& board, Step* step) {
    bool changed = false;
    for (unsigned cell = 0; cell < n_cells; ++cell) {
        const Bits digits = board.candidates[cell];
        if (!is_single(digits)) continue;
        const Candidate candidate{cell, first(digits)};
        changed |= board.fill(candidate);
        if (changed && step) {
            step->note(candidate);
            return true;
        }
    }
    return changed;
}

}  // namespace batchsolve::rate
