// Dancing links for items with bounds, after Knuth's Algorithm M (The Art of Computer Programming
// 7.2.2.1): a primary item is in no fewer options than its *least* and in no more than its *most*.
// The links are those of links.h. An item is covered when it is in its most options.
//
// The branch item is, as in the book, the first of those with the fewest branches. An item with s
// options, of which it needs n, has s - n + 1 branches: one if it needs them all, none if it has
// too few. An item that must and may be in exactly one more option is branched on as in Algorithm
// X. For any other, the book tries the options of the item in turn, and *tweaks* the earlier ones
// out of the lists. Here the first option is taken, or else *excluded*, that is tweaked out, and
// then an item is chosen anew. So the tree depends only on the options taken and excluded, and can
// be cut anywhere: a stack holds exclusions as well, of option o as n_options + o.
//
// If all options have an item in common, its upper bound is also that of the size of a cover.
// Options that then meet too few needs for the rest to meet the others are *dropped*.
//
// The same search finds the cheapest covers if it is given prices (cheapest.h).
#pragma once

#include "cheapest.h"
#include "links.h"
#include "residual.h"

namespace batchsolve {

/// `by_place` for searches that look up keys: the branch item is the first that has options, or one
/// that is forced. `Price` is `Prices`, or `NoPrices` if costs do not matter.
template <bool colored, bool ruled, bool by_place, class Price>
class BoundedLinks : public Links<colored, ruled, true> {
public:
    using Base = Links<colored, ruled, true>;
    using typename Base::Index;

    explicit BoundedLinks(const Problem& problem, std::span<const std::uint32_t> handicaps = {},
                          Price prices = {})
        : Base(problem, handicaps),
          n_options_(problem.n_options()),
          gain_(problem.n_options()),
          levels_(problem.n_options() + 2),
          prices_(std::move(prices)) {
        for (Item i = 1; i <= problem.n_items; ++i) {
            if (bounds_[i].most > 1) counted_.push_back(i);
        }
        const Item total = item_of_all_options(problem);
        total_ = total < problem.n_items ? total + 1 : 0;
        for (Option o = 0; o < n_options_; ++o) {
            if (!prices_.is_useless(o)) continue;
            this->tweak(o);
            this->is_useless_[o] = true;
        }
    }

    static std::size_t words_of_key(const Problem& problem) {
        const auto counted =
            std::ranges::count_if(problem.bounds, [](Bounds b) { return b.most > 1; });
        return words_for(problem.n_options()) + static_cast<std::size_t>(counted);
    }

    Node choose(std::size_t level) {
        std::uint32_t n_branches = 0;
        std::int64_t cost = 0;
        this->item_ = total_;
        if (total_ == 0 || drop_small()) n_branches = choose_item(cost);
        if (n_branches == 0 || prices_.are_too_dear(level, cost)) return Node::dead_end;
        const Item i = this->item_;
        levels_[level].n_branches = n_branches;
        levels_[level].need = need(i);
        return i == 0 ? Node::cover : Node::branch;
    }

    void open(std::size_t level) {
        const Item i = this->item_;
        levels_[level].kind = needs_one(i) ? Branch::each : Branch::untried;
        levels_[level].node = needs_one(i) ? i : this->down_[i];
        if (needs_one(i)) this->cover(i);
    }

    /// Begin with options of an item that needs exactly one more.
    bool open_range(const Range& range) {
        if (Price::matter || range.item >= this->n_primary_ || !needs_one(range.item + 1)) {
            return false;
        }
        choose(0);  // drops options, as if the node were entered
        levels_[0].kind = Branch::each;
        levels_[0].node = this->cover_range(range);
        levels_[0].n_branches = this->size_[range.item + 1];
        levels_[0].need = 1;
        return true;
    }

    bool try_next(std::size_t level) {
        Level& here = levels_[level];
        const Index p = here.node;
        switch (here.kind) {
            case Branch::each:
                return try_each(level);
            case Branch::untried: {
                const bool may_take = is_affordable(p, level);
                this->tweak(this->option_[p]);
                if (!may_take) return try_exclusion(level);
                here.kind = Branch::take;
                this->take(p);
                go_down(level, prices_.net(this->option_[p]));
                return true;
            }
            case Branch::take:
                return try_exclusion(level);
            default:
                this->untweak(this->option_[p]);
                return false;
        }
    }

    void take_back(std::size_t level) {
        const Level& here = levels_[level];
        restore_dropped(level + 1);
        if (here.kind == Branch::each) {
            this->uncommit_others(here.node);
        } else if (here.kind == Branch::take) {
            this->untake(here.node);
        }
    }

