// The engine of bounded_bits.h.
#include "bounded_bits.h"

#include "engines.h"
#include "search.h"

namespace batchsolve {

std::optional<Outcome> search_bounded_bits(const Problem& problem, const Task& task) {
    require(!problem.bounds.empty(), "the problem has no bounds");
    if (!BoundedBits::can_take(problem, task.stacks)) return {};
    return search_with(BoundedBits(problem), task, problem.n_options());
}

}  // namespace batchsolve
