// Dancing links over arrays: the moves of Knuth's Algorithms X and C (The Art of Computer
// Programming 7.2.2.1).
//
// Nodes 0 .. n_items are the root and the headers of the items' lists; behind them stand the nodes
// of the options, each option between two spacers, so that an option is walked without links of its
// own. A *stack* is selected before the search and undone as far as the next one does not share it.
//
// To *commit* to a node without a colour is to cover its item. To commit to one with a colour is to
// *purify* its item: options that give the item another colour are hidden, and the nodes of those
// that give it the same one are marked as pure, so that nothing more is done to them.
//
// All links are made here, from the items that `Problem` has checked; `select` checks the options
// of stacks.
#pragma once

#include <algorithm>
#include <limits>
#include <numeric>

#include "engines.h"
#include "walk.h"

namespace batchsolve {

/// The links of a problem; `colored` if it has colours, `ruled` under a branching rule, `bounded`
/// if items may be in several options.
template <bool colored, bool ruled, bool bounded = false>
class Links {
public:
    using Index = std::uint32_t;

    explicit Links(const Problem& problem, std::span<const std::uint32_t> handicaps = {})
        : n_items_(problem.n_items),
          n_primary_(problem.n_primary),
          handicaps_(handicaps.begin(), handicaps.end()) {
        // X1. [Initialize.]
        require(handicaps.size() == (ruled ? n_items_ + 1 : 0), "each item has a handicap");
        lay_out_headers(problem.n_primary);
        const std::size_t n_nodes = n_items_ + 2 + problem.n_entries() + problem.n_options();
        for (auto* array : {&top_, &up_, &down_, &option_}) array->reserve(n_nodes);
        first_.reserve(problem.n_options());
        Index spacer = add_node(0, 0, 0, 0);
        for (Option o = 0; o < problem.n_options(); ++o) {
            first_.push_back(spacer + 1);
            for (const Item i : problem.items_of(o)) append(i + 1, o);
            down_[spacer] = static_cast<Index>(top_.size() - 1);
            spacer = add_node(0, spacer + 1, 0, 0);
        }
        if constexpr (colored) paint_options(problem);
        used_.assign(n_items_ + 1, 0);
        is_decided_.resize(problem.n_options());
        if constexpr (bounded) {
            bounds_.resize(n_items_ + 1);
            for (Item i = 0; i < n_items_; ++i) bounds_[i + 1] = problem.bounds_of(i);
            is_useless_.resize(problem.n_options());
        }
        chosen_.assign(problem.n_primary + 1, 0);
    }

    /// Let the header list have the primary items in this order.
    void reorder(std::span<const Item> order) {
        Item last = 0;
        for (const Item i : order) {
            link(last, i + 1);
            last = i + 1;
        }
        link(last, 0);
    }

    std::int32_t select(std::span<const Option> stack) {
        const auto [same, _] = std::ranges::mismatch(stack, selected_);
        const auto begin = static_cast<std::size_t>(same - stack.begin());
        while (selected_.size() > begin) deselect_last();
        for (std::size_t s = begin; s < stack.size(); ++s) {
            if (clashes(stack[s])) return static_cast<std::int32_t>(s);
            select_one(stack[s]);
        }
        return -1;
    }

    /// The branch item is the first with enough options or fewer, or else of those with the fewest,
    /// handicaps included.
    Node choose(std::size_t) {
        auto fewest = std::numeric_limits<std::uint32_t>::max();
        Item best = 0;
        for (Item i = right_[0]; i != 0; i = right_[i]) {
            const std::uint32_t n = with_handicap(size_[i], i);
            if (n < fewest) {
                fewest = n;
                best = i;
                if (fewest <= enough()) break;
            }
        }
        item_ = best;
        return best == 0 ? Node::cover : fewest == 0 ? Node::dead_end : Node::branch;
    }

    void open(std::size_t level) {
        cover(item_);
        chosen_[level] = item_;
    }

    bool open_range(const Range& range) {
        if (range.item >= n_primary_ || used_[range.item + 1] != 0) return false;
        chosen_[0] = cover_range(range);
        return true;
    }

    bool try_next(std::size_t level) {
        const Index p = down_[chosen_[level]];
        chosen_[level] = p;
        if (p <= n_items_) {
            uncover(p);
            return false;
        }
        commit_others(p);
        return true;
    }

    void take_back(std::size_t level) { uncommit_others(chosen_[level]); }

    void abandon(std::size_t level) {
        restore_range();
        while (level-- > 0) {
            uncommit_others(chosen_[level]);
            uncover(top_[chosen_[level]]);
        }
    }

    /// A covered item's list keeps the size that it had when it was covered.
    Choice choice(std::size_t level) const {
        const Index p = chosen_[level];
        return {option_[p], static_cast<double>(size_[top_[p]])};
    }
    void for_each_untried(std::size_t level, auto visit) const {
        for_each_below(chosen_[level], choice(level).n_branches, visit);
    }
    std::optional<Item> branch_item(std::size_t level) const { return top_[chosen_[level]] - 1; }

protected:
    static constexpr Color pure = 0xffffffff;

