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
              std::size_t most_bytes);

    /// Go on for so many steps, or fewer if all is drawn or the memory does not suffice.
    void run(std::int64_t n_steps);

    bool is_done() const { return x_ == old_.size(); }
    bool is_out_of_memory() const { return is_out_of_memory_; }
    /// The nodes made so far.
    std::size_t n_nodes() const { return new_.size() - 2; }

    /// Return the new diagram, and forget it.
    Graph take(NodeNumber root);

private:
    /// Two sets of covers, a and b, that are to be united, or one into which an option is to be
    /// inserted: then a is `insertion` + the place of the option.
    class Pair {
    public:
        Pair(NodeNumber a, NodeNumber b) : both_(std::uint64_t{a} << 32 | b) {}
        NodeNumber a() const { return static_cast<NodeNumber>(both_ >> 32); }
        NodeNumber b() const { return static_cast<NodeNumber>(both_); }
        std::uint64_t key() const { return both_; }

    private:
        std::uint64_t both_;  // written and read at once
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

    void draw_next();
    void step();
    void begin(Frame& frame);
    void end_with(NodeNumber result);
    bool has_room();
    static std::size_t place_of(Pair pair);

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
