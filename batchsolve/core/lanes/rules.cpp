#include "lanes/rules.h"

#include <bit>

namespace batchsolve::lanes {

namespace {

/// The digits of a stack, and the first clash among them.
class Clash {
public:
    Clash(const Rules& rules, const RowRules& own, std::size_t row,
          std::span<const std::uint32_t> stack)
        : rules_(rules),
          own_(own),
          row_(row),
          stack_(stack),
          end_(static_cast<std::int64_t>(stack.size())),
          position_(static_cast<std::size_t>(rules.n_cells + 1 + own.n_said[row])),
          digits_(position_.size()) {}

    std::int32_t first() {
        place_options();
        const int marks = rules_.n_cells;
        for (int cell = 0; digits_[marks] != 0 && cell < marks; ++cell) {
            check(marks, cell, own_.allowed_in(row_, cell, ~0u));
        }
        for (std::size_t h = 0; h < rules_.houses.size(); ++h) check_group(rules_.houses[h]);
        if (own_.has_regions()) check_regions();
        for (const auto& [one, other] : rules_.distinct) check(one, other, ~digits_[one]);
        for (const auto& pair : rules_.related) check_relation(pair);
        for (auto x = own_.pairs_of[row_]; x < own_.pairs_of[row_ + 1]; ++x) {
            check_relation(own_.pair(x));
        }
        for (std::int64_t k = 0; k < own_.n_said[row_]; ++k) {
            const auto cells = own_.cages[own_.cages_of[row_] + k];
            const auto cage = marks + 1 + k;
            check_group(cells);
            for (const auto cell : cells) check(cage, cell, digits_[cage]);
        }
        return end_ < std::ssize(stack_) ? static_cast<std::int32_t>(end_) : -1;
    }

private:
    /// Note the positions of options, up to one that does not exist or whose place is filled.
    void place_options() {
        for (std::int64_t x = 0; x < end_; ++x) {
            const auto [place, digits] = filled_by(rules_, own_, row_, stack_[x]);
            if (place < 0 || digits_[place] != 0) {
                end_ = x;
                return;
            }
            position_[place] = x;
            digits_[place] = digits;
        }
    }

    /// Note a clash if one place is filled, and another with none of the digits that this leaves.
    void check(std::int64_t one, std::int64_t other, std::uint64_t left) {
        const bool is_filled = digits_[one] != 0, is_wrong = (digits_[other] & ~left) != 0;
        if (is_filled & is_wrong) {
            end_ = std::min(end_, std::max(position_[one], position_[other]));
        }
    }

    void check_group(std::span<const std::uint16_t> cells) {
        std::uint64_t seen = 0, repeated = 0;
        for (const auto cell : cells) {
            repeated |= seen & digits_[cell];
            seen |= digits_[cell];
        }
        if (repeated == 0) return;  // as in most groups
        for (std::size_t i = 0; i < cells.size(); ++i) {
            for (std::size_t j = 0; j < i; ++j) check(cells[i], cells[j], ~digits_[cells[i]]);
        }
    }

    void check_regions() {
        std::vector<std::vector<std::uint16_t>> cells(static_cast<std::size_t>(rules_.n_digits));
        std::uint16_t cell = 0;
        for (const auto region : own_.regions[row_]) cells[region].push_back(cell++);
        for (const auto& region : cells) check_group(region);
    }

    void check_relation(const Related& pair) {
        const auto [one, other, relation] = pair;
        if (digits_[one] == 0) return;
        const auto digit = static_cast<std::size_t>(std::countr_zero(digits_[one]));
        check(one, other, rules_.left_to_other(relation)[digit]);
    }

    const Rules& rules_;
    const RowRules& own_;
    const std::size_t row_;
    const std::span<const std::uint32_t> stack_;
    std::int64_t end_;
    std::vector<std::int64_t> position_;  // cell, marks, cage -> the position of what fills it
    std::vector<std::uint64_t> digits_;   // cell, marks, cage -> its digits; none if not filled
};

}  // namespace

Filled filled_by(const Rules& rules, const RowRules& own, std::size_t row, std::uint32_t option) {
    const std::int64_t n = rules.n_digits, marks = rules.n_cells;
    if (option < marks * n) return {option / n, std::uint64_t{1} << option % n};
    std::int64_t rest = option - marks * n;
    const auto all_digits = (std::uint64_t{1} << n) - 1;
    const auto excludes = [&](auto digits) { return digits != all_digits; };
    if (!own.allowed.values.empty() && std::ranges::any_of(own.allowed[row], excludes)) {
        if (rest-- == 0) return {marks, all_digits};
    }
    for (std::int64_t k = 0; k < own.n_said[row]; ++k) {
        const auto sets = own.sets(own.cages_of[row] + k);
        if (rest < std::ssize(sets)) return {marks + 1 + k, sets[rest]};
        rest -= std::ssize(sets);
    }
    return {-1, 0};
}

std::int32_t first_clash(const Rules& rules, const RowRules& own, std::size_t row,
                         std::span<const std::uint32_t> stack) {
    return Clash(rules, own, row, stack).first();
}

std::vector<std::int64_t> first_clashes(const Rules& rules, const RowRules& own, Ints rows,
                                        Rows<const std::uint8_t> grids) {
    own.check(rules);
    const auto n_digits = static_cast<std::uint32_t>(rules.n_digits);
    require(grids.size() == rows.size() && std::cmp_equal(grids.width, rules.n_cells),
            "each grid has a row of rules");
    std::vector<std::int64_t> clashes;
    std::vector<std::uint32_t> stack;
    for (std::size_t k = 0; k < rows.size(); ++k) {
        require(0 <= rows[k] && rows[k] < std::ssize(own.n_said), "there is no such row");
        stack.clear();
        std::uint32_t first = 0;  // option of a cell
        for (const std::uint32_t digit : grids[k]) {
            if (digit > 0) stack.push_back(digit <= n_digits ? first + digit - 1 : ~0u);
            first += n_digits;
        }
        clashes.push_back(first_clash(rules, own, static_cast<std::size_t>(rows[k]), stack));
    }
    return clashes;
}

}  // namespace batchsolve::lanes
