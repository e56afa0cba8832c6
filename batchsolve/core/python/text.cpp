// Grids and covers as text, for Python.
#include "text.h"

#include "grids.h"
#include "python/module.h"
#include "python/stacks.h"
#include "render.h"

namespace batchsolve::python {

namespace {

using Bytes = Array<std::uint8_t>;
using Offsets = Array<std::int64_t>;

text::Texts texts_of(const Bytes& bytes, const Array<std::int32_t>& offsets) {
    return {span_of(bytes), span_of(offsets)};
}

text::Table table_of(const Bytes& table) {
    if (table.size() != 256) throw nb::value_error("a table of symbols has 256 entries");
    return span_of(table).first<256>();
}

text::Symbols symbols_of(const Bytes& begins, const Bytes& steps) {
    if (begins.size() != steps.size()) throw nb::value_error("each step begins at a digit");
    return {span_of(begins), span_of(steps)};
}

/// Return a list as its bounds and its elements.
template <class T>
nb::tuple lists_to_python(render::Lists<T>&& lists) {
    return nb::make_tuple(to_python(std::move(lists.bounds)), to_python(std::move(lists.elements)));
}

text::Grids grids_of(const Output<std::uint8_t, 2>& digits, const Output<std::int32_t>& faults,
                     std::size_t n_texts) {
    if (digits.shape(0) != n_texts || faults.size() != n_texts) {
        throw nb::value_error("each text is a grid, and has a fault");
    }
    return {span_of(digits), span_of(faults), digits.shape(1)};
}

/// Read a column of symbols into grids, shape (n, n_cells), and the fault of each.
void read_symbols(Bytes bytes, Array<std::int32_t> offsets, Bytes table,
                  Output<std::uint8_t, 2> digits, Output<std::int32_t> faults) {
    unlocked([&] {
        const auto texts = texts_of(bytes, offsets);
        text::read_symbols(texts, table_of(table), grids_of(digits, faults, texts.size()));
    });
}

/// Read a column of numbers as `read_symbols` does.
void read_numbers(Bytes bytes, Array<std::int32_t> offsets, Bytes table, int first_digit,
                  int n_digits, Output<std::uint8_t, 2> digits, Output<std::int32_t> faults) {
    unlocked([&] {
        const auto texts = texts_of(bytes, offsets);
        const auto grids = grids_of(digits, faults, texts.size());
        text::read_numbers(texts, table_of(table), first_digit, n_digits, grids);
    });
}

auto write_symbols(Bytes digits, Bytes begins, Bytes steps) {
    return to_python(
        unlocked([&] { return text::write_symbols(span_of(digits), symbols_of(begins, steps)); }));
}

/// Return the bytes of grids, and the offsets of each.
nb::tuple write_numbers(Array<std::uint8_t, 2> grids, int first_digit, std::uint8_t separator,
                        std::uint8_t blank) {
    auto written = unlocked([&] {
        return text::write_numbers(span_of(grids), grids.shape(1), first_digit, separator, blank);
    });
    return nb::make_tuple(to_python(std::move(written.bytes)),
                          to_python(std::move(written.offsets)));
}

/// Return the numbers of bytes and of tokens of each text, the lower and the upper half of the set
/// of its bytes, and whether it has long tokens.
nb::tuple survey(Bytes bytes, Array<std::int32_t> offsets) {
    auto facts = unlocked([&] { return text::survey(texts_of(bytes, offsets)); });
    return nb::make_tuple(to_python(std::move(facts.n_bytes)), to_python(std::move(facts.n_tokens)),
                          to_python(std::move(facts.low)), to_python(std::move(facts.high)),
                          to_python(std::move(facts.has_long)));
}

auto order_of_grids(Array<std::uint8_t, 2> grids, Array<std::uint64_t> ranks) {
    if (ranks.size() < 1 || ranks.size() > 256) throw nb::value_error("digits are bytes");
    return to_python(unlocked(
        [&] { return render::order_of_grids(span_of(grids), grids.shape(1), span_of(ranks)); }));
}

/// Return the bounds and the ranks of lists of options.
nb::tuple ranked(Offsets offsets, Array<std::uint32_t> options, Array<std::uint32_t> ranks,
                 bool in_order) {
    check_stacks(offsets, options.size());
    return lists_to_python(unlocked([&] {
        return render::ranked(span_of(offsets), span_of(options), span_of(ranks), in_order);
    }));
}

/// Return lines of grids in an order, shape (n, size of a line).
auto write_grids(Array<std::uint8_t, 2> grids, Array<std::uint32_t> order, Bytes begins,
                 Bytes steps, Bytes head, Bytes tail) {
    const auto size = head.size() + grids.shape(1) + tail.size();
    return to_python(unlocked([&] {
                         return render::write_grids(span_of(grids), grids.shape(1), span_of(order),
                                                    symbols_of(begins, steps),
                                                    {span_of(head), {}, span_of(tail)});
                     }),
                     {order.size(), size});
}

/// Return the bounds and the bytes of rows of pieces of text.
template <class Key>
nb::tuple join(Offsets bounds, Array<Key> keys, Offsets starts, Bytes pieces, Bytes head,
               Bytes separator, Bytes tail) {
    check_stacks(bounds, keys.size());
    check_stacks(starts, pieces.size());
    return lists_to_python(unlocked([&] {
        return render::join(span_of(bounds), span_of(keys), span_of(starts), span_of(pieces),
                            {span_of(head), span_of(separator), span_of(tail)});
    }));
}

/// Return the offsets and the options of the stacks of grids.
nb::tuple stacks_of_grids(Array<std::uint8_t, 2> grids, std::uint32_t n_digits) {
    auto stacks = unlocked(
        [&] { return batchsolve::stacks_of_grids(span_of(grids), grids.shape(1), n_digits); });
    return nb::make_tuple(to_python(std::move(stacks.offsets)),
                          to_python(std::move(stacks.options)));
}

/// Return the grids of stacks, shape (n, n_cells).
auto grids_of_stacks(Offsets offsets, Array<std::uint32_t> options, std::uint16_t n_cells,
                     std::uint8_t n_digits) {
    check_stacks(offsets, options.size());
    return to_python(unlocked([&] {
                         return batchsolve::grids_of_stacks(span_of(offsets), span_of(options),
                                                            n_cells, n_digits);
                     }),
                     {offsets.size() - 1, n_cells});
}

}  // namespace

void add_text(nb::module_& m) {
    m.def("read_symbols", &read_symbols);
    m.def("read_numbers", &read_numbers);
    m.def("write_symbols", &write_symbols);
    m.def("write_numbers", &write_numbers);
    m.def("survey", &survey);
    m.def("order_of_grids", &order_of_grids);
    m.def("ranked", &ranked);
    m.def("write_grids", &write_grids);
    m.def("join", &join<std::uint8_t>);
    m.def("join", &join<std::int32_t>);
    m.def("stacks_of_grids", &stacks_of_grids);
    m.def("grids_of_stacks", &grids_of_stacks);
}

}  // namespace batchsolve::python
