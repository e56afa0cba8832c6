// All that Python calls: engines for exact covers, graphs of all covers, grids in lanes, and what
// tables of grids ask of the core.
#include <nanobind/stl/list.h>
#include <nanobind/stl/optional.h>

#include "cheapest.h"
#include "draw/cages.h"
#include "draw/lines.h"
#include "draw/regions.h"
#include "engines.h"
#include "graph_queries.h"
#include "graph_search.h"
#include "grids.h"
#include "lanes/lanes.h"
#include "python/casters.h"
#include "rate/ratings.h"
#include "rate/techniques.h"
#include "redrawing.h"
#include "symmetry/forms.h"
#include "symmetry/images.h"
#include "symmetry/orbits.h"
#include "tables/cages.h"
#include "tables/keys.h"
#include "tables/records.h"
#include "text.h"

namespace batchsolve::python {

namespace {

/// Call a function with the place and the random numbers of each row.
void for_each_row(const Streams& streams, Ints rows, Ints attempts, auto draw) {
    require(rows.size() == attempts.size(), "each row has an attempt");
    for (std::size_t k = 0; k < rows.size(); ++k) draw(k, streams.of(rows[k], attempts[k]));
}

/// Return the side of square grids of digits 1 to 64, one for each row.
std::uint32_t side_of(Grids solutions, std::size_t n_rows) {
    std::uint32_t n = 0;
    while (n < 64 && n * n < solutions.width) ++n;
    const auto is_digit = [](std::uint8_t digit) { return 1 <= digit && digit <= 64; };
    require(solutions.size() == n_rows && n * n == solutions.width &&
                std::ranges::all_of(solutions.values, is_digit),
            "each row has a square grid of digits 1 to 64");
    return n;
}

void check_sizes(std::uint32_t least, std::uint32_t most) {
    require(1 <= least && least <= most && most <= 4096, "sizes are 1 to 4096");
}

auto draw_regions(const Streams& streams, Ints rows, Ints attempts, std::uint32_t n) {
    require(1 <= n && n <= 255, "there are 1 to 255 regions");
    Matrix<std::uint8_t> regions(rows.size(), n * n);
    draw::Regions drawn(n);
    for_each_row(streams, rows, attempts,
                 [&](std::size_t k, Random random) { drawn.draw(random, regions[k]); });
    return regions;
}

auto draw_cages(const Streams& streams, Ints rows, Ints attempts, Grids solutions,
                std::uint32_t least, std::uint32_t most) {
    check_sizes(least, most);
    draw::Cages drawn(side_of(solutions, rows.size()), least, most);
    Matrix<std::int16_t> cages(rows.size(), solutions.width);
    for_each_row(streams, rows, attempts,
                 [&](std::size_t k, Random random) { drawn.draw(random, solutions[k], cages[k]); });
    return cages;
}

auto draw_lines(const Streams& streams, Ints rows, Ints attempts, Grids solutions, Bytes kinds,
                std::uint32_t least, std::uint32_t most, int gap) {
    check_sizes(least, most);
    require(!kinds.empty() && std::ranges::max(kinds) < 4,
            "there are four kinds of lines, and one at least is drawn");
    draw::Lines grown(side_of(solutions, rows.size()), kinds, least, most, gap);
    draw::DrawnLines drawn;
    for_each_row(streams, rows, attempts,
                 [&](std::size_t k, Random random) { grown.draw(random, solutions[k], drawn); });
    return drawn;
}

/// Return the names and ratings of all levels, the easiest first, and true for patterns.
nb::list levels() {
    nb::list levels;
    for (const auto& [name, tenths, kind, size, is_direct] : rate::ladder) {
        levels.append(nb::make_tuple(name, tenths / 10.0, rate::is_pattern(kind)));
    }
    levels.append(nb::make_tuple("guess", (rate::ladder.back().tenths + 1) / 10.0, false));
    levels.append(nb::make_tuple("none", 0.0, false));
    return levels;
}

}  // namespace

void add_all(nb::module_& m) {
    // engines: a problem that is prepared once, and searches of its tasks
    nb::class_<Problem>(m, "Problem")
        .def(nb::init<Ints, std::span<const Item>, std::span<const Color>, Ints, Item, Item>());
    m.def("first_repeating", &first_repeating<Item>, Unlocked());
    nb::class_<PreparedLinks>(m, "Links");
    m.def("links", &prepare_links);
    m.def("search_links", &PreparedLinks::search, Unlocked());
    m.def("search_bits", &search_bits, Unlocked());
    m.def("search_sparse", &search_sparse, Unlocked());
    m.def("search_bounded_bits", &search_bounded_bits, Unlocked());
    m.def("search_cheapest", &search_cheapest, Unlocked());
    m.def("take_taxes", &take_taxes);
    nb::class_<PreparedMemo>(m, "Memo")
        .def_ro("table_width", &PreparedMemo::table_width)
        .def("count", &PreparedMemo::count, Unlocked());
    m.def("memo", &prepare_memo);

    // graphs of all covers: drawn, drawn anew, and asked
    nb::class_<GraphSearch>(m, "GraphSearch")
        .def(nb::init<const Problem&, bool, std::size_t, std::size_t>())
        .def("may_take", &GraphSearch::may_take)
        .def("run", &GraphSearch::run, Unlocked())
        .def_prop_ro("is_done", &GraphSearch::is_done)
        .def_prop_ro("is_out_of_memory", &GraphSearch::is_out_of_memory)
        .def_prop_ro("n_nodes", &GraphSearch::n_nodes)
        .def_prop_ro("share", &GraphSearch::share)
        .def("take", &GraphSearch::take)
        .def("end", &GraphSearch::end);
    const auto as_it_is = nb::arg().noconvert();  // kept, with the arrays that it views
    nb::class_<Redrawing>(m, "Redrawing")
        .def(nb::init<const GraphView&, std::span<const Option>, std::size_t, std::size_t>(),
             as_it_is, nb::arg(), nb::arg(), nb::arg(), nb::keep_alive<1, 2>())
        .def("run", &Redrawing::run, Unlocked())
        .def_prop_ro("is_done", &Redrawing::is_done)
        .def_prop_ro("is_out_of_memory", &Redrawing::is_out_of_memory)
        .def_prop_ro("n_nodes", &Redrawing::n_nodes)
        .def("take", &Redrawing::take);
    m.def("count_covers", &count_covers, Unlocked());
    m.def("covers_at", &covers_at, Unlocked());
    m.def("restricted", &restricted, Unlocked());
    m.def("pruned", &pruned, Unlocked());

    // grids in lanes, searched and dug
    using CellRows = Rows<const std::uint16_t>;
    nb::class_<lanes::Rules>(m, "GridRules")
        .def(nb::init<int, int, int, int, CellRows, CellRows, CellRows,
                      Rows<const std::uint32_t>>());
    nb::class_<lanes::RowRules>(m, "RowRules")
        .def(nb::init<const lanes::Rules&, const lanes::Said&, Rows<const std::int64_t>,
                      std::span<const std::uint64_t>, std::size_t>(),
             nb::arg(), as_it_is, nb::arg(), as_it_is, nb::arg(), nb::keep_alive<1, 2>(),
             nb::keep_alive<1, 3>(), nb::keep_alive<1, 5>(), Unlocked())
        .def_prop_ro("cages", [](const lanes::RowRules& own) { return own.all; })
        .def("digit_sets", [](const lanes::RowRules& own) {
            return std::vector(own.all.digit_sets.begin(), own.all.digit_sets.end());
        });
    m.def("first_clashes", &lanes::first_clashes, Unlocked());
    m.def("search_grids", &lanes::search_grids, Unlocked());
    m.def("dig_grids", &lanes::dig_grids, Unlocked());

    // text, columns, cages, rules at random, symmetries, ratings
    m.def("read_symbols", &text::read_symbols, Unlocked());
    m.def("read_numbers", &text::read_numbers, Unlocked());
    m.def("survey", &text::survey, Unlocked());
    m.def("stacks_of_grids", &stacks_of_grids, Unlocked());
    m.def("grids_of_stacks", &grids_of_stacks, Unlocked());
    m.def("add_keys", &tables::add_keys, Unlocked());
    m.def("read_cages", &tables::read_cages, Unlocked());
    m.def("record_end", &tables::record_end, Unlocked());
    m.def("draw_regions", &draw_regions, Unlocked());
    m.def("draw_cages", &draw_cages, Unlocked());
    m.def("draw_lines", &draw_lines, Unlocked());
    m.def("canonical_forms", &symmetry::canonical_forms, Unlocked());
    m.def("draw_images", &symmetry::draw_images, Unlocked());
    m.def("least_covers", &symmetry::least_covers, Unlocked());
    m.def("levels_of_ratings", &levels);
    m.def("rate_grids", &rate::rate_grids, Unlocked());
    m.def("steps_of", &rate::steps_of, Unlocked());
}

}  // namespace batchsolve::python
