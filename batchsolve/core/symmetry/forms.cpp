// The search for canonical forms of puzzles of any shape, row by row.
//
// A *state* is a way to fill the first rows of the form: it holds the rows of the puzzle chosen for
// them, and as much about columns as mattered. Columns that no row has distinguished yet are a
// *cell* of adjacent positions, in any order; the label of a digit that came first in such a column
// is open as well, among those of the cell. A row is placed from left to right: blank cells go to
// the front of their cell, and a column leaves its cell, or the column of a digit does, where that
// makes the row less. States whose row is not the least are dropped. Each way to complete a state
// that is left at the end leads to the form, so the number of these ways is that of the puzzle's
// own symmetries.
//
// The search is breadth first, so that states of one row are compared before any of them is
// followed further. The order of stacks, of which there are few, is chosen first.
//
// Rows, columns and digits are indices: `canonical_forms` checks shapes and grids.
#include <array>
#include <bit>
#include <compare>
#include <numeric>
#include <ranges>

#include "symmetry/forms.h"

namespace batchsolve::symmetry {

namespace {

/// The search of forms of grids of up to `most` digits.
template <int most>
class FormSearch {
public:
    FormSearch(Boxes boxes, std::size_t most_states)
        : n_(boxes.n()), boxes_(boxes), most_states_(most_states) {
        std::vector<int> order(n_ / boxes.columns);
        std::iota(order.begin(), order.end(), 0);
        do {
            orders_.append(order);
        } while (std::next_permutation(order.begin(), order.end()));
    }

    /// Find the form of a puzzle; there is none if more than `most_states` states are equally good.
    void find(Bytes puzzle, Form& form) {
        read(puzzle);
        begin();
        form_ = form.grid;
        n_labels_ = 0;
        for (int k = 0; k < n_; ++k) {
            if (!fill_row(k)) {
                std::ranges::fill(form.grid, std::uint8_t{0});
                return;
            }
            states_.swap(found_);
            for (const int label : least_) n_labels_ = std::max(n_labels_, label);
        }
        for (const State& state : states_) form.symmetries += state.weight * n_orders_of(state);
        form.transposed = states_[0].turned;
        std::copy_n(states_[0].rows.begin(), n_, form.rows.begin());
        std::copy_n(states_[0].columns.begin(), n_, form.columns.begin());
    }

private:
    using Line = std::array<std::uint8_t, most>;
    using Row = Bytes;
    static constexpr std::uint8_t nowhere = 255;  // the home of a digit that has not come yet

    struct State {
        Line rows;                     // row of the form -> row of the puzzle
        Line columns;                  // position -> column of the puzzle
        Line starts;                   // position -> where its cell begins
        Line places;                   // column of the puzzle -> its position
        Line home_columns, home_rows;  // digit - 1 -> the column, and the row of the form, where
                                       // it came first
        std::uint8_t turned;           // 1 if the puzzle is transposed
        std::int64_t weight;           // the number of states that are like this one
    };

    /// A state of which a row is being placed.
    struct Unfinished {
        State state;
        Line labels;   // of the row
        int position;  // the next
        int n_labels;  // used so far
    };

    /// The puzzle and its transpose, and their blank rows.
    struct Grid {
        std::array<Line, most> rows;
        std::uint32_t blank;  // a bit for each row
    };

    static std::uint8_t byte(int x) { return static_cast<std::uint8_t>(x); }

    Row row_of(const State& state, int r) const { return grids_[state.turned].rows[r]; }

    static std::uint32_t bits(int n) { return (std::uint32_t{1} << n) - 1; }

    void read(Bytes puzzle) {
        grids_[0].blank = grids_[1].blank = bits(n_);
        for (int x = 0; x < n_; ++x) {
            for (int y = 0; y < n_; ++y) {
                const auto digit = puzzle[x * n_ + y];
                grids_[0].rows[x][y] = grids_[1].rows[y][x] = digit;
                if (digit == 0) continue;
                grids_[0].blank &= ~(std::uint32_t{1} << x);
                grids_[1].blank &= ~(std::uint32_t{1} << y);
            }
        }
    }

    // ---- stacks ---------------------------------------------------------------------------------

