// Keys of grids, columns of cages and ends of records, for Python.
#include "python/module.h"
#include "tables/cages.h"
#include "tables/keys.h"
#include "tables/records.h"
#include "tables/regions.h"

namespace batchsolve::python {

namespace {

/// Return the keys of grids, shape (n, 2); factors have shape (hashes, 1 + words of a grid).
auto grid_keys(Array<std::uint8_t, 2> grids, Array<std::uint64_t, 2> factors) {
    auto keys = unlocked(
        [&] { return tables::grid_keys(span_of(grids), grids.shape(1), span_of(factors)); });
    return to_python(std::move(keys), {grids.shape(0), 2});
}

/// Add keys to a table, of rows that are counted; return the first row with the key of each.
auto add_keys(Output<std::uint64_t, 2> keys, Output<std::int64_t> rows,
              Array<std::uint64_t, 2> more, Array<bool> counted, Array<std::int64_t> numbers) {
    const auto n = numbers.size();
    if (more.size() != 2 * n || counted.size() != n) throw nb::value_error("a key has two words");
    return to_python(unlocked([&] {
        tables::SeenKeys seen(span_of(keys), span_of(rows));
        const auto words = span_of(more);
        const auto is_counted = span_of(counted);
        const auto row_of = span_of(numbers);
        std::vector<std::int64_t> found(n, tables::SeenKeys::unseen);
        for (std::size_t k = 0; k < n; ++k) {
            if (!is_counted[k]) continue;
            found[k] = seen.add(words[2 * k], words[2 * k + 1], row_of[k]);
        }
        return found;
    }));
}

/// Return the cages of rows, as `Given` has them, and which rows were read.
nb::tuple read_cages(Array<std::uint8_t> labels, Array<std::int32_t> label_offsets,
                     Array<std::uint8_t> sums, Array<std::int32_t> sum_offsets, std::size_t n,
                     Array<std::uint8_t> is_wanted, std::int64_t no_sum) {
    if (is_wanted.size() + 1 != label_offsets.size() ||
        is_wanted.size() + 1 != sum_offsets.size()) {
        throw nb::value_error("each row has a text of labels and one of sums");
    }
    auto cages = unlocked([&] {
        return tables::read_cages({span_of(labels), span_of(label_offsets)},
                                  {span_of(sums), span_of(sum_offsets)}, n, span_of(is_wanted),
                                  no_sum);
    });
    return nb::make_tuple(to_python(std::move(cages.cages_of)), to_python(std::move(cages.totals)),
                          to_python(std::move(cages.cells_of)), to_python(std::move(cages.cells)),
                          to_python(std::move(cages.is_read)));
}

/// Return the regions of the cells of rows, shape (rows, n²), and which rows are wrong.
nb::tuple number_regions(Array<std::uint8_t> bytes, Array<std::int32_t> offsets, std::size_t n) {
    if (n < 1 || n > 255) throw nb::value_error("grids of 1 × 1 to 255 × 255 cells have regions");
    auto regions =
        unlocked([&] { return tables::number_regions({span_of(bytes), span_of(offsets)}, n); });
    const auto n_rows = regions.is_wrong.size();
    return nb::make_tuple(to_python(std::move(regions.numbers), {n_rows, n * n}),
                          to_python(std::move(regions.is_wrong)));
}

/// Return the offset behind the last complete record, and whether a quotation mark is open.
nb::tuple record_end(nb::bytes data, std::size_t begin, std::uint8_t delimiter, std::size_t most) {
    const std::span bytes(static_cast<const std::uint8_t*>(data.data()), data.size());
    const auto end = unlocked([&] { return tables::record_end(bytes, begin, delimiter, most); });
    return nb::make_tuple(end.offset, end.is_open);
}

}  // namespace

void add_tables(nb::module_& m) {
    m.def("grid_keys", &grid_keys);
    m.def("add_keys", &add_keys);
    m.def("read_cages", &read_cages);
    m.def("number_regions", &number_regions);
    m.def("record_end", &record_end);
}

}  // namespace batchsolve::python
