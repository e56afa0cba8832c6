#include "lanes/rules.h"

#include <bit>

namespace batchsolve::lanes {

namespace {

/// The digits of a stack, and the first clash among them.
struct Clash {
    const RowRules& own;
    const std::size_t row;
    const std::span<const std::uint32_t> stack;
    const Rules& rules = own.shared;
    std::int64_t end = std::ssize(stack);
    std::vector<std::int64_t> position{};  // cell, marks, cage -> the position of what fills it
    std::vector<std::uint64_t> digits{};   // cell, marks, cage -> its digits; none if not filled

    std::int32_t first() {
        position.resize(static_cast<std::size_t>(rules.n_cells + 1 + own.n_said(row)));
        digits.resize(position.size());
        place_options();
        const int marks = rules.n_cells;
        for (int cell = 0; digits[marks] != 0 && cell < marks; ++cell) {
            check(marks, cell, own.allowed_in(row, cell, ~0u));
        }
        for (std::size_t h = 0; h < rules.houses.size(); ++h) check_group(rules.houses[h]);
        if (own.has_regions()) check_regions();
        for (const auto& [one, other] : rules.distinct) check(one, other, ~digits[one]);
        for (const auto& pair : rules.related) check_relation(pair);
        for (auto x = own.pairs_of[row]; x < own.pairs_of[row + 1]; ++x) {
            check_relation(own.pair(x));
        }
        for (std::int64_t k = 0; k < own.n_said(row); ++k) {
            const auto cells = own.cage(row, k);
            const auto cage = marks + 1 + k;
            check_group(cells);
            for (const auto cell : cells) check(cage, cell, digits[cage]);
        }
        return end < std::ssize(stack) ? static_cast<std::int32_t>(end) : -1;
    }

    /// Note the positions of options, up to one that does not exist or whose place is filled.
    void place_options() {
        for (std::int64_t x = 0; x < end; ++x) {
            const auto [place, those] = filled_by(own, row, stack[x]);
            if (place < 0 || digits[place] != 0) {
                end = x;
                return;
            }
            position[place] = x;
            digits[place] = those;
        }
    }

    /// Note a clash if one place is filled, and another with none of the digits that this leaves.
    void check(std::int64_t one, std::int64_t other, std::uint64_t left) {
        const bool is_filled = digits[one] != 0, is_wrong = (digits[other] & ~left) != 0;
        if (is_filled & is_wrong) {
            end = std::min(end, std::max(position[one], position[other]));
        }
    }

    void check_group(std::span<const std::uint16_t> cells) {
        std::uint64_t seen = 0, repeated = 0;
        for (const auto cell : cells) {
            repeated |= seen & digits[cell];
            seen |= digits[cell];
        }
        if (repeated == 0) return;  // as in most groups
        for (std::size_t i = 0; i < cells.size(); ++i) {
            for (std::size_t j = 0; j < i; ++j) check(cells[i], cells[j], ~digits[cells[i]]);
        }
    }

    void check_regions() {
        std::vector<std::vector<std::uint16_t>> cells(static_cast<std::size_t>(rules.n_digits));
        std::uint16_t cell = 0;
        for (const auto region : own.regions[row]) cells[region].push_back(cell++);
        for (const auto& region : cells) check_group(region);
    }

