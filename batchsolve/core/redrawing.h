// A diagram drawn anew, with options in one order on all paths.
//
// The search that branches on the fewest options visits far fewer nodes than one in a fixed order
// of items where choices force others, as in grids of Sudoku; but its paths have options in many
// orders. Node after node, children first, its covers are put together anew: those of *low*, united
// with those of *high* after the option is inserted into them (S. Minato, DAC 1993). The result is
// the one zero-suppressed decision diagram of these covers in that order, whatever diagram they
// come from.
//
// The constructor checks the options of the old diagram, and `GraphView` its children.
#pragma once

#include "diagram.h"

namespace batchsolve {

class Redrawing {
public:
    /// Parameters
    /// ----------
    /// order : the options in their new order
    /// room : of new nodes, at first
    /// most_bytes : that both diagrams and all tables may take
    Redrawing(const GraphView& old, std::span<const Option> order, std::size_t room,
              std::size_t most_bytes)
        : old_(old),
          most_bytes_(most_bytes),
          order_(order.begin(), order.end()),
          place_(order.size(), insertion),
          drawn_(old.size()),
          new_(room),
          keys_(n_remembered),
          results_(n_remembered) {
        for (Option p = 0; p < order.size(); ++p) {
            require(order[p] < order.size() && place_[order[p]] == insertion,
                    "an order has each option once");
            place_[order[p]] = p;
        }
        for (NodeNumber x = 2; x < old.size(); ++x) {
            require(old.option(x) < order.size(), "there is no such option");
        }
        drawn_[1] = 1;
    }

    /// Go on for so many steps, or fewer if all is drawn or the memory does not suffice.
    void run(std::int64_t n_steps) {
        while (!is_done()) {
            is_out_of_memory_ = !has_room();
            if (is_out_of_memory_) return;
            if (frames_.empty()) {
                draw_next();
            } else if (n_steps-- > 0) {
                step();
            } else {
                return;
            }
        }
    }

    bool is_done() const { return x_ == old_.size(); }
    bool is_out_of_memory() const { return is_out_of_memory_; }
    /// The nodes made so far.
    std::size_t n_nodes() const { return new_.size() - 2; }

    /// Return the new diagram, and forget it.
    Graph take() {
        Graph graph = new_.take(drawn_[old_.root]);
        for (std::size_t x = 2; x < graph.size(); ++x) {
            graph.option[x] = order_[graph.option[x]];
        }
        return graph;
    }

private:
    /// Two sets of covers, a and b, that are to be united, or one into which an option is to be
    /// inserted: then a is `insertion` + the place of the option.
    struct Pair {
        NodeNumber a, b;
        std::uint64_t key() const { return std::uint64_t{a} << 32 | b; }
    };

    enum class Stage { awaits_b, begins, awaits_low, awaits_high };
    struct Frame {
        Pair pair;
        Stage stage = Stage::begins;
        Pair high{0, 0};     // what gives the high child of the result
        Option top = 0;      // the first place in the result
        NodeNumber low = 0;  // the low child of the result
    };
    static constexpr NodeNumber insertion = 0x80000000;
    static constexpr int log_of_remembered = 20;
    static constexpr std::size_t n_remembered = 1 << log_of_remembered;

    /// Draw an old node at once if its option comes first, or begin to insert it.
    void draw_next() {
        const Option p = place_[old_.option(x_)];
        const NodeNumber low = drawn_[old_.low(x_)], high = drawn_[old_.high(x_)];
        if (p < new_[low].option && p < new_[high].option) {
            drawn_[x_++] = new_.make(p, low, high);
        } else {
            frames_ = {{{low, 0}, Stage::awaits_b}, {{insertion + p, high}}};
        }
    }

    void step() {
        Frame& frame = frames_.back();
        switch (frame.stage) {
            case Stage::awaits_b:
                frame.pair.b = result_;
                frame.stage = Stage::begins;
                break;
            case Stage::begins:
                begin(frame);
                break;
            case Stage::awaits_low:
                frame.low = result_;
                frame.stage = Stage::awaits_high;
                frames_.push_back({frame.high});
                break;
            case Stage::awaits_high:
                const NodeNumber x = new_.make(frame.top, frame.low, result_);
                const std::size_t place = place_of(frame.pair);
                keys_[place] = frame.pair.key();
                results_[place] = x;
                end_with(x);
        }
    }

    void begin(Frame& frame) {
        auto [a, b] = frame.pair;
        const bool inserts = a >= insertion;
        if (b == 0) return end_with(inserts ? 0 : a);
        if (a == 0 || a == b) return end_with(b);
        if (!inserts && a > b) std::swap(a, b);
        const Pair pair{a, b};
        const std::size_t place = place_of(pair);
        if (keys_[place] == pair.key()) return end_with(results_[place]);
        const Option first_of_a = inserts ? a - insertion : new_[a].option;
        if (inserts && first_of_a < new_[b].option) return end_with(new_.make(first_of_a, 0, b));
        // the children of both: what does not begin with the top has itself and nothing
        const Option top = std::min(first_of_a, new_[b].option);
        const auto low = [&](NodeNumber x) { return new_[x].option == top ? new_[x].low : x; };
        const auto high = [&](NodeNumber x) { return new_[x].option == top ? new_[x].high : 0; };
        const Pair below_low{inserts ? a : low(a), low(b)};
        const Pair below_high{inserts ? a : high(a), high(b)};
        __builtin_prefetch(&keys_[place_of(below_high)]);
        frame = {pair, Stage::awaits_low, below_high, top};
        frames_.push_back({below_low});
    }

    /// End the last frame. The last of a node is the node itself.
    void end_with(NodeNumber result) {
        result_ = result;
        frames_.pop_back();
        if (frames_.empty()) drawn_[x_++] = result;
    }

    bool has_room() {
        const std::size_t taken = old_.size() * sizeof(Diagram::Node) +
                                  new_.room() * new_.bytes_of_each() +
                                  drawn_.size() * sizeof(NodeNumber) +
                                  n_remembered * (sizeof(std::uint64_t) + sizeof(NodeNumber));
        return make_room(new_, 1, most_bytes_ - std::min(most_bytes_, taken), insertion - 1);
    }

    static std::size_t place_of(Pair pair) {
        return pair.key() * 0x9E3779B97F4A7C15 >> (64 - log_of_remembered);
    }

    GraphView old_;
    std::size_t most_bytes_;
    std::vector<Option> order_;
    std::vector<Option> place_;      // option -> its place in the order
    std::vector<NodeNumber> drawn_;  // old node -> the new one
    Diagram new_;                    // has places instead of options
    NodeNumber x_ = 2;               // the old node that is drawn
    std::vector<Frame> frames_;      // what is being done for it
    NodeNumber result_ = 0;          // of the frame done last
    // hash of a frame -> the last one that was done, and what came of it
    LargeVector<std::uint64_t> keys_;
    LargeVector<NodeNumber> results_;
    bool is_out_of_memory_ = false;
};

}  // namespace batchsolve
