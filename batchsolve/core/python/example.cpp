// An example of a room's functions; it goes once the first room has moved in.
#include <numeric>

#include "python/module.h"
#include "random.h"
#include "vectors.h"

namespace batchsolve::python {

void add_example(nb::module_& m) {
    m.def("add_up", [](Array<std::int64_t> values) {
        const auto numbers = span_of(values);
        return std::accumulate(numbers.begin(), numbers.end(), std::int64_t{0});
    });
}

}  // namespace batchsolve::python
