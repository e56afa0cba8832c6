// Puzzles dug out of solved grids, many side by side in lanes.
//
// A lane makes one puzzle after another. An *attempt* at a row is a solved grid, filled at random,
// and an order of the cells. The lane takes clues away in that order, one after another, and keeps
// each clue without which the puzzle would have a second solution; see `Trials`.
//
// An attempt depends on the seed, the row and its number alone. A lane searches as in `Search`,
// with the same propagation and the same branch cells; a fill guesses at random and begins again at
// a contradiction, so the chance of a grid is known: the product of 1 / (number of candidates) over
// its guesses. Of `Wish::n_fills` grids the attempt takes one, with chances that make up for this.
// After `Wish::fill_nodes` nodes it takes one of those filled by then. If there is none, the fills
// of the row go back to the last guess at a contradiction, and begin again only after `patience`
// nodes a cell. Then an attempt takes the first grid, whose chance is not known.
//
// Rows may have rules of their own, and solutions from which these were drawn. Then an attempt
// begins with the solution, and a row whose attempt fails is left to the caller.
//
// `Wish` and the grids have checked cells and rows, `Made` its arrays.
#include <array>
#include <ranges>
#include <utility>

#include "lanes/grids.h"
#include "lanes/lanes.h"
#include "lanes/trials.h"

namespace batchsolve::lanes {

/// Why an attempt fails; callers count more reasons behind these.
enum class Reason {
    several,  // clues only where they may stand leave several solutions
    number,   // of clues
    spare,    // a clue could be taken away, or the search for that was too long
    empty     // no solved grid was found in time
};

template <class T>
class Digging {
public:
    Digging(LaneGrids<T>& grids, const Wish& wish, const Made& made, const Streams& streams,
            Ints rows)
        : grids_(grids),
          wish_(wish),
          streams_(streams),
          rows_(rows),
          made_(made),
          lanes_(n_lanes, Lane(wish_, n_cells_)) {
        wish_.check(n_cells_, grids.n_digits());
        made_.check(rows_.size(), n_cells_, grids.n_digits());
    }

    /// Make the puzzles of all rows; return the first row that has failed, or their number.
    std::size_t run() {
        LaneBits busy = lowest_bits<LaneBits>(n_lanes);
        Events events{.all = busy};
        while (busy != 0) {
            for (LaneBits left = events.all; left != 0; left &= left - 1) {
                const int lane = lowest_lane(left);
                const bool is_full = events.solved & events.full & bit_of(lane);
                const bool is_over = (events.bad | events.solved) & bit_of(lane);
                if (!go_on(lane, is_full && !(events.bad & bit_of(lane)), is_over)) {
                    busy &= ~bit_of(lane);
                }
            }
            if (busy != 0) events = grids_.propagate(busy);
        }
        return end_;
    }

private:
    using Digits = T;
    static constexpr int n_lanes = batchsolve::n_lanes<Digits>;
    /// Of a grid without guesses, so that the weights of large grids are floats, too.
    static constexpr double least_weight = 1e-300;
    /// Nodes a cell, after which a fill that goes back begins again.
    static constexpr int patience = 16;

    enum class Phase { new_lane, fill, begin, dig, review, weigh };

    struct Guess {
        int cell;
        Digits rest;  // the candidates that are still to be tried
    };

    struct Lane {
        Lane(const Wish& wish, int n_cells)
            : solution(static_cast<std::size_t>(n_cells)),
              trials(wish, n_cells),
              n_blocked(static_cast<std::size_t>(wish.n_units()) + 1) {}

        std::vector<Guess> guesses;
        std::vector<std::uint64_t> saved;  // the grids before the guesses
        Phase phase = Phase::new_lane;
        std::size_t row = 0;
        Random random{0};
        bool goes_back = false;        // the fills of the row go back to the last guess
        std::int64_t n_filled = 0;     // grids filled in this attempt
        double weight = 0;             // of the grid that it fills
        double weights = 0;            // the sum over the grids filled before
        std::vector<int> solution;     // cell -> digit, from 0
        std::int64_t trial_nodes = 0;  // of the search, or of the fills
        int without = -1;              // the cell that holds another digit in its search, or -1
        int place = 0;                 // the place in the order at which it searches
        Trials trials;
        // once all trials are done
        int clue = 0;                         // the cell of the clue that is looked at
        int goes = 0, stays = 0;              // places where it may go, and where it has to stay
        std::vector<std::int64_t> n_blocked;  // place -> clues that have to stay from there on
    };

    // ---- attempts: what follows returns true if the lane has a grid to be propagated ------------

