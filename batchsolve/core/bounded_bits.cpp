// The engine of bounded_bits.h.
#include "bounded_bits.h"

#include "engines.h"
#include "search.h"

namespace batchsolve {

std::optional<Outcome> search_bounded_bits(const Problem& problem, const Task& task) {
    require(!problem.bounds.empty(), "the problem has no bounds");
    BoundedBits moves(problem);
    if (!moves.can_take(task.stacks)) return {};
    return search_with(std::move(moves), task);
}

}  // namespace batchsolve