    void link(Item left, Item right) {
        right_[left] = right;
        left_[right] = left;
    }

    void lay_out_headers(Item n_primary) {
        left_.resize(n_items_ + 1);
        std::iota(left_.begin(), left_.end(), 0);
        right_ = left_;
        for (Item i = 0; i < n_primary; ++i) link(i, i + 1);
        link(n_primary, 0);
        size_.assign(n_items_ + 1, 0);
        for (Item i = 0; i <= n_items_; ++i) add_node(0, i, i, 0);
    }

    Index add_node(Item top, Index up, Index down, Option option) {
        top_.push_back(top);
        up_.push_back(up);
        down_.push_back(down);
        option_.push_back(option);
        return static_cast<Index>(top_.size() - 1);
    }

    void append(Item i, Option o) {
        const Index last = up_[i];
        const Index p = add_node(i, last, i, o);
        down_[last] = up_[i] = p;
        ++size_[i];
    }

    void paint_options(const Problem& problem) {
        color_.assign(top_.size(), 0);
        for (Option o = 0; o < problem.n_options(); ++o) {
            std::ranges::copy(problem.colors_of(o), color_.begin() + first_[o]);
        }
    }

    /// The colour of a node, or of an item that was purified.
    Color color(Index p) const {
        if constexpr (colored) return color_[p];
        return 0;
    }

    /// Return a number of branches of an item, and its handicap added if they are two or more.
    std::uint32_t with_handicap(std::uint32_t n, Item i) const {
        if constexpr (ruled) return n > 1 ? n + handicaps_[i] : n;
        return n;
    }
    std::uint32_t enough() const {
        if constexpr (ruled) return handicaps_[0];
        return 1;
    }

    /// An option clashes if one of its items may be in no more of them, or has another colour by
    /// now, or if it is on the stack already. With bounds, option o is excluded by n_options + o.
    bool clashes(Option decision) const {
        const auto n = static_cast<Option>(first_.size());
        if (decision >= (bounded ? 2 * n : n)) return true;
        const Option o = decision % n;
        if (is_useless(o)) return decision < n;
        if (is_decided_[o]) return true;
        for (Index q = first_[o]; top_[q] != 0; ++q) {
            if (color(q) != pure && used_[top_[q]] == most(top_[q])) return true;
        }
        return false;
    }

    void select_one(Option decision) {
        const auto n = static_cast<Option>(first_.size());
        const Option o = decision % n;
        selected_.push_back(decision);
        if (is_useless(o)) return;
        is_decided_[o] = true;
        if constexpr (bounded) tweak(o);
        if (decision < n) take(first_[o]);
    }

    void deselect_last() {
        const auto n = static_cast<Option>(first_.size());
        const Option decision = selected_.back(), o = decision % n;
        selected_.pop_back();
        if (is_useless(o)) return;
        if (decision < n) untake(first_[o]);
        if constexpr (bounded) untweak(o);
        is_decided_[o] = false;
    }

    /// Take an option of the stack, or with bounds one of several of an item.
    void take(Index p) {
        if constexpr (!bounded) count_items(p, 1);
        commit(p);
        commit_others(p);
    }
    void untake(Index p) {
        uncommit_others(p);
        uncommit(p);
        if constexpr (!bounded) count_items(p, -1);
    }
    void count_items(Index p, int one) {
        for (; top_[p] != 0; ++p) {
            if (color(p) != pure) used_[top_[p]] += one;
        }
    }

    /// Take all nodes of an option out of the lists of their items.
    void tweak(Option o) {
        hide(first_[o]);
        unlink(first_[o]);
    }
    void untweak(Option o) {
        relink(first_[o]);
        unhide(first_[o]);
    }

    // All is read before anything is written, after which the compiler would read it again.
    void unlink(Index q) {
        if (color(q) == pure) return;
        const Index up = up_[q], down = down_[q];
        const Item i = top_[q];
        down_[up] = down;
        up_[down] = up;
        --size_[i];
    }

    void relink(Index q) {
        if (color(q) == pure) return;
        const Index up = up_[q], down = down_[q];
        const Item i = top_[q];
        down_[up] = up_[down] = q;
        ++size_[i];
    }

    /// Visit the other nodes of p's option, from p on and around, or backwards if `step` is -1.
    template <int step = 1>
    void for_each_other(Index p, auto visit) const {
        const std::vector<Index>& beyond_spacer = step > 0 ? up_ : down_;
        Index q = p + step;
        while (q != p) {
            if (top_[q] == 0) {
                q = beyond_spacer[q];
            } else {
                visit(q);
                q += step;
            }
        }
    }
    /// Visit the options below a node in its list, which are choices among so many.
    void for_each_below(Index p, double n_branches, auto visit) const {
        while ((p = down_[p]) > n_items_) visit(Choice{option_[p], n_branches});
    }

    // Lists are short, so a call would cost as much as what it does.

