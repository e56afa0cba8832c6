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
    Redrawing(GraphView old, std::span<const Option> order, std::size_t room,
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
    enum class Stage { awaits_b, begins, awaits_low, awaits_high };

    /// Two sets of covers that are to be united, or one into which an option is to be inserted.
    struct Frame {
        NodeNumber a;  // or `insertion` + the place of the option
        NodeNumber b;
        Stage stage = Stage::begins;
        Option top = 0;      // the first place in the result
        NodeNumber low = 0;  // of the result
    };
    /// What came of a frame.
    struct Result {
        NodeNumber a = 0, b = 0, node = 0;
    };
    static constexpr NodeNumber insertion = 0x80000000;
    static constexpr int log_of_cached = 20;

    void draw_next();
    void step();
    void begin(Frame& frame);
    Frame low_of(const Frame& frame) const;
    Frame high_of(const Frame& frame) const;
    void end_with(NodeNumber result);
    bool has_room();
    Result& remembered(const Frame& frame);

    GraphView old_;
    std::size_t most_bytes_;
    std::vector<Option> order_;
    std::vector<Option> place_;      // option -> its place in the order
    std::vector<NodeNumber> drawn_;  // old node -> the new one
    Diagram new_;                    // has places instead of options
    NodeNumber x_ = 2;               // the old node that is drawn
    std::vector<Frame> frames_;      // what is being done for it
    NodeNumber result_ = 0;          // of the frame done last
    std::vector<Result> results_;    // hash of a frame -> the last that came of one
    bool is_out_of_memory_ = false;
};

}  // namespace batchsolve
