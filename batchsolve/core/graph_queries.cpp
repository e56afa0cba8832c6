// Counts, numbers and restrictions of covers in a graph.
#include "graph_queries.h"

#include <optional>

namespace batchsolve {

namespace {

/// Return the counts of all nodes in so many words, or none if they do not fit.
std::optional<std::vector<Word>> counts_in(const GraphView& graph, std::size_t n_words) {
    std::vector<Word> counts(graph.size() * n_words);
    const auto of = [&](NodeNumber x) { return std::span(counts).subspan(x * n_words, n_words); };
    of(1)[0] = 1;
    for (NodeNumber x = 2; x < graph.size(); ++x) {
        if (add(of(graph.low(x)), of(graph.high(x)), of(x))) return {};
    }
    return counts;
}

}  // namespace

CoverCounts count_covers(const GraphView& graph) {
    for (std::size_t n_words = 1;; n_words *= 2) {
        if (auto counts = counts_in(graph, n_words)) return {n_words, std::move(*counts)};
    }
}

GrowingStacks covers_at(const GraphView& graph, std::span<const Word> counts, std::size_t n_words,
                        NodeNumber root, std::span<const Word> numbers) {
    graph.check_root(root);
    if (n_words == 0 || counts.size() != graph.size() * n_words || numbers.size() % n_words != 0) {
        throw std::invalid_argument(
            "counts of nodes and numbers of covers have equally many words");
    }
    GrowingStacks covers;
    std::vector<Word> rest;
    for (std::size_t k = 0; k < numbers.size() / n_words; ++k) {
        const auto number = numbers.subspan(k * n_words, n_words);
        rest.assign(number.begin(), number.end());
        for (NodeNumber x = root; x > 1;) {
            const NodeNumber high = graph.high(x);
            const auto below_high = counts.subspan(high * n_words, n_words);
            if (is_less(rest, below_high)) {
                covers.options.push_back(graph.option(x));
                x = high;
            } else {
                subtract(rest, below_high, rest);
                x = graph.low(x);
            }
        }
        covers.end_stack(k);
    }
    return covers;
}

Graph restricted(const GraphView& graph, NodeNumber root, Option option, bool is_wanted) {
    graph.check_root(root);
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
    return diagram.take(into[root]);
}

Graph pruned(const GraphView& graph, NodeNumber root) {
    graph.check_root(root);
    const NodeNumber n = graph.size();
    std::vector<NodeNumber> number(n);  // 1 if it is reached, and then its new number
    number[root] = 1;
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
    kept.root = number[root];
    return kept;
}

}  // namespace batchsolve
