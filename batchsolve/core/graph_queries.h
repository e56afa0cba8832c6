// Questions to the graph of all covers, which are answered without a search.
//
// The number of covers below a node is the sum of those below its two children. With these counts
// every cover has a number, in the order in which paths come when *high* goes before *low*; the
// k-th is found by going down once.
//
// `GraphView` checks the children that are followed.
#pragma once

#include "diagram.h"
#include "task.h"
#include "whole_numbers.h"

namespace batchsolve {

/// Counts of covers, each of `n_words` words.
struct CoverCounts {
    std::size_t n_words;
    std::vector<Word> words;  // of all nodes
};

/// Count the covers below every node, in as many words as the largest count needs.
CoverCounts count_covers(const GraphView& graph);

/// Return covers by their numbers, which are less than the count of the root: the words of one
/// behind those of the other.
GrowingStacks covers_at(const GraphView& graph, std::span<const Word> counts, std::size_t n_words,
                        NodeNumber root, std::span<const Word> numbers);

/// Return the covers with an option, or without it, in a graph that still has the other nodes.
Graph restricted(const GraphView& graph, NodeNumber root, Option option, bool is_wanted);

/// Return a graph of only the nodes that the root reaches, in the same order.
Graph pruned(const GraphView& graph, NodeNumber root);

}  // namespace batchsolve