    /// Go on with a lane whose grid is propagated.
    bool go_on(int lane, bool is_solved, bool is_over) {
        Lane& here = lanes_[lane];
        if (here.phase == Phase::new_lane) return begin_row(lane);
        ++made_.nodes[here.row];
        if (here.row >= end_) return false;  // a row before it has failed
        if (made_.nodes[here.row] > wish_.row_nodes) {
            end_ = here.row;
            return false;
        }
        here.without = -1;
        if (here.phase == Phase::fill) return go_on_filling(lane, is_solved, is_over);
        Verdict verdict = judge(lane, is_solved);
        if (verdict == Verdict::open) {
            if (branch(lane, is_over, false, true)) return true;
            verdict = Verdict::one;
        }
        return conclude(lane, verdict);
    }

    bool begin_row(int lane) {
        if (next_row_ >= end_) return false;
        lanes_[lane].row = next_row_++;
        lanes_[lane].goes_back = false;
        return begin_attempt(lane);
    }

    bool begin_attempt(int lane) {
        Lane& here = lanes_[lane];
        here.random = streams_.of(rows_[here.row], made_.attempts[here.row]);
        here.n_filled = 0;
        here.weights = 0;
        here.phase = Phase::fill;
        here.trial_nodes = 0;
        return begin_fill(lane);
    }

    bool fail(int lane, Reason reason) {
        const std::size_t row = lanes_[lane].row;
        ++made_.reasons[row][static_cast<std::size_t>(reason)];
        if (wish_.is_single) return begin_row(lane);
        ++made_.attempts[row];
        return begin_attempt(lane);
    }

    // ---- filling a grid -------------------------------------------------------------------------

    bool begin_fill(int lane) {
        Lane& here = lanes_[lane];
        here.weight = least_weight;
        here.guesses.clear();
        if (here.trial_nodes > wish_.fill_nodes) {
            here.goes_back = true;
            here.trial_nodes = 0;
        }
        grids_.follow(lane, here.row);
        for (int cell = 0; grids_.has_row_rules && cell < n_cells_; ++cell) {
            const int given = made_.solutions[here.row][cell];
            if (given > 0) cells_.at(cell, lane) = digit_bit(given - 1);
        }
        const auto n = static_cast<std::size_t>(grids_.n_digits());
        const auto end = here.goes_back ? std::min(n, wish_.free.size()) : wish_.free.size();
        for (std::size_t first = 0; first < end; first += n) {
            const auto house = wish_.free.subspan(first, n);
            for (std::uint32_t digit = 0; digit < n; ++digit) {
                Digits& other = cells_.at(house[here.random.below(digit + 1)], lane);
                cells_.at(house[digit], lane) = other;
                other = digit_bit(digit);
            }
        }
        return true;
    }

    bool go_on_filling(int lane, bool is_solved, bool is_over) {
        Lane& here = lanes_[lane];
        ++here.trial_nodes;
        if (here.trial_nodes > wish_.fill_nodes && wish_.is_single)
            return fail(lane, Reason::empty);
        if (is_solved) take_filled(lane);
        if (!is_solved && !(here.goes_back && here.n_filled > 0)) {
            const bool is_stuck = here.goes_back && here.trial_nodes % (patience * n_cells_) == 0;
            return (!is_stuck && branch(lane, is_over, true, here.goes_back)) || begin_fill(lane);
        }
        if (here.n_filled < wish_.n_fills && !here.goes_back) return begin_fill(lane);
        here.trials.begin(here.random);
        here.place = Trials::stays;
        here.phase = wish_.outside.empty() ? Phase::dig : Phase::begin;
        return wish_.outside.empty() ? go_on_digging(lane, 0) : begin_search(lane);
    }

    /// Take a filled grid as the solution, with a chance by its weight.
    void take_filled(int lane) {
        Lane& here = lanes_[lane];
        ++here.n_filled;
        here.weights += here.weight;
        const auto fraction = [&] {
            return static_cast<double>(here.random.next() >> 11) * 0x1p-53;
        };
        if (here.n_filled > 1 && fraction() * here.weights >= here.weight) return;
        for (int cell = 0; cell < n_cells_; ++cell) {
            here.solution[cell] = std::countr_zero(cells_.at(cell, lane));
        }
    }

    // ---- the search for a second solution -------------------------------------------------------

