// The costs of a search for the cheapest covers, after Knuth's Algorithm C$ (The Art of Computer
// Programming 7.2.2.1): net costs, least costs of the remaining items, and the upper bound.
//
// Costs are scaled; `batchsolve.engines.native` says how. Once enough covers are found, the upper
// bound is below the cost of the dearest, because among covers of equal cost the first in tree
// order win.
#pragma once

#include "problem.h"

namespace batchsolve {

/// What a search needs to know of costs; its arrays have a number for each option.
struct Pricing {
    std::int64_t scale = 1;            // of all costs here
    Ints net;                          // costs without taxes
    Ints share;                        // net costs divided by the numbers of primary items
    std::span<const bool> is_useless;  // options in no cover
    Ints ceilings;                     // stack -> upper bound of the cost of a cover below it
    std::size_t n_wanted = 1;          // covers

    auto parts() { return std::tie(scale, net, share, is_useless, ceilings, n_wanted); }
};

class Prices {
public:
    static constexpr bool matter = true;

    Prices() = default;
    Prices(const Pricing& pricing, Option n_options)
        : pricing_(pricing), spent_(n_options + 2), due_(n_options + 2) {
        require(pricing.net.size() == n_options && pricing.share.size() == n_options &&
                    pricing.is_useless.size() == n_options,
                "each option has its costs");
    }

    std::int64_t net(Option o) const { return pricing_.net[o]; }
    std::int64_t share(Option o) const { return pricing_.share[o]; }
    bool is_useless(Option o) const { return pricing_.is_useless[o]; }

    /// Begin below stack k, with the cost of the options that it takes.
    void begin(std::span<const Option> stack, std::size_t k) {
        spent_[0] = 0;
        for (const Option o : stack) {
            if (o < pricing_.net.size()) spent_[0] += net(o);
        }
        ceiling_ = pricing_.ceilings[k];
        lower_ceiling();
    }

    /// Record the least cost of the items left at a level; return true if they cost too much.
    bool are_too_dear(std::size_t level, std::int64_t due) {
        due_[level] = due;
        return spent_[level] + due > ceiling_;
    }

    /// True if so much more than the least cost may be spent at a level.
    bool are_affordable(std::size_t level, std::int64_t more) const {
        return spent_[level] + due_[level] + more <= ceiling_;
    }

    void spend(std::size_t level, std::int64_t cost) { spent_[level + 1] = spent_[level] + cost; }

    /// Record the cost of a cover; lower the upper bound once enough covers are found.
    void note_cover(std::size_t level) {
        best_.insert(std::ranges::upper_bound(best_, spent_[level]), spent_[level]);
        if (best_.size() > pricing_.n_wanted) best_.pop_back();
        lower_ceiling();
    }

private:
    void lower_ceiling() {
        if (best_.size() == pricing_.n_wanted) {
            ceiling_ = std::min(ceiling_, best_.back() - pricing_.scale);
        }
    }

    Pricing pricing_;
    std::vector<std::int64_t> best_;         // the costs of the cheapest covers found, ascending
    std::int64_t ceiling_ = 0;               // the upper bound
    std::vector<std::int64_t> spent_, due_;  // level -> cost above it; least cost of the rest
};

/// Take taxes off the net costs of options; return the sum of the taxes of a cover.
///
/// Item i is in options[ends[i]] .. options[ends[i + 1] - 1], and in fixed[i] options of each
/// cover, 0 if their number is not fixed. The sum is a lower bound of all costs if no net cost is
/// below 0. A sweep moves the tax on each item to where the bound grows most if the others stay as
/// they are: between the two least net costs. That is coordinate ascent in the dual of the linear
/// program. The last two sweeps end with net costs of 0 or more, one of them 0 for each item.
std::int64_t take_taxes(Ints options, Ints ends, Ints fixed, std::span<std::int64_t> net,
                        std::int64_t highest, int n_sweeps);

/// Costs do not matter.
struct NoPrices {
    static constexpr bool matter = false;
    static std::int64_t net(Option) { return 0; }
    static std::int64_t share(Option) { return 0; }
    static bool is_useless(Option) { return false; }
    static void begin(std::span<const Option>, std::size_t) {}
    static bool are_too_dear(std::size_t, std::int64_t) { return false; }
    static bool are_affordable(std::size_t, std::int64_t) { return true; }
    static void spend(std::size_t, std::int64_t) {}
    static void note_cover(std::size_t) {}
};

}  // namespace batchsolve
