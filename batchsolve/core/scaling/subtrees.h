// A random tree for the simulation of a search: subtrees are known by their sizes, and cut into
// smaller ones where a budget runs out. See `batchsolve.scaling.simulation`.
//
// The constructor checks the bounds of the samples.
#pragma once

#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <ranges>

#include "arrays.h"

namespace batchsolve::scaling {

/// A subtree that is to be searched, or several of one node as a range: the nodes, and the weight.
/// A range is cut like a subtree of its size.
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

    /// Replace every subtree by its children, as at most so many ranges.
    std::vector<Stack> expand(std::span<const Stack> stacks, double fineness) {
        std::vector<Stack> out;
        for (const auto& [size, weight] : stacks) {
            if (size <= grain_) {
                out.push_back({size, weight});
                continue;
            }
            append_ranges(children_of(size), size, weight, fineness, out);
        }
        return out;
    }

    /// Search stacks in tree order; return the nodes visited, and write the stacks left: of each
    /// level ranges of about 1 / fineness of the tree of the stack.
    double search(std::span<const Stack> stacks, double budget, std::span<const double> fineness,
                  std::vector<Stack>& left) {
        require(fineness.size() == stacks.size(), "each stack has a fineness");
        double visited = 0;
        std::size_t n = 0;
        while (n < stacks.size() && visited + stacks[n].size <= budget) visited += stacks[n++].size;
        if (n < stacks.size() && visited != budget) {
            left = cut(stacks[n], budget - visited, fineness[n]);
            visited = budget;
            ++n;
        }
        left.insert(left.end(), stacks.begin() + static_cast<std::ptrdiff_t>(n), stacks.end());
        return visited;
    }

private:
    static constexpr double least_weight = std::numeric_limits<double>::min();

    /// Draw the children of a subtree; return their shares, in tree order.
    std::span<const double> children_of(double size) {
        const auto last_class = static_cast<double>(first_.size() - 1);
        const auto c =
            static_cast<std::size_t>(std::min(last_class, std::log2(std::max(1.0, size))));
        const auto n = static_cast<std::uint32_t>(last_[c] - first_[c]);
        return samples_[static_cast<std::size_t>(first_[c] + below(n))];
    }

    /// Return the stacks left of a subtree after some of its nodes, in tree order.
    std::vector<Stack> cut(Stack stack, double visited, double fineness) {
        std::vector<std::vector<Stack>> levels;
        auto [size, weight] = stack;
        while (size > grain_) {
            const auto shares = children_of(size);
            const auto n = static_cast<double>(shares.size());
            std::size_t x = 0;
            double passed = 0;
            while (x + 1 < shares.size() && passed + shares[x] * size <= visited) {
                passed += shares[x++] * size;
            }
            const auto after = shares.subspan(x + 1);
            const double share = weight / std::max(stack.weight, least_weight);
            const double of_after = share * static_cast<double>(after.size()) / n;
            append_ranges(after, size, of_after * stack.weight, std::ceil(of_after * fineness),
                          levels.emplace_back());
            visited -= passed;
            size *= shares[x];
            weight /= n;
        }
        std::vector<Stack> left{{std::max(0.0, size - visited), weight}};
        for (const auto& level : levels | std::views::reverse) {
            left.insert(left.end(), level.begin(), level.end());
        }
        return left;
    }

    /// Append children of a subtree, which weigh so much together, as at most so many ranges.
    static void append_ranges(std::span<const double> shares, double size, double weight,
                              double most, std::vector<Stack>& out) {
        const std::size_t n = shares.size();
        const auto n_ranges = static_cast<std::size_t>(
            std::clamp(most, 1.0, static_cast<double>(std::max<std::size_t>(n, 1))));
        for (std::size_t part = 0; part < n_ranges; ++part) {
            const auto those = shares.subspan(part * n / n_ranges,
                                              (part + 1) * n / n_ranges - part * n / n_ranges);
            const double of_range = std::accumulate(those.begin(), those.end(), 0.0) * size;
            const double share = static_cast<double>(those.size()) / static_cast<double>(n);
            if (of_range > 0) out.push_back({of_range, weight * share});
        }
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
