// Keys of grids, and the table of those that were seen.
//
// A key is a hash of 128 bits, drawn from a universal family (multilinear hashing: L. Carter and
// M. Wegman, Universal classes of hash functions, 1979; D. Lemire and O. Kaser, Strongly universal
// string hashing is fast, 2014). `grid_keys` checks that there are factors for all cells; the slots
// of `SeenKeys` are indices that it makes itself.
#pragma once

#include <array>
#include <bit>

#include "arrays.h"

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

/// Return the keys of grids, two words each.
///
/// A hash is the sum of its first factor and of the words of a grid, four cells each, times the
/// factors behind it; its upper half counts.
inline Matrix<std::uint64_t> grid_keys(Rows<const std::uint8_t> grids,
                                       Rows<const std::uint64_t> factors) {
    const std::size_t n_words = (grids.width + n_cells_of_word - 1) / n_cells_of_word;
    require(factors.size() == n_hashes && factors.width == 1 + n_words,
            "a hash has a factor for each word of a grid, and one more");
    Matrix<std::uint64_t> keys(grids.size(), 2);
    const auto factor = [&, all = factors.values](std::size_t h, std::size_t x) {
        return all[h * (1 + n_words) + x];
    };
    for (std::size_t k = 0; k < grids.size(); ++k) {
        const auto grid = grids[k];
        std::array<std::uint64_t, n_hashes> sums;
        for (std::size_t h = 0; h < n_hashes; ++h) sums[h] = factor(h, 0);
        for (std::size_t w = 0; w < n_words; ++w) {
            const auto left = grid.subspan(w * n_cells_of_word);
            const auto word =
                left.size() < n_cells_of_word ? word_of(left) : word_of(left.first<4>());
            for (std::size_t h = 0; h < n_hashes; ++h) sums[h] += factor(h, 1 + w) * word;
        }
        constexpr std::uint64_t low = 0xffffffff;
        keys[k][0] = sums[0] >> 32 | (sums[1] & ~low);
        keys[k][1] = sums[2] >> 32 | (sums[3] & ~low);
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
    SeenKeys(Rows<std::uint64_t> keys, std::span<std::int64_t> rows)
        : keys_(keys.values), rows_(rows) {
        require(std::has_single_bit(rows.size()) && keys.size() == rows.size() && keys.width == 2,
                "a table of keys has two words for each of 2^k slots");
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

/// Add keys to a table, of rows that are counted; return the first row with the key of each.
inline std::vector<std::int64_t> add_keys(Rows<std::uint64_t> keys, std::span<std::int64_t> rows,
                                          Rows<const std::uint64_t> more,
                                          std::span<const bool> counted, Ints numbers) {
    const auto n = numbers.size();
    require(more.size() == n && more.width == 2 && counted.size() == n, "a key has two words");
    SeenKeys seen(keys, rows);
    std::vector<std::int64_t> found(n, SeenKeys::unseen);
    for (std::size_t k = 0; k < n; ++k) {
        if (counted[k]) found[k] = seen.add(more[k][0], more[k][1], numbers[k]);
    }
    return found;
}

}  // namespace batchsolve::tables
