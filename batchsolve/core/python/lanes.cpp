// The engine `lanes`, and digging.
#include "lanes/lanes.h"

#include "python/module.h"

namespace batchsolve::python {

namespace {

/// A task as Python passes it: the arrays are kept alive by the caller.
struct LanesTask {
    Array<std::int64_t> offsets;
    Array<lanes::Option> options;
    Array<std::int64_t> roots, limits, allowances;
    std::int64_t budget, depth, keep, room;
    bool any_order, unordered;

    lanes::Task task() const {
        const lanes::Stacks stacks{span_of(offsets), span_of(options), span_of(roots)};
        if (limits.size() != stacks.size() || allowances.size() != stacks.size()) {
            throw std::invalid_argument("each stack has a limit and an allowance");
        }
        return {stacks,    span_of(limits), span_of(allowances), budget, depth, keep, room,
                any_order, unordered};
    }
};

/// The rules of rows: the fields of `batchsolve.problems.row_rules.RowRules`, in order.
struct RowArrays {
    Array<std::uint8_t, 2> regions;
    Array<std::uint64_t, 2> allowed;
    Array<std::int64_t> pairs_of;
    Array<std::uint16_t, 2> pairs;
    Array<std::int64_t> cages_of, n_said, cells_of;
    Array<std::uint16_t> cage_cells;
    Array<std::int64_t, 2> sets_of;
    Array<std::uint64_t> digit_sets;

