// The engine `lanes`: grids of Sudoku and its variants, many side by side in vectors.
#pragma once

#include "lanes/made.h"
#include "lanes/rules.h"
#include "random.h"
#include "task.h"

namespace batchsolve::lanes {

/// Call a function with a set of digits: 16 bits where these suffice, else 32.
auto with_digits(int n_digits, auto function) {
    return n_digits <= 16 ? function(std::uint16_t{}) : function(std::uint32_t{});
}

/// Covers have the options that fill cells alone, or none if they are written as digits.
struct Grids {
    Outcome out;
    std::vector<std::uint8_t> digits;  // of covers, cell by cell

    auto parts() { return std::tie(out, digits); }
};

/// Search a task of grids; `rows` has the row of `own` of each stack.
Grids search_grids(const RowRules& own, Ints rows, const Task& task);

/// Make puzzles of rows, by their numbers; `own_rows` has the row of `own` of each. Return the
/// place of the first row for which none was found, or the number of rows.
std::size_t dig_grids(const RowRules& own, Ints own_rows, const Wish& wish, const Made& made,
                      const Streams& streams, Ints numbers);

}  // namespace batchsolve::lanes