    /// Fill the grid with the clues that are still there at `place`, in the order of units. The
    /// cell `without`, unless it is -1, holds another digit than in the solution.
    bool begin_search(int lane) {
        Lane& here = lanes_[lane];
        for (int cell = 0; cell < n_cells_; ++cell) {
            // both are computed: whether a clue is still there cannot be predicted
            const Digits clue = digit_bit(here.solution[cell]);
            const Digits blank = grids_.blank(here.row, cell);
            cells_.at(cell, lane) = here.trials.gone(cell) >= here.place ? clue : blank;
        }
        if (here.without >= 0) {
            const Digits clue = digit_bit(here.solution[here.without]);
            cells_.at(here.without, lane) =
                static_cast<Digits>(grids_.blank(here.row, here.without) & ~clue);
        }
        here.guesses.clear();
        here.trial_nodes = 0;
        return true;
    }

    Verdict judge(int lane, bool is_solved) {
        Lane& here = lanes_[lane];
        ++here.trial_nodes;
        const auto differs_at = [&](int cell) { return differs(lane, cell); };
        if (is_solved && std::ranges::any_of(std::views::iota(0, n_cells_), differs_at)) {
            return Verdict::two;
        }
        return here.trial_nodes > wish_.trial_nodes ? Verdict::too_long : Verdict::open;
    }

    /// True if the solution that is found has another digit in a cell.
    bool differs(int lane, int cell) const {
        return cells_.at(cell, lane) != digit_bit(lanes_[lane].solution[cell]);
    }

    /// Guess in the branch cell or, where a node is over, go back to the last guess.
    ///
    /// A fill guesses at random. Guesses that are not kept are those without a way back. Returns
    /// false if nothing is left to guess.
    bool branch(int lane, bool is_over, bool is_fill, bool is_kept) {
        Lane& here = lanes_[lane];
        auto& guesses = here.guesses;
        if (!is_over) {
            const int cell = grids_.chosen(lane);
            guesses.push_back({cell, cells_.at(cell, lane)});
            if (is_kept) cells_.save(lane, cells_.room_at(guesses.size() - 1, here.saved));
        } else {
            while (!guesses.empty() && guesses.back().rest == 0) guesses.pop_back();
            if (guesses.empty()) return false;
            cells_.restore(lane, cells_.room_at(guesses.size() - 1, here.saved));
        }
        Guess& last = guesses.back();
        Digits guess = last.rest;
        if (is_fill) {
            const int n_candidates = std::popcount(last.rest);
            if (!is_kept) here.weight *= n_candidates;
            const auto n_before = here.random.below(static_cast<std::uint32_t>(n_candidates));
            for (auto k = n_before; k > 0; --k) guess &= static_cast<Digits>(guess - 1);
        }
        const Digits bit = digit_bit(std::countr_zero(guess));
        last.rest &= static_cast<Digits>(~bit);
        cells_.at(last.cell, lane) = bit;
        if (!is_kept) guesses.clear();
        return true;
    }

    // ---- digging --------------------------------------------------------------------------------

    /// Draw the conclusion from a search for a second solution.
    bool conclude(int lane, Verdict verdict) {
        Lane& here = lanes_[lane];
        Trials& trials = here.trials;
        int size = 0;
        switch (here.phase) {
            case Phase::dig:
                if (verdict == Verdict::too_long && wish_.is_minimal && trials.has_one_unit()) {
                    return fail(lane, Reason::spare);  // a clue that may be one too many
                }
                size = trials.end_trial(verdict, [&](int cell) { return differs(lane, cell); });
                return go_on_digging(lane, size);
            case Phase::begin:
                if (verdict != Verdict::one) return fail(lane, Reason::several);
                here.phase = Phase::dig;
                return go_on_digging(lane, 0);
            case Phase::review:
                if (verdict != Verdict::two) return fail(lane, Reason::spare);
                return look_at_clue(lane, here.clue + 1);
            default:
                if (verdict == Verdict::too_long) return fail(lane, Reason::spare);
                if (!bound(lane, verdict)) return look_at_clue(lane, here.clue + 1);
                here.without = here.clue;
                return begin_search(lane);
        }
    }

    /// Go on with a trial of this size, or fewer units of the last one if it is negative.
    bool go_on_digging(int lane, int size) {
        Lane& here = lanes_[lane];
        Trials& trials = here.trials;
        if (size < 0 || trials.begin_trial(size)) {
            here.without = trials.single();
            return begin_search(lane);
        }
        const auto n_clues = trials.n_clues();
        if (n_clues < wish_.fewest || n_clues > wish_.most) {
            auto &fewest = made_.fewest[here.row], &most = made_.most[here.row];
            fewest = std::min(fewest, n_clues);
            most = std::max(most, n_clues);
            return fail(lane, Reason::number);
        }
        std::ranges::fill(here.n_blocked, 0);
        here.phase = wish_.is_weighed ? Phase::weigh : Phase::review;
        // each clue alone has been tried where units are single cells
        const bool is_done = !wish_.is_weighed && (!wish_.is_minimal || wish_.has_single_units());
        return is_done ? finish(lane) : look_at_clue(lane, 0);
    }

