// The search of many stacks, side by side in lanes.
//
// Every lane searches below one stack: it propagates its grid with all the others, and where that
// leads no further it guesses: it saves its grid and tries the candidates of the branch cell in
// ascending order. A lane that is done takes the next stacks or, if none is left, branches of
// another lane. To keep a limit or an allowance exactly, one lane searches the stacks of one root,
// one after another.
//
// A *node* is a partial cover that is propagated: the stack itself, and every guess. The options
// selected so far determine the fixpoint in which propagation ends, and that determines the branch
// cell; so the tree depends on the partial cover alone, and its order is the lexicographic order of
// the stacks. Lanes share the task's budget and room, so the frontier of a root depends on the
// number of lanes; sums do not.
//
// `Stacks` has checked the offsets, and the grids check the options.
#include <algorithm>
#include <array>
#include <utility>

#include "lanes/grids.h"
#include "lanes/lanes.h"

namespace batchsolve::lanes {

/// A *segment* is a part of a tree, without gaps in tree order, that one lane searches. It has the
/// number of the stack at its top; if a lane takes over the last branches of another, they get a
/// new number.
class Segments {
public:
    explicit Segments(std::size_t n_stacks) : n_stacks_(n_stacks), following_(n_stacks, none) {}

    /// Return a new segment, right behind another one below the same stack.
    std::size_t split(std::size_t segment) {
        following_.push_back(following_[segment]);
        following_[segment] = following_.size() - 1;
        return following_[segment];
    }

    /// The segments that some finds were made in, one by one, as places in tree order, and the
    /// stacks at their tops.
    struct Order {
        std::vector<std::size_t> places, tops;

        std::size_t top(std::int64_t segment) const { return tops[segment]; }

        /// Return the order of finds by places of segments; those of one segment stay as they are.
        std::vector<std::size_t> of(Ints segments) const {
            std::vector<std::size_t> begins(places.size() + 1), order(segments.size());
            for (const auto segment : segments) ++begins[places[segment] + 1];
            for (std::size_t p = 0; p < places.size(); ++p) begins[p + 1] += begins[p];
            for (std::size_t k = 0; k < segments.size(); ++k) {
                order[begins[places[segments[k]]]++] = k;
            }
            return order;
        }
    };

    Order order() const {
        Order order{std::vector<std::size_t>(following_.size()),
                    std::vector<std::size_t>(following_.size())};
        std::size_t place = 0;
        for (std::size_t stack = 0; stack < n_stacks_; ++stack) {
            for (auto segment = stack; segment != none; segment = following_[segment]) {
                order.places[segment] = place++;
                order.tops[segment] = stack;
            }
        }
        return order;
    }

private:
    static constexpr std::size_t none = static_cast<std::size_t>(-1);

    std::size_t n_stacks_;
    std::vector<std::size_t> following_;
};

template <class T>
class Search {
public:
    Search(LaneGrids<T>& grids, const Task& task)
        : grids_(grids),
          task_(task),
          want_(task.stacks.limits.begin(), task.stacks.limits.end()),
          allowance_(task.stacks.allowances.begin(), task.stacks.allowances.end()),
          is_split_(task.stacks.size()) {}

    Grids run() {
        if (task_.is_unordered && task_.keep > 0) {  // most stacks have one cover
            digits_.reserve(task_.stacks.size() * static_cast<std::size_t>(n_cells_));
        }
        Events events;
        events.all = all_lanes;
        LaneBits is_new = 0;       // lanes whose node is propagated, but not dealt with
        bool has_guessed = false;  // since branches were last shared out
        while (true) {
            while (events.all != 0) {
                // events of one kind together, which branch prediction likes
                const LaneBits bad = events.all & events.bad, solved = events.all & events.solved;
                const int lane = lowest_lane(bad ? bad : solved ? solved : events.all);
                const LaneBits bit = bit_of(lane);
                const bool is_saved = (is_new & bit) && leave_node(lane, events);
                has_guessed |= is_saved;
                busy_ = enter_node(lane, is_saved) ? busy_ | bit : busy_ & ~bit;
                events.all &= ~bit;
            }
            if (has_guessed && busy_ != all_lanes && budget_ != 0 && room_ != 0) {
                is_new = 0;
                has_guessed = false;
                events.all = share_out();
                if (events.all != 0) continue;
            }
            if (busy_ == 0) return finished();
            events = grids_.propagate(busy_);
            is_new = events.all;
        }
    }

private:
    using Digits = T;

    static constexpr int n_lanes = batchsolve::n_lanes<Digits>;
    static constexpr LaneBits all_lanes = lowest_bits<LaneBits>(n_lanes);
    /// Limits and allowances above this will not be reached: earlier tasks have used less than half
    /// of one that has no bound.
    static constexpr std::int64_t open_ended = unlimited / 2;
    /// Nodes of a root; most grids with several solutions reach a limit earlier.
    static constexpr std::int64_t long_search = 64;

