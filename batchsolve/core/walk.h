// The depth-first walk that all engines for exact covers share: the steps of Algorithm X (D. E.
// Knuth, The Art of Computer Programming 7.2.2.1) over the *moves* of an engine on its partial
// cover, with a *visitor* that is told of what the walk meets.
#pragma once

#include <concepts>
#include <cstdint>
#include <span>

#include "task.h"

namespace batchsolve {

enum class Node { cover, dead_end, branch };

/// One of the branches of a node: what it adds to the stack, and how many branches there are, by
/// which its share in the tree of the node is 1 / n_branches.
struct Choice {
    Option option;
    double n_branches;
};

/// Kinds of branches where items have bounds: each option of an item in turn; or one option, which
/// is taken and then excluded.
enum class Branch : std::uint8_t { each, untried, take, exclude };

/// The share of an option is 1 / this number: an item that needs `need` options takes them of
/// degree + need - 1.
inline double branches_of(double degree, double need) {
    return need > 0 ? (degree + need - 1) / need : degree;
}

/// Return the branch that excludes the option that `taken` takes. Its share is 1 less that of
/// `taken`.
inline Choice exclusion_of(const Choice& taken, Option n_options) {
    return {taken.option + n_options, taken.n_branches / (taken.n_branches - 1)};
}

/// The moves of an engine on its representation of a partial cover. Levels count from 0 below the
/// stack that is selected.
template <class M>
concept Moves = requires(M moves, const M& here, std::span<const Option> stack, std::size_t level) {
    { moves.select(stack) } -> std::same_as<std::int32_t>;  // -1, or the position of a clash
    { moves.open_range(Range{}) } -> std::same_as<bool>;    // begins with some at level 0, if any
    { moves.choose(level) } -> std::same_as<Node>;          // finds the branch item
    moves.open(level);                                      // begins with its branches
    { moves.try_next(level) } -> std::same_as<bool>;        // takes the next of them, if any
    moves.take_back(level);                                 // takes that branch back
    moves.abandon(level);                                   // takes all back above a level
    { here.choice(level) } -> std::same_as<Choice>;         // the branch taken at a level
    here.for_each_untried(level, [](Choice) {});            // those not yet taken, in order
    // the item whose options they are, ascending, if they are not others
    { here.branch_item(level) } -> std::same_as<std::optional<Item>>;
};

/// What a visitor does; see `Covers`, and `Memo` for one that cuts the tree.
template <class V, class M>
concept VisitorOf = requires(V visitor, M& moves, std::size_t level) {
    { visitor.may_enter(level) } -> std::same_as<bool>;        // false: the walk stops before
    { visitor.cover(moves, level) } -> std::same_as<bool>;     // true: enough covers are found
    visitor.hand_back(moves, level);                           // a node at the depth limit
    { visitor.is_known(moves, level) } -> std::same_as<bool>;  // true: nothing is searched below
    visitor.leave(moves, level);                               // all branches were tried
    visitor.climb(moves, level);                               // back at a node from below
};

/// Where a walk stands below a stack; it can go on from there.
struct Position {
    std::size_t level = 0;
    bool is_entering = true;  // a node, or else leaving it
    std::int64_t nodes = 0;   // visited so far
    bool is_open = false;     // a node that is not entered: the next of its branches follows
};

enum class Event {
    done,   // the tree is exhausted
    spent,  // the walk stands before a node that it may not visit
    full,   // the visitor has enough
};

/// Walk until an event.
///
/// Parameters
/// ----------
/// depth : the level at which nodes are handed back instead of being expanded
/// allowed : the nodes that may be visited in all
template <Moves M, VisitorOf<M> V>
Event walk(M& moves, V& visitor, Position& position, std::size_t depth, std::int64_t allowed) {
    auto [level, is_entering, nodes, is_open] = position;
    const auto end = [&](Event event) {
        position = {level, event == Event::spent, nodes};
        return event;
    };
    while (true) {
        if (is_entering) {
            is_open = false;
            // X2. [Enter level l.]
            if (nodes == allowed || !visitor.may_enter(level)) return end(Event::spent);
            // X3. [Choose i.]
            const Node node = moves.choose(level);
            if (node == Node::branch && level >= depth) {
                visitor.hand_back(moves, level);
            } else {
                ++nodes;
                if (node == Node::branch && !visitor.is_known(moves, level)) {
                    // X4. [Cover i.]
                    moves.open(level);
                    is_open = true;
                } else if (node == Node::cover) {
                    if (visitor.cover(moves, level)) return end(Event::full);
                }
            }
        }
        while (true) {
            // X5. [Try x_l.]
            if (is_open) {
                if (moves.try_next(level)) break;
                // X7. [Backtrack.]
                visitor.leave(moves, level);
            }
            // X8. [Leave level l.]
            if (level == 0) return end(Event::done);
            // X6. [Try again.]
            --level;
            visitor.climb(moves, level);
            moves.take_back(level);
            is_open = true;
        }
        ++level;
        is_entering = true;
    }
}

}  // namespace batchsolve
