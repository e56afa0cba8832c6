// Vectors as wide as the registers of the level that is compiled for, and what operators lack.
//
// GCC and clang have vector types with arithmetic, comparisons and the ternary operator, but no
// masks of bits and no counts of them: the intrinsics for these are all in this file. Elsewhere a
// loop over the lanes does the same.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

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

template <class T>
struct VectorOf {
    typedef T type [[gnu::vector_size(vector_bytes)]];  // an alias would lose it in templates
};

/// A vector of T; all vectors have the same number of bytes.
template <class T>
using Vector = typename VectorOf<T>::type;

template <class T>
constexpr int n_lanes = vector_bytes / static_cast<int>(sizeof(T));

using Words = Vector<std::uint64_t>;

/// The type of the lanes of a vector.
template <class V>
using LaneOf = std::remove_cvref_t<decltype(V{}[0])>;

/// Return the number of bits that are set in each lane.
template <class V>
V popcount(V x) {
    using Lane = LaneOf<V>;
#if defined(__AVX512VPOPCNTDQ__) && defined(__AVX512BITALG__)
    const auto y = reinterpret_cast<__m512i>(x);
    if constexpr (sizeof(Lane) == 2) return reinterpret_cast<V>(_mm512_popcnt_epi16(y));
    if constexpr (sizeof(Lane) == 4) return reinterpret_cast<V>(_mm512_popcnt_epi32(y));
    if constexpr (sizeof(Lane) == 8) return reinterpret_cast<V>(_mm512_popcnt_epi64(y));
#else
    if constexpr (sizeof(Lane) == 8) {
        for (int k = 0; k < n_lanes<Lane>; ++k) x[k] = static_cast<Lane>(std::popcount(x[k]));
        return x;
    } else {
        constexpr Lane all = static_cast<Lane>(~Lane{}), pairs = all / 3, fours = all / 5;
        x = x - (x >> 1 & pairs);
        x = (x & fours) + (x >> 2 & fours);
        x = (x + (x >> 4)) & Lane{all / 17};
        x = x + (x >> 8);
        if constexpr (sizeof(Lane) == 4) x = x + (x >> 16);
        return x & 0x3f;
    }
#endif
}

/// Return a bit for each lane of a mask, such as a comparison returns; lane 0 is the lowest.
template <class V>
std::uint64_t bits(V mask) {
    using Lane = LaneOf<V>;
#if defined(__AVX512BW__)
    const auto m = reinterpret_cast<__m512i>(mask);
    if constexpr (sizeof(Lane) == 1) return _mm512_movepi8_mask(m);
    if constexpr (sizeof(Lane) == 2) return _mm512_movepi16_mask(m);
    if constexpr (sizeof(Lane) == 4) return _mm512_movepi32_mask(m);
    if constexpr (sizeof(Lane) == 8) return _mm512_movepi64_mask(m);
#elif defined(__AVX2__)
    const auto m = reinterpret_cast<__m256i>(mask);
    if constexpr (sizeof(Lane) == 8) {
        return static_cast<std::uint32_t>(_mm256_movemask_pd(reinterpret_cast<__m256d>(mask)));
    } else if constexpr (sizeof(Lane) == 4) {
        return static_cast<std::uint32_t>(_mm256_movemask_ps(reinterpret_cast<__m256>(mask)));
    } else if constexpr (sizeof(Lane) == 2) {
        const auto low = _mm256_castsi256_si128(m), high = _mm256_extracti128_si256(m, 1);
        return static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_packs_epi16(low, high)));
    } else {
        return static_cast<std::uint32_t>(_mm256_movemask_epi8(m));
    }
#elif defined(__SSE2__)
    auto m = reinterpret_cast<__m128i>(mask);
    if constexpr (sizeof(Lane) == 8) {
        return static_cast<std::uint32_t>(_mm_movemask_pd(reinterpret_cast<__m128d>(mask)));
    }
    if constexpr (sizeof(Lane) == 4) {
        return static_cast<std::uint32_t>(_mm_movemask_ps(reinterpret_cast<__m128>(mask)));
    }
    if constexpr (sizeof(Lane) == 2) m = _mm_packs_epi16(m, _mm_setzero_si128());
    return static_cast<std::uint32_t>(_mm_movemask_epi8(m));
#else
    std::uint64_t found = 0;
    for (int k = 0; k < n_lanes<Lane>; ++k) found |= std::uint64_t(mask[k] & 1) << k;
    return found;
#endif
}

/// Return the smaller of each pair of lanes.
template <class V>
V lesser(V x, V y) {
    return x < y ? x : y;
}

/// Return the lanes in another order: lane k of the result is lane k ^ distance.
template <class T, int distance>
Vector<T> exchanged(Vector<T> x) {
    return [x]<std::size_t... k>(std::index_sequence<k...>) {
        return __builtin_shufflevector(x, x, (k ^ distance)...);
    }(std::make_index_sequence<n_lanes<T>>());
}

/// Return the smallest element.
template <class T, int distance = n_lanes<T> / 2>
T least(Vector<T> x) {
    const Vector<T> smaller = lesser(x, exchanged<T, distance>(x));
    if constexpr (distance == 1) {
        return smaller[0];
    } else {
        return least<T, distance / 2>(smaller);
    }
}

}  // namespace batchsolve
