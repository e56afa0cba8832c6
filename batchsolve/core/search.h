// The search of a task: one stack after another, within the bounds of the task.
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>

#include "walk.h"

namespace batchsolve {

/// The search of a task by the walk; the rest goes to the frontier.
class Search {
public:
    Search(const Task& task, Option n_options)
        : out(task.stacks.size()),
          task_(task),
          last_shown_((task.has_excluded ? 0 : n_options) - 1),
          budget_(task.budget),
          room_(task.room) {}

    /// Search below the stacks begin .. end - 1, which are of the problem of `moves`.
    void below(Moves auto& moves, auto& visitor, std::size_t begin, std::size_t end) {
        for (std::size_t k = begin; k < end; ++k) {
            if (task_.stacks.begins_root(k)) {
                allowance_ = task_.stacks.allowances[k];
                wanted_ = task_.stacks.limits[k];
                to_keep_ = task_.keep;
            }
            below_stack(moves, visitor, k);
            budget_ -= out.nodes[k];
            allowance_ -= out.nodes[k];
            wanted_ -= out.counts[k];
            room_ -= out.counts[k];
        }
    }

    /// Append stack k to the frontier, followed by the choices above a level.
    void hand_back(const Moves auto& moves, std::size_t level) {
        append(out.frontier, moves, level, ~Option{0});
        out.weights.push_back(weight(moves, level));
        out.branches.insert(out.branches.end(), 3, 0);
    }

    /// Count a cover, and keep it if it is one of the first; return true if no more may be found.
    bool count_cover(const Moves auto& moves, std::size_t level) {
        if (to_keep_ > 0) {
            --to_keep_;
            append(out.covers, moves, level, last_shown_);
        }
        return ++out.counts[k_] == most_covers_;
    }

    Outcome out;

private:
    void below_stack(Moves auto& moves, auto& visitor, std::size_t k) {
        k_ = k;
        const std::int64_t allowed = std::min(budget_, allowance_);
        most_covers_ = std::min(wanted_, room_);
        if (allowed <= 0 || most_covers_ <= 0) {
            if (wanted_ > 0) hand_back_whole(moves);
            return;
        }
        // The walk begins at this partial cover, with l = 0.
        out.clash[k] = moves.select(task_.stacks[k]);
        if (out.clash[k] >= 0) return;
        Position here;
        if (const auto range = task_.stacks.branch(k)) {
            if (range->first > range->last || !moves.open_range(*range)) {
                out.clash[k] = static_cast<std::int32_t>(task_.stacks[k].size());
                return;
            }
            here = {.is_entering = false, .is_open = true};
        }
        visitor.begin(moves, k);
        const auto depth = static_cast<std::size_t>(std::max<std::int64_t>(task_.depth, 0));
        const Event event = walk(moves, visitor, here, depth, allowed);
        if (event == Event::spent && here.level == 0) hand_back(moves, 0);
        if (event == Event::spent || most_covers_ < wanted_) {
            hand_back_untried(moves, here.level, event == Event::spent);
        }
        out.nodes[k] = here.nodes;
        visitor.end(k, here.level);
        moves.abandon(here.level);
    }

    /// Append the stack that is searched, which was not begun.
    void hand_back_whole(const Moves auto& moves) {
        hand_back(moves, 0);
        if (const auto range = task_.stacks.branch(k_)) note_branch(*range);
    }

    /// Append the branches above a level that were not taken, the deepest first. The last one that
    /// was taken is one of them if its node was not entered.
    void hand_back_untried(const Moves auto& moves, std::size_t level, bool is_last_left) {
        for (; level-- > 0; is_last_left = false) {
            left_.clear();
            if (is_last_left) left_.push_back(moves.choice(level));
            moves.for_each_untried(level, [&](Choice choice) { left_.push_back(choice); });
            if (!left_.empty()) hand_back_left(moves, level);
        }
    }

    /// Append the rest of a node: as ranges, or as a stack for each option.
    void hand_back_left(const Moves auto& moves, std::size_t level) {
        const std::optional<Item> item = moves.branch_item(level);
        const std::size_t n = left_.size();
        std::size_t n_parts = n;
        const std::int64_t fineness = task_.stacks.fineness[k_];
        if (item && fineness < unlimited) {
            const double share = weight(moves, level) * static_cast<double>(n);
            const double wanted = share / left_[0].n_branches * static_cast<double>(fineness);
            n_parts = static_cast<std::size_t>(
                std::clamp(std::ceil(wanted), 1.0, static_cast<double>(n)));
        }
        for (std::size_t part = 0; part < n_parts; ++part) {
            const std::size_t begin = part * n / n_parts, end = (part + 1) * n / n_parts;
            const auto [first, n_branches] = left_[begin];
            hand_back(moves, level);
            if (end - begin > 1) {
                note_branch({*item, first, left_[end - 1].option + 1});
                out.weights.back() *= static_cast<double>(end - begin) / n_branches;
            } else {
                out.frontier.values.push_back(first);
                ++out.frontier.bounds.back();
                out.weights.back() /= n_branches;
            }
        }
    }

    /// Let the stack that was appended last have a branch.
    void note_branch(const Range& range) {
        const auto last = std::span(out.branches).last(3);
        last[0] = range.item + 1;
        last[1] = range.first;
        last[2] = range.last;
    }

    /// Append the stack that is searched and the choices above a level, up to a largest option.
    void append(GrowingStacks& grown, const Moves auto& moves, std::size_t level, Option largest) {
        const auto add = [&](Option o) {
            if (o <= largest) grown.values.push_back(o);
        };
        for (const Option o : task_.stacks[k_]) add(o);
        for (std::size_t l = 0; l < level; ++l) add(moves.choice(l).option);
        grown.end_stack(k_);
    }

    static double weight(const Moves auto& moves, std::size_t level) {
        double weight = 1;
        for (std::size_t l = 0; l < level; ++l) weight /= moves.choice(l).n_branches;
        return weight;
    }

    const Task& task_;
    const Option last_shown_;                  // of a cover; those behind it stand for exclusions
    std::int64_t budget_, room_;               // of the task, left
    std::int64_t allowance_ = 0, wanted_ = 0;  // of the current root, left
    std::int64_t to_keep_ = 0, most_covers_ = 0;
    std::size_t k_ = 0;         // the stack that is searched
    std::vector<Choice> left_;  // the remaining branches of a node
};

/// The visitor that counts covers and keeps the first of each root.
struct Covers {
    Search& search;

    void begin(Moves auto& moves, std::size_t k) {
        if constexpr (requires { moves.begin_to_spend(k); }) moves.begin_to_spend(k);
    }
    void end(std::size_t, std::size_t) {}
    bool may_enter(std::size_t) { return true; }
    bool cover(Moves auto& moves, std::size_t level) {
        const bool is_full = search.count_cover(moves, level);
        if constexpr (requires { moves.note_cover(level); }) moves.note_cover(level);
        return is_full;
    }
    void hand_back(const Moves auto& moves, std::size_t level) { search.hand_back(moves, level); }
    bool is_known(const Moves auto&, std::size_t) { return false; }
    void leave(const Moves auto&, std::size_t) {}
    void climb(const Moves auto&, std::size_t) {}
};

/// Search all stacks of a task, which are of the problem of `moves`, with so many options.
Outcome search_with(auto&& moves, const Task& task, Option n_options) {
    Search search(task, n_options);
    Covers covers{search};
    search.below(moves, covers, 0, task.stacks.size());
    return std::move(search.out);
}

}  // namespace batchsolve