    lanes::RowRules rules() const {
        return {span_of(regions),  span_of(allowed),   span_of(pairs_of), span_of(pairs),
                span_of(cages_of), span_of(n_said),    span_of(cells_of), span_of(cage_cells),
                span_of(sets_of),  span_of(digit_sets)};
    }
};

/// The fields of `batchsolve.engines.digging.Wish`, in order.
struct WishArrays {
    Array<std::int64_t> begins;
    Array<std::uint16_t> cells, outside, free;
    std::int64_t fewest, most;
    bool is_minimal, is_weighed;
    std::int64_t n_fills;
    bool is_single;
    std::int64_t row_nodes, trial_nodes, fill_nodes;
};

/// The fields of `batchsolve.engines.digging.Made`, in order.
struct MadeArrays {
    Output<std::uint8_t, 2> puzzles, solutions;
    Output<std::int64_t> attempts, nodes;
    Output<std::int64_t, 2> reasons;
    Output<std::int64_t> fewest, most;
    Output<double> weights;
};

lanes::Digs digs_of(const WishArrays& wish, const MadeArrays& made, Array<std::uint64_t> keys,
                    Array<std::int64_t> rows) {
    if (keys.size() != 2) throw std::invalid_argument("a run has two keys");
    return {{span_of(wish.begins), span_of(wish.cells), span_of(wish.outside), span_of(wish.free),
             wish.fewest, wish.most, wish.is_minimal, wish.is_weighed, wish.n_fills, wish.is_single,
             wish.row_nodes, wish.trial_nodes, wish.fill_nodes},
            {keys.data()[0], keys.data()[1]},
            span_of(rows),
            {span_of(made.puzzles), span_of(made.solutions), span_of(made.attempts),
             span_of(made.nodes), span_of(made.reasons), span_of(made.fewest), span_of(made.most),
             span_of(made.weights)}};
}

nb::tuple packed(lanes::Outcome&& out) {
    return nb::make_tuple(to_python(std::move(out.counts)), to_python(std::move(out.nodes)),
                          to_python(std::move(out.clash)), to_python(std::move(out.digits)),
                          to_python(std::move(out.options)), to_python(std::move(out.roots)),
                          to_python(std::move(out.left_offsets)),
                          to_python(std::move(out.left_options)), to_python(std::move(out.parents)),
                          to_python(std::move(out.weights)));
}

template <class F>
nb::tuple without_lock(F search) {
    auto out = [&] {
        const nb::gil_scoped_release without_lock;
        return search();
    }();
    return packed(std::move(out));
}

}  // namespace

void add_lanes(nb::module_& m) {
    nb::class_<LanesTask>(m, "LanesTask")
        .def(nb::init<Array<std::int64_t>, Array<lanes::Option>, Array<std::int64_t>,
                      Array<std::int64_t>, Array<std::int64_t>, std::int64_t, std::int64_t,
                      std::int64_t, std::int64_t, bool, bool>());
    nb::class_<lanes::Rules>(m, "GridRules")
        .def("__init__", [](lanes::Rules* place, int n_cells, int n_digits,
                            Array<std::uint16_t> houses, Array<std::uint16_t> distinct,
                            Array<std::uint16_t> related, Array<std::uint64_t> relations) {
            new (place) lanes::Rules(n_cells, n_digits, span_of(houses), span_of(distinct),
                                     span_of(related), span_of(relations));
        });
    nb::class_<RowArrays>(m, "RowRules")
        .def(nb::init<Array<std::uint8_t, 2>, Array<std::uint64_t, 2>, Array<std::int64_t>,
                      Array<std::uint16_t, 2>, Array<std::int64_t>, Array<std::int64_t>,
                      Array<std::int64_t>, Array<std::uint16_t>, Array<std::int64_t, 2>,
                      Array<std::uint64_t>>());
    m.def("first_clashes", [](const lanes::Rules& rules, const RowArrays& own,
                              Array<std::int64_t> rows, Array<std::uint8_t, 2> grids) {
        auto clashes = [&] {
            const nb::gil_scoped_release without_lock;
            return lanes::first_clashes(rules, own.rules(), span_of(rows), span_of(grids));
        }();
        return to_python(std::move(clashes));
    });
    m.def("search_houses", [](const lanes::Rules& rules, const RowArrays& own,
                              Array<std::int64_t> rows, const LanesTask& arrays) {
        const auto task = arrays.task();
        return without_lock(
            [&] { return lanes::search_houses(rules, own.rules(), span_of(rows), task); });
    });
    nb::class_<WishArrays>(m, "Wish").def(
        nb::init<Array<std::int64_t>, Array<std::uint16_t>, Array<std::uint16_t>,
                 Array<std::uint16_t>, std::int64_t, std::int64_t, bool, bool, std::int64_t, bool,
                 std::int64_t, std::int64_t, std::int64_t>());
    const auto in_place = nb::arg().noconvert();
    using Bytes = Output<std::uint8_t, 2>;
    using Ints = Output<std::int64_t>;
    nb::class_<MadeArrays>(m, "Made").def(
        nb::init<Bytes, Bytes, Ints, Ints, Output<std::int64_t, 2>, Ints, Ints, Output<double>>(),
        in_place, in_place, in_place, in_place, in_place, in_place, in_place, in_place);
    m.def("dig_boxes", [](int rows, int columns, const WishArrays& wish, const MadeArrays& made,
                          Array<std::uint64_t> keys, Array<std::int64_t> numbers) {
        const auto digs = digs_of(wish, made, keys, numbers);
        const nb::gil_scoped_release without_lock;
        return lanes::dig_boxes(rows, columns, digs);
    });
    m.def("dig_houses",
          [](const lanes::Rules& rules, const RowArrays& own, Array<std::int64_t> own_rows,
             const WishArrays& wish, const MadeArrays& made, Array<std::uint64_t> keys,
             Array<std::int64_t> numbers) {
              const auto digs = digs_of(wish, made, keys, numbers);
              const nb::gil_scoped_release without_lock;
              return lanes::dig_houses(rules, own.rules(), span_of(own_rows), digs);
          });
    m.def("search_boxes", [](int rows, int columns, const LanesTask& arrays) {
        const auto task = arrays.task();
        return without_lock([&] { return lanes::search_boxes(rows, columns, task); });
    });
}

}  // namespace batchsolve::python
