// SplitMix64, for random numbers and hashes (G. L. Steele, D. Lea and C. H. Flood, Fast splittable
// pseudorandom number generators, OOPSLA 2014).
//
// The words of a stream are mixed(seed + golden), mixed(seed + 2 golden) and so on. Its counterpart
// in Python is `batchsolve.problems.symmetries`.
#pragma once

#include <utility>

#include "arrays.h"

namespace batchsolve {

/// The step between the states of a stream.
constexpr std::uint64_t golden = 0x9E3779B97F4A7C15;

/// Return the word that SplitMix64 makes of a state; different states make different words.
constexpr std::uint64_t mixed(std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
    return x ^ (x >> 31);
}

/// A stream of random numbers.
class Random {
public:
    explicit constexpr Random(std::uint64_t state) : state_(state) {}

    constexpr std::uint64_t next() { return mixed(state_ += golden); }

    /// Return a random number below n.
    ///
    /// Each is equally likely: a word that would favour some of them is drawn again (D. Lemire,
    /// Fast random integer generation in an interval, 2019).
    constexpr std::uint32_t below(std::uint32_t n) {
        while (true) {
            const std::uint64_t product = (next() >> 32) * n;
            const std::uint64_t rest = product & 0xffffffff;
            if (rest >= n || rest >= (std::uint64_t{1} << 32) % n) {
                return static_cast<std::uint32_t>(product >> 32);
            }
        }
    }

    /// Put values into a random order, each equally likely.
    template <class T>
    constexpr void shuffle(std::span<T> values) {
        for (std::size_t k = values.size(); k-- > 1;) {
            std::swap(values[k], values[below(static_cast<std::uint32_t>(k + 1))]);
        }
    }

private:
    std::uint64_t state_;
};

/// The streams of a run: each attempt at a row has one of its own.
class Streams {
public:
    explicit Streams(std::span<const std::uint64_t> keys) {
        require(keys.size() == 2, "a run has two keys");
        std::ranges::copy(keys, keys_);
    }

    Random of(std::int64_t row, std::int64_t attempt) const {
        const auto r = static_cast<std::uint64_t>(row), a = static_cast<std::uint64_t>(attempt);
        return Random(mixed(mixed(keys_[0] + r * golden) ^ (keys_[1] + a * golden)));
    }

private:
    std::uint64_t keys_[2];
};

}  // namespace batchsolve
