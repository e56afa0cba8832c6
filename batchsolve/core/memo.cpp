// Dancing links that count equal subtrees once.
#include "memo.h"

#include <ranges>

#include "bounded.h"
#include "engines.h"
#include "spares.h"

namespace batchsolve {

namespace {

template <class Moves>
PreparedMemo prepared(const Problem& problem, std::span<const Item> order, std::size_t n_count) {
    const Option n_options = problem.n_options();
    const std::size_t n_levels = std::max(problem.n_items, n_options) + 2;
    const std::size_t n_key = Moves::words_of_key(problem);
    Moves first(problem);
    first.reorder(order);
    const auto spares = std::make_shared<Spares<Moves>>(std::move(first));
    const auto count = [=](Rows<Word> table, const Task& task, std::int64_t most_hidden) {
        Search search(task, n_options);
        Memo memo(search, Table(table, n_key, n_count), n_levels, most_hidden);
        return spares->lend([&](Moves& moves) -> Counted {
            if constexpr (requires { moves.n_hidden; }) moves.n_hidden = 0;
            search.below(moves, memo, 0, task.stacks.size());
            return {std::move(search.out), std::move(memo.totals), std::move(memo.tree_nodes)};
        });
    };
    return {n_key + n_count + Table::n_others, count};
}

}  // namespace

PreparedMemo prepare_memo(const Problem& problem, std::span<const Item> order,
                          std::size_t n_count_words) {
    std::vector<Item> sorted(order.begin(), order.end());
    std::ranges::sort(sorted);
    require(std::ranges::equal(sorted, std::views::iota(Item{0}, problem.n_primary)),
            "an order has each primary item once");
    require(n_count_words > 0, "a count has a word or more");
    const auto prepare = [&]<bool bounded, bool colored>() {
        using Moves = std::conditional_t<bounded, BoundedLinks<colored, false, true, NoPrices>,
                                         KeyedLinks<colored>>;
        return prepared<Moves>(problem, order, n_count_words);
    };
    return with_facts(!problem.bounds.empty(), !problem.colors.empty(), prepare);
}

}  // namespace batchsolve
