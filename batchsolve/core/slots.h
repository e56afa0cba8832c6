// A hash table for entries that are kept elsewhere.
#pragma once

#include <cstdint>

#include "large_pages.h"

namespace batchsolve {

/// A hash table of the numbers of entries, which are positive, with linear probing.
class Slots {
public:
    static constexpr std::size_t bytes_of_each = 2 * sizeof(std::uint32_t);  // entry

    /// Forget all, and have room for n entries.
    void clear(std::size_t n) {
        slots_ = {};  // so that the new ones may take their memory
        slots_.resize(2 * n + 1);
    }

    /// Return the slot of the entry that is equal, or the empty one that it may have.
    std::uint32_t& find(std::uint64_t hash, auto is_equal) {
        using Wide = unsigned __int128;
        auto s = static_cast<std::size_t>(Wide{hash} * slots_.size() >> 64);
        while (slots_[s] != 0 && !is_equal(slots_[s])) s = s + 1 == slots_.size() ? 0 : s + 1;
        return slots_[s];
    }
    std::uint32_t& find_empty(std::uint64_t hash) {
        return find(hash, [](std::uint32_t) { return false; });
    }

private:
    LargeVector<std::uint32_t> slots_;
};

}  // namespace batchsolve
