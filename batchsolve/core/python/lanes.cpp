// The engine `lanes`, and digging.
#include "lanes/lanes.h"

#include "python/casters.h"

namespace batchsolve::python {

void add_lanes(nb::module_& m) {
    using CellRows = Rows<const std::uint16_t>;
    nb::class_<lanes::Rules>(m, "GridRules")
        .def(nb::init<int, int, int, int, CellRows, CellRows, CellRows,
                      Rows<const std::uint32_t>>());
    m.def("first_clashes", &lanes::first_clashes, Unlocked());
    m.def("search_grids", &lanes::search_grids, Unlocked());
    m.def("dig_grids", &lanes::dig_grids, Unlocked());
}

}  // namespace batchsolve::python