    struct Guess {
        double share;  // of each branch in the tree of the stack
        int cell;
        int digit;    // the one that is tried
        Digits rest;  // the candidates that are still to be tried
    };

    /// What a lane searches. Its level is the number of guesses.
    struct Lane {
        std::size_t next = 0;  // the stack after the one below which it searches
        std::size_t end = 0;   // the first stack that it will not search after that
        std::size_t root = 0;  // the first stack of the root
        std::size_t segment = 0;
        std::int64_t to_keep = 0;  // covers that are still to be handed back
        std::size_t lowest = 0;    // a level below which nothing is still to be tried
        std::vector<Guess> guesses;
        std::vector<std::uint64_t> saved;  // the grids before the guesses
    };

    // ---- leaving a node -------------------------------------------------------------------------

    /// Deal with a node that is propagated; return true if its lane guesses. An easy grid has one
    /// node, so a call would show.
    [[gnu::always_inline]] bool leave_node(int lane, const Events& events) {
        Lane& here = lanes_[lane];
        const auto k = here.next - 1;
        const LaneBits bit = bit_of(lane);
        if (events.bad & bit) {
            if (here.guesses.empty()) {
                out_.clash[k] = grids_.clash(k, task_.stacks[k]);
                if (out_.clash[k] >= 0) count_node(here, -1);
            }
        } else if (events.solved & bit) {
            if (!(events.full & bit)) return false;
            if (room_ != 0 && want_[here.root] != 0) {
                count_cover(lane);
            } else {
                put_back(here);
            }
        } else if (static_cast<std::int64_t>(here.guesses.size()) == task_.depth) {
            put_back(here);
        } else {
            guess(lane);
            return true;
        }
        return false;
    }

    void count_node(const Lane& here, std::int64_t one) {
        out_.nodes[here.next - 1] += one;
        allowance_[here.root] -= one;
        budget_ -= one;
    }

    /// Hand back a node that was counted.
    void put_back(const Lane& here) {
        count_node(here, -1);
        hand_back(here);
    }

    void hand_back(const Lane& here) {
        auto& options = out_.frontier.values;
        const auto stack = task_.stacks[here.next - 1];
        options.insert(options.end(), stack.begin(), stack.end());
        for (const Guess& guess : here.guesses) options.push_back(option(guess));
        out_.frontier.end_stack(here.segment);
        out_.weights.push_back(here.guesses.empty() ? 1 : here.guesses.back().share);
    }

    void count_cover(int lane) {
        Lane& here = lanes_[lane];
        ++out_.counts[here.next - 1];
        --room_;
        --want_[here.root];
        if (here.to_keep > 0) {
            --here.to_keep;
            if (task_.is_unordered) {
                write_digits(lane);
            } else {
                write_options(lane);
            }
            out_.covers.end_stack(here.segment);
        }
    }

    void write_digits(int lane) {
        const auto begin = digits_.size();
        digits_.resize(begin + static_cast<std::size_t>(n_cells_));
        const auto digits = std::span(digits_).subspan(begin);
        const auto cells = grids_.cells.vectors();  // which a byte that is written might alias
        for (std::size_t cell = 0; cell < digits.size(); ++cell) {
            digits[cell] = static_cast<std::uint8_t>(digit(cells[cell], lane) + 1);
        }
    }

    /// Write the stack, the guesses, and the others in ascending order.
    void write_options(int lane) {
        const Lane& here = lanes_[lane];
        auto& all = out_.covers.values;
        const auto n = static_cast<std::size_t>(n_cells_);
        const auto n_digits = static_cast<Option>(n_digits_);
        std::size_t end = all.size();
        all.resize(end + n + 1);  // an option of a filled cell is overwritten
        const std::span<Option> options(all);
        is_filled_.assign(n, 0);
        const auto write = [&](Option o) {
            const auto cell = o / n_digits;
            if (cell >= n) return;  // the marks, or the digits of a cage
            is_filled_[cell] = 1;
            options[end++] = o;
        };
        for (const Option o : task_.stacks[here.next - 1]) write(o);
        for (const Guess& guess : here.guesses) write(option(guess));
        const auto cells = grids_.cells.vectors();
        const std::span<const std::uint8_t> is_filled(is_filled_);
        Option first = 0;  // of the cell
        for (std::size_t cell = 0; cell < n; ++cell, first += n_digits) {
            options[end] = first + static_cast<Option>(digit(cells[cell], lane));
            end += is_filled[cell] == 0;
        }
        all.pop_back();
    }