    /// Make the first states: they know the order of stacks, and whether the puzzle is transposed.
    ///
    /// Blank stacks, which are alike, stand in the order of the puzzle.
    void begin() {
        states_.clear();
        const auto n_stacks = static_cast<std::size_t>(n_ / boxes_.columns);
        for (int turned = 0; turned <= (boxes_.rows == boxes_.columns); ++turned) {
            const auto blank = grids_[1 - turned].blank;
            const auto is_blank = [&](int stack) {
                const auto columns = bits(boxes_.columns) << (stack * boxes_.columns);
                return (blank & columns) == columns;
            };
            std::int64_t n_blank = 0, alike = 1;
            for (std::size_t stack = 0; stack < n_stacks; ++stack) {
                if (is_blank(static_cast<int>(stack))) alike *= ++n_blank;
            }
            for (std::size_t k = 0; k < orders_.size(); ++k) {
                const auto order = orders_[k];
                auto blanks = order | std::views::filter(is_blank);
                if (std::ranges::is_sorted(blanks)) begin(turned, order, alike);
            }
        }
    }

    void begin(int turned, std::span<const int> order, std::int64_t alike) {
        State& state = states_.emplace_back();
        state.rows.fill(nowhere);
        state.home_columns.fill(nowhere);
        state.home_rows.fill(nowhere);
        state.turned = byte(turned);
        state.weight = alike;
        int x = 0;
        for (const int stack : order) {
            const int first = x;
            for (int y = 0; y < boxes_.columns; ++y, ++x) {
                const int column = stack * boxes_.columns + y;
                state.columns[x] = byte(column);
                state.places[column] = byte(x);
                state.starts[x] = byte(first);
            }
        }
    }

    // ---- rows -----------------------------------------------------------------------------------

    /// Fill row k of the form by the least row of all states; return false if there is no room.
    bool fill_row(int k) {
        least_ = form_.subspan(k * n_, n_);
        found_.clear();
        for (const State& state : states_) {
            const auto used = rows_used(state, k);
            int r = 0, end = n_;
            if (k % boxes_.rows) {  // a row of the band of the row before
                r = state.rows[k - 1] / boxes_.rows * boxes_.rows;
                end = r + boxes_.rows;
            }
            for (; r < end; ++r) {
                const int alike = n_alike(used, k, r, grids_[state.turned].blank);
                const Row row = row_of(state, r);
                if (alike == 0) continue;
                if (!found_.empty() && has_fewer_blanks(state, row)) continue;
                if (!place(state, row, k, r, alike)) return false;
            }
        }
        return true;
    }

    /// Return the rows of the puzzle that are the first k of the form, a bit each.
    static std::uint32_t rows_used(const State& state, int k) {
        std::uint32_t used = 0;
        for (int j = 0; j < k; ++j) used |= std::uint32_t{1} << state.rows[j];
        return used;
    }

    /// Return the number of rows that are like row r and can be row k; 0 if r is not the first.
    ///
    /// As far as a state knows, only blank rows are alike, and blank bands. If a band has been
    /// begun, row r is one of its rows.
    int n_alike(std::uint32_t used, int k, int r, std::uint32_t blank) const {
        const int band = r / boxes_.rows;
        const auto rows = bits(boxes_.rows), of_band = rows << (band * boxes_.rows);
        const auto row = std::uint32_t{1} << r, free = blank & ~used;
        if (used & row || (k % boxes_.rows == 0 && used & of_band)) return 0;
        if (!(blank & row)) return 1;
        if (free & of_band & (row - 1)) return 0;
        const int n_rows = std::popcount(free & of_band);
        if (k % boxes_.rows || n_rows < boxes_.rows) return n_rows;
        int n_bands = 0;
        for (int other = 0; other * boxes_.rows < n_; ++other) {
            if ((free >> (other * boxes_.rows) & rows) != rows) continue;
            if (other < band) return 0;
            ++n_bands;
        }
        return n_rows * n_bands;
    }

    /// True if a row begins with fewer blank cells than the least row so far, so is above it.
    ///
    /// This needs no placing of the row, and is true of most rows.
    bool has_fewer_blanks(const State& state, Row row) const {
        for (int x = 0; x < n_;) {
            int end = x, n_blank = 0;
            for (; end < n_ && state.starts[end] == x; ++end) {
                n_blank += row[state.columns[end]] == 0;
            }
            for (int y = x; y < x + n_blank; ++y) {
                if (least_[y] != 0) return false;
            }
            if (x + n_blank < end) return least_[x + n_blank] == 0;
            x = end;
        }
        return false;
    }

