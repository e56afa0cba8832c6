// The engine `lanes`, and digging.
#include "lanes/lanes.h"

#include "python/module.h"
#include "python/tasks.h"

namespace batchsolve::python {

namespace {

/// The rules of rows: the fields of `batchsolve.problems.rule_arrays.RowRules`, in order.
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

/// The fields of `batchsolve.engines.lanes.Wish`, in order.
struct WishArrays {
    Array<std::int64_t> begins;
    Array<std::uint16_t> cells, outside, free;
    std::int64_t fewest, most;
    bool is_minimal, is_weighed;
    std::int64_t n_fills;
    bool is_single;
    std::int64_t row_nodes, trial_nodes, fill_nodes;
};

/// The fields of `batchsolve.engines.lanes.Made`, in order.
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

nb::tuple arrays_of(lanes::Grids&& found) {
    return nb::make_tuple(packed(std::move(found.out)), to_python(std::move(found.digits)));
}

}  // namespace

void add_lanes(nb::module_& m) {
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
        return to_python(unlocked([&] {
            return lanes::first_clashes(rules, own.rules(), span_of(rows), span_of(grids));
        }));
    });
    m.def("search_houses",
          [](const lanes::Rules& rules, const RowArrays& own, Array<std::int64_t> rows,
             const TaskArrays& arrays, bool is_any_order, bool is_unordered) {
              const Task task = arrays.task();
              return arrays_of(unlocked([&] {
                  return lanes::search_houses(rules, own.rules(), span_of(rows), task,
                                              {is_any_order, is_unordered});
              }));
          });
    m.def("search_boxes", [](int rows, int columns, const TaskArrays& arrays, bool is_any_order,
                             bool is_unordered) {
        const Task task = arrays.task();
        return arrays_of(unlocked([&] {
            return lanes::search_boxes(rows, columns, task, {is_any_order, is_unordered});
        }));
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
        return unlocked([&] { return lanes::dig_boxes(rows, columns, digs); });
    });
    m.def("dig_houses",
          [](const lanes::Rules& rules, const RowArrays& own, Array<std::int64_t> own_rows,
             const WishArrays& wish, const MadeArrays& made, Array<std::uint64_t> keys,
             Array<std::int64_t> numbers) {
              const auto digs = digs_of(wish, made, keys, numbers);
              return unlocked(
                  [&] { return lanes::dig_houses(rules, own.rules(), span_of(own_rows), digs); });
          });
}

}  // namespace batchsolve::python
