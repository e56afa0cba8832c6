// Bit-parallel exact cover for items with bounds.
//
// As in bits.cpp, the state is the set of remaining options, one bit each, in a set of its own on
// every level. Two options that share an item conflict if the item may be in just one more option;
// the options of any other item are taken away together once it is in its upper bound of them. An
// option that is excluded or dropped is taken away alone.
//
// The *tag* of an item has four fields of 16 bits: 2^15 less the options it needs, its *slack* (how
// many more than those it may have), a field of ones, and its number. A number s of options that
// are left, added to the first field and taken from the third, makes it the *key* by which the
// branch item is the least: the fewest branches, the least slack, the most options, the first.
//
// The tree is that of bounded.h, node by node.
#include "engines.h"
#include "grouped.h"
#include "search.h"

namespace batchsolve {

class BoundedBits {
public:
    explicit BoundedBits(const Problem& problem)
        : problem_(&problem),
          builder_(problem),
          total_of_problem_(item_of_all_options(problem)),
          levels_(problem.n_options() + 2) {}

    /// True if the numbers of items, of their options and their bounds have 16 bits.
    static bool can_take(const Problem& problem, const Stacks& stacks) {
        constexpr std::size_t most_options = 16'000;
        const auto is_small = [](Bounds bounds) { return bounds.most <= field; };
        return problem.n_primary <= field && std::ranges::all_of(problem.bounds, is_small) &&
               !leaves_more(problem, stacks, most_options);
    }

    std::int32_t select(std::span<const Option> stack) {
        const std::int32_t clash = builder_.select(stack);
        if (clash >= 0) return clash;
        builder_.build(r_);
        fill_tags();
        fill_members();
        alive_.clear(2, r_.words);
        fill_first(alive_[0], r_.options.size());
        return -1;
    }

    Node choose(std::size_t level) {
        Word key = 0;
        if (total_ == none || drop_small(level)) key = least_key(alive_[level]);
        if (key < enough) return Node::dead_end;
        if (key >= no_branch) return Node::cover;
        levels_[level].item = key & field;
        levels_[level].choice.n_branches = static_cast<double>(((key - enough) >> need_at) + 1);
        levels_[level].tag = r_.tag(key & field);
        return Node::branch;
    }

    void open(std::size_t level) {
        if (alive_.size() < level + 2) alive_.resize(2 * (level + 2));
        Level& here = levels_[level];
        here.branch = needs_one(here.item) ? Branch::each : Branch::untried;
        here.begin(r_, alive_[level]);
    }

    /// Begin with options of an item that needs exactly one more.
    bool open_range(const Range& range) {
        choose(0);  // drops options, as if the node were entered
        Level& here = levels_[0];
        here.branch = Branch::each;
        return here.begin_range(r_, alive_[0], range) && needs_one(here.item);
    }

    bool try_next(std::size_t level) {
        Level& here = levels_[level];
        if (here.branch == Branch::take && here.choice.n_branches > 1) {
            here.branch = Branch::exclude;
            here.choice = exclusion(here);
            exclude(here.option, level);
            return true;
        }
        if (here.branch > Branch::untried || here.n_untried == 0) return false;
        if (here.branch == Branch::untried) here.branch = Branch::take;
        here.take_next(r_, alive_[level]);
        take(here.option, level);
        return true;
    }

    void take_back(std::size_t level) {
        if (levels_[level].branch != Branch::exclude) untake(levels_[level].option);
    }
    void abandon(std::size_t) {}  // the next stack has a residual of its own

    Choice choice(std::size_t level) const {
        const Level& here = levels_[level];
        return here.branch == Branch::take ? taken(here) : here.choice;
    }
    void for_each_untried(std::size_t level, auto visit) const {
        const Level& here = levels_[level];
        if (here.branch == Branch::each) {
            here.for_each_untried(r_, alive_[level], visit);
        } else if (here.branch == Branch::take && here.choice.n_branches > 1) {
            visit(exclusion(here));
        }
    }
    std::optional<Item> branch_item(std::size_t level) const {
        if (levels_[level].branch != Branch::each) return {};
        return r_.items[levels_[level].item];
    }

private:
    static constexpr int need_at = 48, slack_at = 32, size_at = 16;  // fields of a tag
    static constexpr Word field = 0xffff;
    static constexpr Word enough = Word{1} << 63;     // the least tag of an item that needs no more
    static constexpr Word full = enough >> slack_at;  // the upper half of one that may have no more
    static constexpr Word no_branch = enough | enough >> 1;  // of one that has and needs no options
    static constexpr std::size_t none = ~std::size_t{0};

    struct Level : Branches {
        Branch branch = Branch::each;
        Word tag = 0;    // of the branch item
        Word needs = 0;  // options that items need, together, without `total_`
    };

    /// True if this is the last option that an item needs, and the last that it may have.
    bool needs_one(std::size_t i) {
        return r_.tag(i) >> slack_at == full - (Word{1} << (need_at - slack_at));
    }

    /// Return the option taken; its level has the degree of the item in place of its branches.
    Choice taken(const Level& here) const {
        const Word most = enough >> need_at, need = most - std::min(most, here.tag >> need_at);
        const auto [option, degree] = here.choice;
        return {option, branches_of(degree, static_cast<double>(need))};
    }
    Choice exclusion(const Level& here) const {
        return exclusion_of(taken(here), problem_->n_options());
    }

