// The table of the keys of grids that were seen; see `batchsolve.runs.repeats`.
//
// `add_keys` checks the arrays; slots are indices that it makes itself.
#pragma once

#include <bit>

#include "arrays.h"

namespace batchsolve::tables {

/// Add keys of two words to a table, of rows that are counted; return the first row with the key of
/// each, -1 if it is this one.
///
/// Slots are a power of two; there must be more of them than keys, and the row of an empty one is
/// -1. Keys and rows are apart, because most rows are new, and need no look at the key of another.
inline std::vector<std::int64_t> add_keys(Rows<std::uint64_t> keys, std::span<std::int64_t> rows,
                                          Rows<const std::uint64_t> more,
                                          std::span<const bool> counted, Ints numbers) {
    constexpr std::int64_t unseen = -1;
    const auto n = numbers.size(), last = rows.size() - 1;
    require(std::has_single_bit(rows.size()) && keys.size() == rows.size() && keys.width == 2,
            "a table of keys has two words for each of 2^k slots");
    require(more.size() == n && more.width == 2 && counted.size() == n, "a key has two words");
    std::vector<std::int64_t> found(n, unseen);
    for (std::size_t k = 0; k < n; ++k) {
        if (!counted[k]) continue;
        const std::uint64_t one = more[k][0], other = more[k][1];
        auto slot = one & last;
        while (rows[slot] != unseen && (keys[slot][0] != one || keys[slot][1] != other)) {
            slot = (slot + 1) & last;
        }
        found[k] = rows[slot];
        if (found[k] != unseen) continue;
        keys[slot][0] = one;
        keys[slot][1] = other;
        rows[slot] = numbers[k];
    }
    return found;
}

}  // namespace batchsolve::tables
