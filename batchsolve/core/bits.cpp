// Bit-parallel exact cover: the remaining options of a node are a set, one bit each.
//
// Taking an option takes away those that conflict with it, from a copy of the set, hence nothing is
// undone. The number of options that an item has left is the number of bits that its row and the
// set share. Every node counts these numbers anew, for as many items at once as a vector has words.
//
// The search runs on a residual (residual.h). Where at most half of its options are left, a
// residual of the residual is searched in its place, so that deep in the tree, where most nodes
// are, a few words hold the set. If building one took longer than it saved, none that small is
// built again. The tree is that of links.h, node by node.
#include <deque>

#include "engines.h"
#include "grouped.h"
#include "search.h"

namespace batchsolve {

class Bits {
public:
    explicit Bits(const Problem& problem) : builder_(problem), levels_(problem.n_primary + 1) {}

    std::int32_t select(std::span<const Option> stack) {
        const std::int32_t clash = builder_.select(stack);
        if (clash >= 0) return clash;
        n_nested_ = 0;
        stride_ = words_for(builder_.options.size());
        alive_.resize(std::max(alive_.size(), (builder_.items.size() + 1) * stride_));
        push_residual(0);
        return -1;
    }

    /// The branch item is the first with at most one option, or else of those with the fewest.
    Node choose(std::size_t level) {
        ++n_chosen_;
        const Word key = least_key(level);
        if (key >= covered) return Node::cover;
        Branches& here = levels_[level];
        here.item = key & item_bits;
        here.choice.n_branches = static_cast<double>(key >> 32);
        here.begin(*here_, alive(level));
        return here.next < here_->options.size() ? Node::branch : Node::dead_end;
    }

    void open(std::size_t level) {
        const std::size_t half = here_->options.size() / 2;
        if (levels_[level].n_untried == 1 || least_ > half) return;
        const std::size_t n_alive = size_of(alive(level));
        if (n_alive < least_ || n_alive > half) return;
        list_alive(level);
        push_residual(level);
        choose(level);
        --n_chosen_;
    }

    bool open_range(const Range& range) { return levels_[0].begin_range(*here_, alive(0), range); }

    bool try_next(std::size_t level) {
        Branches& here = levels_[level];
        if (here.n_untried == 0) return false;
        const auto left = alive(level), below = alive(level + 1);
        here.take_next(*here_, left);
        const auto conflicts = here_->conflicts[here.option];
        for (std::size_t w = 0; w < left.size(); ++w) below[w] = left[w] & ~conflicts[w];
        for (const auto i : here_->covers[here.option]) here_->tag(i) |= covered;
        return true;
    }

    void take_back(std::size_t level) {
        if (here_->base > level) pop_residual();
        for (const auto i : here_->covers[levels_[level].option]) here_->tag(i) &= ~covered;
    }

    void abandon(std::size_t) {}  // the next stack has a residual of its own

    Choice choice(std::size_t level) const { return levels_[level].choice; }
    void for_each_untried(std::size_t level, auto visit) const {
        const Nested& of_level = residual_of(level);
        const auto left = std::span(alive_).subspan(level * stride_, of_level.words);
        levels_[level].for_each_untried(of_level, left, visit);
    }
    std::optional<Item> branch_item(std::size_t level) const {
        return residual_of(level).items[levels_[level].item];
    }

private:
    static constexpr Word covered = Word{1} << 63;       // in the tag of an item
    static constexpr Word item_bits = 0xffffffff;        // of a key; the number of options is above
    static constexpr Word forced_below = Word{2} << 32;  // keys of items with at most one option
    static constexpr std::int64_t worth = 24;  // nodes × items per option that pay for a residual

    /// A residual; the tag of an item is its number, and the bit `covered`.
    struct Nested : Grouped {
        std::size_t base = 0;    // the level of its topmost node
        std::int64_t begun = 0;  // nodes chosen before
    };
    const Nested& residual_of(std::size_t level) const {
        auto n = n_nested_;
        while (nested_[n - 1].base > level) --n;
        return nested_[n - 1];
    }

    std::span<Word> alive(std::size_t level) {
        return std::span(alive_).subspan(level * stride_, here_->words);
    }

    /// The key of an item is the number of its options, but at least 1, and behind it the item. The
    /// first item with at most one is branched on, so no item behind it is counted.
    Word least_key(std::size_t level) {
        return here_->least_key(alive(level), forced_below, [](Words tags, Words met) {
            met = met > 1 ? met : Words{} + 1;
            return met << 32 | tags;
        });
    }

    void list_alive(std::size_t level) {
        auto &options = builder_.options, &items = builder_.items;
        options.clear();
        items.clear();
        for_each_bit(alive(level), [&](std::size_t o) { options.push_back(here_->options[o]); });
        for (std::size_t i = 0; i < here_->items.size(); ++i) {
            if (here_->tag(i) < covered) items.push_back(here_->items[i]);
        }
    }

    /// Build the residual of the options and items of the builder, to be searched from a level on.
    void push_residual(std::size_t level) {
        if (n_nested_ == nested_.size()) nested_.emplace_back();
        here_ = &nested_[n_nested_++];
        builder_.build(*here_);
        here_->base = level;
        here_->begun = n_chosen_;
        here_->lay_out(covered);
        for (std::size_t i = 0; i < here_->items.size(); ++i) here_->tag(i) = i;
        fill_first(alive(level), here_->options.size());
    }

    void pop_residual() {
        const Nested& done = *here_;
        here_ = &nested_[--n_nested_ - 1];
        const auto gain = (n_chosen_ - done.begun) * static_cast<std::int64_t>(here_->items.size());
        const std::size_t n = done.options.size();
        if (gain < worth * static_cast<std::int64_t>(n)) least_ = std::max(least_, n + 1);
    }

    ResidualBuilder builder_;
    std::vector<Word> alive_;  // level -> the options left
    std::size_t stride_ = 0;   // words between levels
    std::vector<Branches> levels_;
    std::deque<Nested> nested_;  // the first `n_nested_` are in use, the last is searched
    std::size_t n_nested_ = 0;
    Nested* here_ = nullptr;
    std::size_t least_ = 16;  // the fewest options for which another residual is built
    std::int64_t n_chosen_ = 0;
};

std::optional<Outcome> search_bits(const Problem& problem, const Task& task,
                                   std::size_t most_options) {
    if (leaves_more(problem, task.stacks, most_options)) return {};
    return search_with(Bits(problem), task, problem.n_options());
}

}  // namespace batchsolve
