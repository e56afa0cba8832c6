// A step of a solution, for a reader: what a technique was, and where it was seen.
#pragma once

#include <vector>

#include "rate/board.h"

namespace batchsolve::rate {

/// A candidate in a chain: on if it is the digit of its cell, off if it is not.
struct Link {
    Candidate candidate;
    bool is_on;
    auto parts() { return std::tie(candidate, is_on); }
};

struct Step {
    unsigned level = 0;
    CellSet cells = 0;  // of the pattern, and its digits
    Bits digits = 0;
    std::vector<std::vector<Link>> chains;
    std::vector<Candidate> filled, removed;

    auto parts() const {
        return std::tuple(level, list_of(cells), list_of(digits), chains, filled, removed);
    }
    void note(Candidate c) {
        cells |= CellSet{1} << c.cell;
        digits |= Bits{1} << c.digit;
    }

    /// Note the candidates of an item.
    void note(unsigned item, Bits elements_of_item) {
        for (const unsigned element : elements(elements_of_item)) note(candidate_of(item, element));
    }
};

/// The uses of a technique: with a step its first one, which is written into the step; otherwise
/// all that it finds, which is faster.
struct Uses {
    Board& board;
    Step* step = nullptr;
    bool changed = false;

    /// Note whether a use changed the board, and the candidates of an item, which it was seen by;
    /// return true if that is enough.
    bool are_enough(bool changes, unsigned item, Bits candidates) {
        changed |= changes;
        if (!changes || !step) return false;
        step->note(item, candidates);
        return true;
    }
};

}  // namespace batchsolve::rate
