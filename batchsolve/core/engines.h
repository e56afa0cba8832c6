// The engines for exact covers, as functions of a problem and a task.
//
// Each is compiled in a file of its own: compilers inline less of a file that has more.
#pragma once

#include <memory>
#include <span>

#include "task.h"

namespace batchsolve {

/// The handicaps of items under a branching rule: what is added to their numbers of options, if
/// they have two or more. The choice ends at an item with `enough` options or fewer.
struct Handicaps {
    std::vector<std::uint32_t> of_item;  // item, counted from 1 -> its handicap
    std::uint32_t enough = 1;
};

/// Check that handicaps, if there are any, are those of the items of a problem.
void check(const Problem& problem, const Handicaps& handicaps);

/// Check that an order has each primary item of a problem once.
void check_order(const Problem& problem, std::span<const Item> order);

/// A problem prepared for dancing links; every search copies it. See links.h.
class PreparedLinks {
public:
    virtual ~PreparedLinks() = default;

    /// Search the stacks begin .. end - 1 of a task that are of this problem.
    virtual void search(class Search& search, std::size_t begin, std::size_t end) const = 0;

    /// Without handicaps, the rule is that of the fewest options.
    static std::unique_ptr<PreparedLinks> of(const Problem& problem, Handicaps handicaps);
};

/// Search a task whose stack k is of problem places[k].
Outcome search_links(std::span<const PreparedLinks* const> problems,
                     std::span<const std::int64_t> places, const Task& task);

/// See bits.h. Its matrix of conflicts has a bit for each two options that a stack leaves.
Outcome search_bits(const Problem& problem, const Task& task);

/// See sparse.h. No stack may leave `most_sparse_options` options or more, and no problem may have
/// `most_sparse_items` primary items or more.
Outcome search_sparse(const Problem& problem, const Task& task);
constexpr std::size_t most_sparse_options = 1 << 15, most_sparse_items = (1 << 16) - 128;

/// See bounded.h.
Outcome search_bounded(const Problem& problem, Handicaps handicaps, const Task& task);

/// See bounded_bits.h. No stack may leave more than `most_bounded_options` options, and no problem
/// may have more than `most_bounded_items` primary items or upper bounds above that.
Outcome search_bounded_bits(const Problem& problem, const Task& task);
constexpr std::size_t most_bounded_options = 16'000, most_bounded_items = (1 << 16) - 1;

/// See cheapest.h.
struct Pricing;
Outcome search_cheapest(const Problem& problem, const Pricing& pricing, const Task& task);

struct Counted {
    Outcome out;                        // without counts
    std::vector<std::uint64_t> counts;  // of each stack, so many words each, the lowest first
    std::vector<double> tree_nodes;     // of each stack: the nodes of the tree searched
};

/// See memo.h. The table has rows of `table_width` words, which are 0 at first; other threads and
/// processes may use it at the same time.
Counted count_by_memo(const Problem& problem, std::span<const Item> order,
                      std::span<std::uint64_t> table, const Task& task);
std::size_t table_width(const Problem& problem);

}  // namespace batchsolve