    /// Write the tags, and which items need more options, and how many.
    void fill_tags() {
        const std::size_t n = r_.items.size();
        r_.lay_out(~Word{0});
        slack_.resize(n);
        is_wide_.resize(n);
        needy_.assign(words_for(n), 0);
        total_ = none;
        levels_[0].needs = 0;
        for (std::size_t i = 0; i < n; ++i) {
            const auto [least, most] = problem_->bounds[r_.items[i]];
            const std::uint32_t used = builder_.held.used(r_.items[i]),
                                need = least - std::min(used, least);
            slack_[i] = most - used - need;
            is_wide_[i] = most - used > 1;
            r_.tag(i) =
                enough - (Word{need} << need_at) + (slack_[i] << slack_at) + (field << size_at) + i;
            if (need > 0) set_bit(needy_, i);
            if (r_.items[i] == total_of_problem_) total_ = i;
            if (i != total_) levels_[0].needs += need;
        }
    }

    /// Write the items of each option, without `total_`, as sets.
    void fill_members() {
        const std::size_t words = needy_.size();
        members_.assign(total_ == none ? 0 : r_.options.size() * words, 0);
        gain_.assign(total_ == none ? 0 : r_.options.size(), 0);
        for (std::size_t o = 0; o < gain_.size(); ++o) {
            for (const auto i : r_.covers[o]) {
                if (i != total_) set_bit(std::span(members_).subspan(o * words, words), i);
            }
        }
    }

    Word least_key(std::span<const Word> alive) const {
        return r_.least_key(alive, enough, [](Words tags, Words met) {
            const Words none_left = met == 0 ? Words{} + (Word{1} << 62) : Words{};
            return (tags + (met << need_at) - (met << size_at)) | none_left;
        });
    }

    /// Drop options as bounded.h does; return true if the others can meet all needs.
    bool drop_small(std::size_t level) {
        const Word needs = levels_[level].needs, of_total = r_.tag(total_);
        const Word more =
            (of_total >> slack_at & field) + (enough >> need_at) - (of_total >> need_at);
        if (needs == 0 || more == 0) return needs == 0;
        const auto here = alive_[level];
        const std::size_t words = needy_.size();
        Word most_gain = 0;
        for_each_bit(here, [&](std::size_t o) {
            Word gain = 0;
            for (std::size_t w = 0; w < words; ++w) {
                gain += static_cast<Word>(std::popcount(members_[o * words + w] & needy_[w]));
            }
            gain_[o] = gain;
            most_gain = std::max(most_gain, gain);
        });
        if (more * most_gain < needs) return false;
        const Word least_gain = needs - std::min(needs, (more - 1) * most_gain);
        for_each_bit(here, [&](std::size_t o) {
            if (gain_[o] < least_gain) clear_bit(here, o);
        });
        return true;
    }

    /// Write the set of the next level, in which an option of this one is taken.
    void take(std::size_t o, std::size_t level) {
        const auto here = alive_[level], below = alive_[level + 1];
        const auto conflicts = r_.conflicts[o];
        for (std::size_t w = 0; w < below.size(); ++w) below[w] = here[w] & ~conflicts[w];
        levels_[level + 1].needs = levels_[level].needs;
        for (const auto i : r_.covers[o]) {
            Word& t = r_.tag(i);
            if (t < enough) {
                t += Word{1} << need_at;
                levels_[level + 1].needs -= i != total_;
                if (t >= enough) clear_bit(needy_, i);
            } else {
                t -= Word{1} << slack_at;
            }
            if (t >> slack_at == full && is_wide_[i]) take_away(below, r_.rows[i]);
        }
    }

    void untake(std::size_t o) {
        for (const auto i : r_.covers[o]) {
            Word& t = r_.tag(i);
            if ((t >> slack_at & field) < slack_[i]) {
                t += Word{1} << slack_at;
            } else {
                t -= Word{1} << need_at;
                set_bit(needy_, i);
            }
        }
    }

    /// Write the set of the next level, in which an option of this one is excluded.
    void exclude(std::size_t o, std::size_t level) {
        std::ranges::copy(alive_[level], alive_[level + 1].begin());
        clear_bit(alive_[level + 1], o);
        levels_[level + 1].needs = levels_[level].needs;
    }

    const Problem* problem_;
    ResidualBuilder builder_;
    Grouped r_;
    std::vector<Word> slack_;    // item -> options it may have beyond those it needs, at the top
    std::vector<bool> is_wide_;  // item -> whether it may have several options, at the top
    std::vector<Word> needy_;    // the items that need more options
    std::vector<Word> members_;  // option -> its items, without `total_`
    std::vector<Word> gain_;     // option -> how many items it has that need more options
    std::size_t total_ = none;   // the item that all options have
    Item total_of_problem_;      // the same, as the problem numbers it; n_items if there is none
    Matrix<Word> alive_;         // level -> the remaining options
    std::vector<Level> levels_;
};

std::optional<Outcome> search_bounded_bits(const Problem& problem, const Task& task) {
    require(!problem.bounds.empty(), "the problem has no bounds");
    if (!BoundedBits::can_take(problem, task.stacks)) return {};
    return search_with(BoundedBits(problem), task, problem.n_options());
}

}  // namespace batchsolve