    /// Take the other nodes of p's option out of their lists.
    [[gnu::always_inline]] void hide(Index p) {
        for_each_other(p, [this](Index q) { unlink(q); });
    }
    [[gnu::always_inline]] void unhide(Index p) {
        for_each_other<-1>(p, [this](Index q) { relink(q); });
    }

    [[gnu::always_inline]] void cover(Item i) {
        for (Index p = down_[i]; p != i; p = down_[p]) hide(p);
        link(left_[i], right_[i]);
    }

    /// Cover the item of a range, and let its list end behind the range: nothing but `try_next`
    /// goes down the list of a covered item. Return the node before the first option of the range.
    Index cover_range(const Range& range) {
        const Item i = range.item + 1;
        cover(i);
        const auto is_before = [this](Index p, Option o) { return p > n_items_ && option_[p] < o; };
        Index before = i;
        while (is_before(down_[before], range.first)) before = down_[before];
        Index last = before;
        std::uint32_t n = 0;
        for (; is_before(down_[last], range.last); last = down_[last]) ++n;
        cut_ = {i, last, down_[last], size_[i]};
        down_[last] = i;
        size_[i] = n;
        return before;
    }

    /// Let the list that a range has cut be whole again.
    void restore_range() {
        if (cut_.item == 0) return;
        down_[cut_.last] = cut_.below;
        size_[cut_.item] = cut_.size;
        cut_.item = 0;
    }

    [[gnu::always_inline]] void uncover(Item i) {
        right_[left_[i]] = left_[right_[i]] = i;
        for (Index p = up_[i]; p != i; p = up_[p]) unhide(p);
    }

    /// p itself keeps its colour: by this `uncommit` knows that p's item was purified for p. In the
    /// search p is hidden by then, but a stack may have an option whose first item has a colour.
    void purify(Index p) {
        const Color c = color(p);
        const Item i = top_[p];
        color_[i] = c;
        for (Index q = down_[i]; q != i; q = down_[q]) {
            if (color(q) != c) {
                hide(q);
            } else if (q != p) {
                color_[q] = pure;
            }
        }
    }

    void unpurify(Index p) {
        const Color c = color(p);
        const Item i = top_[p];
        for (Index q = up_[i]; q != i; q = up_[q]) {
            if (color(q) == pure) {
                color_[q] = c;
            } else if (q != p) {
                unhide(q);
            }
        }
        color_[i] = 0;
    }

    void commit(Index p) {
        if (color(p) == pure) return;
        const Item i = top_[p];
        if constexpr (bounded) ++used_[i];
        if (color(p) != 0) {
            purify(p);
        } else if (!bounded || used_[i] == most(i)) {
            cover(i);
        }
    }

    void uncommit(Index p) {
        if (color(p) == pure) return;
        const Item i = top_[p];
        if (color(p) != 0) {
            unpurify(p);
        } else if (!bounded || used_[i] == most(i)) {
            uncover(i);
        }
        if constexpr (bounded) --used_[i];
    }

    /// In how many options of a cover an item may be.
    std::uint32_t most(Item i) const {
        if constexpr (bounded) return bounds_[i].most;
        return 1;
    }
    /// True if an option is in no cover, and out of all lists for good.
    bool is_useless(Option o) const {
        if constexpr (bounded) return is_useless_[o];
        return false;
    }

    /// Commit to the nodes of p's option, p itself excepted.
    [[gnu::always_inline]] void commit_others(Index p) {
        for_each_other(p, [this](Index q) { commit(q); });
    }
    [[gnu::always_inline]] void uncommit_others(Index p) {
        for_each_other<-1>(p, [this](Index q) { uncommit(q); });
    }

    /// An item whose list ends early: the last node, the one that was below it, and its size.
    struct Cut {
        Item item = 0;
        Index last = 0, below = 0;
        std::uint32_t size = 0;
    };

    Item n_items_, n_primary_;
    Item item_ = 0;                    // the branch item
    Cut cut_;                          // by the range that is searched
    std::vector<Item> top_;            // node -> its item; 0 for a spacer
    std::vector<Index> up_, down_;     // spacer -> first node of the option before, last behind
    std::vector<Option> option_;       // node -> its option
    std::vector<Item> left_, right_;   // item -> the active primary items around it
    std::vector<std::uint32_t> size_;  // item -> the options in its list
    std::vector<Color> color_;         // node -> its colour or `pure`; item -> that of its list
    std::vector<Index> first_;         // option -> its first node
    std::vector<Index> chosen_;        // level -> the node of the option taken there
    std::vector<Option> selected_;     // the stack
    std::vector<bool> is_decided_;     // options that the stack takes or excludes
    // item -> options of the stack, and with bounds of the search, that have it, not just its
    // colour
    std::vector<std::uint32_t> used_;
    std::vector<std::uint32_t> handicaps_;  // item, counted from 1 -> its handicap; 0 -> enough
    // if the problem has bounds
    std::vector<Bounds> bounds_;    // item -> its bounds; a secondary one has 0 and 1
    std::vector<bool> is_useless_;  // options in no cover
};

}  // namespace batchsolve
