// Propagation over many grids with the same rules, one grid a lane.
//
// `BoxPass` knows how rows, columns and boxes meet; here the rules are data, read where the code
// runs, for jigsaws, diagonals, overlapping grids and whatever else is made of houses and pairs of
// cells. A pass deduces, one after another,
//
// * in every house, naked and hidden singles;
// * in cells that differ, naked singles; in related cells, the digits that no digit of the other
//   cell allows;
// * locked candidates: where the places for a digit in one house all lie in another one, the digit
//   goes from the rest of that.
//
// All deductions are monotone, so passes lead to one fixpoint, whatever they deduce first. There, a
// contradiction shows as a cell without candidates, a digit without a place in a house, a digit
// alone in two cells of a house, or two digits whose only place in a house is one cell; and if
// every cell has one candidate and nothing changes, the grid is solved.
//
// `Rules` has checked the cells.
#pragma once

#include <array>
#include <span>

#include "lanes/cells.h"
#include "lanes/rules.h"

namespace batchsolve::lanes {

/// A pass; `digits` is their number if it is known when the code is compiled, else 0.
template <class T, int digits = 0>
class HousePass {
public:
    using Lanes = Vector<T>;

    /// `regions` has the region of every cell, where regions differ from lane to lane.
    HousePass(const Rules& rules, std::span<Lanes> cells, std::span<const Lanes> regions)
        : rules_(rules), cells_(cells), regions_(regions) {}

    Found run() {
        for (std::size_t h = 0; h < rules_.houses.size(); ++h) review_house(rules_.houses[h]);
        Lanes changed{};
        for (const auto& [one, other] : rules_.distinct) changed |= review_distinct(one, other);
        for (const auto& pair : rules_.related) changed |= review_related(pair);
        for (std::size_t k = 0; k < rules_.n_meets(); ++k) changed |= review_meet(rules_.meet(k));
        changed_ |= changed;
        if (!regions_.empty()) {
            review_regions();
            review_lines(0);
            review_lines(n());
        }
        Lanes open{}, smallest = cells_[0];
        for (const Lanes& here : cells_) {
            open |= here & (here - 1);
            smallest = here < smallest ? here : smallest;
        }
        const auto same = changed_ == 0;
        const auto bad = (wrong_ != 0) | (smallest == 0) | (same & (lone_ != 0));
        const auto solved = (open == 0) & same & ~bad;
        return {bits(bad), bits(same & ~bad & ~solved), bits(solved)};
    }

private:
    using House = std::span<const std::uint16_t>;
    static constexpr int most = digits ? digits : 8 * int{sizeof(T)};

    int n() const { return digits ? digits : rules_.n_digits; }

    /// Leave candidates to a cell; return those that are taken away.
    Lanes leave(int cell, Lanes left) {
        const Lanes before = cells_[cell];
        cells_[cell] = left;
        return before ^ left;
    }

    Lanes all_digits() const { return Lanes{} + lowest_bits<T>(n()); }

    void review_house(House house) {
        std::array<Lanes, most> here;
        Once<Lanes> places{}, singles{};
        for (int i = 0; i < n(); ++i) {
            here[i] = cells_[house[i]];
            places.add(here[i]);
            singles.add(single_of(here[i]));
        }
        const Lanes lone = places.once & ~places.twice;
        Lanes changed = changed_;
        for (int i = 0; i < n(); ++i) {
            const Lanes left = restricted(here[i], singles.once, lone);
            changed |= here[i] ^ left;
            cells_[house[i]] = left;
        }
        changed_ = changed;
        lone_ |= lone & ~singles.once;
        wrong_ |= (~places.once & all_digits()) | singles.twice;
    }

    /// The candidates of a cell, without the naked singles of other cells, and by hidden singles.
    static Lanes restricted(Lanes here, Lanes taken, Lanes lone) {
        const Lanes left = here & (~taken | single_of(here)), hidden = left & lone;
        return hidden == 0 ? left : hidden;
    }

    // ---- these return the candidates that they take away ----------------------------------------

    Lanes review_distinct(int one, int other) {
        const Lanes x = cells_[one], y = cells_[other];
        return leave(one, x & ~single_of(y)) | leave(other, y & ~single_of(x));
    }

    Lanes review_related(const Related& pair) {
        const auto [one, other, relation] = pair;
        const Lanes x = cells_[one], y = cells_[other];
        return leave(other, y & allowed_by(x, rules_.left_to_other(relation))) |
               leave(one, x & allowed_by(y, rules_.left_to_one(relation)));
    }

    Lanes allowed_by(Lanes given, std::span<const std::uint32_t> digits_left) const {
        Lanes allowed{};
        for (int digit = 0; digit < n(); ++digit) {
            const Lanes those = Lanes{} + static_cast<T>(digits_left[digit]);
            const T bit = static_cast<T>(1u << digit);
            allowed |= (given & bit) == 0 ? Lanes{} : those;
        }
        return allowed;
    }

