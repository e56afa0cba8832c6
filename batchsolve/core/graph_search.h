// A memoised search that keeps its covers: dancing links that draw a decision diagram.
//
// The covers below a node are the union, over the options of its branch item, of the covers below
// each child with that option added. So the search, on leaving a node, makes a chain of diagram
// nodes (diagram.h). If two partial covers have the same key (keyed.h), the second has the diagram
// of the first. M. Nishino, N. Yasuda, S. Minato and M. Nagata, Dancing with Decision Diagrams: A
// Combined Approach to Exact Cover, AAAI 2017, call this DXZ; Knuth has it in TAOCP 7.2.2.1.
//
// Sets of covers in one chain are disjoint, because each contains another option of the branch
// item. So no option occurs twice on a path, and paths to the terminal 1 are covers, each of them
// one path.
//
// Items and options are those of a checked `Problem`.
#pragma once

#include <variant>

#include "diagram.h"
#include "keyed.h"

namespace batchsolve {

/// The keys of the nodes that were left, and the diagram node of each.
class Known {
public:
    Known(std::size_t n_words, std::size_t room) : n_words_(n_words) { grow(room); }

    std::size_t size() const { return nodes_.size(); }
    std::size_t room() const { return room_; }
    std::size_t bytes_of_each() const {
        return n_words_ * sizeof(Word) + sizeof(NodeNumber) + Slots::bytes_of_each;
    }

    void grow(std::size_t room) {
        room_ = room;
        slots_.clear(room);
        keys_.reserve(room * n_words_);
        nodes_.reserve(room);
        for (std::uint32_t x = 1; x <= nodes_.size(); ++x) slots_.find_empty(hash_of(key(x))) = x;
    }

    /// Return the node of a key, or null.
    const NodeNumber* find(std::span<const Word> wanted) {
        const auto is_wanted = [&](std::uint32_t x) { return std::ranges::equal(key(x), wanted); };
        const std::uint32_t x = slots_.find(hash_of(wanted), is_wanted);
        return x == 0 ? nullptr : &nodes_[x - 1];
    }

    /// Add a key that is not there. There must be room for it.
    void add(std::span<const Word> key, NodeNumber node) {
        keys_.insert(keys_.end(), key.begin(), key.end());
        nodes_.push_back(node);
        slots_.find_empty(hash_of(key)) = static_cast<std::uint32_t>(nodes_.size());
    }

private:
    /// Return a key by its number, counted from 1.
    std::span<const Word> key(std::uint32_t x) const {
        return std::span(keys_).subspan((x - 1) * n_words_, n_words_);
    }

    std::size_t n_words_, room_ = 0;
    LargeVector<Word> keys_;
    LargeVector<NodeNumber> nodes_;
    Slots slots_;
};

/// The visitor that draws.
class Drawing {
public:
    Drawing(std::size_t n_levels, std::size_t n_key_words, std::size_t room,
            std::size_t room_for_keys)
        : diagram(room),
          known(n_key_words, room_for_keys),
          key_(n_key_words),
          begins_(n_levels),
          is_kept_(n_levels) {}

    /// All nodes above may be left before the next one is entered. Each of them makes one of every
    /// pending child, and one of the node that was left last.
    bool may_enter(std::size_t level) {
        left_last = 0;  // unless it has covers
        constexpr std::size_t most = 0xfffffffe;
        return make_room(diagram, pending_.size() + level, free(), most) &&
               make_room(known, level, free(), most);
    }
    bool cover(const Moves auto&, std::size_t) {
        left_last = 1;
        return false;
    }
    void hand_back(const Moves auto&, std::size_t) {}

    bool is_known(const Moves auto& moves, std::size_t level) {
        begins_[level] = pending_.size();
        is_kept_[level] = !moves.has_one_branch(level);
        if (!is_kept_[level]) return false;  // a node with one child is left to that child
        moves.write_key(key_);
        const NodeNumber* x = known.find(key_);
        if (x) left_last = *x;
        return x;
    }

    void climb(const Moves auto& moves, std::size_t level) {
        if (left_last != 0) pending_.push_back({moves.choice(level).option, left_last});
    }

