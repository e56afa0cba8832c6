// Singles: cells that have one candidate, or are the only place of a digit in a house. And locked
// candidates: digits whose places in a house all lie in a second one.
#pragma once

#include "rate/step.h"

namespace batchsolve::rate {

/// Return the house behind lines, or boxes.
constexpr unsigned end_of(unsigned houses) { return houses == boxes ? n_houses : boxes; }

/// Cover items of a range that have one candidate; return true if that is enough.
inline bool fill_singles(Uses& uses, unsigned begin, unsigned end) {
    for (unsigned item = begin; item < end; ++item) {
        const Bits left = uses.board.candidates[item];
        if (!is_single(left)) continue;
        const bool changes = uses.board.fill(candidate_of(item, first(left)));
        if (uses.are_enough(changes, item, left)) return true;
    }
    return false;
}

/// Fill the last open cells of houses.
inline void fill_last_cells(Uses& uses) {
    for (unsigned house = 0; house < n_houses; ++house) {
        const Bits digits = uses.board.missing[house];
        if (!is_single(digits)) continue;
        const unsigned item = item_of(house, first(digits));
        if (fill_singles(uses, item, item + 1)) return;
    }
}

/// Remove a digit from places of a house; return true if it had any of them.
inline bool remove_at(Board& board, unsigned house, Bits places, unsigned digit) {
    places &= board.places(house, digit);
    for (const unsigned at : elements(places)) board.remove({cells_of[house][at], digit});
    return places != 0;
}

/// Fill the only place of a digit in a house beside `house`, of its kind, that is not in `other`.
inline bool fill_third(Board& board, unsigned house, unsigned other, unsigned digit) {
    const unsigned begin = house / n_digits * n_digits;
    for (unsigned third = begin; third < begin + n_digits; ++third) {
        const Bits at = board.places(third, digit), left = at & ~shared_places[third][other];
        if (third != house && left != at && is_single(left)) {
            return board.fill({cells_of[third][first(left)], digit});
        }
    }
    return false;
}

/// Use digits whose places in one of some houses all lie in a second one: pointing and claiming.
///
/// The digit has no other place in the second house. If `is_direct`, fill the only place that this
/// leaves in a third house, of the kind of the first.
inline void use_locked(Uses& uses, unsigned houses, bool is_direct) {
    Board& board = uses.board;
    for (unsigned house = houses; house < end_of(houses); ++house) {
        for (const unsigned digit : elements(board.missing[house])) {
            const Bits at = board.places(house, digit);
            if (count(at) < 2 || count(at) > 3) continue;
            for (const Seat seat : seats_of[cells_of[house][first(at)]]) {
                const unsigned other = seat.house;
                if (other == house || at & ~shared_places[house][other]) continue;
                const Bits away = all & ~shared_places[other][house];
                const bool changes = is_direct ? fill_third(board, house, other, digit)
                                               : remove_at(board, other, away, digit);
                if (uses.are_enough(changes, item_of(house, digit), at)) return;
            }
        }
    }
}

}  // namespace batchsolve::rate
