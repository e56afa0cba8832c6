// Sets of numbers as bits: words of 64, equally many in the sets that meet here.
#pragma once

#include <bit>

#include "arrays.h"

namespace batchsolve {

inline std::size_t words_for(std::size_t n_bits) { return (n_bits + 63) / 64; }

inline void set_bit(std::span<Word> set, std::size_t x) { set[x / 64] |= Word{1} << x % 64; }
inline void clear_bit(std::span<Word> set, std::size_t x) { set[x / 64] &= ~(Word{1} << x % 64); }
inline bool has_bit(std::span<const Word> set, std::size_t x) { return set[x / 64] >> x % 64 & 1; }

inline std::size_t size_of(std::span<const Word> set) {
    std::size_t n = 0;
    for (const Word w : set) n += static_cast<std::size_t>(std::popcount(w));
    return n;
}

inline void for_each_bit(std::span<const Word> set, auto visit) {
    for (std::size_t w = 0; w < set.size(); ++w) {
        for (Word rest = set[w]; rest != 0; rest &= rest - 1) {
            visit(64 * w + static_cast<std::size_t>(std::countr_zero(rest)));
        }
    }
}

/// Fill a set with its first n elements.
inline void fill_first(std::span<Word> set, std::size_t n) {
    std::ranges::fill(set, 0);
    std::ranges::fill(set.first(n / 64), ~Word{0});
    if (n % 64 != 0) set[n / 64] = ~Word{0} >> (64 - n % 64);
}

/// Return the first element, from one on, that two sets have; behind all words if there is none.
inline std::size_t first_common(std::span<const Word> one, std::span<const Word> other,
                                std::size_t from) {
    std::size_t w = from / 64;
    if (w == one.size()) return from;
    Word both = one[w] & other[w] & ~Word{0} << from % 64;
    while (both == 0) {
        if (++w == one.size()) return 64 * w;
        both = one[w] & other[w];
    }
    return 64 * w + static_cast<std::size_t>(std::countr_zero(both));
}

/// Add the elements of another set.
inline void join(std::span<Word> set, std::span<const Word> more) {
    for (std::size_t w = 0; w < set.size(); ++w) set[w] |= more[w];
}

/// Take the elements of another set away.
inline void take_away(std::span<Word> set, std::span<const Word> gone) {
    for (std::size_t w = 0; w < set.size(); ++w) set[w] &= ~gone[w];
}

/// True if two sets have an element in common.
inline bool do_meet(std::span<const Word> one, std::span<const Word> other) {
    std::size_t w = 0;
    while (w < one.size() && !(one[w] & other[w])) ++w;
    return w < one.size();
}

inline bool is_within(std::span<const Word> set, std::span<const Word> whole) {
    std::size_t w = 0;
    while (w < set.size() && !(set[w] & ~whole[w])) ++w;
    return w == set.size();
}

}  // namespace batchsolve
