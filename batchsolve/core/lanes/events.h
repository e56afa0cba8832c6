// Grids side by side: a vector holds the candidates of one cell in every grid, bit d while digit d
// is possible, and all grids are propagated at once, until some need attention.
//
// tdoku (T. Dillon, 2019), which uses the lanes within one grid, showed that propagation in SIMD
// lanes pays for Sudoku.
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>

#include "vectors.h"

namespace batchsolve::lanes {

/// One bit for each lane.
using LaneBits = std::uint64_t;

inline int lowest_lane(LaneBits lanes) { return std::countr_zero(lanes); }
inline LaneBits bit_of(int lane) { return LaneBits{1} << lane; }

/// What a pass of propagation finds: lanes that contradict themselves; that do not, but where
/// nothing has changed; and where every digit has one place in every unit. These are solved if
/// every cell has a candidate.
struct Found {
    LaneBits bad, stuck, solved;
};

/// What the rules of a single row have done to its grid.
enum class Settled { same, changed, wrong };

/// The lowest n bits.
template <std::unsigned_integral T>
constexpr T lowest_bits(int n) {
    return static_cast<T>((std::uint64_t{1} << n) - 1);
}

/// The candidate of a cell that has no other, else nothing.
template <class Lanes>
Lanes single_of(Lanes x) {
    return (x & (x - 1)) == 0 ? x : Lanes{};
}

/// The digits that one or more, and that two or more, of some sets have.
template <class Lanes>
struct Once {
    Lanes once, twice;

    void add(Lanes x) {
        twice |= once & x;
        once |= x;
    }
};

/// Lanes that contradict themselves; that are solved, if they are full; those two and the lanes
/// where propagation leads no further, which have a branch cell.
struct Events {
    LaneBits bad = 0, solved = 0, full = 0, all = 0;
};

/// Propagates all grids, until some of the busy ones need attention.
template <class Grids>
class Propagation {
public:
    explicit Propagation(Grids& grids) : grids_(grids) {}

    Events run(LaneBits busy) {
        Events events;
        LaneBits stuck = 0;
        while (events.all == 0) {
            Found found = grids_.propagate();
            found.stuck &= busy;
            found.solved &= busy;
            if (grids_.has_row_rules) settle(found);
            events = {found.bad, found.solved, 0, (found.bad | found.solved) & busy};
            // one choice serves all lanes that are stuck, and costs half as much as a pass
            stuck = 8 * std::popcount(found.stuck) >= std::popcount(busy) ? found.stuck : 0;
            events.all |= stuck;
        }
        if (stuck != 0) {
            const LaneBits empty = grids_.choose();
            events.bad |= empty & stuck;
            events.full = ~empty;
        } else if (events.solved != 0) {
            events.full = grids_.cells.full();
        }
        settled_ &= ~events.all;
        return events;
    }

private:
    /// Apply the rules of single rows where propagation leads no further.
    [[gnu::noinline]] void settle(Found& found) {
        for (LaneBits left = (found.stuck | found.solved) & ~settled_; left; left &= left - 1) {
            const int lane = lowest_lane(left);
            const Settled done = grids_.settle(lane);
            if (done == Settled::same) {
                settled_ |= bit_of(lane);
                continue;
            }
            found.stuck &= ~bit_of(lane);
            found.solved &= ~bit_of(lane);
            if (done == Settled::wrong) found.bad |= bit_of(lane);
        }
    }

    Grids& grids_;
    LaneBits settled_ = 0;  // lanes that the rules of their rows lead no further, too
};

}  // namespace batchsolve::lanes
