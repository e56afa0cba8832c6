// Cages of rows for Python.
#include "cages/implied.h"
#include "python/module.h"

namespace batchsolve::python {

namespace {

using Begins = Array<std::int64_t>;

void check_begins(std::span<const std::int64_t> begins, std::size_t end) {
    if (begins.empty() || begins.front() != 0 || begins.back() != static_cast<std::int64_t>(end) ||
        !std::ranges::is_sorted(begins)) {
        throw nb::value_error("the lists of rows or cages do not fit together");
    }
}

/// Return the cages of all rows, those that follow behind those that are given: `cages_of`,
/// `cells_of`, `cage_cells` and `sets_of` of `RowRules`.
nb::tuple complete_cages(Array<std::uint8_t, 2> regions, Begins cages_of, Begins totals,
                         Begins cells_of, Array<cages::Cell> cage_cells, Array<cages::Cell> houses,
                         Array<std::int64_t, 3> ranges, std::size_t n_cells) {
    const auto rows = span_of(cages_of), begins = span_of(cells_of), sums = span_of(totals);
    const auto cells = span_of(cage_cells);
    check_begins(rows, sums.size());
    check_begins(begins, cells.size());
    const std::size_t n_rows = rows.size() - 1, width = regions.shape(1);
    if (begins.size() != sums.size() + 1 || regions.shape(0) != n_rows || ranges.shape(0) < 2) {
        throw nb::value_error("each row has regions, and each cage has cells");
    }
    cages::ImpliedCages implied(n_cells, ranges.shape(0) - 1, span_of(houses), span_of(ranges));
    {
        const nb::gil_scoped_release release;
        for (std::size_t row = 0; row < n_rows; ++row) {
            implied.begin_row();
            for (auto cage = static_cast<std::size_t>(rows[row]);
                 cage < static_cast<std::size_t>(rows[row + 1]); ++cage) {
                const auto begin = static_cast<std::size_t>(begins[cage]);
                const auto end = static_cast<std::size_t>(begins[cage + 1]);
                implied.add(cells.subspan(begin, end - begin), sums[cage]);
            }
            implied.end_row(span_of(regions).subspan(row * width, width));
        }
    }
    auto& made = implied.made();
    const std::size_t n_made = made.size();
    return nb::make_tuple(to_python(std::move(made.cages_of)), to_python(std::move(made.cells_of)),
                          to_python(std::move(made.cage_cells)),
                          to_python(std::move(made.sets_of), {n_made, 2}));
}

}  // namespace

void add_cages(nb::module_& m) { m.def("complete_cages", &complete_cages); }

}  // namespace batchsolve::python
