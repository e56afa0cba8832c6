// Engines for exact covers: a problem that is prepared once, and searches of its tasks.
#include "engines.h"

#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include "cheapest.h"
#include "python/module.h"
#include "python/tasks.h"
#include "residual.h"

namespace batchsolve::python {

namespace {

/// Search a task without holding the lock.
nb::tuple search(const TaskArrays& arrays, auto engine) {
    const Task task = arrays.task();
    return packed(unlocked([&] { return engine(task); }));
}

/// Handicaps as Python has them: the first is the number of options that is enough.
Handicaps handicaps_of(const Array<std::uint32_t>& array) {
    Handicaps rule;
    rule.of_item.assign(array.data(), array.data() + array.size());
    if (array.size() > 0) rule.enough = rule.of_item[0];
    return rule;
}

nb::tuple search_each_by_links(const std::vector<const PreparedLinks*>& problems,
                               Array<std::int64_t> places, const TaskArrays& arrays) {
    return search(arrays,
                  [&](const Task& task) { return search_links(problems, span_of(places), task); });
}

nb::tuple count(const Problem& problem, Array<Item> order, Output<std::uint64_t, 2> table,
                const TaskArrays& arrays) {
    if (table.shape(1) != table_width(problem)) {
        throw std::invalid_argument("the table is that of another problem");
    }
    std::vector<std::uint64_t> counts;
    std::vector<double> tree_nodes;
    nb::tuple out = search(arrays, [&](const Task& task) {
        Counted counted = count_by_memo(problem, span_of(order), span_of(table), task);
        counts = std::move(counted.counts);
        tree_nodes = std::move(counted.tree_nodes);
        return std::move(counted.out);
    });
    return nb::make_tuple(out, to_python(std::move(counts)), to_python(std::move(tree_nodes)));
}

}  // namespace

void add_engines(nb::module_& m) {
    nb::class_<Problem>(m, "Problem")
        .def("__init__",
             [](Problem* place, Array<std::int64_t> indptr, Array<Item> indices,
                Array<Color> colors, Array<std::int64_t> bounds, Item n_items, Item n_primary) {
                 new (place) Problem(span_of(indptr), span_of(indices), span_of(colors),
                                     span_of(bounds), n_items, n_primary);
             });
    nb::class_<TaskArrays>(m, "Task").def(
        nb::init<Array<std::int64_t>, Array<Option>, Array<std::int64_t>, Array<std::int64_t>,
                 Array<std::int64_t>, std::int64_t, std::int64_t, std::int64_t, std::int64_t>());
    nb::class_<PreparedLinks>(m, "Links");
    m.def("links", [](const Problem& problem, Array<std::uint32_t> handicaps) {
        return PreparedLinks::of(problem, handicaps_of(handicaps));
    });
    m.def("search_links", &search_each_by_links);
    m.def("search_bits", [](const Problem& problem, const TaskArrays& arrays) {
        return search(arrays, [&](const Task& task) { return search_bits(problem, task); });
    });
    m.def("search_sparse", [](const Problem& problem, const TaskArrays& arrays) {
        return search(arrays, [&](const Task& task) { return search_sparse(problem, task); });
    });
    m.def("search_bounded",
          [](const Problem& problem, Array<std::uint32_t> handicaps, const TaskArrays& arrays) {
              return search(arrays, [&](const Task& task) {
                  return search_bounded(problem, handicaps_of(handicaps), task);
              });
          });
    m.def("search_bounded_bits", [](const Problem& problem, const TaskArrays& arrays) {
        return search(arrays, [&](const Task& task) { return search_bounded_bits(problem, task); });
    });
    m.attr("MOST_BOUNDED_OPTIONS") = most_bounded_options;
    m.attr("MOST_BOUNDED_ITEMS") = most_bounded_items;
    m.def("search_cheapest", [](const Problem& problem, std::int64_t scale, Array<std::int64_t> net,
                                Array<std::int64_t> share, Array<bool> is_useless,
                                Array<std::int64_t> ceilings, std::size_t n_wanted,
                                const TaskArrays& arrays) {
        const Pricing pricing{
            scale, span_of(net), span_of(share), span_of(is_useless), span_of(ceilings), n_wanted};
        return search(arrays,
                      [&](const Task& task) { return search_cheapest(problem, pricing, task); });
    });
    m.def("take_taxes",
          [](Array<std::int64_t> options, Array<std::int64_t> ends, Array<std::int64_t> fixed,
             Output<std::int64_t> net, std::int64_t highest, int n_sweeps) {
              return take_taxes(span_of(options), span_of(ends), span_of(fixed), span_of(net),
                                highest, n_sweeps);
          });
    m.def("table_width", &table_width);
    m.def("count_by_memo", &count);
    m.attr("MOST_SPARSE_OPTIONS") = most_sparse_options;
    m.attr("MOST_SPARSE_ITEMS") = most_sparse_items;
    m.def("leaves_more", [](const Problem& problem, const TaskArrays& arrays, std::size_t most) {
        return leaves_more(problem, arrays.task().stacks, most);
    });
}

}  // namespace batchsolve::python
