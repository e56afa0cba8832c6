// The Python module of one level.
#include "python/casters.h"

NB_MODULE(BATCHSOLVE_MODULE, m) {
    nanobind::set_leak_warnings(false);  // caches of Python keep objects until the process ends
    batchsolve::python::add_all(m);
#ifdef BATCHSOLVE_SANITIZE
    // by which tests see that an overrun is caught
    m.def("element_at", [](batchsolve::Bytes bytes, std::size_t x) { return bytes[x]; });
#endif
}