    static int digit(const Vector<Digits>& cell, int lane) {
        const Digits only = cell[lane];
        return std::countr_zero(only);
    }
    Option option(const Guess& guess) const {
        return static_cast<Option>(guess.cell * n_digits_ + guess.digit);
    }

    void guess(int lane) {
        Lane& here = lanes_[lane];
        const int cell = grids_.chosen(lane);
        const Digits candidates = grids_.cells.at(cell, lane);
        const double share = here.guesses.empty() ? 1 : here.guesses.back().share;
        grids_.cells.save(lane, saved(here, here.guesses.size()));
        here.guesses.push_back({share / std::popcount(candidates), cell, 0, candidates});
    }

    /// Return the place of the grid before the guess of a level.
    std::span<std::uint64_t> saved(Lane& here, std::size_t level) const {
        return grids_.cells.room_at(level, here.saved);
    }

    // ---- entering a node ------------------------------------------------------------------------

    /// Go on to the next node of a lane; return true if there is one. `is_saved` says that the lane
    /// has just guessed.
    bool enter_node(int lane, bool is_saved) {
        Lane& here = lanes_[lane];
        auto& guesses = here.guesses;
        while (true) {
            while (!guesses.empty() && guesses.back().rest == 0) guesses.pop_back();
            if (!guesses.empty()) {
                if (is_done(here)) {
                    guesses.clear();
                    continue;
                }
                take_branch(guesses.back());
            } else {
                if (here.next == here.end && !take_stacks(here)) return false;
                here.segment = here.next++;
                here.lowest = 0;
                if (is_done(here)) continue;
            }
            if (budget_ == 0 || room_ == 0 || allowance_[here.root] == 0 || want_[here.root] == 0) {
                hand_back(here);
                continue;
            }
            if (!guesses.empty()) {
                const Guess& guess = guesses.back();
                if (!is_saved) grids_.cells.restore(lane, saved(here, guesses.size() - 1));
                grids_.cells.at(guess.cell, lane) = static_cast<Digits>(1u << guess.digit);
            } else if (!fill(lane)) {
                continue;
            }
            count_node(here, 1);
            return true;
        }
    }

    /// True if enough covers of a root are found, and none before them can be left.
    bool is_done(const Lane& here) const { return want_[here.root] == 0 && !is_split_[here.root]; }

    static void take_branch(Guess& guess) {
        guess.digit = std::countr_zero(guess.rest);
        guess.rest &= static_cast<Digits>(guess.rest - 1);
    }

    /// Give a lane the next stacks; return true if any are left.
    bool take_stacks(Lane& here) {
        const Stacks& stacks = task_.stacks;
        if (next_ == stacks.size()) return false;
        if (stacks.begins_root(next_)) {
            root_ = next_;
        } else {
            is_split_[root_] = true;
        }
        here.next = next_++;
        if (!is_shared(root_)) {
            while (next_ < stacks.size() && !stacks.begins_root(next_)) ++next_;
        }
        here.end = next_;
        here.root = root_;
        here.to_keep = task_.keep;
        return true;
    }

    /// Put the stack of a lane into its grid, or note that it clashes.
    bool fill(int lane) {
        const auto k = lanes_[lane].next - 1;
        grids_.follow(lane, k);
        if (grids_.place(lane, k, task_.stacks[k])) return true;
        out_.clash[k] = grids_.clash(k, task_.stacks[k]);
        return false;
    }

    // ---- sharing --------------------------------------------------------------------------------

    /// True if several lanes may search below the stacks of a root, of which k is the first.
    bool is_shared(std::size_t k) const {
        return task_.stacks.allowances[k] >= open_ended &&
               (task_.stacks.limits[k] >= open_ended || is_any_order_);
    }

    /// True if a lane may take over branches below the stacks of a root.
    ///
    /// Lanes that share a root may reach its limit before they have searched all earlier branches,
    /// and these must be searched later: only long searches are worth it.
    bool may_give(std::size_t k) const {
        return is_shared(k) && (task_.stacks.limits[k] >= open_ended ||
                                task_.stacks.allowances[k] - allowance_[k] >= long_search);
    }

    /// Give branches of busy lanes to idle ones; return the latter.
    LaneBits share_out() {
        LaneBits given = 0;
        for (LaneBits idle = all_lanes & ~busy_; idle != 0; idle &= idle - 1) {
            const int donor = find_donor(busy_ | given);
            if (donor < 0) break;
            give(donor, lowest_lane(idle));
            given |= bit_of(lowest_lane(idle));
        }
        return given;
    }

