// Questions to the graph of all covers, which are answered without a search.
//
// The number of covers below a node is the sum of those below its two children. With these counts
// every cover has a number, in the order in which paths come when *high* goes before *low*; the
// k-th is found by going down once.
//
// `GraphView` checks the children that are followed.
#pragma once

#include "diagram.h"
#include "whole_numbers.h"

namespace batchsolve {

/// Count the covers below every node, in as many words as the largest count needs.
Matrix<Word> count_covers(const GraphView& graph);

/// Return covers by their numbers, which are less than the count of the root: the words of one
/// behind those of the other.
GrowingLists<Option> covers_at(const GraphView& graph, Rows<const Word> counts, NodeNumber root,
                               Rows<const Word> numbers);

/// Return the covers with an option, or without it, in a graph that still has the other nodes.
Graph restricted(const GraphView& graph, NodeNumber root, Option option, bool is_wanted);

/// Return a graph of only the nodes that the root reaches, in the same order.
Graph pruned(const GraphView& graph, NodeNumber root);

}  // namespace batchsolve
