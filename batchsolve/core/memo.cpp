// The visitor that counts equal subtrees once: the covers below a node are looked up if a node with
// the same key (keyed.h) was left before.
//
// A count enters the table when nothing below its node was handed back. Covers counted below an
// interrupted node are in the sum of its stack; the others are left in the frontier. The sizes of
// subtrees, visited or looked up, add up to the size of the tree that was searched.
#include <ranges>

#include "bounded.h"
#include "engines.h"
#include "search.h"
#include "spares.h"
#include "table.h"
#include "whole_numbers.h"

namespace batchsolve {

namespace {

class Memo {
public:
    /// The walk stops once it has taken `most_hidden` options out of lists, if its moves count
    /// them.
    Memo(Search& search, Table table, std::size_t n_levels, std::int64_t most_hidden)
        : totals(search.out.counts.size(), table.n_count),
          tree_nodes(search.out.counts.size()),
          search_(&search),
          table_(table),
          most_hidden_(most_hidden),
          key_(table.n_key),
          found_(table.n_count),
          total_(table.n_count),
          before_(n_levels, table.n_count),
          sizes_(n_levels),
          handed_(n_levels) {}

    void begin(const Moves auto&, std::size_t) {
        std::ranges::fill(total_, 0);
        sizes_[0] = 0;         // a node of which only some branches are searched is neither counted
        handed_[0] = unknown;  // nor stored
    }
    void end(std::size_t k, std::size_t level) {
        std::ranges::copy(total_, totals[k].begin());
        for (std::size_t above = 0; above < std::max<std::size_t>(level, 1); ++above) {
            tree_nodes[k] += sizes_[above];  // those below were added to their parents
        }
    }

    bool may_enter(std::size_t level) {
        sizes_[level] = 1;
        return !is_spent_;
    }
    bool cover(const Moves auto&, std::size_t) {
        std::ranges::fill(found_, 0);
        found_[0] = 1;
        add_found();
        return false;
    }
    void hand_back(const Moves auto& moves, std::size_t level) {
        sizes_[level] = 0;
        search_->hand_back(moves, level);
    }

    bool is_known(const Moves auto& moves, std::size_t level) {
        handed_[level] = unknown;
        if (moves.has_one_branch(level)) return false;  // a node with one child is left to it
        moves.write_key(key_);
        if (const std::uint64_t size = table_.find(key_, found_)) {
            add_found();
            sizes_[level] = static_cast<double>(size);
            return true;
        }
        std::ranges::copy(total_, before_[level].begin());
        handed_[level] = search_->out.frontier.size();
        return false;
    }

    void leave(const Moves auto& moves, std::size_t level) {
        if (handed_[level] != search_->out.frontier.size()) return;
        subtract(total_, before_[level], found_);
        moves.write_key(key_);
        constexpr double most_size = 0x1p63;
        table_.store(key_, found_, static_cast<std::uint64_t>(std::min(sizes_[level], most_size)));
    }

    void climb(const Moves auto& moves, std::size_t level) {
        sizes_[level] += sizes_[level + 1];
        if constexpr (requires { moves.n_hidden; }) is_spent_ = moves.n_hidden >= most_hidden_;
    }

    Matrix<Word> totals;             // stack -> its covers, lowest word first
    std::vector<double> tree_nodes;  // stack -> the nodes of the tree that was searched

private:
    static constexpr std::size_t unknown = ~std::size_t{0};

    void add_found() { add(total_, found_, total_); }

    Search* search_;
    Table table_;
    std::int64_t most_hidden_;
    bool is_spent_ = false;
    std::vector<Word> key_, found_;    // room for a key and a count
    std::vector<Word> total_;          // covers of the stack
    Matrix<Word> before_;              // level -> these on entering its node
    std::vector<double> sizes_;        // level -> nodes of its node's subtree, as far as searched
    std::vector<std::size_t> handed_;  // level -> stacks handed back by then, or `unknown`
};

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
