// The engine `lanes`: grids of Sudoku and its variants, many side by side in vectors.
#pragma once

#include "lanes/made.h"
#include "lanes/rules.h"
#include "lanes/task.h"

namespace batchsolve::lanes {

/// Search a task of grids with boxes.
Outcome search_boxes(int rows, int columns, const Task& task);

/// Search a task of grids with other rules; `rows` has the row of `own` of each stack.
Outcome search_houses(const Rules& rules, const RowRules& own, std::span<const std::int64_t> rows,
                      const Task& task);

/// Make puzzles; return the place of the first row for which none was found, or their number.
std::size_t dig_boxes(int rows, int columns, const Digs& digs);

/// The same for other rules; `own_rows` has the row of `own` of each row.
std::size_t dig_houses(const Rules& rules, const RowRules& own,
                       std::span<const std::int64_t> own_rows, const Digs& digs);

}  // namespace batchsolve::lanes
