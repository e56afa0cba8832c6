// The engines for exact covers, as functions of a problem and a task.
//
// Each is compiled in a file of its own: compilers inline less of a file that has more.
#pragma once

#include <memory>
#include <optional>

#include "task.h"

namespace batchsolve {

/// The handicaps of items under a branching rule: what is added to their numbers of options, if
/// they have two or more. The choice ends at an item with `enough` options or fewer.
struct Handicaps {
    Handicaps() = default;
    /// Without any, the rule is that of the fewest options. The first is `enough`.
    Handicaps(const Problem& problem, std::span<const std::uint32_t> given)
        : of_item(given.begin(), given.end()), enough(given.empty() ? 1 : given[0]) {
        require(given.empty() || given.size() == problem.n_items + 1, "each item has a handicap");
    }

    std::vector<std::uint32_t> of_item;  // item, counted from 1 -> its handicap
    std::uint32_t enough = 1;
};

/// Call a function template with two facts as its arguments.
auto with_facts(bool one, bool other, auto function) {
    if (one) {
        return other ? function.template operator()<true, true>()
                     : function.template operator()<true, false>();
    }
    return other ? function.template operator()<false, true>()
                 : function.template operator()<false, false>();
}

/// A problem prepared for dancing links; searches in several threads have copies.
class PreparedLinks {
public:
    virtual ~PreparedLinks() = default;
    virtual Outcome search(const Task& task) const = 0;
};

/// See links.h, and bounded.h for problems with bounds.
std::unique_ptr<PreparedLinks> prepare_links(const Problem& problem,
                                             std::span<const std::uint32_t> handicaps);
std::unique_ptr<PreparedLinks> prepare_bounded(const Problem& problem,
                                               std::span<const std::uint32_t> handicaps);

// Engines that take residuals (residual.h) have no outcome if one is too large for them.

/// See bits.h. Its matrix of conflicts has a bit for each two options that a stack leaves, which
/// are `most_options` at most.
std::optional<Outcome> search_bits(const Problem& problem, const Task& task,
                                   std::size_t most_options);

/// See sparse.h.
std::optional<Outcome> search_sparse(const Problem& problem, const Task& task);

/// See bounded_bits.h.
std::optional<Outcome> search_bounded_bits(const Problem& problem, const Task& task);

/// See cheapest.h.
struct Pricing;
Outcome search_cheapest(const Problem& problem, const Pricing& pricing, const Task& task);

struct Counted {
    Outcome out;                     // without counts
    Matrix<Word> counts;             // of each stack, so many words each, the lowest first
    std::vector<double> tree_nodes;  // of each stack: the nodes of the tree searched

    auto parts() { return std::tie(out, counts, tree_nodes); }
};

/// A problem prepared for counting by memo, its primary items in an order. See memo.h.
class PreparedMemo {
public:
    virtual ~PreparedMemo() = default;

    virtual std::size_t table_width() const = 0;

    /// The table has rows of `table_width` words, which are 0 at first; other threads and processes
    /// may use it at the same time. Without bounds, the search also stops once it has taken so many
    /// options out of lists.
    virtual Counted count(Rows<std::uint64_t> table, const Task& task,
                          std::int64_t most_hidden) const = 0;

    /// Counts have so many words, which must suffice for the number of all covers.
    static std::unique_ptr<PreparedMemo> of(const Problem& problem, std::span<const Item> order,
                                            std::size_t n_count_words);
};

}  // namespace batchsolve
