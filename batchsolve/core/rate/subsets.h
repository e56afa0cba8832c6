// Naked sets, hidden sets, and fish: k items whose candidates have k elements in all.
//
// They are one technique in three views of the candidates. A *view* is nine items whose sets have
// the same elements: the cells of a house, the digits of a house, or a digit in all rows or
// columns.
#pragma once

#include "rate/step.h"
#include "rate/techniques.h"

namespace batchsolve::rate {

using NineItems = std::array<unsigned, n_digits>;
using NineSets = std::array<Bits, n_digits>;

constexpr unsigned n_views(Kind kind) { return kind == Kind::fish ? 2 * n_digits : n_houses; }

constexpr NineItems items_of_view(Kind kind, unsigned view) {
    NineItems items{};
    for (unsigned i = 0; i < n_digits; ++i) {
        items[i] = kind == Kind::naked_set    ? cells_of[view][i]
                   : kind == Kind::hidden_set ? item_of(view, i)
                                              : item_of(view % 2 * columns + i, view / 2);
    }
    return items;
}

/// Some of nine sets, and their union.
struct Choice {
    Bits chosen, elements;
};

/// Call `use` for k of the sets whose union has k elements, in lexicographic order, until it
/// returns true; return that. `from` holds those that may still be chosen.
bool any_choice(unsigned k, unsigned n_left, const NineSets& sets, Bits from, Choice so_far,
                auto& use) {
    if (n_left == 0) return count(so_far.elements) == k && use(so_far);
    for (; count(from) >= n_left; from &= from - 1) {
        const unsigned i = first(from);
        const Choice more{so_far.chosen | Bits{1} << i, so_far.elements | sets[i]};
        if (count(more.elements) > k) continue;
        if (any_choice(k, n_left - 1, sets, from & (from - 1), more, use)) return true;
    }
    return false;
}

/// Take the union of the chosen sets out of the other ones, or if `is_direct`, fill the only place
/// that this leaves to another digit. Where one use is enough, only the first place is filled.
inline bool use_choice(Board& board, const NineItems& items, Choice choice, bool is_direct,
                       bool once) {
    bool helps = false;
    for (unsigned i = 0; i < n_digits; ++i) {
        const Bits set = board.candidates[items[i]], others = set & ~choice.elements;
        const Bits lost = set & choice.elements;
        if (choice.chosen >> i & 1 || lost == 0) continue;
        if (!is_direct) {
            for (const unsigned element : elements(lost)) {
                board.remove(candidate_of(items[i], element));
            }
            helps = true;
        } else if (is_single(others) && !(helps && once)) {
            helps |= board.fill(candidate_of(items[i], first(others)));
        }
    }
    return helps;
}

/// Use k sets of two or more elements whose union has k.
inline void use_sets(Uses& uses, Kind kind, unsigned k, bool is_direct) {
    for (unsigned view = 0; view < n_views(kind); ++view) {
        const NineItems items = items_of_view(kind, view);
        NineSets sets;
        Bits fitting = 0;
        for (unsigned i = 0; i < n_digits; ++i) {
            sets[i] = uses.board.candidates[items[i]];
            if (count(sets[i]) >= 2 && count(sets[i]) <= k) fitting |= Bits{1} << i;
        }
        auto use = [&](Choice choice) {
            const bool helps = use_choice(uses.board, items, choice, is_direct, uses.step);
            bool are_enough = false;
            for (const unsigned i : elements(choice.chosen)) {
                are_enough = uses.are_enough(helps, items[i], sets[i]);
            }
            return are_enough;
        };
        if (any_choice(k, k, sets, fitting, {0, 0}, use)) return;
    }
}

}  // namespace batchsolve::rate
