// Dancing links that count equal subtrees once.
#include "memo.h"

#include "bounded.h"
#include "engines.h"
#include "spares.h"

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

template <class Moves>
class Prepared : public PreparedMemo {
public:
    Prepared(const Problem& problem, std::span<const Item> order)
        : n_key_(Moves::words_of_key(problem)),
          n_count_(words_of_counts(problem)),
          n_levels_(std::max<std::size_t>(problem.n_items, problem.n_options()) + 2),
          moves_([&] {
              Moves moves(problem);
              moves.reorder(order);
              return moves;
          }()) {}

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

std::size_t table_width(const Problem& problem) {
    return with_moves_for(problem, [&]<class M>() { return M::words_of_key(problem); }) +
           words_of_counts(problem) + Table::n_others;
}

std::unique_ptr<PreparedMemo> PreparedMemo::of(const Problem& problem,
                                               std::span<const Item> order) {
    check_order(problem, order);
    return with_moves_for(problem, [&]<class M>() -> std::unique_ptr<PreparedMemo> {
        return std::make_unique<Prepared<M>>(problem, order);
    });
}

}  // namespace batchsolve
