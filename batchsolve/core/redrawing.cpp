// Decision diagrams drawn anew in another order.
#include "redrawing.h"

namespace batchsolve {

Redrawing::Redrawing(GraphView old, std::span<const Option> order, std::size_t room,
                     std::size_t most_bytes)
    : old_(old),
      most_bytes_(most_bytes),
      order_(order.begin(), order.end()),
      place_(order.size(), insertion),
      drawn_(old.size()),
      new_(room),
      results_(std::size_t{1} << log_of_cached) {
    for (Option p = 0; p < order.size(); ++p) {
        if (order[p] >= order.size() || place_[order[p]] != insertion) {
            throw std::invalid_argument("an order has each option once");
        }
        place_[order[p]] = p;
    }
    for (NodeNumber x = 2; x < old.size(); ++x) {
        if (old.option(x) >= order.size()) throw std::invalid_argument("there is no such option");
    }
    drawn_[1] = 1;
}

void Redrawing::run(std::int64_t n_steps) {
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

/// Draw an old node at once if its option comes first, or begin to insert it.
void Redrawing::draw_next() {
    const Option p = place_[old_.option(x_)];
    const NodeNumber low = drawn_[old_.low(x_)], high = drawn_[old_.high(x_)];
    if (p < new_[low].option && p < new_[high].option) {
        drawn_[x_++] = new_.make(p, low, high);
    } else {
        frames_ = {{low, 0, Stage::awaits_b}, {insertion + p, high}};
    }
}

void Redrawing::step() {
    Frame& frame = frames_.back();
    switch (frame.stage) {
        case Stage::awaits_b:
            frame.b = result_;
            frame.stage = Stage::begins;
            break;
        case Stage::begins:
            begin(frame);
            break;
        case Stage::awaits_low:
            frame.low = result_;
            frame.stage = Stage::awaits_high;
            frames_.push_back(high_of(frame));
            break;
        case Stage::awaits_high:
            const NodeNumber x = new_.make(frame.top, frame.low, result_);
            remembered(frame) = {frame.a, frame.b, x};
            end_with(x);
    }
}

void Redrawing::begin(Frame& frame) {
    auto& [a, b, stage, top, low] = frame;
    const bool inserts = a >= insertion;
    if (b == 0) return end_with(inserts ? 0 : a);
    if (a == 0 || a == b) return end_with(b);
    if (!inserts && a > b) std::swap(a, b);
    const Result& known = remembered(frame);
    if (known.a == a && known.b == b) return end_with(known.node);
    const Option first_of_a = inserts ? a - insertion : new_[a].option;
    if (inserts && first_of_a < new_[b].option) return end_with(new_.make(first_of_a, 0, b));
    top = std::min(first_of_a, new_[b].option);
    stage = Stage::awaits_low;
    frames_.push_back(low_of(frame));
}

/// Return what gives the low child of a frame's result; the option inserted remains.
Redrawing::Frame Redrawing::low_of(const Frame& frame) const {
    const auto low = [&](NodeNumber x) {
        return x < insertion && new_[x].option == frame.top ? new_[x].low : x;
    };
    return {low(frame.a), low(frame.b)};
}

Redrawing::Frame Redrawing::high_of(const Frame& frame) const {
    const auto high = [&](NodeNumber x) {
        if (x >= insertion) return x;
        return new_[x].option == frame.top ? new_[x].high : 0;
    };
    return {high(frame.a), high(frame.b)};
}

/// End the last frame. The last of a node is the node itself.
void Redrawing::end_with(NodeNumber result) {
    result_ = result;
    frames_.pop_back();
    if (frames_.empty()) drawn_[x_++] = result;
}

bool Redrawing::has_room() {
    const std::size_t taken = old_.size() * sizeof(Diagram::Node) +
                              new_.room() * new_.bytes_of_each() +
                              drawn_.size() * sizeof(NodeNumber) + results_.size() * sizeof(Result);
    return make_room(new_, 1, most_bytes_ - std::min(most_bytes_, taken), insertion - 1);
}

Redrawing::Result& Redrawing::remembered(const Frame& frame) {
    const std::uint64_t key = std::uint64_t{frame.a} << 32 | frame.b;
    return results_[key * 0x9E3779B97F4A7C15 >> (64 - log_of_cached)];
}

Graph Redrawing::take(NodeNumber root) {
    old_.check_root(root);
    Graph graph = new_.take(drawn_[root]);
    for (std::size_t x = 2; x < graph.size(); ++x) {
        graph.option[x] = order_[graph.option[x]];
    }
    return graph;
}

}  // namespace batchsolve
