// The Python module of one level: each room of the core adds its functions.
#include "python/module.h"

#include "levels.h"

NB_MODULE(BATCHSOLVE_MODULE, m) {
    m.def("best_level", &batchsolve::best_level);
    batchsolve::python::add_example(m);
    batchsolve::python::add_cages(m);
    batchsolve::python::add_draw(m);
    batchsolve::python::add_rate(m);
    batchsolve::python::add_scaling(m);
}
