// Keys of grids, and the table of those that were seen.
//
// A key is a hash of 128 bits, drawn from a universal family (multilinear hashing: L. Carter and
// M. Wegman, Universal classes of hash functions, 1979; D. Lemire and O. Kaser, Strongly universal
// string hashing is fast, 2014). `grid_keys` checks that there are factors for all cells; the slots
// of `SeenKeys` are indices that it makes itself.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

namespace batchsolve::tables {

constexpr std::size_t n_hashes = 4;  // of 32 bits each
constexpr std::size_t n_cells_of_word = 4;

/// Return the word of up to four cells.
template <std::size_t n>
std::uint64_t word_of(std::span<const std::uint8_t, n> cells) {
    std::uint64_t word = 0;
    for (std::size_t x = cells.size(); x-- > 0;) word = word << 8 | cells[x];
    return word;
}

/// Return the keys of grids of `n_cells` bytes.
///
/// A hash is the sum of its first factor and of the words of a grid, four cells each, times the
/// factors behind it; its upper half counts.
inline std::vector<std::uint64_t> grid_keys(std::span<const std::uint8_t> grids,
                                            std::size_t n_cells,
                                            std::span<const std::uint64_t> factors) {
    const std::size_t n_words = (n_cells + n_cells_of_word - 1) / n_cells_of_word;
    if (factors.size() != n_hashes * (1 + n_words)) {
        throw std::invalid_argument("a hash has a factor for each word of a grid, and one more");
    }
    std::vector<std::uint64_t> keys;
    keys.reserve(grids.size() / n_cells * 2);
    for (; !grids.empty(); grids = grids.subspan(n_cells)) {
        std::array<std::uint64_t, n_hashes> sums;
        for (std::size_t h = 0; h < n_hashes; ++h) sums[h] = factors[h * (1 + n_words)];
        for (std::size_t w = 0; w < n_words; ++w) {
            const auto left = grids.first(n_cells).subspan(w * n_cells_of_word);
            const auto word =
                left.size() < n_cells_of_word ? word_of(left) : word_of(left.first<4>());
            for (std::size_t h = 0; h < n_hashes; ++h) {
                sums[h] += factors[h * (1 + n_words) + 1 + w] * word;
            }
        }
        constexpr std::uint64_t low = 0xffffffff;
        keys.push_back(sums[0] >> 32 | (sums[1] & ~low));
        keys.push_back(sums[2] >> 32 | (sums[3] & ~low));
    }
    return keys;
}

/// A table of the keys of rows, each with the number of its first row.
///
/// Keys and rows are apart, because most rows are new, and need no look at the key of another.
class SeenKeys {
public:
    static constexpr std::int64_t unseen = -1;  // the row of an empty slot

    /// Slots are a power of two; there must be more of them than keys.
    SeenKeys(std::span<std::uint64_t> keys, std::span<std::int64_t> rows)
        : keys_(keys), rows_(rows) {
        if (!std::has_single_bit(rows.size()) || keys.size() != 2 * rows.size()) {
            throw std::invalid_argument("a table of keys has two words for each of 2^k slots");
        }
    }

    /// Return the first row with a key; `unseen` if it is this one.
    std::int64_t add(std::uint64_t one, std::uint64_t other, std::int64_t row) {
        const auto last = rows_.size() - 1;
        auto slot = one & last;
        while (rows_[slot] != unseen) {
            if (keys_[2 * slot] == one && keys_[2 * slot + 1] == other) return rows_[slot];
            slot = (slot + 1) & last;
        }
        keys_[2 * slot] = one;
        keys_[2 * slot + 1] = other;
        rows_[slot] = row;
        return unseen;
    }

private:
    std::span<std::uint64_t> keys_;  // two words a slot
    std::span<std::int64_t> rows_;
};

}  // namespace batchsolve::tables
