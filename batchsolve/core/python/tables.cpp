// Keys of grids, columns of cages and ends of records, for Python.
#include "python/module.h"
#include "tables/cages.h"
#include "tables/keys.h"
#include "tables/records.h"
#include "tables/regions.h"

namespace nanobind::detail {

namespace tables = batchsolve::tables;

template <>
struct type_caster<tables::Cages>
    : FieldsCaster<tables::Cages, &tables::Cages::cages_of, &tables::Cages::totals,
                   &tables::Cages::cells, &tables::Cages::is_read> {};

template <>
struct type_caster<tables::Regions>
    : FieldsCaster<tables::Regions, &tables::Regions::numbers, &tables::Regions::is_wrong> {};

template <>
struct type_caster<tables::RecordEnd>
    : FieldsCaster<tables::RecordEnd, &tables::RecordEnd::offset, &tables::RecordEnd::is_open> {};

}  // namespace nanobind::detail

namespace batchsolve::python {

void add_tables(nb::module_& m) {
    m.def("grid_keys", &tables::grid_keys, Unlocked());
    m.def("add_keys", &tables::add_keys, Unlocked());
    m.def(
        "read_cages",
        [](Bytes labels, Offsets label_offsets, Bytes sums, Offsets sum_offsets, std::size_t n,
           Bytes is_wanted, std::int64_t no_sum) {
            return tables::read_cages({label_offsets, labels}, {sum_offsets, sums}, n, is_wanted,
                                      no_sum);
        },
        Unlocked());
    m.def(
        "number_regions",
        [](Bytes bytes, Offsets offsets, std::size_t n) {
            return tables::number_regions({offsets, bytes}, n);
        },
        Unlocked());
    m.def("record_end",
          [](nb::bytes data, std::size_t begin, std::uint8_t delimiter, std::size_t most) {
              const std::span bytes(static_cast<const std::uint8_t*>(data.data()), data.size());
              const nb::gil_scoped_release release;
              return tables::record_end(bytes, begin, delimiter, most);
          });
}

}  // namespace batchsolve::python
