// What each room of the core adds to the Python module.
#pragma once

#include "python/arrays.h"

namespace batchsolve::python {

void add_example(nb::module_& m);
void add_cages(nb::module_& m);
void add_draw(nb::module_& m);
void add_rate(nb::module_& m);
void add_scaling(nb::module_& m);

}  // namespace batchsolve::python
