// Propagation over many grids of Sudoku at once. One pass deduces, for all grids at once,
//
// * naked singles: the digit of a cell with one candidate goes from the other cells of its units;
// * hidden singles: a digit with one place in a unit is the only candidate there;
// * locked candidates: where a line's places for a digit lie in one box, it goes from the box's
//   other lines, and where a box's places lie in one line, it goes from the line's other boxes;
// * full segments: the cells in which a line meets a box are a *segment*; if there are as many
//   candidates in a segment as it has cells, its line and its box have them there, and if its line
//   and its box need as many digits there, it has no others.
//
// Locked candidates depend on segments alone, too. The rows of a band, or the columns of a stack,
// and their boxes are made of the same segments; such a *chute* is dealt with as a whole, so that
// its vectors stay in registers. Columns are reviewed without the candidates that are locked out in
// the rows.
//
// All deductions are monotone (fewer candidates never allow fewer deductions), so passes lead to
// one fixpoint, whatever they deduce first. Contradictions are found on the way or, at the latest,
// at the fixpoint: there each digit of a unit has one place, in a cell that has no other candidate,
// or several places, none in such a cell; anything else contradicts.
//
// `Rules` has checked that there are as many cells as the box says.
#pragma once

#include <array>
#include <span>

#include "lanes/events.h"
#include "lanes/rules.h"

namespace batchsolve::lanes {

/// The rows and columns of a box, known when the code is compiled.
template <int r, int c>
struct Box {
    explicit Box(AnyBox) {}
    static bool is_of(AnyBox box) { return box.rows == r && box.columns == c; }
    static constexpr int rows = r, columns = c;
    static constexpr int most_rows = r, most_columns = c, most_digits = r * c;
};

/// What a pass finds in all units.
template <class Lanes>
struct Findings {
    Lanes placed = ~Lanes{};   // digits with a place in every unit
    Lanes settled = ~Lanes{};  // but those with one place in a unit, in a cell with others
    Lanes clash{};             // the only candidate of one cell, and possible in another
    Lanes open{};              // digits with several places
    Lanes changed{};           // candidates taken away
};

/// K lines that pass through K boxes: the rows of a band, or the columns of a stack.
template <class Lanes, int most>
class Chute {
public:
    explicit Chute(int n) : n_(n) {}

    void set_segment(int line, int box, const Once<Lanes>& cells) { segment_[line][box] = cells; }

    /// The segments of a line, or of a box, all segments being set.
    auto line(int i) const {
        return [this, i](int k) { return segment_[i][k]; };
    }
    auto box(int k) const {
        return [this, k](int i) { return segment_[i][k]; };
    }

    /// Look at a line, or a box, with these naked singles; return the digits with several places.
    Lanes review(auto segment, Lanes naked, Findings<Lanes>& found) const {
        const Once<Lanes> all = joined(segment);
        Lanes several = all.twice;
        for (int k = 0; k < n_; ++k) several |= segment(k).twice;
        found.placed &= all.once;
        found.settled &= naked | several;
        found.clash |= naked & several;
        return several;
    }

    /// Find for every segment of `length` cells the digits that are needed elsewhere.
    void lock_out(int length) {
        std::array<Lanes, most> in_two;  // digits of two segments of a box
        for (int k = 0; k < n_; ++k) in_two[k] = joined(box(k)).twice;
        std::array<std::array<Lanes, most>, most> must;
        for (int i = 0; i < n_; ++i) {
            const Lanes in_line = joined(line(i)).twice;
            for (int k = 0; k < n_; ++k) {
                const Lanes once = segment_[i][k].once;
                const Lanes needed = once & ~(in_line & in_two[k]);
                must[i][k] = has_size(once, length) ? once : needed;
                out_[i][k] = has_size(needed, length) ? ~needed : Lanes{};
            }
        }
        for (int i = 0; i < n_; ++i) {
            for (int k = 0; k < n_; ++k) {
                Lanes out = out_[i][k];
                for (int j = 0; j < n_; ++j) {
                    if (j != k) out |= must[i][j];
                    if (j != i) out |= must[j][k];
                }
                out_[i][k] = out;
            }
        }
    }
    Lanes out(int line, int box) const { return out_[line][box]; }

private:
    /// The digits of segments, and of two of them.
    Once<Lanes> joined(auto segment) const {
        Once<Lanes> all{};
        for (int k = 0; k < n_; ++k) all.add(segment(k).once);
        return all;
    }

    static auto has_size(Lanes digits, int size) {
        return popcount(digits) == static_cast<LaneOf<Lanes>>(size);
    }

