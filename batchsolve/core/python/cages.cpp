// Cages of rows for Python.
#include "cages/implied.h"
#include "python/module.h"

template <>
struct nanobind::detail::type_caster<batchsolve::cages::Cages>
    : batchsolve::python::FieldsCaster<
          batchsolve::cages::Cages, &batchsolve::cages::Cages::cages_of,
          &batchsolve::cages::Cages::cells, &batchsolve::cages::Cages::sets_of> {};

namespace batchsolve::python {

void add_cages(nb::module_& m) {
    using Cells = std::span<const cages::Cell>;
    m.def(
        "complete_cages",
        [](Grids regions, Ints cages_of, Ints totals, Ints cells_of, Cells cells, Cells houses,
           Rows<const std::int64_t> ranges, std::size_t n_cells) {
            return cages::complete_cages(regions, cages_of, totals, {cells_of, cells}, houses,
                                         ranges, n_cells);
        },
        Unlocked());
}

}  // namespace batchsolve::python