    /// Look at the next clue from a cell on: whether it can go, or when it has to stay.
    bool look_at_clue(int lane, int cell) {
        Lane& here = lanes_[lane];
        while (cell < n_cells_ && here.trials.gone(cell) != Trials::stays) ++cell;
        if (cell == n_cells_) return finish(lane);
        here.clue = here.without = cell;
        if (here.phase == Phase::weigh) {
            here.goes = -1;
            here.stays = wish_.n_units();
            here.place = (here.stays - 1) / 2;
        }
        return begin_search(lane);
    }

    bool finish(int lane) {
        const Lane& here = lanes_[lane];
        for (int cell = 0; cell < n_cells_; ++cell) {
            const auto digit = static_cast<std::uint8_t>(here.solution[cell] + 1);
            const bool is_clue = here.trials.gone(cell) == Trials::stays;
            made_.solutions[here.row][cell] = digit;
            made_.puzzles[here.row][cell] = is_clue ? digit : std::uint8_t{0};
        }
        double& weight = made_.weights[here.row];
        weight = here.weights / least_weight / static_cast<double>(wish_.n_fills);
        if (wish_.is_weighed) weight *= weight_of(here);
        return begin_row(lane);
    }

    // ---- weights --------------------------------------------------------------------------------

    /// Narrow the bounds of the place from which on a clue has to stay: above `goes`, at most
    /// `stays`. Returns true while these are apart.
    bool bound(int lane, Verdict verdict) {
        Lane& here = lanes_[lane];
        if (verdict == Verdict::one) {
            here.goes = here.place;
        } else {  // it has to stay as soon as all others that tell the solutions apart have gone
            int last = -1;
            for (int cell = 0; cell < n_cells_; ++cell) {
                if (cell != here.clue && differs(lane, cell)) {
                    last = std::max(last, here.trials.gone(cell));
                }
            }
            here.stays = last + 1;
        }
        here.place = (here.goes + here.stays) / 2;
        if (here.stays - here.goes > 1) return true;
        ++here.n_blocked[here.stays];
        return false;
    }

    /// Return an estimate of 1 / (the chance of a minimal puzzle to be dug out of its grid).
    ///
    /// Its mean over all ways to dig the puzzle is exact: C(n, k) times the product, over all
    /// steps, of the share of the clues that could go. Berthier's controlled-bias generator (2009)
    /// takes away any clue and gives up where that leaves several solutions, so it makes each
    /// minimal puzzle of k clues with the chance 1 / C(n, k). This one takes away one of those that
    /// can go.
    double weight_of(const Lane& here) const {
        double weight = 1;
        std::int64_t n_clues = wish_.n_units(), n_blocked = 0;
        for (int x = 0; x < wish_.n_units(); ++x) {
            n_blocked += here.n_blocked[x];
            if (!here.trials.has_gone_at(x)) continue;
            weight *= static_cast<double>(n_clues - n_blocked) / static_cast<double>(n_clues);
            --n_clues;
        }
        for (std::int64_t x = 1; x <= n_clues; ++x) {
            weight *= static_cast<double>(wish_.n_units() - n_clues + x) / static_cast<double>(x);
        }
        return weight;
    }

    // ---------------------------------------------------------------------------------------------

    static Digits digit_bit(int digit) { return static_cast<Digits>(1u << digit); }

    LaneGrids<T>& grids_;
    Cells<Digits>& cells_ = grids_.cells;
    const Wish& wish_;
    const Streams& streams_;
    Ints rows_;
    const Made& made_;
    const int n_cells_ = cells_.size();
    std::size_t next_row_ = 0;        // that no lane has taken
    std::size_t end_ = rows_.size();  // the first row that has failed, or the number of rows
    std::vector<Lane> lanes_;
};

std::size_t dig_grids(const RowRules& own, Ints own_rows, const Wish& wish, const Made& made,
                      const Streams& streams, Ints numbers) {
    require(own_rows.size() == numbers.size(), "each row has rules");
    return with_digits(own.shared.n_digits, [&]<class T>(T) {
        LaneGrids<T> grids(own, own_rows);
        return Digging(grids, wish, made, streams, numbers).run();
    });
}

}  // namespace batchsolve::lanes
