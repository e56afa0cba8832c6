// Residual problems as bit matrices: the rest of a problem below a partial cover.
//
// A residual holds the options that are still possible and the primary items that are not yet
// covered, both renumbered in their old order, so that few words hold a set of options. Two options
// conflict if they share a primary item, or a secondary item to which they do not give the same
// colour; nothing but the construction of the conflicts knows about this.
//
// Items and options come from a checked `Problem`; `Held::select` checks the options of stacks.
#pragma once

#include <compare>

#include "bit_sets.h"
#include "walk.h"

namespace batchsolve {

/// What a stack takes and excludes: the items that it covers, and the colours of those to which it
/// gives one. With bounds, option o is excluded by n_options + o.
class Held {
public:
    explicit Held(const Problem& problem)
        : problem_(&problem),
          used_(problem.n_items),
          color_(problem.n_items, open),
          is_decided_(problem.n_options()) {}

    /// Hold the items of a stack; return -1, or the position of an option that clashes.
    std::int32_t select(std::span<const Option> stack) {
        std::ranges::fill(used_, 0);
        std::ranges::fill(color_, open);
        std::fill(is_decided_.begin(), is_decided_.end(), false);
        const std::uint64_t n = problem_->n_options(), end = problem_->bounds.empty() ? n : 2 * n;
        for (std::size_t s = 0; s < stack.size(); ++s) {
            const auto o = static_cast<Option>(stack[s] < n ? stack[s] : stack[s] - n);
            if (stack[s] >= end || is_decided_[o] || bars(o)) return static_cast<std::int32_t>(s);
            is_decided_[o] = true;
            if (stack[s] < n) hold(o);
        }
        return -1;
    }

    /// The options of the stack that have an item.
    std::uint32_t used(Item i) const { return used_[i]; }

    /// List the remaining options and the uncovered primary items.
    void list_left(std::vector<Option>& options, std::vector<Item>& items) const {
        options.clear();
        items.clear();
        for (Option o = 0; o < problem_->n_options(); ++o) {
            if (!is_decided_[o] && !bars(o)) options.push_back(o);
        }
        for (Item i = 0; i < problem_->n_primary; ++i) {
            if (color_[i] == open) items.push_back(i);
        }
    }

private:
    static constexpr std::int64_t open = -1;

    void hold(Option o) {
        const auto items = problem_->items_of(o);
        const auto colors = problem_->colors_of(o);
        for (std::size_t x = 0; x < items.size(); ++x) {
            const Item i = items[x];
            if (++used_[i] >= problem_->bounds_of(i).most) {
                color_[i] = colors.empty() ? 0 : colors[x];
            }
        }
    }

    /// True if an option has an item that is covered, or has another colour.
    bool bars(Option o) const {
        const auto items = problem_->items_of(o);
        const auto colors = problem_->colors_of(o);
        for (std::size_t x = 0; x < items.size(); ++x) {
            const std::int64_t held = color_[items[x]];
            if (held != open && (held == 0 || colors.empty() || held != colors[x])) return true;
        }
        return false;
    }

    const Problem* problem_;
    std::vector<std::uint32_t> used_;  // item -> options of the stack that have it
    std::vector<std::int64_t> color_;  // item -> 0 if it is covered, its colour, or `open`
    std::vector<bool> is_decided_;     // options that the stack takes or excludes
};

/// What is left of a problem: sets of options have `words` words.
struct Residual {
    std::size_t words = 0;
    std::vector<Option> options;         // as the problem numbers them
    std::vector<Item> items;             // the remaining primary items
    Matrix<Word> conflicts;              // option -> those that cannot be taken with it, and itself
    Matrix<Word> rows;                   // item -> its options; behind these, those of other items
    GrowingLists<std::uint32_t> covers;  // option -> its primary items
};

/// The branches of a node that are options of one item, in ascending order. Those that are still to
/// be tried are read off the set of remaining options at the node.
struct Branches {
    Choice choice{};                   // the branch that is taken, one of so many
    std::size_t item = 0, option = 0;  // as the residual numbers them
    std::size_t next = 0, n_untried = 0;

    /// Begin with all options of the item, `choice.n_branches` of them.
    void begin(const Residual& r, std::span<const Word> alive) {
        next = first_common(alive, r.rows[item], 0);
        n_untried = static_cast<std::size_t>(choice.n_branches);
    }
    /// Begin with the options of a range; return false if its item is not left.
    bool begin_range(const Residual& r, std::span<const Word> alive, const Range& range) {
        const auto place_of = [](const auto& numbers, auto number) {
            const auto at = std::ranges::lower_bound(numbers, number);
            return static_cast<std::size_t>(at - numbers.begin());
        };
        item = place_of(r.items, range.item);
        if (item == r.items.size() || r.items[item] != range.item) return false;
        const std::size_t end = place_of(r.options, range.last);
        next = first_common(alive, r.rows[item], place_of(r.options, range.first));
        n_untried = 0;
        for (auto o = next; o < end; o = first_common(alive, r.rows[item], o + 1)) ++n_untried;
        choice.n_branches = static_cast<double>(n_untried);
        return true;
    }

