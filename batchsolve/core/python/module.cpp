// The Python module of one level: each room of the core adds its functions.
#include "python/module.h"


NB_MODULE(BATCHSOLVE_MODULE, m) {
    batchsolve::python::add_engines(m);
    batchsolve::python::add_example(m);
    batchsolve::python::add_lanes(m);
}
