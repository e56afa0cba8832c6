// A random tree for the simulation of a search: subtrees are known by their sizes, and cut into
// smaller ones where a budget runs out. See `batchsolve.scaling.simulation`.
//
// The constructor checks the bounds of the samples.
#pragma once

#include <bit>
#include <cmath>
#include <random>

#include "arrays.h"

namespace batchsolve::scaling {

/// A subtree that is to be searched: its nodes, and its weight.
struct Stack {
    double size, weight;
};

class Subtrees {
public:
    /// `shares`, `bounds`, `first` and `last` are the fields of `Shape`; subtrees of `grain` nodes
    /// or fewer stay whole.
    Subtrees(std::span<const double> shares, Ints bounds, Ints first, Ints last, double grain,
             std::uint32_t seed)
        : samples_{{bounds.begin(), bounds.end()}, {shares.begin(), shares.end()}},
          first_(first.begin(), first.end()),
          last_(last.begin(), last.end()),
          grain_(grain),
          random_(seed) {
        check_bounds(bounds, shares.size());
        require(!first.empty() && first.size() == last.size() &&
                    std::ranges::adjacent_find(bounds, std::greater_equal{}) == bounds.end(),
                "the samples of a shape do not fit together");
        for (std::size_t c = 0; c < first.size(); ++c) {
            require(0 <= first[c] && first[c] < last[c] && last[c] < std::ssize(bounds),
                    "the samples of a shape do not fit together");
        }
    }

    /// Replace every subtree by the subtrees of its children.
    std::vector<Stack> expand(std::span<const Stack> stacks) {
        std::vector<Stack> out;
        for (const auto& [size, weight] : stacks) {
            if (size <= grain_) {
                out.push_back({size, weight});
                continue;
            }
            const auto shares = children_of(size);
            const double each = weight / static_cast<double>(shares.size());
            for (const double share : shares) {
                if (share > 0) out.push_back({share * size, each});
            }
        }
        return out;
    }

    /// Search stacks in tree order; return the nodes visited, and write the stacks left.
    double search(std::span<const Stack> stacks, double budget, std::vector<Stack>& left) {
        double visited = 0;
        std::size_t n = 0;
        while (n < stacks.size() && visited + stacks[n].size <= budget) visited += stacks[n++].size;
        if (n < stacks.size() && visited != budget) {
            left = cut(stacks[n++], budget - visited);
            visited = budget;
        }
        left.insert(left.end(), stacks.begin() + static_cast<std::ptrdiff_t>(n), stacks.end());
        return visited;
    }

private:
    /// Draw the children of a subtree; return their shares, in tree order.
    std::span<const double> children_of(double size) {
        const auto last_class = static_cast<double>(first_.size() - 1);
        const auto c =
            static_cast<std::size_t>(std::min(last_class, std::log2(std::max(1.0, size))));
        const auto n = static_cast<std::uint32_t>(last_[c] - first_[c]);
        return samples_[static_cast<std::size_t>(first_[c] + below(n))];
    }

    /// Return the stacks left of a subtree after some of its nodes, in tree order.
    std::vector<Stack> cut(Stack stack, double visited) {
        std::vector<Stack> right;  // the last in tree order first
        auto [size, weight] = stack;
        while (size > grain_) {
            const auto shares = children_of(size);
            weight /= static_cast<double>(shares.size());
            std::size_t x = 0;
            double passed = 0;
            while (x + 1 < shares.size() && passed + shares[x] * size <= visited) {
                passed += shares[x++] * size;
            }
            for (std::size_t y = shares.size(); --y > x;) {
                if (shares[y] > 0) right.push_back({shares[y] * size, weight});
            }
            visited -= passed;
            size *= shares[x];
        }
        right.push_back({std::max(0.0, size - visited), weight});
        std::ranges::reverse(right);
        return right;
    }

    /// Return a random number below n, as NumPy's `RandomState` does.
    std::uint32_t below(std::uint32_t n) {
        if (n == 1) return 0;
        const std::uint32_t mask = ~std::uint32_t{0} >> std::countl_zero(n - 1);
        while (true) {
            const auto drawn = static_cast<std::uint32_t>(random_()) & mask;
            if (drawn < n) return drawn;
        }
    }

    GrowingLists<double> samples_;  // the shares of children
    std::vector<std::int64_t> first_, last_;
    double grain_;
    std::mt19937 random_;
};

}  // namespace batchsolve::scaling
