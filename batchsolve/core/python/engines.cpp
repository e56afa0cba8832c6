// Engines for exact covers: a problem that is prepared once, and searches of its tasks.
#include "engines.h"

#include <nanobind/stl/optional.h>

#include "cheapest.h"
#include "python/casters.h"

namespace batchsolve::python {

void add_engines(nb::module_& m) {
    nb::class_<Problem>(m, "Problem")
        .def(nb::init<Ints, std::span<const Item>, std::span<const Color>, Ints, Item, Item>());
    m.def("first_repeating", &first_repeating<Item>, Unlocked());
    nb::class_<PreparedLinks>(m, "Links");
    m.def("links", &prepare_links);
    m.def("search_links", &PreparedLinks::search, Unlocked());
    m.def("search_bits", &search_bits, Unlocked());
    m.def("search_sparse", &search_sparse, Unlocked());
    m.def("search_bounded_bits", &search_bounded_bits, Unlocked());
    m.def("search_cheapest", &search_cheapest, Unlocked());
    m.def("take_taxes", &take_taxes);
    nb::class_<PreparedMemo>(m, "Memo")
        .def_ro("table_width", &PreparedMemo::table_width)
        .def("count", &PreparedMemo::count, Unlocked());
    m.def("memo", &prepare_memo);
}

}  // namespace batchsolve::python
