// Whole numbers of many words of 64 bits, the lowest first.
#pragma once

#include "arrays.h"

namespace batchsolve {

/// Write a + b; return whether it does not fit. The sum may be one of the two.
inline bool add(std::span<const Word> a, std::span<const Word> b, std::span<Word> sum) {
    unsigned __int128 left = 0;  // the sum of two words, and what the words before carry
    for (std::size_t w = 0; w < a.size(); ++w) {
        left = (left >> 64) + a[w] + b[w];
        sum[w] = static_cast<Word>(left);
    }
    return left >> 64 != 0;
}

/// Write a - b, which is not negative. The difference may be one of the two.
inline void subtract(std::span<const Word> a, std::span<const Word> b, std::span<Word> difference) {
    Word borrow = 0;
    for (std::size_t w = 0; w < a.size(); ++w) {
        const Word x = a[w], y = b[w], less = x - y;
        difference[w] = less - borrow;
        borrow = (x < y) | (less < borrow);
    }
}

inline bool is_less(std::span<const Word> a, std::span<const Word> b) {
    return std::lexicographical_compare(a.rbegin(), a.rend(), b.rbegin(), b.rend());
}

}  // namespace batchsolve
