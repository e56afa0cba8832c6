// Grids and covers as text, for Python.
#include "text.h"

#include "grids.h"
#include "python/module.h"
#include "render.h"

namespace nanobind::detail {

namespace text = batchsolve::text;

template <>
struct type_caster<text::Table> : ViewCaster<text::Table, const text::Byte, 1> {};

template <>
struct type_caster<text::Survey>
    : FieldsCaster<text::Survey, &text::Survey::n_bytes, &text::Survey::n_tokens,
                   &text::Survey::low, &text::Survey::high, &text::Survey::has_long> {};

}  // namespace nanobind::detail

namespace batchsolve::python {

namespace {

using Cells = Rows<std::uint8_t>;
using Faults = std::span<std::int32_t>;

/// Read a column of symbols into grids, shape (n, n_cells), and the fault of each.
void read_symbols(Bytes bytes, Offsets offsets, text::Table table, Cells digits, Faults faults) {
    const text::Texts texts(offsets, bytes);
    text::read_symbols(texts, table, {texts.size(), digits, faults});
}

/// Read a column of numbers as `read_symbols` does.
void read_numbers(Bytes bytes, Offsets offsets, text::Table table, int first_digit, int n_digits,
                  Cells digits, Faults faults) {
    const text::Texts texts(offsets, bytes);
    text::read_numbers(texts, table, first_digit, n_digits, {texts.size(), digits, faults});
}

auto write_grids(Grids grids, std::span<const std::uint32_t> order, Bytes begins, Bytes steps,
                 Bytes head, Bytes tail) {
    return render::write_grids(grids, order, {begins, steps}, {head, {}, tail});
}

/// Return the bounds and the bytes of rows of pieces of text.
template <class Key>
auto join(Ints bounds, std::span<const Key> keys, Ints starts, Bytes pieces, Bytes head,
          Bytes separator, Bytes tail) {
    return render::join<Key>({bounds, keys}, {starts, pieces}, {head, separator, tail});
}

}  // namespace

void add_text(nb::module_& m) {
    using Options = std::span<const Option>;
    m.def("read_symbols", &read_symbols, Unlocked());
    m.def("read_numbers", &read_numbers, Unlocked());
    m.def(
        "write_symbols",
        [](Bytes digits, Bytes begins, Bytes steps) {
            return text::write_symbols(digits, {begins, steps});
        },
        Unlocked());
    m.def(
        "survey", [](Bytes bytes, Offsets offsets) { return text::survey({offsets, bytes}); },
        Unlocked());
    m.def("order_of_grids", &render::order_of_grids, Unlocked());
    m.def(
        "ranked",
        [](Ints offsets, Options options, Options ranks, bool in_order) {
            return render::ranked({offsets, options}, ranks, in_order);
        },
        Unlocked());
    m.def("write_grids", &write_grids, Unlocked());
    m.def("join", &join<std::uint8_t>, Unlocked());
    m.def("join", &join<std::int32_t>, Unlocked());
    m.def("stacks_of_grids", &stacks_of_grids, Unlocked());
    m.def(
        "grids_of_stacks",
        [](Ints offsets, Options options, std::uint16_t n_cells, std::uint8_t n_digits) {
            return grids_of_stacks({offsets, options}, n_cells, n_digits);
        },
        Unlocked());
}

}  // namespace batchsolve::python
