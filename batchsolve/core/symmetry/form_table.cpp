// Canonical forms of completed 9×9 grids, from a table of second rows.
//
// If no cell is blank, the first row of a form is 123456789, and its second row depends only on the
// column of the first row in which each digit of the second row stands. That is a permutation of
// the columns that leaves no column in its stack, one of 12,096. For each of them, a table holds
// the least second row and the orders of columns that lead to it. All other rows follow from such
// an order: labels are read off the first row, and rows and bands stand in the order of their first
// labels.
//
// A grid has 36 pairs of rows that can come first, 18 of them columns. The pairs with the least
// second row are tried, one or a few for most grids, and their rows compared one by one.
//
// Digits are indices: `canonical_forms` checks grids.
#include <array>
#include <bit>
#include <limits>
#include <numeric>
#include <ranges>

#include "symmetry/forms.h"

namespace batchsolve::symmetry {

namespace {

using Line = std::array<std::uint8_t, 9>;
using Packed = std::int64_t;  // a row, 4 bits a label

/// A grid and its transpose, row by row.
using Turns = std::array<std::array<Line, 9>, 2>;

constexpr std::array<unsigned, 10> factorial{1, 1, 2, 6, 24, 120, 720, 5'040, 40'320, 362'880};

/// Return the place of a permutation of the columns among all 9!, in lexicographic order.
std::size_t rank_of(const Line& moved) {
    unsigned left = 511, rank = 0;
    for (std::size_t x = 0; x < 9; ++x) {
        const unsigned bit = 1u << moved[x];
        rank += static_cast<unsigned>(std::popcount(left & (bit - 1))) * factorial[8 - x];
        left ^= bit;
    }
    return rank;
}

/// Two rows of a band, the first of the form; `moves` is the number of their permutation.
struct Pair {
    std::uint8_t turned, one, two;
    std::int16_t moves;
};

/// The form that one order of columns makes, compared with the least so far.
class Candidate {
public:
    Candidate(const std::array<Line, 9>& grid, const Pair& pair, const Line& order)
        : grid_(grid), order_(order) {
        const int band = pair.one / 3;
        sources_[0] = pair.one;
        sources_[1] = pair.two;
        sources_[2] = static_cast<std::uint8_t>(9 * band + 3 - pair.one - pair.two);
        for (std::uint8_t x = 0; x < 9; ++x) labels_[grid[pair.one][order[x]]] = x + 1;
        order_band(3 * ((band + 1) % 3));
        order_band(3 * ((band + 2) % 3));
    }

    Packed row(std::size_t k) const {
        const Line& row = grid_[sources_[k]];
        Packed packed = 0;
        for (const auto column : order_) packed = packed << 4 | labels_[row[column]];
        return packed;
    }

    void write(Form& form) const {
        std::ranges::copy(sources_, form.rows.begin());
        std::ranges::copy(order_, form.columns.begin());
        auto to = form.grid.begin();
        for (const auto source : sources_) {
            for (const auto column : order_) *to++ = labels_[grid_[source][column]];
        }
    }

private:
    /// Put the rows of a band into the order of their first labels, and the band to its place.
    void order_band(int first) {
        std::array<std::uint8_t, 3> rows;
        std::iota(rows.begin(), rows.end(), static_cast<std::uint8_t>(first));
        const auto head = [&](std::size_t row) { return labels_[grid_[row][order_[0]]]; };
        const auto order_two = [&](auto& one, auto& two) {
            if (head(two) < head(one)) std::swap(one, two);
        };
        order_two(rows[0], rows[1]);
        order_two(rows[1], rows[2]);
        order_two(rows[0], rows[1]);
        // the band that has the label 2 in front is the next
        std::ranges::copy(rows, sources_.begin() + (head(rows[0]) == 2 ? 3 : 6));
    }

    const std::array<Line, 9>& grid_;
    const Line& order_;
    std::array<std::uint8_t, 10> labels_;
    Line sources_;  // row of the form -> row of the grid
};

/// The table of second rows, and the search by it.
class FormTable {
public:
    FormTable() : number_(factorial[9], -1) {
        const auto columns = std::views::iota(0, 9);
        const auto stacks_stay = [&](const Line& order) {  // columns stay with those of their stack
            const auto stays = [&](int x) { return order[x] / 3 == order[x / 3 * 3] / 3; };
            return std::ranges::all_of(columns, stays);
        };
        const auto stacks_change = [&](const Line& moved) {  // no column stays in its stack
            return std::ranges::none_of(columns, [&](int x) { return moved[x] / 3 == x / 3; });
        };
        std::vector<Line> moves, places;
        std::vector<int> permutation(9);
        std::iota(permutation.begin(), permutation.end(), 0);
        do {
            Line line;
            std::ranges::copy(permutation, line.begin());
            if (stacks_change(line)) moves.push_back(line);
            if (!stacks_stay(line)) continue;
            orders_.push_back(line);
            Line& place = places.emplace_back();
            for (std::size_t x = 0; x < 9; ++x) place[line[x]] = static_cast<std::uint8_t>(x);
        } while (std::ranges::next_permutation(permutation).found);
        for (const Line& moved : moves) add(moved, places);
    }

    /// Find the form of a completed grid whose digits do not clash.
    void find(std::span<const std::uint8_t, 81> grid, Form& form) const {
        Turns grids;
        for (std::size_t x = 0; x < 9; ++x) {
            for (std::size_t y = 0; y < 9; ++y) grids[0][x][y] = grids[1][y][x] = grid[9 * x + y];
        }
        std::array<Pair, 36> pairs;
        const auto n_pairs = pairs_of(grids, pairs);
        std::array<Packed, 9> least{};
        for (const Pair& pair : std::span(pairs).first(n_pairs)) {
            for (const auto way : ways_[pair.moves]) {
                const Candidate candidate(grids[pair.turned], pair, orders_[way]);
                std::size_t k = 2;
                Packed row = 0;
                while (k < 9 && (row = candidate.row(k)) == least[k]) ++k;
                if (k == 9) {
                    ++form.symmetries;
                } else if (form.symmetries == 0 || row < least[k]) {
                    for (; k < 9; ++k) least[k] = candidate.row(k);
                    form.symmetries = 1;
                    form.transposed = pair.turned;
                    candidate.write(form);
                }
            }
        }
    }

private:
    /// Add a permutation that leaves no column in its stack.
    void add(const Line& moved, const std::vector<Line>& places) {
        const auto first = ways_.values.size();
        Packed least = std::numeric_limits<Packed>::max();
        for (std::size_t k = 0; k < orders_.size(); ++k) {
            if (places[k][moved[orders_[k][0]]] != 3) continue;  // the least row begins with a 4
            Packed row = 0;
            for (const auto column : orders_[k]) row = row << 4 | places[k][moved[column]];
            if (row < least) {
                least = row;
                ways_.values.resize(first);
            }
            if (row == least) ways_.values.push_back(static_cast<std::int16_t>(k));
        }
        number_[rank_of(moved)] = static_cast<std::int16_t>(second_rows_.size());
        second_rows_.push_back(least);
        ways_.end_list();
    }

    /// Find the pairs of rows with the least second row; return their number.
    std::size_t pairs_of(const Turns& grids, std::array<Pair, 36>& pairs) const {
        Packed least = std::numeric_limits<Packed>::max();
        std::size_t n_pairs = 0;
        std::array<std::uint8_t, 10> where;
        Line moved;
        for (std::uint8_t turned = 0; turned < 2; ++turned) {
            for (std::uint8_t one = 0; one < 9; ++one) {
                for (std::uint8_t x = 0; x < 9; ++x) where[grids[turned][one][x]] = x;
                for (std::uint8_t step = 1; step < 3; ++step) {
                    const auto two = static_cast<std::uint8_t>(one / 3 * 3 + (one + step) % 3);
                    for (std::size_t x = 0; x < 9; ++x) moved[x] = where[grids[turned][two][x]];
                    const auto moves = number_[rank_of(moved)];
                    const auto second = second_rows_[moves];
                    if (second < least) {
                        least = second;
                        n_pairs = 0;
                    }
                    if (second == least) pairs[n_pairs++] = {turned, one, two, moves};
                }
            }
        }
        return n_pairs;
    }

    std::vector<Line> orders_;          // of columns: the column at each position
    std::vector<std::int16_t> number_;  // rank of a permutation among all 9! -> its number
    std::vector<Packed> second_rows_;   // number -> the least second row
    GrowingLists<std::int16_t> ways_;   // number -> the orders that lead to the least second row
};

}  // namespace

void find_in_table(std::span<const std::uint8_t, 81> grid, Form& form) {
    static const FormTable table;  // the first use makes it
    table.find(grid, form);
}

}  // namespace batchsolve::symmetry
