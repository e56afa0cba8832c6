// Dancing links for items with bounds.
#include "bounded.h"

#include "engines.h"
#include "search.h"

namespace batchsolve {

Outcome search_bounded(const Problem& problem, std::span<const std::uint32_t> handicaps,
                       const Task& task) {
    const auto search = [&]<bool colored, bool ruled>() {
        using Moves = BoundedLinks<colored, ruled, false, NoPrices>;
        return search_with(Moves(problem, Handicaps(problem, handicaps)), task);
    };
    return with_facts(!problem.colors.empty(), !handicaps.empty(), search);
}

}  // namespace batchsolve