    /// Place row r of the puzzle as row k of the form, in each way that is not above the least.
    ///
    /// The least row so far is that of the states found, if there are any. Return false if there is
    /// no room for another.
    bool place(const State& state, Row row, int k, int r, int alike) {
        ways_.assign(1, {.state = state, .labels = {}, .position = 0, .n_labels = n_labels_});
        ways_[0].state.rows[k] = byte(r);
        ways_[0].state.weight *= alike;
        while (!ways_.empty()) {
            auto order = found_.empty() ? std::strong_ordering::less : compare(ways_.back());
            if (go_on(order, row, k)) continue;
            const Unfinished& way = ways_.back();
            if (order < 0) {
                found_.clear();
                std::copy_n(way.labels.begin(), n_, least_.begin());
            }
            if (order <= 0) {
                if (found_.size() == most_states_) return false;
                found_.push_back(way.state);
            }
            ways_.pop_back();
        }
        return true;
    }

    /// Compare the labels of a row so far with those of the least row.
    std::strong_ordering compare(const Unfinished& way) const {
        int y = 0;
        while (y < way.position && way.labels[y] == least_[y]) ++y;
        return y < way.position ? way.labels[y] <=> least_[y] : std::strong_ordering::equal;
    }

    /// Place more of the row of the last way; return true if that now stands for several ways.
    bool go_on(std::strong_ordering& order, Row row, int k) {
        Unfinished& way = ways_.back();
        State& state = way.state;
        const auto put = [&](int x, int label) {
            way.labels[x] = byte(label);
            if (order == 0) order = label <=> int{least_[x]};
        };
        while (way.position < n_ && order <= 0) {
            const int x = way.position;
            int end = x + 1;
            while (end < n_ && state.starts[end] == x) ++end;
            if (const int n_blank = blanks_first(state, x, end, row)) {
                for (int y = x; y < x + n_blank; ++y) put(y, 0);
                way.position += n_blank;
                continue;
            }
            const int label = least_label(state, x, end, row, way.n_labels);
            if (n_chosen_ > 0) end = x + 1;
            for (int y = x; y < end; ++y) put(y, label + y - x);
            if (order > 0) break;
            way.position = end;
            if (n_chosen_ == 0) {  // all digits are new
                for (int y = x; y < end; ++y) {
                    const int digit = row[state.columns[y]];
                    state.home_columns[digit - 1] = state.columns[y];
                    state.home_rows[digit - 1] = byte(k);
                }
                way.n_labels += end - x;
            } else if (n_chosen_ == 1) {
                choose(state, x, chosen_[0], row);
            } else {
                const auto first = ways_.size() - 1;
                ways_.resize(ways_.size() + n_chosen_ - 1, way);
                for (int c = 0; c < n_chosen_; ++c) {
                    choose(ways_[first + c].state, x, chosen_[c], row);
                }
                return true;
            }
        }
        return false;
    }

    // ---- cells ----------------------------------------------------------------------------------

    /// Move the columns of a cell that are blank in a row to its front; return their number.
    static int blanks_first(State& state, int x, int end, Row row) {
        int to = x;
        for (int y = x; y < end; ++y) {
            if (row[state.columns[y]] == 0) exchange(state, to++, y);
        }
        if (to > x) std::fill(state.starts.begin() + to, state.starts.begin() + end, byte(to));
        return to - x;
    }

    /// Exchange the columns at two positions.
    static void exchange(State& state, int x, int y) {
        std::swap(state.columns[x], state.columns[y]);
        state.places[state.columns[x]] = byte(x);
        state.places[state.columns[y]] = byte(y);
    }

    /// Return the least label that a cell of a row can begin with; the ways to do so are `chosen_`.
    ///
    /// None of its columns is blank in the row. If all digits are new, there are no ways, and the
    /// label is a new one.
    int least_label(const State& state, int x, int end, Row row, int n_labels) {
        int label = n_labels + 1;
        n_chosen_ = 0;
        for (int y = x; y < end; ++y) {
            const int digit = row[state.columns[y]];
            const int home = state.home_columns[digit - 1];
            if (home == nowhere) continue;
            int first = state.starts[state.places[home]];
            first += first == x;  // the digit stands there, so its home can stand behind it at best
            const int lowest = form_[state.home_rows[digit - 1] * n_ + first];
            if (lowest < label) {
                label = lowest;
                n_chosen_ = 0;
            }
            if (lowest == label) chosen_[n_chosen_++] = byte(y);
        }
        return label;
    }

