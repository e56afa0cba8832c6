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

/// What a pass of propagation finds in lanes.
struct Found {
    LaneBits bad;     // contradict themselves
    LaneBits stuck;   // do not, but nothing has changed
    LaneBits solved;  // every digit has one place in every unit, if every cell has a candidate
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

/// What propagation has come to in lanes.
struct Events {
    LaneBits bad = 0;     // contradict themselves
    LaneBits solved = 0;  // are solved, if they are full
    LaneBits full = 0;    // every cell has a candidate
    LaneBits all = 0;     // those, and where propagation leads no further: these have a branch cell
};

}  // namespace batchsolve::lanes
