// The steps of grids with rules of each kind, compiled for the usual shapes of boxes.
#include "lanes/box_pass.h"
#include "lanes/grids.h"
#include "lanes/house_pass.h"

namespace batchsolve::lanes {

namespace {

template <class T, class Shape>
Steps<T> steps_for_box() {
    return {[](const Rules& rules, std::span<Vector<T>> cells, std::span<const Vector<T>>) {
                return BoxPass<Vector<T>, Shape>(cells, Shape(rules.box)).run();
            },
            [](const Rules& rules, std::span<const Vector<T>> cells, Vector<T>& chosen) {
                return BoxChoice<Vector<T>, Shape>(cells, Shape(rules.box)).run(chosen);
            }};
}

template <class T, int digits = 0>
Steps<T> steps_for_houses() {
    return {[](const Rules& rules, std::span<Vector<T>> cells, std::span<const Vector<T>> regions) {
                return HousePass<T, digits>(rules, cells, regions).run();
            },
            [](const Rules&, std::span<const Vector<T>> cells, Vector<T>& chosen) {
                return choose_fewest(cells, chosen);
            }};
}

/// Return the steps for that of these shapes which the box of the rules has, else for any box, or
/// for none.
template <class T, class... Shapes>
Steps<T> steps_of(const Rules& rules) {
    Steps<T> steps = rules.box.rows > 0 ? steps_for_box<T, AnyBox>() : steps_for_houses<T>();
    const auto take_if = [&](bool fits, Steps<T> other) { steps = fits ? other : steps; };
    (take_if(Shapes::is_of(rules.box), steps_for_box<T, Shapes>()), ...);
    return steps;
}

}  // namespace

Steps<std::uint16_t> steps_of(const Rules& rules, std::uint16_t) {
    // nine digits, as of jigsaws, are known when it is compiled: generating takes 0.93 of the time
    if (rules.box.rows == 0 && rules.n_digits == 9) return steps_for_houses<std::uint16_t, 9>();
    return steps_of<std::uint16_t, Box<2, 2>, Box<2, 3>, Box<3, 2>, Box<3, 3>, Box<2, 4>, Box<4, 2>,
                    Box<2, 5>, Box<5, 2>, Box<3, 4>, Box<4, 3>, Box<4, 4>>(rules);
}

Steps<std::uint32_t> steps_of(const Rules& rules, std::uint32_t) {
    return steps_of<std::uint32_t, Box<5, 5>>(rules);
}

}  // namespace batchsolve::lanes
