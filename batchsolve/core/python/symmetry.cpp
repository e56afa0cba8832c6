// Canonical forms, images and orbits for Python.
#include "python/module.h"
#include "python/stacks.h"
#include "symmetry/forms.h"
#include "symmetry/images.h"
#include "symmetry/orbits.h"

namespace batchsolve::python {

namespace {

/// Return the forms of grids, shape (n, n²), their numbers of symmetries, and how they are made:
/// whether transposed, and the row and the column at each of the form.
nb::tuple canonical_forms(Array<std::uint8_t, 2> grids, int box_rows, int box_columns,
                          std::size_t most_states, bool by_table) {
    const symmetry::Boxes boxes{box_rows, box_columns};
    const auto n = static_cast<std::size_t>(boxes.n()), n_grids = grids.shape(0);
    if (box_rows < 1 || box_columns < 1 || grids.shape(1) != n * n) {
        throw nb::value_error("grids of another shape than their boxes");
    }
    auto forms = unlocked(
        [&] { return symmetry::find_forms(span_of(grids), boxes, most_states, by_table); });
    return nb::make_tuple(
        to_python(std::move(forms.grids), {n_grids, n * n}), to_python(std::move(forms.symmetries)),
        to_python(std::move(forms.transposed)), to_python(std::move(forms.rows), {n_grids, n}),
        to_python(std::move(forms.columns), {n_grids, n}));
}

/// Return images: the grid of each, their puzzles, and their solutions, none if there are none.
nb::tuple draw_images(Array<std::uint8_t, 2> puzzles, Array<std::uint8_t, 2> solutions,
                      Array<std::int64_t> numbers, Array<std::uint64_t> keys, std::size_t most,
                      bool original, int n_digits, int box_rows, int box_columns, int labels,
                      Array<std::uint16_t, 2> turns, Array<std::uint16_t, 2> moves,
                      Array<std::uint8_t, 2> relabels) {
    if (keys.size() != 2 || labels < 0 || labels > 2 || puzzles.shape(0) != numbers.size() ||
        moves.shape(1) != puzzles.shape(1) || turns.shape(1) != puzzles.shape(1)) {
        throw nb::value_error("grids of other cells or digits than their group");
    }
    const symmetry::Group group{.n_digits = n_digits,
                                .n_cells = puzzles.shape(1),
                                .box_rows = box_rows,
                                .box_columns = box_columns,
                                .labels = static_cast<symmetry::Group::Labels>(labels),
                                .turns = span_of(turns),
                                .moves = span_of(moves),
                                .relabels = span_of(relabels)};
    const symmetry::Originals originals{span_of(puzzles), span_of(solutions), span_of(numbers)};
    auto images = unlocked([&] {
        return symmetry::draw_images(group, originals, span_of(keys).first<2>(), most, original);
    });
    const auto n_images = images.sources.size();
    return nb::make_tuple(to_python(std::move(images.sources)),
                          to_python(std::move(images.puzzles), {n_images, puzzles.shape(1)}),
                          to_python(std::move(images.solutions), {n_images, solutions.shape(1)}));
}

/// Tell for each cover whether it is the least of its orbit; images have shape (symmetries, n).
auto least_covers(Array<std::int64_t> offsets, Array<std::uint32_t> options,
                  Array<std::uint32_t, 2> images) {
    check_stacks(offsets, options.size());
    return to_python(unlocked([&] {
        return symmetry::least_covers(span_of(offsets), span_of(options), span_of(images),
                                      images.shape(1));
    }));
}

}  // namespace

void add_symmetry(nb::module_& m) {
    m.def("canonical_forms", &canonical_forms);
    m.def("draw_images", &draw_images);
    m.def("least_covers", &least_covers);
}

}  // namespace batchsolve::python
