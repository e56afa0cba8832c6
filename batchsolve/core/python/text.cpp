// Grids as text, for Python.
#include "text.h"

#include "grids.h"
#include "python/module.h"

namespace nanobind::detail {

namespace text = batchsolve::text;

template <>
struct type_caster<text::Survey>
    : FieldsCaster<text::Survey, &text::Survey::n_bytes, &text::Survey::n_tokens,
                   &text::Survey::low, &text::Survey::high, &text::Survey::has_long> {};

}  // namespace nanobind::detail

namespace batchsolve::python {

void add_text(nb::module_& m) {
    m.def("read_symbols", &text::read_symbols, Unlocked());
    m.def("read_numbers", &text::read_numbers, Unlocked());
    m.def("survey", &text::survey, Unlocked());
    m.def("stacks_of_grids", &stacks_of_grids, Unlocked());
    m.def("grids_of_stacks", &grids_of_stacks, Unlocked());
}

}  // namespace batchsolve::python
