// Decision diagrams: nodes (option, low, high), each made once.
//
// A node stands for the covers of *low*, and those of *high* with the option added. Nodes have
// numbers; 0 and 1 are the terminals, no cover and the empty one, and children have smaller numbers
// than their parents. If options come in one order on all paths, this is a zero-suppressed decision
// diagram (S. Minato, Zero-suppressed BDDs for set manipulation in combinatorial problems, DAC
// 1993).
//
// The caller of `make` passes children that exist; `GraphView` has nodes that come from elsewhere.
#pragma once

#include "problem.h"
#include "random.h"
#include "slots.h"

namespace batchsolve {

using NodeNumber = std::uint32_t;

/// The nodes of a graph in arrays of their own, as Python has them.
struct Graph {
    std::vector<Option> option;
    std::vector<NodeNumber> low, high;
    NodeNumber root = 0;

    auto parts() { return std::tie(option, low, high, root); }
    std::size_t size() const { return option.size(); }
    void add(Option o, NodeNumber l, NodeNumber h) {
        option.push_back(o);
        low.push_back(l);
        high.push_back(h);
    }
};

/// A view of such arrays. Children are checked where they are followed.
class GraphView {
public:
    GraphView(std::span<const Option> options, std::span<const NodeNumber> lows,
              std::span<const NodeNumber> highs, NodeNumber root)
        : root(root), options_(options), lows_(lows), highs_(highs) {
        require(
            options.size() >= 2 && lows.size() == options.size() && highs.size() == options.size(),
            "each node has an option and two children");
        require(root < size(), "there is no such root");
    }

    auto parts() { return std::tie(options_, lows_, highs_, root); }
    NodeNumber size() const { return static_cast<NodeNumber>(options_.size()); }
    Option option(NodeNumber x) const { return options_[x]; }
    NodeNumber low(NodeNumber x) const { return child(lows_[x], x); }
    NodeNumber high(NodeNumber x) const { return child(highs_[x], x); }

    NodeNumber root;

private:
    static NodeNumber child(NodeNumber y, NodeNumber x) {
        require(y < x, "children have smaller numbers than their parents");
        return y;
    }

    std::span<const Option> options_;
    std::span<const NodeNumber> lows_, highs_;
};

/// The table of all nodes.
class Diagram {
public:
    struct Node {
        Option option;
        NodeNumber low, high;

        bool operator==(const Node&) const = default;
    };
    static constexpr Option last = 0xffffffff;  // the option of the terminals

    explicit Diagram(std::size_t room) {
        nodes_.assign(2, {last, 0, 0});
        grow(std::max<std::size_t>(room, 2));
    }

    /// Begin with the nodes of a graph, and have room for `room` in all.
    Diagram(std::size_t room, const GraphView& graph) : Diagram(2) {
        nodes_.reserve(room);
        for (NodeNumber x = 2; x < graph.size(); ++x) {
            nodes_.push_back({graph.option(x), graph.low(x), graph.high(x)});
        }
        grow(room);
    }

    std::size_t size() const { return nodes_.size(); }
    std::size_t room() const { return room_; }
    static std::size_t bytes_of_each() { return sizeof(Node) + Slots::bytes_of_each; }
    const Node& operator[](NodeNumber x) const { return nodes_[x]; }

    void grow(std::size_t room) {
        room_ = room;
        slots_.clear(room);
        nodes_.reserve(room);
        for (NodeNumber x = 2; x < nodes_.size(); ++x) slots_.find_empty(hash_of(nodes_[x])) = x;
    }

    /// Return the number of a node, whose high is not 0. There must be room for one more.
    NodeNumber make(Option option, NodeNumber low, NodeNumber high) {
        const Node node{option, low, high};
        NodeNumber& x = slots_.find(hash_of(node), [&](NodeNumber y) { return nodes_[y] == node; });
        if (x == 0) {
            x = static_cast<NodeNumber>(nodes_.size());
            nodes_.push_back(node);
        }
        return x;
    }

    /// Return the nodes in arrays, and forget them.
    Graph take(NodeNumber root) {
        slots_.clear(0);
        Graph graph;
        graph.root = root;
        for (auto* array : {&graph.option, &graph.low, &graph.high}) array->reserve(nodes_.size());
        for (const auto& [o, l, h] : nodes_) graph.add(o == last ? 0 : o, l, h);
        forget();
        return graph;
    }
    void forget() { *this = Diagram(2); }

private:
    static std::uint64_t hash_of(const Node& node) {
        return mixed(node.option * golden ^ (std::uint64_t{node.low} << 32 | node.high));
    }

    LargeVector<Node> nodes_;
    Slots slots_;
    std::size_t room_ = 0;
};

/// Let a table have room for so many entries more, and for twice as many as before if memory
/// allows; return true if it has.
///
/// Parameters
/// ----------
/// free : the bytes that it may take in addition
/// most : the upper bound of its entries
template <class Table>
bool make_room(Table& table, std::size_t n_more, std::size_t free, std::size_t most) {
    const std::size_t needed = table.size() + n_more, room = table.room();
    if (needed <= room) return true;
    const std::size_t worth_copying = room + (room + 19) / 20;
    const std::size_t longer =
        std::min({std::max(2 * room, needed), room + free / table.bytes_of_each(), most});
    if (longer < std::max(needed, worth_copying)) return false;
    table.grow(longer);
    return true;
}

}  // namespace batchsolve
