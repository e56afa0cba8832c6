// A step of a solution, for a reader: what a technique was, and where it was seen.
//
// Techniques take a pointer to a step. Where there is one, they stop after one use and write it.
// Otherwise they use all that they find, which is faster.
#pragma once

#include <vector>

#include "rate/board.h"

namespace batchsolve::rate {

/// A candidate in a chain: on if it is the digit of its cell, off if it is not.
struct Link {
    Candidate candidate;
    bool is_on;
};

struct Step {
    unsigned level = 0;
    CellSet cells = 0;  // of the pattern, and its digits
    Bits digits = 0;
    std::vector<std::vector<Link>> chains;
    std::vector<Candidate> filled, removed;

    void note(Candidate c) {
        cells |= CellSet{1} << c.cell;
        digits |= Bits{1} << c.digit;
    }

    void note_places(unsigned house, Bits places, Bits some) {
        for (const unsigned at : elements(places)) cells |= CellSet{1} << cells_of[house][at];
        digits |= some;
    }
};

}  // namespace batchsolve::rate