    void abandon(std::size_t level) {
        this->restore_range();
        restore_dropped(level);
        while (level-- > 0) {
            take_back(level);
            const Index p = levels_[level].node;
            if (levels_[level].kind == Branch::each) {
                this->uncover(this->top_[p]);
            } else {
                this->untweak(this->option_[p]);
            }
            restore_dropped(level);
        }
    }

    /// True if the branch item, at a node that is not yet open, has one branch.
    bool has_one_branch(std::size_t level) const { return levels_[level].n_branches == 1; }

    Choice choice(std::size_t level) const {
        const Level& here = levels_[level];
        return here.kind == Branch::exclude ? exclusion(here)
                                            : Choice{this->option_[here.node], here.branches()};
    }
    void for_each_untried(std::size_t level, auto visit) const {
        const Level& here = levels_[level];
        if (here.kind == Branch::each) {
            this->for_each_below(here.node, here.branches(), visit);
        } else if (here.kind == Branch::take && here.n_branches > 1) {
            visit(exclusion(here));
        }
    }

    std::optional<Item> branch_item(std::size_t level) const {
        if (levels_[level].kind != Branch::each) return {};
        return this->top_[levels_[level].node] - 1;
    }

    void begin_to_spend(std::size_t k) { prices_.begin(this->selected_, k); }
    void note_cover(std::size_t level) { prices_.note_cover(level); }

    /// Write the key of a node: the remaining options, and how many more of them each item
    /// needs and may have; an item without options needs none.
    void write_key(std::span<Word> key) const {
        std::ranges::fill(key, 0);
        for (Item i = this->right_[0]; i != 0; i = this->right_[i]) {
            for (Index p = this->down_[i]; p != i; p = this->down_[p])
                set_bit(key, this->option_[p]);
        }
        std::size_t at = key.size() - counted_.size();
        for (const Item i : counted_) {
            Word& needs = key[at++];
            if (used_[i] < bounds_[i].most && this->size_[i] > 0) {
                const std::uint32_t may_have = std::min(bounds_[i].most - used_[i], this->size_[i]);
                needs = Word{need(i)} << 32 | may_have;
            }
        }
    }

private:
    struct Level {
        Branch kind = Branch::each;
        Index node = 0;                          // of the option taken or excluded
        std::uint32_t n_branches = 0, need = 0;  // of the branch item
        std::size_t n_dropped = 0;               // by the levels above

        double branches() const { return branches_of(n_branches, need); }
    };

    Choice exclusion(const Level& here) const {
        return exclusion_of({this->option_[here.node], here.branches()}, n_options_);
    }

    /// Return how many more options an item needs.
    std::uint32_t need(Item i) const {
        return bounds_[i].least - std::min(used_[i], bounds_[i].least);
    }

    bool needs_more(Item i) const { return used_[i] < bounds_[i].least; }

    /// True if an item must and may be in exactly one more option.
    bool needs_one(Item i) const { return used_[i] + 1 == bounds_[i].most && needs_more(i); }

    /// Find the branch item, 0 if every item has enough; return the number of its branches, and the
    /// least cost of all items.
    ///
    /// Of items with equally few branches, it is one that may have the fewest options beyond those
    /// it needs, and of those the first with the most options, as in Knuth's program DLX3; with
    /// prices, the first whose first option has the highest net cost. A branching rule may handicap
    /// items, or choose the first that has options.
    std::uint32_t choose_item(std::int64_t& cost) {
        Rank best{};
        std::uint32_t fewest = ~0u;
        Item chosen = 0;
        for (Item i = this->right_[0]; i != 0; i = this->right_[i]) {
            const auto [least, most] = bounds_[i];
            const std::uint32_t used = used_[i], size = this->size_[i];
            if (used + size < least) {
                this->item_ = i;
                return 0;
            }
            std::int64_t net = 0;
            if (used < least) {
                const Option first = this->option_[this->down_[i]];
                cost += (least - used) * prices_.share(first);
                net = prices_.net(first);
            }
            if (size == 0) continue;
            const std::uint32_t in_all = std::max(used, least);  // options, once it needs no more
            const std::uint32_t branches = used + size - in_all + 1, slack = most - in_all;
            const Rank rank{Word{this->with_handicap(branches, i)} << 32 | slack, net, size};
            // no branch, which could not be predicted
            const bool is_better = (chosen == 0) | is_chosen_before(rank, best, branches);
            best.few = is_better ? rank.few : best.few;
            best.net = is_better ? rank.net : best.net;
            best.size = is_better ? rank.size : best.size;
            fewest = is_better ? branches : fewest;
            chosen = is_better ? i : chosen;
        }
        this->item_ = chosen;
        return fewest;
    }