    Lanes review_meet(const Meet& meet) {
        const Lanes shared = all_of(meet.shared), one = all_of(meet.one),
                    other = all_of(meet.other);
        return take(meet.one, shared & ~other) | take(meet.other, shared & ~one);
    }

    /// Take digits from cells; return those that they had.
    Lanes take(House cells, Lanes digits_taken) {
        Lanes changed{};
        for (const auto cell : cells) changed |= leave(cell, cells_[cell] & ~digits_taken);
        return changed;
    }

    Lanes all_of(House cells) const {
        Lanes all{};
        for (const auto cell : cells) all |= cells_[cell];
        return all;
    }

    // ---- regions that differ from lane to lane --------------------------------------------------

    using Regions = std::array<Lanes, most>;

    /// The value where a cell has a region, else nothing.
    Lanes in_region(int cell, int region, Lanes value) const {
        return regions_[cell] == static_cast<T>(region) ? value : Lanes{};
    }

    /// The value of the region that a cell has.
    Lanes of_region(int cell, const Regions& values) const {
        Lanes chosen{};
        for (int r = 0; r < n(); ++r) chosen |= in_region(cell, r, values[r]);
        return chosen;
    }

    /// Look for naked and hidden singles in the regions.
    void review_regions() {
        Regions taken, lone;
        for (int r = 0; r < n(); ++r) {
            Once<Lanes> places{}, singles{};
            for (int cell = 0; cell < n() * n(); ++cell) {
                const Lanes here = in_region(cell, r, cells_[cell]);
                places.add(here);
                singles.add(single_of(here));
            }
            taken[r] = singles.once;
            lone[r] = places.once & ~places.twice;
            wrong_ |= (~places.once & all_digits()) | singles.twice;
            lone_ |= lone[r] & ~taken[r];
        }
        for (int cell = 0; cell < n() * n(); ++cell) {
            changed_ |= leave(
                cell, restricted(cells_[cell], of_region(cell, taken), of_region(cell, lone)));
        }
    }

    /// Look for locked candidates where regions meet the rows, or the columns.
    ///
    /// The part of a line in a region is a segment. Digits of a segment that are in no other
    /// segment of its region go from the rest of the line; those in no other segment of its line go
    /// from the rest of the region.
    void review_lines(std::size_t first) {
        std::array<Regions, most> segments, lone;
        std::array<Once<Lanes>, most> regions;
        Regions needed;
        for (int r = 0; r < n(); ++r) regions[r] = Once<Lanes>{}, needed[r] = Lanes{};
        for (int line = 0; line < n(); ++line) {
            Once<Lanes> all{};
            for (int r = 0; r < n(); ++r) {
                Lanes segment{};
                for (const auto cell : rules_.houses[first + line])
                    segment |= in_region(cell, r, cells_[cell]);
                segments[line][r] = segment;
                all.add(segment);
            }
            for (int r = 0; r < n(); ++r) {
                lone[line][r] = segments[line][r] & ~all.twice;
                needed[r] |= lone[line][r];
                regions[r].add(segments[line][r]);
            }
        }
        for (int line = 0; line < n(); ++line) {
            Lanes here{};
            Regions out;
            for (int r = 0; r < n(); ++r) here |= segments[line][r] & ~regions[r].twice;
            for (int r = 0; r < n(); ++r) {
                const Lanes locked = segments[line][r] & ~regions[r].twice;
                out[r] = (here & ~locked) | (needed[r] & ~lone[line][r]);
            }
            for (const auto cell : rules_.houses[first + line]) {
                changed_ |= leave(cell, cells_[cell] & ~of_region(cell, out));
            }
        }
    }

    const Rules& rules_;
    std::span<Lanes> cells_;
    std::span<const Lanes> regions_;
    Lanes wrong_{};    // not 0 where a contradiction was found
    Lanes lone_{};     // digits with one place, in a cell with others
    Lanes changed_{};  // candidates taken away
};

/// Choose the first cell with the fewest candidates, two or more; return the lanes where a cell has
/// none.
template <class Lanes>
LaneBits choose_fewest(std::span<const Lanes> cells, Lanes& chosen) {
    Lanes least = Lanes{} + 63, number{}, smallest = cells[0];
    for (const Lanes& here : cells) {
        const Lanes size = popcount(here);
        const auto is_better = (least > size) & (size > 1);
        least = is_better ? size : least;
        chosen = is_better ? number : chosen;
        number += 1;
        smallest = here < smallest ? here : smallest;
    }
    return bits(smallest == 0);
}

}  // namespace batchsolve::lanes
