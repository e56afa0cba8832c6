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

/// Write the number of links from a node to each candidate on and each off, if a chain of `most`
/// nodes or fewer leads there.
inline void spread(const Links& links, Along along, Node from, unsigned most,
                   std::span<std::uint8_t> to_on, std::span<std::uint8_t> to_off) {
    const auto [weak, strong] = links.along(along);
    std::ranges::fill(to_on, far);
    std::ranges::fill(to_off, far);
    (from.is_on ? to_on : to_off)[from.k] = 0;
    CandidateSet reached_on, reached_off, last;
    (from.is_on ? reached_on : reached_off).insert(from.k);
    last.insert(from.k);
    bool is_on = from.is_on, goes_on = true;
    for (std::uint8_t n_links = 1; goes_on && n_links < most; ++n_links) {
        CandidateSet next;
        last.for_each(links.size(), [&](unsigned k) { next |= is_on ? weak[k] : strong[k]; });
        is_on = !is_on;
        CandidateSet& reached = is_on ? reached_on : reached_off;
        next -= reached;
        reached |= next;
        goes_on = false;
        next.for_each(links.size(), [&](unsigned k) {
            (is_on ? to_on : to_off)[k] = n_links;
            goes_on = true;
        });
        last = next;
    }
}

/// Return the nodes of the shortest chain between two nodes.
inline std::vector<Node> shortest_chain(const Links& links, Along along, Node from, Node to) {
    std::vector<std::uint8_t> to_on(links.size()), to_off(links.size());
    spread(links, along, from, most_nodes, to_on, to_off);
    const auto [weak, strong] = links.along(along);
    std::vector<Node> chain{to};
    for (unsigned left = (to.is_on ? to_on : to_off)[to.k]; left-- > 0;) {
        const auto& sets = to.is_on ? strong : weak;
        const auto& distances = to.is_on ? to_off : to_on;
        unsigned before = 0;
        while (distances[before] != left || !sets[before].has(to.k)) ++before;
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
        spread(links, along, from, most, row(from, true), row(from, false));
    }
    /// Return the distances from a node to all candidates on, or off.
    std::span<std::uint8_t> row(Node from, bool to_on) {
        return std::span(distances_).subspan(n_ * (n_ * (2 * from.is_on + to_on) + from.k), n_);
    }
    Bytes row(Node from, bool to_on) const {
        return std::span(distances_).subspan(n_ * (n_ * (2 * from.is_on + to_on) + from.k), n_);
    }
    unsigned between(Node from, Node to) const { return row(from, to.is_on)[to.k]; }

private:
    unsigned n_;
    std::vector<std::uint8_t> distances_;
};

}  // namespace batchsolve::rate