    const int n_;
    std::array<std::array<Once<Lanes>, most>, most> segment_;  // line, box
    std::array<std::array<Lanes, most>, most> out_;
};

/// A pass over the grids of all lanes.
template <class Lanes, class Shape>
class BoxPass {
public:
    BoxPass(std::span<Lanes> cells, Shape box)
        : cells_(cells), box_(box), n_(box.rows * box.columns) {}

    Found run() {
        Findings<Lanes> found;
        find_naked_singles();
        for (int band = 0; band < box_.columns; ++band) found = review_band(band, found);
        for (int stack = 0; stack < box_.rows; ++stack) found = review_stack(stack, found);
        const auto all_digits = lowest_bits<LaneOf<Lanes>>(n_);
        const auto same = found.changed == 0;
        const auto wrong = ((~found.placed & all_digits) | found.clash) != 0;
        const auto bad = wrong | (same & ((~found.settled & all_digits) != 0));
        const auto solved = (found.open == 0) & ~bad;
        return {bits(bad), bits(same & ~bad & ~solved), bits(solved)};
    }

private:
    using Segments = std::array<Lanes, Shape::most_digits * Shape::most_rows>;
    using Units = std::array<Lanes, Shape::most_digits>;

    void find_naked_singles() {
        for (int x = 0; x < n_; ++x) column_[x] = Lanes{};
        for (int band = 0; band < box_.columns; ++band) {
            const int first = band * box_.rows;
            for (int k = 0; k < box_.rows; ++k) in_box_[first + k] = Lanes{};
            for (int i = 0; i < box_.rows; ++i) {
                Lanes in_row{};
                for (int k = 0; k < box_.rows; ++k) {
                    Lanes both{};
                    for (int j = 0; j < box_.columns; ++j) {
                        const int x = k * box_.columns + j;
                        const Lanes naked = single_of(cells_[(first + i) * n_ + x]);
                        column_[x] |= naked;
                        both |= naked;
                    }
                    in_row |= both;
                    in_box_[first + k] |= both;
                }
                row_[first + i] = in_row;
            }
        }
    }

    Findings<Lanes> review_band(int band, Findings<Lanes> found) {
        Chute<Lanes, Shape::most_rows> chute(box_.rows);
        const int first = band * box_.rows;
        for (int i = 0; i < box_.rows; ++i) {
            for (int k = 0; k < box_.rows; ++k) {
                Once<Lanes> segment{};
                const Lanes taken = row_[first + i] | in_box_[first + k];
                for (int j = 0; j < box_.columns; ++j) {
                    const int x = k * box_.columns + j;
                    Lanes& cell = cells_[(first + i) * n_ + x];
                    const Lanes here = cell;
                    Lanes left = here & ~(taken | column_[x]);
                    // nothing is left in naked singles, and in cells that contradict them
                    left = left == 0 ? here : left;
                    found.changed |= here ^ left;
                    cell = left;
                    segment.add(left);
                }
                chute.set_segment(i, k, segment);
            }
        }
        std::array<Lanes, Shape::most_rows> in_row, in_box;
        for (int i = 0; i < box_.rows; ++i) {
            in_row[i] = chute.review(chute.line(i), row_[first + i], found);
            in_box[i] = chute.review(chute.box(i), in_box_[first + i], found);
            found.open |= in_row[i];
        }
        chute.lock_out(box_.columns);
        for (int i = 0; i < box_.rows; ++i) {
            for (int k = 0; k < box_.rows; ++k) {
                out_[(first + i) * box_.rows + k] = chute.out(i, k);
                several_[(first + i) * box_.rows + k] = in_row[i] & in_box[k];
            }
        }
        return found;
    }

    Findings<Lanes> review_stack(int stack, Findings<Lanes> found) {
        Chute<Lanes, Shape::most_columns> chute(box_.columns);
        const int first = stack * box_.columns;
        for (int i = 0; i < box_.columns; ++i) {
            for (int k = 0; k < box_.columns; ++k) {
                Once<Lanes> segment{};
                for (int j = 0; j < box_.rows; ++j) {
                    const int y = k * box_.rows + j;
                    segment.add(cells_[y * n_ + first + i] & ~out_[y * box_.rows + stack]);
                }
                chute.set_segment(i, k, segment);
            }
        }
        std::array<Lanes, Shape::most_columns> in_column;
        for (int i = 0; i < box_.columns; ++i) {
            in_column[i] = chute.review(chute.line(i), column_[first + i], found);
        }
        chute.lock_out(box_.rows);
        for (int i = 0; i < box_.columns; ++i) {
            for (int k = 0; k < box_.columns; ++k) {
                for (int j = 0; j < box_.rows; ++j) {
                    const int y = k * box_.rows + j, segment = y * box_.rows + stack;
                    Lanes& cell = cells_[y * n_ + first + i];
                    const Lanes here = cell;
                    Lanes left = here & ~(out_[segment] | chute.out(i, k));
                    const Lanes hidden = left & ~(several_[segment] & in_column[i]);
                    left = hidden == 0 ? left : hidden;
                    found.changed |= here ^ left;
                    cell = left;
                }
            }
        }
        return found;
    }

