// Dancing links for items with bounds.
#include "bounded.h"

#include "engines.h"
#include "search.h"

namespace batchsolve {

Outcome search_bounded(const Problem& problem, Handicaps handicaps, const Task& task) {
    check(problem, handicaps);
    Search search(task);
    const auto search_with = [&]<bool colored, bool ruled>() {
        BoundedLinks<colored, ruled, false, NoPrices> moves(problem, std::move(handicaps), {});
        Covers covers{search};
        search.below(moves, covers, 0, task.stacks.size());
    };
    const bool ruled = !handicaps.of_item.empty();
    if (problem.colors.empty()) {
        ruled ? search_with.operator()<false, true>() : search_with.operator()<false, false>();
    } else {
        ruled ? search_with.operator()<true, true>() : search_with.operator()<true, false>();
    }
    return std::move(search.out);
}

}  // namespace batchsolve
