// The engine of bounded_bits.h.
#include "bounded_bits.h"

#include "engines.h"
#include "search.h"

namespace batchsolve {

Outcome search_bounded_bits(const Problem& problem, const Task& task) {
    const bool fits = std::ranges::all_of(
        problem.bounds, [](Bounds bounds) { return bounds.most <= most_bounded_items; });
    if (problem.bounds.empty() || problem.n_primary > most_bounded_items || !fits ||
        leaves_more(problem, task.stacks, most_bounded_options)) {
        throw std::invalid_argument("the problem has no bounds, or is too large for 16 bits");
    }
    Search search(task);
    BoundedBits moves(problem);
    Covers covers{search};
    search.below(moves, covers, 0, task.stacks.size());
    return std::move(search.out);
}

}  // namespace batchsolve