    /// Return the lane with the largest branch that another may take over; -1 if none has one.
    int find_donor(LaneBits busy) {
        int donor = -1;
        double most = 0;
        for (; busy != 0; busy &= busy - 1) {
            Lane& lane = lanes_[lowest_lane(busy)];
            if (!may_give(lane.root)) continue;
            const auto& guesses = lane.guesses;
            auto& s = lane.lowest;
            while (s < guesses.size() && guesses[s].rest == 0) ++s;
            if (s < guesses.size() && guesses[s].share > most) {
                donor = lowest_lane(busy);
                most = guesses[s].share;
            }
        }
        return donor;
    }

    /// Give a lane the later half of the branches at the lowest level of another.
    void give(int donor, int lane) {
        Lane &from = lanes_[donor], &to = lanes_[lane];
        const auto s = from.lowest;
        Digits taken = from.guesses[s].rest;
        for (int n = std::popcount(taken) / 2; n > 0; --n) taken &= static_cast<Digits>(taken - 1);
        from.guesses[s].rest ^= taken;
        to.guesses.assign(from.guesses.begin(), from.guesses.begin() + static_cast<long>(s) + 1);
        for (Guess& guess : to.guesses) guess.rest = 0;
        to.guesses[s].rest = taken;
        std::ranges::copy(saved(from, s), saved(to, s).begin());
        grids_.follow_lane(lane, donor);
        to.lowest = s;
        to.next = to.end = from.next;
        to.root = from.root;
        is_split_[to.root] = true;
        to.to_keep = task_.keep;
        to.segment = segments_.split(from.segment);
    }

    // ---- the outcome ----------------------------------------------------------------------------

    /// Put covers and frontier in tree order, and keep the first covers of each root. So far their
    /// parents are segments.
    Grids finished() {
        const auto order = segments_.order();
        const auto first = first_covers(order);
        const auto n = static_cast<std::size_t>(n_cells_);
        std::vector<std::uint8_t> digits;
        if (task_.is_unordered) {
            digits.reserve(first.size() * n);
            for (const auto k : first) {
                const auto grid = std::span(digits_).subspan(k * n, n);
                digits.insert(digits.end(), grid.begin(), grid.end());
            }
        }
        const auto left = order.of(out_.frontier.parents);
        std::vector<double> weights;
        for (const auto k : left) weights.push_back(out_.weights[k]);
        out_.weights = std::move(weights);
        out_.covers = taken(out_.covers, first, order);
        out_.frontier = taken(out_.frontier, left, order);
        return {std::move(out_), std::move(digits)};
    }

    /// Return the places of the first covers of each root, as many as are to be kept.
    std::vector<std::size_t> first_covers(const Segments::Order& order) const {
        std::vector<std::size_t> first;
        std::int64_t n_before = 0, root = 0;
        for (const auto k : order.of(out_.covers.parents)) {
            const auto of_cover = task_.stacks.root(order.top(out_.covers.parents[k]));
            n_before = !first.empty() && root == of_cover ? n_before + 1 : 0;
            root = of_cover;
            if (n_before < task_.keep) first.push_back(k);
        }
        return first;
    }

    static GrowingStacks taken(const GrowingStacks& all, std::span<const std::size_t> which,
                               const Segments::Order& order) {
        GrowingStacks some;
        some.values.reserve(all.values.size());
        for (const auto k : which) {
            some.values.insert(some.values.end(), all[k].begin(), all[k].end());
            some.end_stack(order.top(all.parents[k]));
        }
        return some;
    }

    LaneGrids<T>& grids_;
    const Task& task_;
    const int n_cells_ = grids_.cells.size(), n_digits_ = grids_.n_digits();
    Outcome out_{task_.stacks.size()};
    std::vector<std::uint8_t> digits_;     // of covers
    std::vector<std::uint8_t> is_filled_;  // cells of the cover that is written
    Segments segments_{task_.stacks.size()};
    /// Lanes that share a root go broad before one goes deep: a small budget would end there, with
    /// a large frontier and no cover.
    const bool is_any_order_ = task_.is_any_order && task_.budget >= n_lanes * n_cells_;
    std::int64_t budget_ = task_.budget, room_ = task_.room;  // left
    std::vector<std::int64_t> want_, allowance_;  // of the root whose first stack it is, left
    std::vector<bool> is_split_;                  // whether several lanes search below that root
    std::size_t next_ = 0;                        // the first stack that no lane has taken
    std::size_t root_ = 0;                        // the first stack of the root before it
    LaneBits busy_ = 0;                           // lanes that have a root
    std::array<Lane, n_lanes> lanes_;
};

Grids search_grids(const RowRules& own, Ints rows, const Task& task) {
    require(rows.size() == task.stacks.size(), "each stack has a row");
    return with_digits(own.shared.n_digits, [&]<class T>(T) {
        LaneGrids<T> grids(own, rows);
        return Search(grids, task).run();
    });
}

}  // namespace batchsolve::lanes
