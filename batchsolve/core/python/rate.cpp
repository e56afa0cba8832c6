// Ratings for Python.
#include "rate/ratings.h"

#include "python/module.h"
#include "rate/techniques.h"

namespace nanobind::detail {

using batchsolve::rate::Ratings;

template <>
struct type_caster<Ratings>
    : FieldsCaster<Ratings, &Ratings::levels, &Ratings::dead_ends, &Ratings::backdoors> {};

}  // namespace nanobind::detail

namespace batchsolve::python {

namespace {

/// Return the names and ratings of all levels, the easiest first.
nb::list levels() {
    nb::list levels = list_of(rate::ladder, [](const rate::Technique& each) {
        return nb::make_tuple(each.name, each.tenths / 10.0);
    });
    levels.append(nb::make_tuple("guess", (rate::ladder.back().tenths + 1) / 10.0));
    levels.append(nb::make_tuple("none", 0.0));
    return levels;
}

/// Return a step: the level, the cells and digits of the pattern, its chains, and candidates that
/// it fills and removes.
nb::tuple tuple_of(const rate::Step& step) {
    const auto pair = [](rate::Candidate c) { return nb::make_tuple(c.cell, c.digit + 1); };
    const auto link = [](const rate::Link& link) {
        return nb::make_tuple(link.candidate.cell, link.candidate.digit + 1, link.is_on);
    };
    const auto number = [](unsigned k) { return nb::int_(k); };
    const auto digit = [](unsigned k) { return nb::int_(k + 1); };
    return nb::make_tuple(
        step.level, list_of(rate::elements(step.cells), number),
        list_of(rate::elements(step.digits), digit),
        list_of(step.chains, [&](const auto& chain) { return list_of(chain, link); }),
        list_of(step.filled, pair), list_of(step.removed, pair));
}

nb::list steps_of(Bytes grid, bool uniqueness) {
    require(grid.size() == rate::n_cells, "a grid to solve by steps has 81 cells");
    std::vector<rate::Step> steps;
    {
        const nb::gil_scoped_release release;
        steps = rate::steps_of(grid.first<rate::n_cells>(), uniqueness);
    }
    return list_of(steps, tuple_of);
}

}  // namespace

void add_rate(nb::module_& m) {
    m.def("levels_of_ratings", &levels);
    m.def("rate_grids", &rate::rate_grids, Unlocked());
    m.def("steps_of", &steps_of);
}

}  // namespace batchsolve::python
