// The engines for exact covers, as functions of a problem and a task.
//
// Each is compiled in a file of its own: compilers inline less of a file that has more.
#pragma once

#include <functional>
#include <optional>

#include "task.h"

namespace batchsolve {

/// Call a function template with two facts as its arguments.
auto with_facts(bool one, bool other, auto function) {
    if (one) {
        return other ? function.template operator()<true, true>()
                     : function.template operator()<true, false>();
    }
    return other ? function.template operator()<false, true>()
                 : function.template operator()<false, false>();
}

/// A problem prepared for dancing links, which several threads may search.
struct PreparedLinks {
    Outcome search(const Task& task) const { return by_task(task); }

    std::function<Outcome(const Task&)> by_task;
};

/// See links.h, and bounded.h for problems with bounds. Handicaps are those of a branching rule, if
/// there are any: behind the number of options that is enough to choose an item, what is added to
/// the number of options of each item if they are two or more.
PreparedLinks prepare_links(const Problem& problem, std::span<const std::uint32_t> handicaps);
PreparedLinks prepare_bounded(const Problem& problem, std::span<const std::uint32_t> handicaps);

// Engines that take residuals (residual.h) have no outcome if one is too large for them.

/// See bits.cpp. Its matrix of conflicts has a bit for each two options that a stack leaves, which
/// are `most_options` at most.
std::optional<Outcome> search_bits(const Problem& problem, const Task& task,
                                   std::size_t most_options);

/// See sparse.cpp.
std::optional<Outcome> search_sparse(const Problem& problem, const Task& task);

/// See bounded_bits.cpp.
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

/// A problem prepared for counting by memo, which several threads may search. See memo.cpp.
struct PreparedMemo {
    /// The table has rows of `table_width` words, which are 0 at first; other threads and processes
    /// may use it at the same time. Without bounds, the search also stops once it has taken so many
    /// options out of lists.
    Counted count(Rows<Word> table, const Task& task, std::int64_t most_hidden) const {
        return by_table(table, task, most_hidden);
    }

    std::size_t table_width;
    std::function<Counted(Rows<Word>, const Task&, std::int64_t)> by_table;
};

/// The primary items are in an order. Counts have so many words, which must suffice for the number
/// of all covers.
PreparedMemo prepare_memo(const Problem& problem, std::span<const Item> order,
                          std::size_t n_count_words);

}  // namespace batchsolve
