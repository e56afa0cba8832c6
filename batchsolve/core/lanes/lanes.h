// The engine `lanes`: grids of Sudoku and its variants, many side by side in vectors.
#pragma once

#include "lanes/made.h"
#include "lanes/order.h"
#include "lanes/rules.h"

namespace batchsolve::lanes {

/// Search a task of grids with boxes.
Grids search_boxes(int rows, int columns, const Task& task, Order order);

/// Search a task of grids with other rules; `rows` has the row of `own` of each stack.
Grids search_houses(const Rules& rules, const RowRules& own, std::span<const std::int64_t> rows,
                    const Task& task, Order order);

/// Make puzzles; return the place of the first row for which none was found, or their number.
std::size_t dig_boxes(int rows, int columns, const Digs& digs);

/// The same for other rules; `own_rows` has the row of `own` of each row.
std::size_t dig_houses(const Rules& rules, const RowRules& own,
                       std::span<const std::int64_t> own_rows, const Digs& digs);

}  // namespace batchsolve::lanes