    void take_next(const Residual& r, std::span<const Word> alive) {
        option = next;
        choice.option = r.options[option];
        if (--n_untried > 0) next = first_common(alive, r.rows[item], option + 1);
    }
    void for_each_untried(const Residual& r, std::span<const Word> alive, auto visit) const {
        std::size_t o = next;
        for (std::size_t k = 0; k < n_untried; ++k, o = first_common(alive, r.rows[item], o + 1)) {
            visit(Choice{r.options[o], choice.n_branches});
        }
    }
};

/// Builds residuals of one problem.
class ResidualBuilder {
public:
    explicit ResidualBuilder(const Problem& problem)
        : held(problem), problem_(&problem), number_(problem.n_items, unnumbered) {}

    /// Let the options and items be those that a stack leaves; return -1, or the position of an
    /// option that clashes.
    std::int32_t select(std::span<const Option> stack) {
        const std::int32_t clash = held.select(stack);
        if (clash < 0) held.list_left(options, items);
        return clash;
    }

    /// Build the residual of `options` and `items`. An item that may be in several more options
    /// makes no conflicts.
    void build(Residual& r) {
        r.words = words_for(options.size());
        r.options = options;
        r.items = items;
        number_items(r);
        fill_rows(r);
        fill_conflicts(r);
        for (const Item i : seen_) number_[i] = unnumbered;
    }

    Held held;                    // by the stack selected last
    std::vector<Option> options;  // ascending
    std::vector<Item> items;      // primary ones, ascending

private:
    static constexpr std::uint32_t unnumbered = ~0u;

    /// Number the items of a residual, the primary ones first.
    void number_items(const Residual& r) {
        seen_.assign(r.items.begin(), r.items.end());
        for (std::size_t i = 0; i < seen_.size(); ++i) {
            number_[seen_[i]] = static_cast<std::uint32_t>(i);
        }
        for (const Option o : r.options) {
            for (const Item i : problem_->items_of(o)) {
                if (number_[i] != unnumbered) continue;
                number_[i] = static_cast<std::uint32_t>(seen_.size());
                seen_.push_back(i);
            }
        }
    }

    void fill_rows(Residual& r) const {
        r.rows.clear(seen_.size(), r.words);
        r.covers.clear();
        for (std::size_t o = 0; o < r.options.size(); ++o) {
            for (const Item item : problem_->items_of(r.options[o])) {
                const std::uint32_t i = number_[item];
                set_bit(r.rows[i], o);
                if (i < r.items.size()) r.covers.values.push_back(i);
            }
            r.covers.end_list();
        }
    }

    void fill_conflicts(Residual& r) {
        r.conflicts.clear(r.options.size(), r.words);
        painted_.clear();
        for (std::uint32_t o = 0; o < r.options.size(); ++o) {
            const auto conflicts = r.conflicts[o];
            const auto items = problem_->items_of(r.options[o]);
            const auto colors = problem_->colors_of(r.options[o]);
            set_bit(conflicts, o);
            for (std::size_t x = 0; x < items.size(); ++x) {
                if (held.used(items[x]) + 1 < problem_->bounds_of(items[x]).most) continue;
                const std::uint32_t i = number_[items[x]];
                if (colors.empty() || colors[x] == 0) {
                    join(conflicts, r.rows[i]);
                } else {
                    painted_.push_back({i, colors[x], o});
                }
            }
        }
        std::ranges::sort(painted_);
        for (auto begin = painted_.begin(); begin != painted_.end();) {
            const auto end = std::find_if(begin, painted_.end(), [&](const Painted& other) {
                return other.item != begin->item || other.color != begin->color;
            });
            add_conflicts({begin, end}, r);
            begin = end;
        }
    }

    /// An option that gives an item, as the residual numbers both, a colour.
    struct Painted {
        std::uint32_t item;
        Color color;
        std::uint32_t option;
        auto operator<=>(const Painted&) const = default;
    };

    /// Add the conflicts of all options that give an item the same colour: the item's other ones.
    void add_conflicts(std::span<const Painted> alike, Residual& r) {
        const auto row = r.rows[alike[0].item];
        others_.assign(row.begin(), row.end());
        for (const Painted& each : alike) clear_bit(others_, each.option);
        for (const Painted& each : alike) join(r.conflicts[each.option], others_);
    }

    const Problem* problem_;
    std::vector<std::uint32_t> number_;  // item -> its number in the residual being built
    std::vector<Item> seen_;             // the items that have one
    std::vector<Painted> painted_;       // by item and colour
    std::vector<Word> others_;           // options of an item that give it another colour
};

/// True if any of the stacks leaves more than `most` options of a problem.
inline bool leaves_more(const Problem& problem, const Lists<Option>& stacks, std::size_t most) {
    if (problem.n_options() <= most) return false;
    ResidualBuilder left(problem);
    for (std::size_t k = 0; k < stacks.size(); ++k) {
        if (left.select(stacks[k]) < 0 && left.options.size() > most) return true;
    }
    return false;
}

}  // namespace batchsolve
