// Keys of grids, columns of cages and ends of records, for Python.
#include "python/module.h"
#include "tables/cages.h"
#include "tables/keys.h"
#include "tables/records.h"

namespace nanobind::detail {

namespace tables = batchsolve::tables;

template <>
struct type_caster<tables::Cages>
    : FieldsCaster<tables::Cages, &tables::Cages::cages_of, &tables::Cages::totals,
                   &tables::Cages::cells, &tables::Cages::is_read> {};

template <>
struct type_caster<tables::RecordEnd>
    : FieldsCaster<tables::RecordEnd, &tables::RecordEnd::offset, &tables::RecordEnd::is_open> {};

}  // namespace nanobind::detail

namespace batchsolve::python {

void add_tables(nb::module_& m) {
    m.def("add_keys", &tables::add_keys, Unlocked());
    m.def("read_cages", &tables::read_cages, Unlocked());
    m.def("record_end", &tables::record_end, Unlocked());
}

}  // namespace batchsolve::python
