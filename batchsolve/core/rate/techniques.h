// The techniques of ratings, in the order and with the ratings of Sudoku Explainer 1.2.1 (N.
// Juillerat, 2006). `batchsolve.runs.rate` says what is taken from it, and why.
#pragma once

#include <algorithm>
#include <array>
#include <tuple>

#include "rate/board.h"

namespace batchsolve::rate {

enum class Kind : std::uint8_t {
    last_cell,
    hidden_single,
    naked_single,
    locked,
    naked_set,
    hidden_set,
    fish,
    wing,
    x_cycle,
    y_cycle,
    x_chain,
    cycle,
    chain,
    nishio,
    cell_chains,
    region_chains,
    unique_rectangle,
    unique_loop,
    bug,
};
constexpr unsigned n_kinds = 19;

/// A technique; a *direct* one fills a cell and keeps no eliminations.
struct Technique {
    const char* name;
    unsigned tenths;  // of its rating
    Kind kind;
    unsigned size = 0;  // or the first of the houses: lines, or boxes
    bool is_direct = false;
};

/// The houses that a technique looks at: the rows and columns, or the boxes.
constexpr unsigned in_line = rows, in_box = boxes;

inline constexpr std::array without_chains{
    Technique{"last cell", 10, Kind::last_cell},
    Technique{"hidden single in box", 12, Kind::hidden_single, in_box},
    Technique{"hidden single in line", 15, Kind::hidden_single, in_line},
    Technique{"direct pointing", 17, Kind::locked, in_box, true},
    Technique{"direct hidden pair", 20, Kind::hidden_set, 2, true},
    Technique{"naked single", 23, Kind::naked_single},
    Technique{"direct hidden triplet", 25, Kind::hidden_set, 3, true},
    Technique{"pointing", 26, Kind::locked, in_box},
    Technique{"claiming", 28, Kind::locked, in_line},
    Technique{"naked pair", 30, Kind::naked_set, 2},
    Technique{"x-wing", 32, Kind::fish, 2},
    Technique{"hidden pair", 34, Kind::hidden_set, 2},
    Technique{"naked triplet", 36, Kind::naked_set, 3},
    Technique{"swordfish", 38, Kind::fish, 3},
    Technique{"hidden triplet", 40, Kind::hidden_set, 3},
    Technique{"xy-wing", 42, Kind::wing, 2},
    Technique{"xyz-wing", 44, Kind::wing, 3},
    Technique{"naked quad", 50, Kind::naked_set, 4},
    Technique{"jellyfish", 52, Kind::fish, 4},
    Technique{"hidden quad", 54, Kind::hidden_set, 4},
};

/// Techniques that come once for each rating: up to `most_added` tenths are added to the least one.
struct Graded {
    Technique least;
    unsigned most_added;
};

/// A chain of n nodes is rated 0.1 higher for each of these that is less than n - 2.
inline constexpr std::array<unsigned, 9> lengths{4, 6, 8, 12, 16, 24, 32, 48, 64};

/// The upper bound of the nodes of chains, behind which its length adds more than 0.9.
constexpr unsigned most_nodes = 98;

/// The patterns that assume a unique solution, and the chains, up to 8.5.
inline constexpr std::array graded{
    Graded{{"unique rectangle", 45, Kind::unique_rectangle}, 3},
    Graded{{"unique loop", 46, Kind::unique_loop}, 7},
    Graded{{"bug", 56, Kind::bug}, 4},
    Graded{{"x-cycle", 65, Kind::x_cycle}, 9},
    Graded{{"y-cycle", 65, Kind::y_cycle}, 9},
    Graded{{"forcing x-chain", 66, Kind::x_chain}, 9},
    Graded{{"xy-cycle", 70, Kind::cycle}, 9},
    Graded{{"forcing chain", 70, Kind::chain}, 9},
    Graded{{"nishio", 75, Kind::nishio}, 9},
    Graded{{"cell forcing chains", 80, Kind::cell_chains}, 5},
    Graded{{"region forcing chains", 80, Kind::region_chains}, 5},
};

/// The number of techniques, and the level of puzzles that they do not solve.
constexpr unsigned guess = [] {
    unsigned n = without_chains.size();
    for (const Graded& each : graded) n += each.most_added + 1;
    return n;
}();

/// All techniques, the easiest first. A place in this table is a *level*.
inline constexpr auto ladder = [] {
    std::array<Technique, guess> techniques{};
    auto* end = std::ranges::copy(without_chains, techniques.data()).out;
    for (const auto& [least, most_added] : graded) {
        for (unsigned added = 0; added <= most_added; ++added) {
            *end = least;
            end->tenths += added;
            if (least.kind == Kind::x_chain && !added) end->name = "turbot fish";
            ++end;
        }
    }
    std::ranges::sort(techniques, {},
                      [](const Technique& t) { return std::pair(t.tenths, t.kind); });
    return techniques;
}();

/// Other levels: of grids without blank cells, and of grids whose clues clash.
constexpr unsigned none = guess + 1, invalid = 255;

/// Return the least level that fits.
constexpr unsigned first_level(auto fits) {
    return static_cast<unsigned>(std::ranges::find_if(ladder, fits) - ladder.begin());
}

constexpr bool is_chain(Kind kind) { return kind >= Kind::x_cycle && kind <= Kind::region_chains; }
constexpr bool is_pattern(Kind kind) { return kind >= Kind::unique_rectangle; }

/// The level of the easiest chain.
constexpr unsigned first_chain = first_level([](const Technique& t) { return is_chain(t.kind); });

/// The level below which all techniques come before patterns.
constexpr unsigned first_pattern =
    first_level([](const Technique& t) { return is_pattern(t.kind); });

/// Return the level of a kind when some tenths are added to its least rating, or `guess`.
constexpr unsigned level_with(Kind kind, unsigned added) {
    const auto least = std::ranges::find(ladder, kind, &Technique::kind);
    return first_level(
        [&](const Technique& t) { return t.kind == kind && t.tenths == least->tenths + added; });
}

/// The level of chains of each kind, by their nodes, or `guess`.
inline constexpr auto levels_by_nodes = [] {
    Table<unsigned, n_kinds, most_nodes + 1> levels{};
    for (unsigned kind = 0; kind < n_kinds; ++kind) {
        unsigned nodes = 0;
        for (unsigned added = 0; added <= lengths.size(); ++added) {
            const unsigned end = added < lengths.size() ? lengths[added] + 2 : most_nodes;
            const unsigned level = level_with(static_cast<Kind>(kind), added);
            while (nodes <= end) levels[kind][nodes++] = level;
        }
    }
    return levels;
}();

constexpr unsigned level_of(Kind kind, unsigned nodes) {
    return levels_by_nodes[static_cast<unsigned>(kind)][nodes];
}

/// Return the most nodes of a chain of a kind up to a level.
constexpr unsigned nodes_up_to(Kind kind, unsigned level) {
    unsigned nodes = most_nodes;
    while (nodes > 0 && level_of(kind, nodes) > level) --nodes;
    return nodes;
}

}  // namespace batchsolve::rate