    struct Rank {
        Word few;            // the fewest branches, and then the least slack
        std::int64_t net;    // the highest
        std::uint32_t size;  // the largest
    };

    bool is_chosen_before(const Rank& a, const Rank& b, std::uint32_t branches) const {
        if (this->enough() > 1) return false;  // the first that has options
        if (by_place && !(branches == 1 && b.few >> 32 > 1)) return false;
        const bool is_higher = (a.net > b.net) | ((a.net == b.net) & (a.size > b.size));
        return (a.few < b.few) | ((a.few == b.few) & is_higher);
    }

    /// Drop the options that meet too few needs; return true if the others can meet all of them.
    ///
    /// Every option has the item `total_`, so a cover takes at most r more. If none of them meets
    /// more than g needs, an option has to meet those that r - 1 options leave over.
    bool drop_small() {
        const std::int64_t more = bounds_[total_].most - used_[total_];
        std::int64_t needs = 0, most_gain = 0;
        for (Item i = this->right_[0]; i != 0; i = this->right_[i]) {
            if (i != total_) needs += need(i);
        }
        if (needs == 0 || more == 0) return needs == 0;
        for (Index p = this->down_[total_]; p != total_; p = this->down_[p]) {
            const Option o = this->option_[p];
            gain_[o] = gain_of(o);
            most_gain = std::max(most_gain, gain_[o]);
        }
        if (more * most_gain < needs) return false;
        for (Index p = this->down_[total_]; p != total_; p = this->down_[p]) {
            const Option o = this->option_[p];
            if (gain_[o] + (more - 1) * most_gain < needs) {
                this->tweak(o);
                dropped_.push_back(o);
            }
        }
        return true;
    }

    /// Return how many items an option has, `total_` aside, that need more options.
    std::int64_t gain_of(Option o) const {
        std::int64_t gain = -std::int64_t{needs_more(total_)};
        for (Index q = this->first_[o]; this->top_[q] != 0; ++q) {
            gain += needs_more(this->top_[q]);  // no branch, which could not be predicted
        }
        return gain;
    }

    void restore_dropped(std::size_t level) {
        while (dropped_.size() > levels_[level].n_dropped) {
            this->untweak(dropped_.back());
            dropped_.pop_back();
        }
    }

    /// Take the next option of a covered item that is not too dear.
    bool try_each(std::size_t level) {
        Index p = this->down_[levels_[level].node];
        while (p > this->n_items_ && !is_affordable(p, level)) p = this->down_[p];
        levels_[level].node = p;
        if (p <= this->n_items_) {
            this->uncover(p);
            return false;
        }
        this->commit_others(p);
        go_down(level, prices_.net(this->option_[p]));
        return true;
    }

    /// Exclude an option that is out of its lists, unless the item needs all of its options.
    bool try_exclusion(std::size_t level) {
        Level& here = levels_[level];
        if (here.n_branches == 1) {
            this->untweak(this->option_[here.node]);
            return false;
        }
        here.kind = Branch::exclude;
        go_down(level, 0);
        return true;
    }

    void go_down(std::size_t level, std::int64_t cost) {
        levels_[level + 1].n_dropped = dropped_.size();
        prices_.spend(level, cost);
    }

    /// True if an option, with the items it leaves, costs no more than the upper bound.
    bool is_affordable(Index p, std::size_t level) const {
        if constexpr (!Price::matter) return true;
        const Option o = this->option_[p];
        std::int64_t saved = 0;
        for (Index q = this->first_[o]; this->top_[q] != 0; ++q) {
            const Item i = this->top_[q];
            if (!needs_more(i)) continue;
            std::int64_t share = prices_.share(o);
            if (this->down_[i] != i) {  // a list that lacks the options of the branch item
                share = std::min(share, prices_.share(this->option_[this->down_[i]]));
            }
            saved += share;
        }
        return prices_.are_affordable(level, prices_.net(o) - saved);
    }

    using Base::bounds_, Base::used_;

    Option n_options_;
    std::vector<Item> counted_;       // items that may be in several options
    Item total_ = 0;                  // an item that all options have, or 0
    std::vector<std::int64_t> gain_;  // option -> how many items it has that need more options
    std::vector<Option> dropped_;     // options that are too small, in order
    std::vector<Level> levels_;
    Price prices_;
};

}  // namespace batchsolve
