// The engine `lanes`: grids of Sudoku and its variants, many side by side in vectors.
#pragma once

#include "lanes/task.h"

namespace batchsolve::lanes {

/// Search a task of grids with boxes.
Outcome search_boxes(int rows, int columns, const Task& task);

}  // namespace batchsolve::lanes