    std::span<Lanes> cells_;
    const Shape box_;
    const int n_;
    Units row_, column_, in_box_;  // naked singles
    Segments out_, several_;       // of segments of rows: digits locked out; with several places
};

/// The choice of the branch cell of every grid.
///
/// It is a cell with the fewest candidates, two or more. Of those, it is one whose candidates count
/// most: a candidate counts once for its row and once for its column, if two or more pairs (cells
/// with two candidates) there have it, and once for its box, if it has three or more places there.
/// Ties go to the first column, and there to the first row.
template <class Lanes, class Shape>
class BoxChoice {
public:
    BoxChoice(std::span<const Lanes> cells, Shape box)
        : cells_(cells), box_(box), n_(box.rows * box.columns) {}

    /// Return the lanes where a cell has no candidate.
    LaneBits run(Lanes& chosen) {
        count();
        Lanes best{}, first_of_row{}, smallest = cells_[0];
        chosen = Lanes{};
        for (int y = 0; y < n_; ++y) {
            const Lanes rank = largest_rank(y, smallest);
            chosen = rank > best ? first_of_row : chosen;
            best = rank > best ? rank : best;
            first_of_row += static_cast<Number>(n_);
        }
        chosen += static_cast<Number>(n_ - 1) - (best & static_cast<Number>(column_unit() - 1));
        return bits(smallest == 0);
    }

private:
    using Number = LaneOf<Lanes>;
    using Units = std::array<Lanes, Shape::most_digits>;

    /// From the highest bit down a rank holds n less the number of candidates, their counts, and
    /// the number of columns that follow; these are the units of the first and the second of them.
    Number size_unit() const {
        return static_cast<Number>(1u << (8 * int{sizeof(Number)} - std::bit_width(unsigned(n_))));
    }
    Number column_unit() const {
        return static_cast<Number>(1u << std::bit_width(unsigned(n_ - 1)));
    }

    void count() {
        std::array<Once<Lanes>, Shape::most_digits> in_column{};
        for (int band = 0; band < box_.columns; ++band) {
            std::array<Once<Lanes>, Shape::most_rows> places{};
            std::array<Lanes, Shape::most_rows> third{};
            for (int i = 0; i < box_.rows; ++i) {
                const int y = band * box_.rows + i;
                Once<Lanes> in_row{};
                for (int k = 0; k < box_.rows; ++k) {
                    for (int j = 0; j < box_.columns; ++j) {
                        const int x = k * box_.columns + j;
                        const Lanes here = cells_[y * n_ + x];
                        const Lanes pair = popcount(here) == 2 ? here : Lanes{};
                        in_row.add(pair);
                        in_column[x].add(pair);
                        third[k] |= places[k].twice & here;
                        places[k].add(here);
                    }
                }
                pairs_in_row_[y] = in_row.twice;
            }
            for (int k = 0; k < box_.rows; ++k) {
                places_in_box_[band * box_.rows + k] = third[k];
            }
        }
        for (int x = 0; x < n_; ++x) pairs_in_column_[x] = in_column[x].twice;
    }

    Lanes largest_rank(int y, Lanes& smallest) const {
        Lanes largest{};
        for (int k = 0; k < box_.rows; ++k) {
            const Lanes in_box = places_in_box_[y / box_.rows * box_.rows + k];
            for (int j = 0; j < box_.columns; ++j) {
                const int x = k * box_.columns + j;
                const Lanes here = cells_[y * n_ + x];
                smallest = here < smallest ? here : smallest;
                const Lanes counts = popcount(here & pairs_in_row_[y]) + popcount(here & in_box) +
                                     popcount(here & pairs_in_column_[x]);
                const Lanes rank = counts * column_unit() +
                                   static_cast<Number>(int(size_unit()) + n_ - 1 - x) -
                                   popcount(here) * size_unit();
                largest = rank > largest ? rank : largest;
            }
        }
        return largest;
    }

    std::span<const Lanes> cells_;
    const Shape box_;
    const int n_;
    Units pairs_in_row_, pairs_in_column_, places_in_box_;
};

}  // namespace batchsolve::lanes
