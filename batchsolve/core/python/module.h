// What each room of the core adds to the Python module.
#pragma once

#include "python/casters.h"

namespace batchsolve::python {

void add_engines(nb::module_& m);
void add_graphs(nb::module_& m);
void add_lanes(nb::module_& m);
void add_grids(nb::module_& m);

}  // namespace batchsolve::python
