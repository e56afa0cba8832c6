// Dancing links that know the key of a partial cover, for searches that look up what is left of it.
//
// The set of items that are not yet covered determines the subtree below a partial cover. Its *key*
// is this whole set, a bit per item, and is compared as a whole. A secondary item without options
// left counts as covered, because it rules nothing out. One that was purified counts as uncovered,
// and the key has its colour too.
#pragma once

#include "links.h"
#include "residual.h"

namespace batchsolve {

template <bool colored>
class KeyedLinks : public Links<colored, false> {
public:
    using Base = Links<colored, false>;
    using typename Base::Index;

    /// If it `is_ordered`, the branch item is always the first that is active, or one without
    /// options.
    explicit KeyedLinks(const Problem& problem, bool is_ordered = false)
        : Base(problem), is_ordered_(is_ordered), uncovered_(words_for(problem.n_items + 1)) {}

    static std::size_t words_of_key(const Problem& problem) {
        const std::size_t n_secondary = problem.n_items - problem.n_primary;
        const std::size_t of_colors = colored ? (n_secondary + 1) / 2 : 0;  // half a word each
        return words_for(problem.n_items + 1) + of_colors;
    }

    std::int32_t select(std::span<const Option> stack) {
        const std::int32_t clash = Base::select(stack);
        std::ranges::fill(uncovered_, 0);
        for (Item i = 1; i <= this->n_items_; ++i) {
            if (this->used_[i] == 0 || this->color(i) != 0) set_bit(uncovered_, i);
        }
        return clash;
    }

    Node choose(std::size_t level) {
        if (!is_ordered_) return Base::choose(level);
        this->item_ = this->right_[0];
        if (this->item_ == 0) return Node::cover;
        for (Item i = this->item_; i != 0; i = this->right_[i]) {
            if (this->size_[i] == 0) return Node::dead_end;
        }
        return Node::branch;
    }

    /// True if the branch item, at a node that is not yet open, has one option.
    bool has_one_branch(std::size_t) const { return this->size_[this->item_] == 1; }

    bool try_next(std::size_t level) {
        if (!Base::try_next(level)) return false;
        flip(this->chosen_[level]);
        this->for_each_other(this->chosen_[level], [this](Index q) {
            if (this->color(q) != Base::pure) n_hidden += this->size_[this->top_[q]];
        });
        return true;
    }

    void take_back(std::size_t level) {
        flip(this->chosen_[level]);
        Base::take_back(level);
    }

    /// Write the key of the current node.
    void write_key(std::span<Word> key) const {
        std::ranges::fill(key, 0);
        std::ranges::copy(uncovered_, key.begin());
        for (Item i = this->n_primary_ + 1; i <= this->n_items_; ++i) {
            if (this->size_[i] == 0) {
                clear_bit(key, i);
            } else if (this->color(i) != 0) {
                const Item k = i - this->n_primary_ - 1;
                key[uncovered_.size() + k / 2] |= Word{this->color(i)} << (32 * (k % 2));
            }
        }
    }

    std::int64_t n_hidden = 0;  // options that were taken out of other lists, by those tried

private:
    /// Flip the bits of the items to which p's option gives no colour.
    void flip(Index p) {
        for (Index q = this->first_[this->option_[p]]; this->top_[q] != 0; ++q) {
            const Item i = this->top_[q];
            if (this->color(q) == 0) uncovered_[i / 64] ^= Word{1} << i % 64;
        }
    }

    bool is_ordered_;
    std::vector<Word> uncovered_;  // the items that are not covered
};

inline std::uint64_t hash_of(std::span<const Word> key) {
    std::uint64_t h = 0x9E3779B97F4A7C15;
    for (const Word w : key) {
        h = (h ^ w) * 0xFF51AFD7ED558CCD;
        h ^= h >> 32;
    }
    return h;
}

}  // namespace batchsolve
