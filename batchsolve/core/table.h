// A table of counts that threads and processes share without waiting for each other.
//
// * A row is a *version*, a key, a count, and the *size*, the nodes of the whole subtree; version 0
//   marks an empty row. A key may lie in any row of a short window; when all those are taken, the
//   row of the least size gives way. The key is compared as a whole: the hash only says where to
//   look.
// * No thread waits for a row. A thread that writes one makes its version odd first, and even again
//   when all words are there; if another thread has made it odd, it does not write. A thread that
//   reads one looks at the version before and after, and takes what it read only if both are the
//   same even number: then no word of it was written in between (a *sequence lock*, here with the
//   fences that H.-J. Boehm, Can seqlocks get along with programming language memory models?, MSPC
//   2012, shows to be needed). So a count that is found was stored with exactly this key.
// * A row stays unused for ever if a process is killed while it writes the row.
#pragma once

#include <atomic>

#include "keyed.h"

namespace batchsolve {

class Table {
public:
    /// Words of a row beside those of its key and its count.
    static constexpr std::size_t n_others = 2;

    Table(Rows<Word> rows, std::size_t n_key_words, std::size_t n_count_words)
        : n_key(n_key_words), n_count(n_count_words), rows_(rows) {
        require(rows.size() > 0 && rows.width == n_key + n_count + n_others,
                "a table has one or more rows of the width of the problem");
    }

    /// Look a key up. Return the size of its subtree and write the count, or return 0.
    std::uint64_t find(std::span<const Word> key, std::span<Word> count) const {
        std::size_t row = hash_of(key) % rows_.n_rows;
        for (int k = 0; k < window; ++k) {
            const std::size_t at = row * rows_.width;
            const Word version = word(at).load(std::memory_order_acquire);
            if (version == 0) break;
            if (version % 2 == 0 && has_key(at, key)) {
                for (std::size_t w = 0; w < n_count; ++w) count[w] = load(at + 1 + n_key + w);
                const std::uint64_t size = load(at + rows_.width - 1);
                std::atomic_thread_fence(std::memory_order_acquire);
                if (load(at) == version) return size;
            }
            row = row + 1 == rows_.n_rows ? 0 : row + 1;
        }
        return 0;
    }

    /// Write a count into the first empty row of its window, or over the one of least size. If
    /// another thread is writing that row, the count is not kept.
    void store(std::span<const Word> key, std::span<const Word> count, std::uint64_t size) {
        const std::size_t at = place_for(key);
        Word version = load(at);
        if (version % 2 != 0 ||
            !word(at).compare_exchange_strong(version, version + 1, std::memory_order_acq_rel,
                                              std::memory_order_acquire)) {
            return;
        }
        std::atomic_thread_fence(std::memory_order_release);
        for (std::size_t w = 0; w < n_key; ++w) write(at + 1 + w, key[w]);
        for (std::size_t w = 0; w < n_count; ++w) write(at + 1 + n_key + w, count[w]);
        write(at + rows_.width - 1, size);
        word(at).store(version + 2, std::memory_order_release);
    }

    const std::size_t n_key, n_count;  // words of each

private:
    static constexpr int window = 8;  // rows in which a key may lie

    std::atomic_ref<Word> word(std::size_t at) const { return std::atomic_ref(rows_.values[at]); }
    Word load(std::size_t at) const { return word(at).load(std::memory_order_relaxed); }
    void write(std::size_t at, Word value) { word(at).store(value, std::memory_order_relaxed); }

    bool has_key(std::size_t at, std::span<const Word> key) const {
        for (std::size_t w = 0; w < n_key; ++w) {
            if (load(at + 1 + w) != key[w]) return false;
        }
        return true;
    }

    /// Return where the row begins over which a key is to be written.
    std::size_t place_for(std::span<const Word> key) const {
        std::size_t row = hash_of(key) % rows_.n_rows, place = row * rows_.width;
        std::uint64_t least = ~std::uint64_t{0};
        for (int k = 0; k < window; ++k) {
            const std::size_t at = row * rows_.width;
            if (load(at) == 0) return at;
            if (const std::uint64_t kept = load(at + rows_.width - 1); kept < least) {
                place = at;
                least = kept;
            }
            row = row + 1 == rows_.n_rows ? 0 : row + 1;
        }
        return place;
    }

    Rows<Word> rows_;
};

}  // namespace batchsolve
