#include "symmetry/forms.h"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "symmetry/form_search.h"
#include "symmetry/form_table.h"

namespace batchsolve::symmetry {

namespace {

/// Tell whether the clues of a grid are digits that do not clash.
bool is_right(std::span<const std::uint8_t> grid, Boxes boxes) {
    const auto n = static_cast<std::size_t>(boxes.n());
    const auto height = static_cast<std::size_t>(boxes.rows);
    const auto width = static_cast<std::size_t>(boxes.columns);
    std::uint8_t most = 0;
    for (const auto digit : grid) most = std::max(most, digit);
    if (most > n) return false;
    std::array<std::uint32_t, most_digits> in_columns{}, in_boxes{};
    std::uint32_t twice = 0;
    for (std::size_t row = 0, cell = 0; row < n; ++row) {
        if (row % height == 0) in_boxes.fill(0);
        std::uint32_t in_row = 0;
        for (std::size_t column = 0; column < n;) {
            const auto first = column;
            auto in_box = in_boxes[first];
            for (; column < first + width; ++column, ++cell) {
                const auto digit = std::uint32_t{1} << grid[cell] & ~std::uint32_t{1};
                twice |= digit & (in_row | in_columns[column] | in_box);
                in_row |= digit;
                in_columns[column] |= digit;
                in_box |= digit;
            }
            in_boxes[first] = in_box;
        }
    }
    return twice == 0;
}

template <int most>
Forms forms_of(std::span<const std::uint8_t> grids, Boxes boxes, std::size_t most_states,
               bool by_table) {
    const auto n = static_cast<std::size_t>(boxes.n());
    const std::size_t n_grids = grids.size() / (n * n);
    Forms forms{.grids = std::vector<std::uint8_t>(grids.size()),
                .rows = std::vector<std::uint8_t>(n_grids * n),
                .columns = std::vector<std::uint8_t>(n_grids * n),
                .transposed = std::vector<std::uint8_t>(n_grids),
                .symmetries = std::vector<std::int64_t>(n_grids)};
    FormSearch<most> search(boxes, most_states);
    for (std::size_t k = 0; k < n_grids; ++k) {
        const auto grid = grids.subspan(k * n * n, n * n);
        if (!is_right(grid, boxes)) throw std::invalid_argument("clues of a grid clash");
        Form form{.grid = std::span(forms.grids).subspan(k * n * n, n * n),
                  .rows = std::span(forms.rows).subspan(k * n, n),
                  .columns = std::span(forms.columns).subspan(k * n, n)};
        if (by_table && std::ranges::find(grid, 0) == grid.end()) {
            FormTable::shared().find(grid.first<81>(), form);
        } else {
            search.find(grid, form);
        }
        forms.transposed[k] = form.transposed;
        forms.symmetries[k] = form.symmetries;
    }
    return forms;
}

}  // namespace

Forms find_forms(std::span<const std::uint8_t> grids, Boxes boxes, std::size_t most_states,
                 bool by_table) {
    const int n = boxes.n();
    if (n < 1 || n > most_digits || (by_table && (n != 9 || boxes.rows != 3))) {
        throw std::invalid_argument("grids of this shape have no canonical forms here");
    }
    return n <= 9 ? forms_of<9>(grids, boxes, most_states, by_table)
                  : forms_of<most_digits>(grids, boxes, most_states, by_table);
}

}  // namespace batchsolve::symmetry
