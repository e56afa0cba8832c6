// The candidates of the cells of all lanes.
//
// Callers pass cells and lanes that exist.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lanes/events.h"

namespace batchsolve::lanes {

/// A vector for each cell, with the candidates of that cell in every lane.
template <class T>
class Cells {
public:
    explicit Cells(int n) : n_(n), vectors_(static_cast<std::size_t>(n_words() * per_word)) {}

    int size() const { return n_; }
    T& at(int cell, int lane) { return reinterpret_cast<T*>(&vectors_[cell])[lane]; }
    T at(int cell, int lane) const { return vectors_[cell][lane]; }

    std::span<Vector<T>> vectors() { return std::span(vectors_).first(n_); }
    std::span<const Vector<T>> vectors() const { return std::span(vectors_).first(n_); }

    /// Lanes without an empty cell.
    LaneBits full() const {
        Vector<T> smallest = vectors_[0];
        for (const auto& here : vectors()) smallest = here < smallest ? here : smallest;
        return ~bits(smallest == 0);
    }

    // The grid of a lane is saved as words of several cells, because a store takes longer than the
    // loads of all of them.

    int n_words() const { return (n_ + per_word - 1) / per_word; }

    /// Return the place of the grid of a level among those that a lane saves.
    std::span<std::uint64_t> room_at(std::size_t level, std::vector<std::uint64_t>& saved) const {
        const auto n = static_cast<std::size_t>(n_words());
        if (saved.size() < (level + 1) * n) saved.resize((level + 1) * n);
        return std::span(saved).subspan(level * n, n);
    }

    void save(int lane, std::span<std::uint64_t> words) const {
        for (int w = 0; w < n_words(); ++w) {
            std::uint64_t word = 0;
            for (int j = 0; j < per_word; ++j) {
                word |= std::uint64_t{at(w * per_word + j, lane)} << (n_bits * j);
            }
            words[w] = word;
        }
    }

    void restore(int lane, std::span<const std::uint64_t> words) {
        for (int w = 0; w < n_words(); ++w) {
            for (int j = 0; j < per_word; ++j) {
                at(w * per_word + j, lane) = static_cast<T>(words[w] >> (n_bits * j));
            }
        }
    }

private:
    static constexpr int n_bits = 8 * sizeof(T), per_word = 64 / n_bits;

    int n_;
    std::vector<Vector<T>> vectors_;  // and some that no grid has, to fill the last word
};

}  // namespace batchsolve::lanes
