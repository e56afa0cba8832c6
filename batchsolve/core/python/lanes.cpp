// The engine `lanes`, and digging.
#include "lanes/lanes.h"

#include "python/module.h"

namespace batchsolve::python {

namespace {

/// A task as Python passes it: the arrays are kept alive by the caller.
struct LanesTask {
    Array<std::int64_t> offsets;
    Array<lanes::Option> options;
    Array<std::int64_t> roots, limits, allowances;
    std::int64_t budget, depth, keep, room;
    bool any_order, unordered;

    lanes::Task task() const {
        const lanes::Stacks stacks{span_of(offsets), span_of(options), span_of(roots)};
        if (limits.size() != stacks.size() || allowances.size() != stacks.size()) {
            throw std::invalid_argument("each stack has a limit and an allowance");
        }
        return {stacks, span_of(limits), span_of(allowances), budget,    depth,
                keep,   room,            any_order,           unordered};
    }
};

nb::tuple packed(lanes::Outcome&& out) {
    return nb::make_tuple(to_python(std::move(out.counts)), to_python(std::move(out.nodes)),
                          to_python(std::move(out.clash)), to_python(std::move(out.digits)),
                          to_python(std::move(out.options)), to_python(std::move(out.roots)),
                          to_python(std::move(out.left_offsets)),
                          to_python(std::move(out.left_options)),
                          to_python(std::move(out.parents)), to_python(std::move(out.weights)));
}

template <class F>
nb::tuple without_lock(F search) {
    auto out = [&] {
        const nb::gil_scoped_release without_lock;
        return search();
    }();
    return packed(std::move(out));
}

}  // namespace

void add_lanes(nb::module_& m) {
    nb::class_<LanesTask>(m, "LanesTask")
        .def(nb::init<Array<std::int64_t>, Array<lanes::Option>, Array<std::int64_t>,
                      Array<std::int64_t>, Array<std::int64_t>, std::int64_t, std::int64_t,
                      std::int64_t, std::int64_t, bool, bool>());
    m.def("search_boxes", [](int rows, int columns, const LanesTask& arrays) {
        const auto task = arrays.task();
        return without_lock([&] { return lanes::search_boxes(rows, columns, task); });
    });
}

}  // namespace batchsolve::python
