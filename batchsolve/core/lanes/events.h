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

}  // namespace batchsolve::lanes