    void leave(const Moves auto& moves, std::size_t level) {
        left_last = 0;
        for (; pending_.size() > begins_[level]; pending_.pop_back()) {
            const auto [option, node] = pending_.back();
            left_last = diagram.make(option, left_last, node);
        }
        if (!is_kept_[level]) return;
        moves.write_key(key_);
        known.add(key_, left_last);
    }

    Diagram diagram;
    Known known;
    std::size_t most_bytes = 0;  // that both may take
    NodeNumber left_last = 0;    // the diagram node of the node that was left last

private:
    struct Child {
        Option option;
        NodeNumber node;
    };

    std::size_t free() const {
        const std::size_t taken =
            diagram.room() * diagram.bytes_of_each() + known.room() * known.bytes_of_each();
        return most_bytes - std::min(most_bytes, taken);
    }

    std::vector<Word> key_;  // room for one
    // children with covers of the nodes on the path, level after level
    std::vector<Child> pending_;
    std::vector<std::size_t> begins_;  // level -> its first child
    std::vector<bool> is_kept_;        // level -> whether its key is to be kept
};

/// The search for all covers of a problem, in several runs.
class GraphSearch {
public:
    /// Parameters
    /// ----------
    /// is_ordered : true if the branch item is always the first; by default it is the one with the
    ///     fewest options
    /// room, room_for_keys : of diagram nodes and of keys, at first
    GraphSearch(const Problem& problem, bool is_ordered, std::size_t room,
                std::size_t room_for_keys)
        : links_(problem.colors.empty() ? AnyLinks(KeyedLinks<false>(problem, is_ordered))
                                        : AnyLinks(KeyedLinks<true>(problem, is_ordered))),
          drawing_(
              problem.n_primary + 2,
              std::visit([&](const auto& moves) { return moves.words_of_key(problem); }, links_),
              room, room_for_keys) {
        std::visit([](auto& moves) { moves.select({}); }, links_);
    }

    /// Set the upper bound of the memory of the diagram and its tables; it is 0 at first.
    void may_take(std::size_t most_bytes) {
        is_out_of_memory_ = is_out_of_memory_ && most_bytes <= drawing_.most_bytes;
        drawing_.most_bytes = most_bytes;
    }

    /// Visit that many more nodes, or fewer if the search ends or may take no more memory.
    void run(std::int64_t n_nodes) {
        if (has_ended_) return;
        const std::int64_t allowed = here_.nodes + n_nodes;
        constexpr auto any_depth = std::numeric_limits<std::size_t>::max();
        const auto walk_on = [&](auto& moves) {
            return walk(moves, drawing_, here_, any_depth, allowed);
        };
        is_done_ = has_ended_ = std::visit(walk_on, links_) == Event::done;
        is_out_of_memory_ = !is_done_ && here_.nodes < allowed;
    }

    bool is_done() const { return is_done_; }
    bool is_out_of_memory() const { return is_out_of_memory_; }
    /// The diagram nodes made so far.
    std::size_t n_nodes() const { return drawing_.diagram.size() - 2; }
    /// The share of the tree that is searched, from 0 to 1; siblings have equal shares.
    double share() const {
        if (is_done_) return 1;
        double share = 0, of_node = 1;
        const auto add_up = [&](const auto& moves) {
            for (std::size_t level = 0; level < here_.level; ++level) {
                const double n_branches = moves.choice(level).n_branches;
                double n_tried = n_branches - 1;
                moves.for_each_untried(level, [&](Choice) { --n_tried; });
                of_node /= n_branches;
                share += n_tried * of_node;
            }
        };
        std::visit(add_up, links_);
        return share;
    }

    /// Return the diagram, and end the search.
    Graph take() {
        Graph graph = drawing_.diagram.take(drawing_.left_last);
        end();
        return graph;
    }
    /// Free the memory; the search does not go on.
    void end() {
        has_ended_ = true;
        drawing_.diagram.forget();
        drawing_.known = Known(1, 0);
    }

private:
    using AnyLinks = std::variant<KeyedLinks<false>, KeyedLinks<true>>;

    AnyLinks links_;
    Drawing drawing_;
    Position here_;
    bool is_done_ = false, is_out_of_memory_ = false, has_ended_ = false;
};

}  // namespace batchsolve
