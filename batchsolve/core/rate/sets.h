// Small sets as bits: digits of a cell, places in a house, cells of a grid.
#pragma once

#include <bit>
#include <cstdint>
#include <iterator>
#include <list>

namespace batchsolve::rate {

/// A set of digits, or of places in a house.
using Bits = std::uint32_t;

/// A set of cells.
using CellSet = unsigned __int128;

/// Return the least element of a set that is not empty.
template <class Set>
constexpr unsigned first(Set set) {
    return static_cast<unsigned>(std::countr_zero(set));
}

/// Return the number of elements.
template <class Set>
constexpr unsigned count(Set set) {
    return static_cast<unsigned>(std::popcount(set));
}

/// Return true if a set has one element.
constexpr bool is_single(Bits set) { return std::has_single_bit(set); }

/// The elements of a set in ascending order: `for (const unsigned digit : elements(digits))`.
template <class Set>
struct elements {
    struct Iterator {
        Set left;
        constexpr unsigned operator*() const { return first(left); }
        constexpr void operator++() { left &= left - 1; }
        constexpr bool operator==(std::default_sentinel_t) const { return left == 0; }
    };

    Set set;
    constexpr explicit elements(Set some) : set(some) {}
    constexpr Iterator begin() const { return {set}; }
    constexpr std::default_sentinel_t end() const { return {}; }
};

template <class Set>
std::list<unsigned> list_of(Set set) {
    std::list<unsigned> list;
    for (const unsigned element : elements(set)) list.push_back(element);
    return list;
}

}  // namespace batchsolve::rate
