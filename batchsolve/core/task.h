// The contract of engines: a task, and the outcome of its search; see
// `batchsolve.engines`.
#pragma once

#include <optional>

#include "problem.h"

namespace batchsolve {

/// Some branches of a node: the options of an item, as the problem numbers both, from `first` to
/// before `last`.
struct Range {
    Item item;
    Option first, last;
};

/// Partial covers; each descends from a root. Adjacent stacks of one root share its limit and its
/// allowance. Below a stack that has a *branch* only the covers are wanted that have an option of
/// this range. Engines check the options and the ranges.
class Stacks : public Lists<Option> {
public:
    Stacks(Ints offsets, std::span<const Option> options, Ints roots,
           std::span<const std::uint32_t> branches, Ints limits, Ints allowances, Ints fineness)
        : Lists(offsets, options),
          limits(limits),
          allowances(allowances),
          fineness(fineness),
          roots_(roots),
          branches_(branches) {
        for (const Ints each : {roots, limits, allowances, fineness}) {
            require(each.size() == size(),
                    "each stack has a root, a limit, an allowance and a fineness");
        }
        require(branches.empty() || branches.size() == 3 * size(), "each stack has a branch");
        const auto is_amount = [](std::int64_t amount) { return amount >= 0; };
        require(
            std::ranges::all_of(limits, is_amount) && std::ranges::all_of(allowances, is_amount),
            "limits and allowances are 0 or more");
    }

    auto parts() {
        return std::tuple_cat(Lists::parts(),
                              std::tie(roots_, branches_, limits, allowances, fineness));
    }
    std::int64_t root(std::size_t k) const { return roots_[k]; }
    /// The branch of a stack; none if it is the node itself that is to be searched.
    std::optional<Range> branch(std::size_t k) const {
        if (branches_.empty() || branches_[3 * k] == 0) return {};
        return Range{branches_[3 * k] - 1, branches_[3 * k + 1], branches_[3 * k + 2]};
    }
    bool begins_root(std::size_t k) const { return k == 0 || roots_[k] != roots_[k - 1]; }

    Ints limits;      // covers of the stack's root that are wanted
    Ints allowances;  // nodes that the search of its root may visit
    // what is left of a node is cut into shares of 1 / fineness of the tree of its stack, or into
    // stacks of single options
    Ints fineness;

private:
    Ints roots_;
    std::span<const std::uint32_t> branches_;  // of each stack three numbers, or none: the item,
                                               // counted from 1, or 0; first and last
};

/// Return the options with which all stacks begin.
inline std::span<const Option> common_beginning(const Stacks& stacks) {
    if (stacks.size() == 0) return {};
    auto common = stacks[0];
    for (std::size_t k = 1; k < stacks.size(); ++k) {
        const auto [end, _] = std::ranges::mismatch(common, stacks[k]);
        common = common.first(static_cast<std::size_t>(end - common.begin()));
    }
    return common;
}

/// What has no bound: `UNLIMITED` of batchsolve.settings.arguments.
inline constexpr std::int64_t unlimited = std::int64_t{1} << 62;

struct Task {
    auto parts() {
        return std::tie(stacks, budget, depth, keep, room, is_any_order, is_unordered,
                        has_excluded);
    }

    Stacks stacks;
    std::int64_t budget;  // nodes that the task may visit
    std::int64_t depth;   // the level at which nodes are handed back
    std::int64_t keep;    // covers of each root to hand back
    std::int64_t room;    // covers that the task may find
    // of grids: whether the stacks of a root may be searched in any order, and whether the options
    // of a cover may stand in any, so that it is written as digits
    bool is_any_order, is_unordered;
    bool has_excluded;  // covers show the options that were excluded, too
};

/// Stacks or covers that a search writes, each below a stack of its task.
struct GrowingStacks : GrowingLists<Option> {
    std::vector<std::int64_t> parents;  // the place in the task of the stack above

    auto parts() { return std::tie(bounds, values, parents); }
    void end_stack(std::size_t parent) {
        end_list();
        parents.push_back(static_cast<std::int64_t>(parent));
    }
};

struct Outcome {
    explicit Outcome(std::size_t n_stacks)
        : counts(n_stacks), nodes(n_stacks), clash(n_stacks, -1) {}
    auto parts() { return std::tie(counts, nodes, clash, covers, frontier, weights, branches); }

    std::vector<std::int64_t> counts, nodes;  // of each stack
    std::vector<std::int32_t> clash;          // -1, or the position of an option that clashes
    GrowingStacks covers;
    GrowingStacks frontier;               // what is left to search
    std::vector<std::uint32_t> branches;  // of the frontier, as `Stacks` takes them
    std::vector<double> weights;  // of the frontier: the share in the tree of the stack above
};

}  // namespace batchsolve
