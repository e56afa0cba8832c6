#include "symmetry/forms.h"

#include <array>
#include <utility>

#include "symmetry/form_search.h"

namespace batchsolve::symmetry {

namespace {

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
