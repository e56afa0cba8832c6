// The random tree of a simulation for Python.
#include "python/module.h"
#include "scaling/subtrees.h"

namespace batchsolve::python {

namespace {

using scaling::Stack;
using scaling::Subtrees;

std::vector<Stack> stacks_of(Array<double, 2> array) {
    if (array.shape(1) != 2) throw nb::value_error("a subtree has a size and a weight");
    std::vector<Stack> stacks;
    const auto values = span_of(array);
    for (std::size_t x = 0; x < values.size(); x += 2) stacks.push_back({values[x], values[x + 1]});
    return stacks;
}

auto array_of(const std::vector<Stack>& stacks) {
    std::vector<double> values;
    for (const auto& [size, weight] : stacks) values.insert(values.end(), {size, weight});
    return to_python(std::move(values), {stacks.size(), 2});
}

}  // namespace

void add_scaling(nb::module_& m) {
    nb::class_<Subtrees>(m, "Subtrees")
        .def("__init__",
             [](Subtrees* place, Array<double> shares, Array<std::int64_t> bounds,
                Array<std::int64_t> first, Array<std::int64_t> last, double grain,
                std::uint32_t seed) {
                 new (place) Subtrees(span_of(shares), span_of(bounds), span_of(first),
                                      span_of(last), grain, seed);
             })
        .def("expand",
             [](Subtrees& self, Array<double, 2> stacks) {
                 return array_of(self.expand(stacks_of(stacks)));
             })
        .def("search", [](Subtrees& self, Array<double, 2> stacks, double budget) {
            std::vector<Stack> left;
            const double visited = self.search(stacks_of(stacks), budget, left);
            return nb::make_tuple(visited, array_of(left));
        });
}

}  // namespace batchsolve::python
