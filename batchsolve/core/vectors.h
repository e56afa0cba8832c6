// Vectors as wide as the registers of the level that is compiled for, and what operators lack.
//
// GCC and clang have vector types with arithmetic, comparisons and the ternary operator, but no
// masks of bits and no counts of them: the intrinsics for these are all in this file. Elsewhere a
// loop over the lanes does the same.
#pragma once

#include <bit>
#include <cstdint>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace batchsolve {

#if defined(__AVX512BW__)
constexpr int vector_bytes = 64;
#elif defined(__AVX2__)
constexpr int vector_bytes = 32;
#else
constexpr int vector_bytes = 16;
#endif

/// A vector of T; all vectors have the same number of bytes.
template <class T>
using Vector [[gnu::vector_size(vector_bytes)]] = T;

template <class T>
constexpr int n_lanes = vector_bytes / static_cast<int>(sizeof(T));

using Words = Vector<std::uint64_t>;

/// Return the number of bits that are set in each word.
inline Words popcount(Words x) {
#if defined(__AVX512VPOPCNTDQ__)
    return reinterpret_cast<Words>(_mm512_popcnt_epi64(reinterpret_cast<__m512i>(x)));
#else
    for (int k = 0; k < n_lanes<std::uint64_t>; ++k) {
        x[k] = static_cast<std::uint64_t>(std::popcount(x[k]));
    }
    return x;
#endif
}

}  // namespace batchsolve
