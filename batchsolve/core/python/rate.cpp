// Ratings for Python.
#include "rate/ratings.h"

#include "python/module.h"
#include "rate/techniques.h"

namespace batchsolve::python {

using rate::Candidate;
using rate::Grid;
using rate::n_cells;

namespace {

/// Return the names and ratings of all levels, the easiest first.
nb::list levels() {
    nb::list levels;
    for (const auto& each : rate::ladder) {
        levels.append(nb::make_tuple(each.name, each.tenths / 10.0));
    }
    levels.append(nb::make_tuple("guess", (rate::ladder.back().tenths + 1) / 10.0));
    levels.append(nb::make_tuple("none", 0.0));
    return levels;
}

/// Return the levels, dead ends and backdoors of grids; -1 stands for none.
nb::tuple rate_grids(Array<std::uint8_t, 2> grids, bool uniqueness, bool with_backdoors) {
    if (grids.shape(1) != n_cells) throw nb::value_error("grids to rate have 81 cells");
    const std::size_t n = grids.shape(0);
    std::vector<std::uint8_t> levels(n);
    std::vector<std::int64_t> dead_ends(n);
    std::vector<std::int8_t> backdoors(n);
    {
        const nb::gil_scoped_release release;
        const auto cells = span_of(grids);
        for (std::size_t k = 0; k < n; ++k) {
            const Grid grid = cells.subspan(n_cells * k).first<n_cells>();
            const auto rating = rate::rating_of(grid, uniqueness, with_backdoors);
            levels[k] = static_cast<std::uint8_t>(rating.level);
            dead_ends[k] = rating.n_dead_ends ? std::int64_t{*rating.n_dead_ends} : -1;
            backdoors[k] = static_cast<std::int8_t>(rating.backdoor ? int(*rating.backdoor) : -1);
        }
    }
    return nb::make_tuple(to_python(std::move(levels)), to_python(std::move(dead_ends)),
                          to_python(std::move(backdoors)));
}

nb::tuple pair_of(Candidate c) { return nb::make_tuple(c.cell, c.digit + 1); }

nb::list list_of(const auto& some, auto&& make) {
    nb::list list;
    for (const auto& each : some) list.append(make(each));
    return list;
}

/// Return a step: the level, the cells and digits of the pattern, its chains, and candidates that
/// it fills and removes.
nb::tuple tuple_of(const rate::Step& step) {
    const auto link = [](const rate::Link& link) {
        return nb::make_tuple(link.candidate.cell, link.candidate.digit + 1, link.is_on);
    };
    const auto number = [](unsigned k) { return nb::int_(k); };
    const auto digit = [](unsigned k) { return nb::int_(k + 1); };
    return nb::make_tuple(
        step.level, list_of(rate::elements(step.cells), number),
        list_of(rate::elements(step.digits), digit),
        list_of(step.chains, [&](const auto& chain) { return list_of(chain, link); }),
        list_of(step.filled, pair_of), list_of(step.removed, pair_of));
}

nb::list steps_of(Array<std::uint8_t> grid, bool uniqueness) {
    if (grid.size() != n_cells) throw nb::value_error("a grid to solve by steps has 81 cells");
    std::vector<rate::Step> steps;
    {
        const nb::gil_scoped_release release;
        steps = rate::steps_of(span_of(grid).first<n_cells>(), uniqueness);
    }
    return list_of(steps, tuple_of);
}

}  // namespace

void add_rate(nb::module_& m) {
    m.def("levels_of_ratings", &levels);
    m.def("rate_grids", &rate_grids);
    m.def("steps_of", &steps_of);
}

}  // namespace batchsolve::python
