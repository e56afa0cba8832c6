// XY-wings and XYZ-wings.
#pragma once

#include "rate/step.h"

namespace batchsolve::rate {

/// Use a cell with candidates xy (or xyz) that sees a cell with xz and one with yz.
///
/// One of the two (or of the three) has the digit z, so cells that see them all do not.
inline void use_wings(Uses& uses, unsigned size) {
    const auto& digits_of = uses.board.candidates;
    CellSet pairs = 0;  // the cells with two candidates
    for (unsigned cell = 0; cell < n_cells; ++cell) {
        if (count(digits_of[cell]) == 2) pairs |= CellSet{1} << cell;
    }
    for (unsigned pivot = 0; pivot < n_cells; ++pivot) {
        if (count(digits_of[pivot]) != size) continue;
        for (const unsigned one : elements(set_of_peers[pivot] & pairs)) {
            const CellSet before_one = (CellSet{1} << one) - 1;
            const Bits digits = digits_of[pivot] | digits_of[one];
            if (count(digits) != 3) continue;
            for (const unsigned two : elements(set_of_peers[pivot] & pairs & before_one)) {
                const Bits z = digits_of[one] & digits_of[two];
                if (digits_of[two] & ~digits || !is_single(z)) continue;
                if (size == 2 && z & digits_of[pivot]) continue;
                CellSet wings = CellSet{1} << one | CellSet{1} << two;
                if (size == 3) wings |= CellSet{1} << pivot;
                bool helps = false;
                for (const unsigned cell : elements(seen_by(wings))) {
                    helps |= uses.board.remove({cell, first(z)});
                }
                if (uses.are_enough(helps, pivot, digits_of[pivot])) {
                    for (const unsigned wing : {one, two}) uses.step->note(wing, digits_of[wing]);
                    return;
                }
            }
        }
    }
}

}  // namespace batchsolve::rate
