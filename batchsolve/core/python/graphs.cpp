// Graphs of all covers: drawn, drawn anew, and asked.
#include "graph_queries.h"
#include "graph_search.h"
#include "python/casters.h"
#include "redrawing.h"

namespace batchsolve::python {

void add_graphs(nb::module_& m) {
    nb::class_<GraphSearch>(m, "GraphSearch")
        .def(nb::init<const Problem&, bool, std::size_t, std::size_t>())
        .def("may_take", &GraphSearch::may_take)
        .def("run", &GraphSearch::run, Unlocked())
        .def_prop_ro("is_done", &GraphSearch::is_done)
        .def_prop_ro("is_out_of_memory", &GraphSearch::is_out_of_memory)
        .def_prop_ro("n_nodes", &GraphSearch::n_nodes)
        .def_prop_ro("share", &GraphSearch::share)
        .def("take", &GraphSearch::take)
        .def("end", &GraphSearch::end);
    const auto as_it_is = nb::arg().noconvert();  // kept, with the arrays that a redrawing reads
    nb::class_<Redrawing>(m, "Redrawing")
        .def(nb::init<const GraphView&, std::span<const Option>, std::size_t, std::size_t>(),
             as_it_is, nb::arg(), nb::arg(), nb::arg(), nb::keep_alive<1, 2>())
        .def("run", &Redrawing::run, Unlocked())
        .def_prop_ro("is_done", &Redrawing::is_done)
        .def_prop_ro("is_out_of_memory", &Redrawing::is_out_of_memory)
        .def_prop_ro("n_nodes", &Redrawing::n_nodes)
        .def("take", &Redrawing::take);
    m.def("count_covers", &count_covers, Unlocked());
    m.def("covers_at", &covers_at, Unlocked());
    m.def("restricted", &restricted, Unlocked());
    m.def("pruned", &pruned, Unlocked());
}

}  // namespace batchsolve::python