    void check_relation(const Related& pair) {
        const auto [one, other, relation] = pair;
        if (digits[one] == 0) return;
        check(one, other, rules.left_to_other(relation)[std::countr_zero(digits[one])]);
    }
};

}  // namespace

RowRules::RowRules(const Rules& shared, const Said& said, Rows<const std::int64_t> ranges,
                   std::span<const std::uint64_t> digit_sets, std::size_t most_cells)
    : Said(said), shared(shared) {
    const auto n_cells = static_cast<std::size_t>(shared.n_cells);
    const Lists<std::uint16_t> said_cages(cells_of, cells);
    check_bounds(pairs_of, pairs.size());
    check_bounds(cages_of, totals.size());
    require(pairs_of.size() == cages_of.size() && pairs.width == 3 &&
                said_cages.size() == totals.size(),
            "each row has pairs and cages, and each cage has cells");
    const auto has_all = [&](const auto& rows) {
        return rows.values.empty() || (rows.size() == n_rows() && rows.width == n_cells);
    };
    require(has_all(regions) && has_all(allowed), "regions and marks of each row");
    require(are_below(regions.values, shared.n_digits), "a region more");
    require(are_below(allowed.values, std::uint64_t{1} << shared.n_digits), "a mark more");
    const std::size_t n = shared.houses.width;
    require(!has_regions() || (n_cells == n * n && shared.houses.size() >= 2 * n),
            "grids with regions are squares, with rows and columns");
    for (std::int64_t x = 0; x < std::ssize(pairs); ++x) {
        const auto [one, other, relation] = pair(x);
        require(one < n_cells && other < n_cells && relation < shared.n_relations(),
                "a pair of a row has another cell or relation");
    }
    cages::ImpliedCages implied(n_cells, shared.houses, ranges, most_cells);
    for (std::size_t row = 0; row < n_rows(); ++row) {
        implied.begin_row();
        for (auto cage = cages_of[row]; cage < cages_of[row + 1]; ++cage) {
            implied.add(said_cages[cage], totals[cage]);
        }
        implied.end_row(has_regions() ? regions[row] : Bytes());
    }
    all = std::move(implied.made());
    all.digit_sets = digit_sets;
    for (std::size_t cage = 0; cage < all.size(); ++cage) {
        require(all.sets_of[cage][0] <= all.sets_of[cage][1] &&
                    all.sets_of[cage][1] <= std::ssize(digit_sets),
                "a cage has sets of digits that are not there");
    }
}

Filled filled_by(const RowRules& own, std::size_t row, std::uint32_t option) {
    const std::int64_t n = own.shared.n_digits, marks = own.shared.n_cells;
    if (option < marks * n) return {option / n, std::uint64_t{1} << option % n};
    std::int64_t rest = option - marks * n;
    const auto all_digits = (std::uint64_t{1} << n) - 1;
    const auto excludes = [&](auto digits) { return digits != all_digits; };
    if (!own.allowed.values.empty() && std::ranges::any_of(own.allowed[row], excludes)) {
        if (rest-- == 0) return {marks, all_digits};
    }
    for (std::int64_t k = 0; k < own.n_said(row); ++k) {
        const auto sets = own.all.sets(own.all.cages_of[row] + k);
        if (rest < std::ssize(sets)) return {marks + 1 + k, sets[rest]};
        rest -= std::ssize(sets);
    }
    return {-1, 0};
}

std::int32_t first_clash(const RowRules& own, std::size_t row,
                         std::span<const std::uint32_t> stack) {
    return Clash{own, row, stack}.first();
}

std::vector<std::int64_t> first_clashes(const RowRules& own, Ints rows,
                                        Rows<const std::uint8_t> grids) {
    const auto n_digits = static_cast<std::uint32_t>(own.shared.n_digits);
    require(grids.size() == rows.size() && std::cmp_equal(grids.width, own.shared.n_cells),
            "each grid has a row of rules");
    own.check_rows(rows);
    std::vector<std::int64_t> clashes;
    std::vector<std::uint32_t> stack;
    for (std::size_t k = 0; k < rows.size(); ++k) {
        stack.clear();
        std::uint32_t first = 0;  // option of a cell
        for (const std::uint32_t digit : grids[k]) {
            if (digit > 0) stack.push_back(digit <= n_digits ? first + digit - 1 : ~0u);
            first += n_digits;
        }
        clashes.push_back(first_clash(own, static_cast<std::size_t>(rows[k]), stack));
    }
    return clashes;
}

}  // namespace batchsolve::lanes
