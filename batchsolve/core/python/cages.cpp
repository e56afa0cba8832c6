// Cages of rows for Python.
#include "cages/implied.h"
#include "python/module.h"

namespace nanobind::detail {

using batchsolve::cages::Cages;

template <>
struct type_caster<Cages> : FieldsCaster<Cages, &Cages::cages_of, &Cages::cells, &Cages::sets_of> {
};

}  // namespace nanobind::detail

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
