// The parts of trees that lanes search, in tree order.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace batchsolve::lanes {

/// A *segment* is a part of a tree, without gaps in tree order, that one lane searches. It has the
/// number of the stack at its top; if a lane takes over the last branches of another, they get a
/// new number.
class Segments {
public:
    explicit Segments(std::size_t n_stacks) : n_stacks_(n_stacks), following_(n_stacks, none) {}

    /// Return a new segment, right behind another one below the same stack.
    std::size_t split(std::size_t segment) {
        following_.push_back(following_[segment]);
        following_[segment] = following_.size() - 1;
        return following_[segment];
    }

    /// The segments that some finds were made in, one by one, as places in tree order, and the
    /// stacks at their tops.
    struct Order {
        std::vector<std::size_t> places, tops;

        std::size_t top(std::int64_t segment) const { return tops[segment]; }

        /// Return the order of finds by places of segments; those of one segment stay as they are.
        std::vector<std::size_t> of(Ints segments) const {
            std::vector<std::size_t> begins(places.size() + 1), order(segments.size());
            for (const auto segment : segments) ++begins[places[segment] + 1];
            for (std::size_t p = 0; p < places.size(); ++p) begins[p + 1] += begins[p];
            for (std::size_t k = 0; k < segments.size(); ++k) {
                order[begins[places[segments[k]]]++] = k;
            }
            return order;
        }
    };

    Order order() const {
        Order order{std::vector<std::size_t>(following_.size()),
                    std::vector<std::size_t>(following_.size())};
        std::size_t place = 0;
        for (std::size_t stack = 0; stack < n_stacks_; ++stack) {
            for (auto segment = stack; segment != none; segment = following_[segment]) {
                order.places[segment] = place++;
                order.tops[segment] = stack;
            }
        }
        return order;
    }

private:
    static constexpr std::size_t none = static_cast<std::size_t>(-1);

    std::size_t n_stacks_;
    std::vector<std::size_t> following_;
};

}  // namespace batchsolve::lanes
