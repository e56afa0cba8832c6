// Dancing links that count equal subtrees once.
#include "memo.h"

#include "bounded.h"
#include "engines.h"

namespace batchsolve {

namespace {

/// Call a function template with the kind of moves that a problem needs.
auto with_moves_for(const Problem& problem, auto function) {
    const auto with_moves = [&]<bool bounded, bool colored>() {
        using Moves = std::conditional_t<bounded, BoundedLinks<colored, false, true, NoPrices>,
                                         KeyedLinks<colored>>;
        return function.template operator()<Moves>();
    };
    return with_facts(!problem.bounds.empty(), !problem.colors.empty(), with_moves);
}

}  // namespace

std::size_t table_width(const Problem& problem) {
    return with_moves_for(problem, [&]<class M>() { return M::words_of_key(problem); }) +
           words_of_counts(problem) + Table::n_others;
}

Counted count_by_memo(const Problem& problem, std::span<const Item> order, Rows<Word> table,
                      const Task& task) {
    check_order(problem, order);
    Search search(task);
    const std::size_t n_levels = std::max<std::size_t>(problem.n_items, problem.n_options()) + 2;
    return with_moves_for(problem, [&]<class M>() -> Counted {
        const std::size_t n_key = M::words_of_key(problem), n_count = words_of_counts(problem);
        M moves(problem);
        moves.reorder(order);
        Memo memo(search, Table(table, n_key, n_count), n_key, n_count, n_levels);
        search.below(moves, memo, 0, task.stacks.size());
        return {std::move(search.out), std::move(memo.totals), std::move(memo.tree_nodes)};
    });
}

}  // namespace batchsolve
