// The least number of links between nodes: breadth first, all nodes of a distance together.
//
// Nodes are numbered by `Links`, whose numbers are the indices here.
#pragma once

#include <algorithm>
#include <span>

#include "rate/links.h"
#include "rate/techniques.h"

namespace batchsolve::rate {

/// A candidate that is on or off.
struct Node {
    unsigned k;  // the number of the candidate
    bool is_on;
    friend bool operator==(const Node&, const Node&) = default;
};

/// The distance of nodes that no chain reaches.
constexpr std::uint8_t far = 255;

/// Write the number of links from a node to each candidate off, and to each on, if a chain of
/// `most` nodes or fewer leads there.
inline void spread(const Links& links, Along along, Node from, unsigned most,
                   const std::array<std::span<std::uint8_t>, 2>& distances) {
    for (const auto& each : distances) std::ranges::fill(each, far);
    std::array<CandidateSet, 2> reached{};
    CandidateSet last{};
    set_bit(last, from.k);
    const std::size_t n_words = words_for(links.size());
    bool is_on = from.is_on, goes_on = true;
    for (std::uint8_t n_links = 0; goes_on && n_links < most; ++n_links) {
        const auto& sets = links.from(is_on, along);
        CandidateSet next{};
        goes_on = false;
        for_each_bit(std::span(last).first(n_words), [&](std::size_t k) {
            distances[is_on][k] = n_links;
            if (n_links + 1u < most) join(next, sets[k]);
            goes_on = true;
        });
        join(reached[is_on], last);
        is_on = !is_on;
        take_away(next, reached[is_on]);
        last = next;
    }
}

/// Return the nodes of the shortest chain between two nodes.
inline std::vector<Node> shortest_chain(const Links& links, Along along, Node from, Node to) {
    std::array<std::vector<std::uint8_t>, 2> distances;
    for (auto& each : distances) each.resize(links.size());
    spread(links, along, from, most_nodes, {distances[0], distances[1]});
    std::vector<Node> chain{to};
    for (unsigned left = distances[to.is_on][to.k]; left-- > 0;) {
        const auto& sets = links.from(!to.is_on, along);
        unsigned before = 0;
        while (distances[!to.is_on][before] != left || !has_bit(sets[before], to.k)) ++before;
        to = {before, !to.is_on};
        chain.push_back(to);
    }
    std::ranges::reverse(chain);
    return chain;
}

/// The distances between all nodes.
class Distances {
public:
    explicit Distances(unsigned n) : n_(n), distances_(4 * n * n) {}

    void find(const Links& links, Along along, Node from, unsigned most) {
        spread(links, along, from, most, {row(from, false), row(from, true)});
    }
    /// Return the distances from a node to all candidates on, or off.
    std::span<std::uint8_t> row(Node from, bool to_on) {
        return std::span(distances_).subspan(n_ * (n_ * (2 * from.is_on + to_on) + from.k), n_);
    }
    unsigned between(Node from, Node to) { return row(from, to.is_on)[to.k]; }

private:
    unsigned n_;
    std::vector<std::uint8_t> distances_;
};

}  // namespace batchsolve::rate
