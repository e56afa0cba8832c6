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
inline Matrix<Word> count_covers(const GraphView& graph) {
    for (std::size_t n_words = 1;; n_words *= 2) {
        Matrix<Word> counts(graph.size(), n_words);
        counts[1][0] = 1;
        NodeNumber x = 2;
        while (x < graph.size() && !add(counts[graph.low(x)], counts[graph.high(x)], counts[x]))
            ++x;
        if (x == graph.size()) return counts;
    }
}

/// Return covers by their numbers, which are less than the count of the root: the words of one
/// behind those of the other.
inline GrowingLists<Option> covers_at(const GraphView& graph, Rows<const Word> counts,
                                      Rows<const Word> numbers) {
    require(counts.size() == graph.size() && counts.width > 0 && numbers.width == counts.width,
            "counts of nodes and numbers of covers have equally many words");
    GrowingLists<Option> covers;
    std::vector<Word> rest;
    for (std::size_t k = 0; k < numbers.size(); ++k) {
        rest.assign(numbers[k].begin(), numbers[k].end());
        for (NodeNumber x = graph.root; x > 1;) {
            const NodeNumber high = graph.high(x);
            if (is_less(rest, counts[high])) {
                covers.values.push_back(graph.option(x));
                x = high;
            } else {
                subtract(rest, counts[high], rest);
                x = graph.low(x);
            }
        }
        covers.end_list();
    }
    return covers;
}

/// Return the covers with an option, or without it, in a graph that still has the other nodes.
inline Graph restricted(const GraphView& graph, Option option, bool is_wanted) {
    const NodeNumber n = graph.size();
    Diagram diagram(2 * std::size_t{n}, graph);
    std::vector<NodeNumber> into(n);
    into[1] = is_wanted ? 0 : 1;
    for (NodeNumber x = 2; x < n; ++x) {
        const bool has_option = graph.option(x) == option;
        const NodeNumber low = has_option && is_wanted ? 0 : into[graph.low(x)];
        const NodeNumber high = !has_option ? into[graph.high(x)] : is_wanted ? graph.high(x) : 0;
        into[x] = high == 0 ? low : diagram.make(graph.option(x), low, high);
    }
    return diagram.take(into[graph.root]);
}

/// Return a graph of only the nodes that the root reaches, in the same order.
inline Graph pruned(const GraphView& graph) {
    const NodeNumber n = graph.size();
    std::vector<NodeNumber> number(n);  // 1 if it is reached, and then its new number
    number[graph.root] = 1;
    for (NodeNumber x = n - 1; x > 1; --x) {
        if (number[x] == 0) continue;
        number[graph.low(x)] = number[graph.high(x)] = 1;
    }
    number[0] = 0;
    number[1] = 1;
    Graph kept;
    for (int terminal = 0; terminal < 2; ++terminal) kept.add(0, 0, 0);
    for (NodeNumber x = 2; x < n; ++x) {
        if (number[x] == 0) continue;
        number[x] = static_cast<NodeNumber>(kept.size());
        kept.add(graph.option(x), number[graph.low(x)], number[graph.high(x)]);
    }
    kept.root = number[graph.root];
    return kept;
}

}  // namespace batchsolve
