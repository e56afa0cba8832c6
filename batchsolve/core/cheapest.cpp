// The search for the cheapest covers.
#include "cheapest.h"

#include <limits>

#include "bounded.h"
#include "engines.h"
#include "search.h"

namespace batchsolve {

Outcome search_cheapest(const Problem& problem, const Pricing& pricing, const Task& task) {
    require(pricing.ceilings.size() == task.stacks.size() && pricing.n_wanted > 0,
            "each stack has an upper bound, and covers are wanted");
    const auto search = [&]<bool colored>(std::bool_constant<colored>) {
        using Moves = BoundedLinks<colored, false, false, Prices>;
        const Option n = problem.n_options();
        return search_with(Moves(problem, {}, Prices(pricing, n)), task, n);
    };
    return problem.colors.empty() ? search(std::false_type()) : search(std::true_type());
}

std::int64_t take_taxes(Ints options, Ints ends, Ints fixed, std::span<std::int64_t> net,
                        std::int64_t highest, int n_sweeps) {
    const Lists<std::int64_t> options_of(ends, options);
    const auto exists = [&](std::int64_t o) { return 0 <= o && o < std::ssize(net); };
    require(
        options_of.size() >= fixed.size() && std::ranges::all_of(options, exists) && highest >= 0,
        "the options of the items do not fit together");
    std::int64_t base = 0;
    std::vector<std::int64_t> taxes(fixed.size());
    for (int sweep = 0; sweep < n_sweeps + 2; ++sweep) {
        for (std::size_t i = 0; i < fixed.size(); ++i) {
            const auto own = options_of[i];
            if (own.empty() || fixed[i] == 0) continue;
            std::int64_t first = std::numeric_limits<std::int64_t>::max(), second = first;
            for (const std::int64_t o : own) {
                second = std::min(second, std::max(first, net[o]));
                first = std::min(first, net[o]);
            }
            if (own.size() == 1) second = first;
            std::int64_t tax = first;
            if (sweep < n_sweeps) {
                const std::int64_t half = (first + second) >> 1;  // rounded down
                tax = std::clamp(half, -highest - taxes[i], highest - taxes[i]);
            } else if (sweep == n_sweeps) {
                tax = std::min<std::int64_t>(first, 0);
            }
            for (const std::int64_t o : own) net[o] -= tax;
            taxes[i] += tax;
            base += fixed[i] * tax;
        }
    }
    return base;
}

}  // namespace batchsolve