    /// Put the column at a place to x, and the home of its digit to the front of its cell.
    void choose(State& state, int x, int place, Row row) const {
        const int digit = row[state.columns[place]];
        single_out(state, x, place);
        const int home = state.places[state.home_columns[digit - 1]];
        single_out(state, state.starts[home], home);
    }

    /// Make the column at a place a cell of its own, at x, where its cell begins.
    void single_out(State& state, int x, int place) const {
        exchange(state, x, place);
        for (int y = x + 1; y < n_ && state.starts[y] == x; ++y) {
            state.starts[y] = byte(x + 1);
        }
    }

    /// Return the number of orders of the columns within the cells of a state.
    std::int64_t n_orders_of(const State& state) const {
        std::int64_t n_orders = 1;
        for (int x = 0; x < n_; ++x) n_orders *= x - state.starts[x] + 1;
        return n_orders;
    }

    int n_;
    Boxes boxes_;
    std::size_t most_states_;
    GrowingLists<int> orders_;       // of stacks
    std::array<Grid, 2> grids_;      // the puzzle, and its transpose
    std::span<std::uint8_t> form_;   // its rows before that being filled are certain
    std::span<std::uint8_t> least_;  // the row being filled: the least so far
    int n_labels_ = 0;               // in the certain rows
    std::vector<State> states_;      // whose rows are the certain ones
    std::vector<State> found_;       // those that the least row continues
    std::vector<Unfinished> ways_;   // to place a row
    Line chosen_;                    // places of columns that make a row the least
    int n_chosen_ = 0;
};

/// True if the clues of a grid are digits that do not clash.
bool is_right(Bytes grid, Boxes boxes) {
    const std::size_t n = boxes.n(), height = boxes.rows, width = boxes.columns;
    std::uint8_t most = 0;
    for (const auto digit : grid) most = std::max(most, digit);
    if (most > n) return false;
    std::array<std::uint32_t, most_digits> in_columns{}, in_boxes{};
    std::uint32_t twice = 0;
    for (std::size_t row = 0, cell = 0; row < n; ++row) {
        if (row % height == 0) in_boxes.fill(0);
        std::uint32_t in_row = 0;
        for (std::size_t first = 0; first < n; first += width) {
            auto& in_box = in_boxes[first];
            for (std::size_t column = first; column < first + width; ++column, ++cell) {
                const auto digit = std::uint32_t{1} << grid[cell] & ~std::uint32_t{1};
                twice |= digit & (in_row | in_columns[column] | in_box);
                in_row |= digit;
                in_columns[column] |= digit;
                in_box |= digit;
            }
        }
    }
    return twice == 0;
}

template <int most>
Forms forms_of(Rows<const std::uint8_t> grids, Boxes boxes, std::size_t most_states,
               bool by_table) {
    const auto n = static_cast<std::size_t>(boxes.n()), n_grids = grids.size();
    Forms forms{.grids = {n_grids, n * n},
                .rows = {n_grids, n},
                .columns = {n_grids, n},
                .transposed = std::vector<std::uint8_t>(n_grids),
                .symmetries = std::vector<std::int64_t>(n_grids)};
    FormSearch<most> search(boxes, most_states);
    for (std::size_t k = 0; k < n_grids; ++k) {
        const auto grid = grids[k];
        require(is_right(grid, boxes), "clues of a grid clash");
        Form form = forms[k];
        if (by_table && std::ranges::find(grid, 0) == grid.end()) {
            find_in_table(grid.first<81>(), form);
        } else {
            search.find(grid, form);
        }
    }
    return forms;
}

}  // namespace

Forms canonical_forms(Rows<const std::uint8_t> grids, int box_rows, int box_columns,
                      std::size_t most_states, bool by_table) {
    const Boxes boxes{box_rows, box_columns};
    require(1 <= std::min(box_rows, box_columns) &&
                std::max(box_rows, box_columns) <= most_digits &&
                std::cmp_equal(grids.width, boxes.n() * boxes.n()),
            "grids of another shape than their boxes");
    require(boxes.n() <= most_digits && (!by_table || (boxes.n() == 9 && box_rows == 3)),
            "grids of this shape have no canonical forms here");
    return boxes.n() <= 9 ? forms_of<9>(grids, boxes, most_states, by_table)
                          : forms_of<most_digits>(grids, boxes, most_states, by_table);
}

}  // namespace batchsolve::symmetry
