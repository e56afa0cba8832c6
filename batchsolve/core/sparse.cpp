// The engine of sparse.h, with cells of the size that the problem needs.
#include "sparse.h"

#include "engines.h"
#include "search.h"

namespace batchsolve {

namespace {

void search_below(Search& search, const Problem& problem, Beginning beginning, std::size_t begin,
                  std::size_t end) {
    const auto search_with = [&](auto moves) {
        Covers covers{search};
        search.below(moves, covers, begin, end);
    };
    if (beginning.most_of_an_item < Sparse<std::uint8_t>::most_options) {
        search_with(Sparse<std::uint8_t>(problem, std::move(beginning)));
    } else {
        search_with(Sparse<std::uint16_t>(problem, std::move(beginning)));
    }
}

}  // namespace

std::optional<Outcome> search_sparse(const Problem& problem, const Task& task) {
    constexpr std::size_t most_options = (1 << 15) - 1, most_items = (1 << 16) - 129;
    const auto& stacks = task.stacks;
    if (problem.n_primary > most_items || leaves_more(problem, stacks, most_options)) return {};
    Search search(task);
    const auto common = common_beginning(stacks);
    const std::int64_t whole[] = {0, std::ssize(common)};
    if (!leaves_more(problem, {whole, common}, most_options)) {
        search_below(search, problem, {problem, common}, 0, stacks.size());
    } else {  // what each stack leaves is less
        for (std::size_t k = 0; k < stacks.size(); ++k) {
            search_below(search, problem, {problem, stacks[k]}, k, k + 1);
        }
    }
    return std::move(search.out);
}

}  // namespace batchsolve
