// The engine of bits.h.
#include "bits.h"

#include "engines.h"
#include "search.h"

namespace batchsolve {

std::optional<Outcome> search_bits(const Problem& problem, const Task& task,
                                   std::size_t most_options) {
    if (leaves_more(problem, task.stacks, most_options)) return {};
    return search_with(Bits(problem), task, problem.n_options());
}

}  // namespace batchsolve
