// The engine of sparse.h, with cells of the size that the problem needs.
#include "sparse.h"

#include "engines.h"
#include "search.h"

namespace batchsolve {

std::optional<Outcome> search_sparse(const Problem& problem, const Task& task) {
    constexpr std::size_t most_options = (1 << 15) - 1, most_items = (1 << 16) - 129;
    const auto& stacks = task.stacks;
    if (problem.n_primary > most_items || leaves_more(problem, stacks, most_options)) return {};
    Search search(task, problem.n_options());
    const auto common = common_beginning(stacks);
    const std::int64_t whole[] = {0, std::ssize(common)};
    const bool fits = !leaves_more(problem, {whole, common}, most_options);
    const std::size_t n = fits ? stacks.size() : 1;  // of one beginning; a stack alone leaves less
    for (std::size_t k = 0; k < stacks.size(); k += n) {
        Beginning beginning(problem, fits ? common : stacks[k]);
        const auto search_with = [&](auto moves) {
            Covers covers{search};
            search.below(moves, covers, k, k + n);
        };
        if (beginning.most_of_an_item < Sparse<std::uint8_t>::most_options) {
            search_with(Sparse<std::uint8_t>(problem, std::move(beginning)));
        } else {
            search_with(Sparse<std::uint16_t>(problem, std::move(beginning)));
        }
    }
    return std::move(search.out);
}

}  // namespace batchsolve
