// Canonical forms, images and orbits for Python.
#include "python/module.h"
#include "symmetry/forms.h"
#include "symmetry/images.h"
#include "symmetry/orbits.h"

namespace nanobind::detail {

using batchsolve::symmetry::Forms;
using batchsolve::symmetry::Group;
using batchsolve::symmetry::Images;

template <>
struct type_caster<Forms> : FieldsCaster<Forms, &Forms::grids, &Forms::symmetries,
                                         &Forms::transposed, &Forms::rows, &Forms::columns> {};

template <>
struct type_caster<Group> : PartsCaster<Group, int, int, int, int, Rows<const Group::Cell>,
                                        Rows<const Group::Cell>, Rows<const Group::Digit>> {};

template <>
struct type_caster<Images>
    : FieldsCaster<Images, &Images::sources, &Images::puzzles, &Images::solutions> {};

}  // namespace nanobind::detail

namespace batchsolve::python {

void add_symmetry(nb::module_& m) {
    m.def("canonical_forms", &symmetry::canonical_forms, Unlocked());
    m.def("draw_images", &symmetry::draw_images, Unlocked());
    m.def("least_covers", &symmetry::least_covers, Unlocked());
}

}  // namespace batchsolve::python
