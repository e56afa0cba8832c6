// Graphs of all covers: drawn, drawn anew, and asked.
#include "graph_queries.h"
#include "graph_search.h"
#include "python/module.h"
#include "redrawing.h"

namespace batchsolve::python {

namespace {

nb::tuple arrays_of(Graph&& graph) {
    return nb::make_tuple(to_python(std::move(graph.option)), to_python(std::move(graph.low)),
                          to_python(std::move(graph.high)), graph.root);
}

/// The nodes of a graph as Python has them.
struct Nodes {
    Array<Option> option;
    Array<NodeNumber> low, high;

    GraphView view() const { return {span_of(option), span_of(low), span_of(high)}; }
};

/// A redrawing, and the old nodes that it looks at.
struct Redrawn {
    Redrawn(const Nodes& old, Array<Option> order, std::size_t room, std::size_t most_bytes)
        : nodes(old), redrawing(nodes.view(), span_of(order), room, most_bytes) {}

    Nodes nodes;
    Redrawing redrawing;
};

auto counts_of(const Nodes& nodes) {
    auto counts = unlocked([view = nodes.view()] { return count_covers(view); });
    const std::size_t n = counts.words.size() / counts.n_words;
    return to_python(std::move(counts.words), {n, counts.n_words});
}

nb::tuple numbered_covers(const Nodes& nodes, Array<Word, 2> counts, NodeNumber root,
                          Array<Word, 2> numbers) {
    if (counts.shape(1) != numbers.shape(1)) {
        throw std::invalid_argument("numbers of covers have as many words as counts");
    }
    auto covers = unlocked([&, view = nodes.view()] {
        return covers_at(view, span_of(counts), counts.shape(1), root, span_of(numbers));
    });
    return nb::make_tuple(to_python(std::move(covers.offsets)),
                          to_python(std::move(covers.options)));
}

}  // namespace

void add_graphs(nb::module_& m) {
    nb::class_<Nodes>(m, "Nodes")
        .def(nb::init<Array<Option>, Array<NodeNumber>, Array<NodeNumber>>());
    nb::class_<GraphSearch>(m, "GraphSearch")
        .def(nb::init<const Problem&, bool, std::size_t, std::size_t>())
        .def("may_take", &GraphSearch::may_take)
        .def("run", [](GraphSearch& search,
                       std::int64_t n_nodes) { unlocked([&] { search.run(n_nodes); }); })
        .def_prop_ro("is_done", &GraphSearch::is_done)
        .def_prop_ro("is_out_of_memory", &GraphSearch::is_out_of_memory)
        .def_prop_ro("n_nodes", &GraphSearch::n_nodes)
        .def_prop_ro("share", &GraphSearch::share)
        .def("take", [](GraphSearch& search) { return arrays_of(search.take()); })
        .def("end", &GraphSearch::end);
    nb::class_<Redrawn>(m, "Redrawing")
        .def(nb::init<const Nodes&, Array<Option>, std::size_t, std::size_t>())
        .def("run", [](Redrawn& self,
                       std::int64_t n_steps) { unlocked([&] { self.redrawing.run(n_steps); }); })
        .def_prop_ro("is_done", [](const Redrawn& self) { return self.redrawing.is_done(); })
        .def_prop_ro("is_out_of_memory",
                     [](const Redrawn& self) { return self.redrawing.is_out_of_memory(); })
        .def_prop_ro("n_nodes", [](const Redrawn& self) { return self.redrawing.n_nodes(); })
        .def("take",
             [](Redrawn& self, NodeNumber root) { return arrays_of(self.redrawing.take(root)); });
    m.def("count_covers", &counts_of);
    m.def("covers_at", &numbered_covers);
    m.def("restricted", [](const Nodes& nodes, NodeNumber root, Option option, bool is_wanted) {
        return arrays_of(unlocked(
            [&, view = nodes.view()] { return restricted(view, root, option, is_wanted); }));
    });
    m.def("pruned", [](const Nodes& nodes, NodeNumber root) {
        return arrays_of(unlocked([&, view = nodes.view()] { return pruned(view, root); }));
    });
}

}  // namespace batchsolve::python
