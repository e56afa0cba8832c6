// Canonical forms of grids without clashes: the least of all grids that are the same up to
// symmetry.
//
// A symmetry relabels digits, permutes bands, stacks, and the lines within each, and transposes if
// boxes are square. `batchsolve.problems.grid_symmetries` defines forms. `canonical_forms` checks
// the shape, the digits, and that they do not clash, before a search uses them as indices.
#pragma once

#include "arrays.h"

namespace batchsolve::symmetry {

/// The largest grids that have forms: 20×20 with boxes of 4×5.
constexpr int most_digits = 20;

/// The canonical form of one grid of n × n cells, and the symmetry that makes it.
struct Form {
    std::span<std::uint8_t> grid;           // n * n digits; all 0 if no form was found
    std::span<std::uint8_t> rows, columns;  // the row, or column, of the grid at each of the form
    std::uint8_t& transposed;               // 1 if the grid is transposed first
    std::int64_t& symmetries;               // that change nothing but labels; 0 if none was found
};

/// The canonical forms of several grids.
struct Forms {
    Form operator[](std::size_t k) {
        return {grids[k], rows[k], columns[k], transposed[k], symmetries[k]};
    }

    auto parts() { return std::tie(grids, symmetries, transposed, rows, columns); }

    Matrix<std::uint8_t> grids, rows, columns;
    std::vector<std::uint8_t> transposed;
    std::vector<std::int64_t> symmetries;
};

/// The shape of the boxes of a grid.
struct Boxes {
    int rows, columns;
    int n() const { return rows * columns; }
};

/// Return the forms of grids, each n * n digits; `most_states` bounds the room of a search.
///
/// With `by_table`, completed grids of 9×9 are looked up in a table.
Forms canonical_forms(Rows<const std::uint8_t> grids, int box_rows, int box_columns,
                      std::size_t most_states, bool by_table);

/// Find the form of a completed 9×9 grid whose digits do not clash. See form_table.cpp.
void find_in_table(std::span<const std::uint8_t, 81> grid, Form& form);

}  // namespace batchsolve::symmetry
