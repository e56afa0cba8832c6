// The engine `lanes`, and digging.
#include "lanes/lanes.h"

#include "python/tasks.h"

namespace nanobind::detail {

namespace lanes = batchsolve::lanes;
using Cells = std::span<const std::uint16_t>;

// The fields of `row_rules` in `batchsolve.problems.rules`, and of `Wish` and `Made` in
// `batchsolve.engines.native`, in order.

template <>
struct type_caster<lanes::RowRules>
    : PartsCaster<lanes::RowRules, Rows<const std::uint8_t>, Rows<const std::uint64_t>, Ints,
                  Rows<const std::uint16_t>, Ints, Ints, batchsolve::Lists<std::uint16_t>,
                  Rows<const std::int64_t>, std::span<const std::uint64_t>> {};

template <>
struct type_caster<lanes::Wish>
    : PartsCaster<lanes::Wish, batchsolve::Lists<std::uint16_t>, Cells, Cells, std::int64_t,
                  std::int64_t, bool, bool, std::int64_t, bool, std::int64_t, std::int64_t,
                  std::int64_t> {};

template <>
struct type_caster<lanes::Made>
    : PartsCaster<lanes::Made, Rows<std::uint8_t>, Rows<std::uint8_t>, std::span<std::int64_t>,
                  std::span<std::int64_t>, Rows<std::int64_t>, std::span<std::int64_t>,
                  std::span<std::int64_t>, std::span<double>> {};

}  // namespace nanobind::detail

namespace batchsolve::python {

void add_lanes(nb::module_& m) {
    using CellRows = Rows<const std::uint16_t>;
    nb::class_<lanes::Rules>(m, "GridRules")
        .def(nb::init<int, int, int, int, CellRows, CellRows, CellRows,
                      Rows<const std::uint32_t>>());
    m.def("first_clashes", &lanes::first_clashes, Unlocked());
    m.def("search_grids", &lanes::search_grids, Unlocked());
    m.def("dig_grids", &lanes::dig_grids, Unlocked());
}

}  // namespace batchsolve::python
