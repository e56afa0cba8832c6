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

/// Return the number of bits that are set in each lane.
inline Vector<std::uint16_t> popcount(Vector<std::uint16_t> x) {
#if defined(__AVX512BITALG__)
    return reinterpret_cast<Vector<std::uint16_t>>(
        _mm512_popcnt_epi16(reinterpret_cast<__m512i>(x)));
#else
    x = x - (x >> 1 & 0x5555);
    x = (x & 0x3333) + (x >> 2 & 0x3333);
    x = (x + (x >> 4)) & 0x0f0f;
    return (x + (x >> 8)) & 0x1f;
#endif
}

inline Vector<std::uint32_t> popcount(Vector<std::uint32_t> x) {
#if defined(__AVX512VPOPCNTDQ__)
    return reinterpret_cast<Vector<std::uint32_t>>(
        _mm512_popcnt_epi32(reinterpret_cast<__m512i>(x)));
#else
    x = x - (x >> 1 & 0x55555555);
    x = (x & 0x33333333) + (x >> 2 & 0x33333333);
    x = (x + (x >> 4)) & 0x0f0f0f0f;
    x = x + (x >> 8);
    return (x + (x >> 16)) & 0x3f;
#endif
}

/// Return a bit for each lane of a mask, such as a comparison returns; lane 0 is the lowest.
inline std::uint64_t bits(Vector<std::int8_t> mask) {
#if defined(__AVX512BW__)
    return _mm512_movepi8_mask(reinterpret_cast<__m512i>(mask));
#elif defined(__AVX2__)
    return static_cast<std::uint32_t>(_mm256_movemask_epi8(reinterpret_cast<__m256i>(mask)));
#elif defined(__SSE2__)
    return static_cast<std::uint32_t>(_mm_movemask_epi8(reinterpret_cast<__m128i>(mask)));
#else
    std::uint64_t found = 0;
    for (int k = 0; k < n_lanes<std::int8_t>; ++k) found |= std::uint64_t(mask[k] & 1) << k;
    return found;
#endif
}

inline std::uint64_t bits(Vector<std::int16_t> mask) {
#if defined(__AVX512BW__)
    return _mm512_movepi16_mask(reinterpret_cast<__m512i>(mask));
#elif defined(__AVX2__)
    const auto m = reinterpret_cast<__m256i>(mask);
    const auto half = _mm_packs_epi16(_mm256_castsi256_si128(m), _mm256_extracti128_si256(m, 1));
    return static_cast<std::uint32_t>(_mm_movemask_epi8(half));
#elif defined(__SSE2__)
    const auto m = reinterpret_cast<__m128i>(mask);
    return static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_packs_epi16(m, _mm_setzero_si128())));
#else
    std::uint64_t found = 0;
    for (int k = 0; k < n_lanes<std::int16_t>; ++k) found |= std::uint64_t(mask[k] & 1) << k;
    return found;
#endif
}

inline std::uint64_t bits(Vector<std::int32_t> mask) {
#if defined(__AVX512DQ__)
    return _mm512_movepi32_mask(reinterpret_cast<__m512i>(mask));
#elif defined(__AVX2__)
    return static_cast<std::uint32_t>(_mm256_movemask_ps(reinterpret_cast<__m256>(mask)));
#elif defined(__SSE2__)
    return static_cast<std::uint32_t>(_mm_movemask_ps(reinterpret_cast<__m128>(mask)));
#else
    std::uint64_t found = 0;
    for (int k = 0; k < n_lanes<std::int32_t>; ++k) found |= std::uint64_t(mask[k] & 1) << k;
    return found;
#endif
}

/// Return a bit for each lane: 1 if it is no larger than a bound.
inline std::uint64_t at_most(Vector<std::uint8_t> x, std::uint8_t bound) {
#if defined(__AVX512BW__)
    return _mm512_cmple_epu8_mask(reinterpret_cast<__m512i>(x),
                                  _mm512_set1_epi8(static_cast<char>(bound)));
#else
    return bits(reinterpret_cast<Vector<std::int8_t>>(x <= bound));  // of char, says clang
#endif
}

inline std::uint64_t at_most(Vector<std::uint16_t> x, std::uint16_t bound) {
#if defined(__AVX512BW__)
    return _mm512_cmple_epu16_mask(reinterpret_cast<__m512i>(x),
                                   _mm512_set1_epi16(static_cast<short>(bound)));
#else
    return bits(x <= bound);
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
