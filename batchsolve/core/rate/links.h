// The candidates of a board as nodes, and the links between them.
//
// If a candidate is on, all other candidates of its cell, and of its digit in its houses, are off:
// *weak links*. If it is off, and one other candidate of its cell, or of its digit in a house, is
// left, that is on: *strong links*. Links are kept as sets of candidates, numbered by digit, then
// by cell; the numbers are made here.
#pragma once

#include <vector>

#include "bit_sets.h"
#include "rate/board.h"

namespace batchsolve::rate {

constexpr unsigned most_candidates = n_cells * n_digits;

/// A set of candidates, as bits.
using CandidateSet = std::array<Word, (most_candidates + 63) / 64>;

/// Which links a chain follows: those of one digit; all weak links, and strong links within cells;
/// or all.
enum class Along { digits, cells, all };

class Links {
public:
    using Sets = std::vector<CandidateSet>;

    explicit Links(const Board& board) {
        for (unsigned digit = 0; digit < n_digits; ++digit) {
            begins_[digit] = size();
            for (unsigned cell = 0; cell < n_cells; ++cell) {
                numbers_[cell][digit] = size();
                if (board.has({cell, digit})) candidates_.push_back({cell, digit});
            }
        }
        begins_[n_digits] = size();
        sets_.fill({Sets(size()), Sets(size())});
        for (unsigned k = 0; k < size(); ++k) {
            const auto [cell, digit] = candidates_[k];
            link(board, k, Along::cells, cell, digit);
            for (const auto [house, place] : seats_of[cell]) {
                link(board, k, Along::digits, item_of(house, digit), place);
            }
        }
    }

    /// The number of candidates.
    unsigned size() const { return static_cast<unsigned>(candidates_.size()); }
    Candidate candidate(unsigned k) const { return candidates_[k]; }
    unsigned number(Candidate c) const { return numbers_[c.cell][c.digit]; }

    /// The candidates of a digit are numbered from `begin_of` it to that of the next.
    unsigned begin_of(unsigned digit) const { return begins_[digit]; }

    std::span<const Word> seen_of_digit(unsigned k) const {
        return std::span(from(true, Along::digits)[k]).first(words_for(size()));
    }

    /// Return the weak links of each candidate, from on to off; or its strong ones, from off to on.
    const Sets& from(bool is_on, Along along) const {
        if (is_on && along == Along::cells) along = Along::all;
        return sets_[static_cast<unsigned>(along)][is_on];
    }

private:
    /// Link a candidate, an element of an item, to the others of the item.
    void link(const Board& board, unsigned k, Along along, unsigned item, unsigned element) {
        const Bits others = board.candidates[item] & ~(Bits{1} << element);
        for (const unsigned other : elements(others)) {
            const unsigned to = number(candidate_of(item, other));
            for (const Along each : {along, Along::all}) {
                auto& [strong, weak] = sets_[static_cast<unsigned>(each)];
                set_bit(weak[k], to);
                if (is_single(others)) set_bit(strong[k], to);
            }
        }
    }

    std::vector<Candidate> candidates_;
    Table<unsigned, n_cells, n_digits> numbers_;
    std::array<unsigned, n_digits + 1> begins_;
    Table<Sets, 3, 2> sets_;  // `Along`, off or on -> the links of each candidate
};

}  // namespace batchsolve::rate
