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

void add_cages(nb::module_& m) { m.def("complete_cages", &cages::complete_cages, Unlocked()); }

}  // namespace batchsolve::python
