// The random tree of a simulation for Python.
#include "python/module.h"
#include "scaling/subtrees.h"

namespace batchsolve::python {

namespace {

using scaling::Stack;
using scaling::Subtrees;

std::vector<Stack> stacks_of(Rows<const double> rows) {
    require(rows.width == 2, "a subtree has a size and a weight");
    std::vector<Stack> stacks;
    for (std::size_t k = 0; k < rows.size(); ++k) stacks.push_back({rows[k][0], rows[k][1]});
    return stacks;
}

Matrix<double> rows_of(const std::vector<Stack>& stacks) {
    Matrix<double> rows(stacks.size(), 2);
    for (std::size_t k = 0; k < stacks.size(); ++k) {
        rows[k][0] = stacks[k].size;
        rows[k][1] = stacks[k].weight;
    }
    return rows;
}

}  // namespace

void add_scaling(nb::module_& m) {
    nb::class_<Subtrees>(m, "Subtrees")
        .def(nb::init<std::span<const double>, Ints, Ints, Ints, double, std::uint32_t>())
        .def("expand",
             [](Subtrees& self, Rows<const double> stacks, double fineness) {
                 return rows_of(self.expand(stacks_of(stacks), fineness));
             })
        .def("search", [](Subtrees& self, Rows<const double> stacks, double budget,
                          std::span<const double> fineness) {
            std::vector<Stack> left;
            const double visited = self.search(stacks_of(stacks), budget, fineness, left);
            return nb::make_tuple(visited, rows_of(left));
        });
}

}  // namespace batchsolve::python
