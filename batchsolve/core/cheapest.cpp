// The search for the cheapest covers.
#include "cheapest.h"

#include "bounded.h"
#include "engines.h"
#include "search.h"

namespace batchsolve {

Outcome search_cheapest(const Problem& problem, const Pricing& pricing, const Task& task) {
    if (pricing.ceilings.size() != task.stacks.size() || pricing.n_wanted == 0) {
        throw std::invalid_argument("each stack has an upper bound, and covers are wanted");
    }
    Search search(task);
    const auto search_with = [&]<bool colored>() {
        BoundedLinks<colored, false, false, Prices> moves(problem, {},
                                                          {pricing, problem.n_options()});
        Covers covers{search};
        search.below(moves, covers, 0, task.stacks.size());
    };
    problem.colors.empty() ? search_with.operator()<false>() : search_with.operator()<true>();
    return std::move(search.out);
}

}  // namespace batchsolve
