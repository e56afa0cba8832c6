// Dancing links that count equal subtrees once.
#include "memo.h"

#include <ranges>

#include "bounded.h"
#include "engines.h"
#include "spares.h"

namespace batchsolve {

namespace {

template <class Moves>
class Prepared : public PreparedMemo {
public:
    Prepared(const Problem& problem, std::span<const Item> order, std::size_t n_count_words)
        : n_key_(Moves::words_of_key(problem)),
          n_count_(n_count_words),
          n_levels_(std::max<std::size_t>(problem.n_items, problem.n_options()) + 2),
          moves_([&] {
              Moves moves(problem);
              moves.reorder(order);
              return moves;
          }()) {}

    std::size_t table_width() const override { return n_key_ + n_count_ + Table::n_others; }

    Counted count(Rows<Word> table, const Task& task, std::int64_t most_hidden) const override {
        Search search(task);
        Memo memo(search, Table(table, n_key_, n_count_), n_key_, n_count_, n_levels_, most_hidden);
        return moves_.lend([&](Moves& moves) -> Counted {
            if constexpr (requires { moves.n_hidden; }) moves.n_hidden = 0;
            search.below(moves, memo, 0, task.stacks.size());
            return {std::move(search.out), std::move(memo.totals), std::move(memo.tree_nodes)};
        });
    }

private:
    std::size_t n_key_, n_count_, n_levels_;
    mutable Spares<Moves> moves_;
};

}  // namespace

std::unique_ptr<PreparedMemo> PreparedMemo::of(const Problem& problem, std::span<const Item> order,
                                               std::size_t n_count_words) {
    std::vector<Item> sorted(order.begin(), order.end());
    std::ranges::sort(sorted);
    require(std::ranges::equal(sorted, std::views::iota(Item{0}, problem.n_primary)),
            "an order has each primary item once");
    require(n_count_words > 0, "a count has a word or more");
    const auto prepare = [&]<bool bounded, bool colored>() -> std::unique_ptr<PreparedMemo> {
        using Moves = std::conditional_t<bounded, BoundedLinks<colored, false, true, NoPrices>,
                                         KeyedLinks<colored>>;
        return std::make_unique<Prepared<Moves>>(problem, order, n_count_words);
    };
    return with_facts(!problem.bounds.empty(), !problem.colors.empty(), prepare);
}

}  // namespace batchsolve
