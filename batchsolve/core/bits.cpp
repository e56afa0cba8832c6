// The engine of bits.h.
#include "bits.h"

#include "engines.h"
#include "search.h"

namespace batchsolve {

Outcome search_bits(const Problem& problem, const Task& task) {
    Search search(task);
    Bits moves(problem);
    Covers covers{search};
    search.below(moves, covers, 0, task.stacks.size());
    return std::move(search.out);
}

}  // namespace batchsolve
