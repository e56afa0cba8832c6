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
#pragma once

#include "symmetry/forms.h"

namespace batchsolve::symmetry {

/// Find the form of a completed 9×9 grid whose digits do not clash.
void find_in_table(std::span<const std::uint8_t, 81> grid, Form& form);

}  // namespace batchsolve::symmetry
