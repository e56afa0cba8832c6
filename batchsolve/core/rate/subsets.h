// Naked sets, hidden sets, and fish: k sets whose union has k elements.
//
// They are one technique in three views of the candidates. A *view* is nine sets of up to nine
// elements, each of which is a candidate.
#pragma once

#include "rate/step.h"

namespace batchsolve::rate {

/// The digits of each cell of a house.
struct NakedSets {
    static constexpr unsigned n_views = n_houses;
    unsigned house;
    Bits set(const Board& board, unsigned i) const { return board.candidates[cells_of[house][i]]; }
    Candidate candidate(unsigned i, unsigned element) const {
        return {cells_of[house][i], element};
    }
};

/// The places of each digit in a house.
struct HiddenSets {
    static constexpr unsigned n_views = n_houses;
    unsigned house;
    Bits set(const Board& board, unsigned i) const { return board.places[house][i]; }
    Candidate candidate(unsigned i, unsigned element) const {
        return {cells_of[house][element], i};
    }
};

/// The places of a digit in each row, or in each column.
struct Fish {
    static constexpr unsigned n_views = 2 * n_digits;
    unsigned view;
    unsigned line(unsigned i) const { return view % 2 * columns + i; }
    Bits set(const Board& board, unsigned i) const { return board.places[line(i)][view / 2]; }
    Candidate candidate(unsigned i, unsigned element) const {
        return {cells_of[line(i)][element], view / 2};
    }
};

using NineSets = std::array<Bits, n_digits>;

/// Some of nine sets, and their union.
struct Choice {
    Bits chosen, elements;
};

/// Call `use` for k of the sets whose union has k elements, in lexicographic order, until it
/// returns true; return that. `from` holds those that may still be chosen.
template <unsigned k, unsigned n_left = k>
bool any_choice(const NineSets& sets, Bits from, Choice so_far, auto& use) {
    if constexpr (n_left == 0) {
        return count(so_far.elements) == k && use(so_far);
    } else {
        for (; count(from) >= n_left; from &= from - 1) {
            const unsigned i = first(from);
            const Choice more{so_far.chosen | Bits{1} << i, so_far.elements | sets[i]};
            if (count(more.elements) > k) continue;
            if (any_choice<k, n_left - 1>(sets, from & (from - 1), more, use)) return true;
        }
        return false;
    }
}

/// Take the union of the chosen sets out of the other ones, or if `is_direct`, fill the only place
/// that this leaves to another digit. Where one use is enough, only the first place is filled.
template <class View>
bool use_choice(Board& board, const View& view, Choice choice, bool is_direct, bool once) {
    bool helps = false;
    for (unsigned i = 0; i < n_digits; ++i) {
        const Bits set = view.set(board, i), others = set & ~choice.elements;
        const Bits lost = set & choice.elements;
        if (choice.chosen >> i & 1 || lost == 0) continue;
        if (!is_direct) {
            for (const unsigned element : elements(lost)) board.remove(view.candidate(i, element));
            helps = true;
        } else if (is_single(others) && !(helps && once)) {
            helps |= board.fill(view.candidate(i, first(others)));
        }
    }
    return helps;
}

/// Use k sets of two or more elements whose union has k.
template <class View, unsigned k>
bool use_sets(Board& board, Step* step, bool is_direct) {
    bool changed = false;
    for (unsigned v = 0; v < View::n_views; ++v) {
        const View view{v};
        NineSets sets;
        Bits fitting = 0;
        for (unsigned i = 0; i < n_digits; ++i) {
            sets[i] = view.set(board, i);
            if (count(sets[i]) >= 2 && count(sets[i]) <= k) fitting |= Bits{1} << i;
        }
        auto use = [&](Choice choice) {
            if (!use_choice(board, view, choice, is_direct, step)) return false;
            changed = true;
            if (!step) return false;
            for (const unsigned i : elements(choice.chosen)) {
                for (const unsigned element : elements(sets[i]))
                    step->note(view.candidate(i, element));
            }
            return true;
        };
        if (any_choice<k>(sets, fitting, {0, 0}, use)) return true;
    }
    return changed;
}

/// Use k sets, for k of 2 to 4.
template <class View>
bool use_sets(Board& board, Step* step, unsigned k, bool is_direct) {
    if (k == 2) return use_sets<View, 2>(board, step, is_direct);
    if (k == 3) return use_sets<View, 3>(board, step, is_direct);
    return use_sets<View, 4>(board, step, is_direct);
}

}  // namespace batchsolve::rate
