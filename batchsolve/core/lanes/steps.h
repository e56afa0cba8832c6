// The steps of grids with rules of each kind, compiled for the usual shapes of boxes.
#pragma once

#include "lanes/box_pass.h"
#include "lanes/grids.h"
#include "lanes/house_pass.h"

namespace batchsolve::lanes {

template <class T, class Shape>
Steps<T> steps_for_box() {
    return {[](const Rules& rules, std::span<Vector<T>> cells, std::span<const Vector<T>>) {
                return BoxPass<Vector<T>, Shape>(cells, Shape(rules.box)).run();
            },
            [](const Rules& rules, std::span<const Vector<T>> cells, Vector<T>& chosen) {
                return BoxChoice<Vector<T>, Shape>(cells, Shape(rules.box)).run(chosen);
            }};
}

/// `digits` is their number if the pass is to know it when the code is compiled, else 0.
template <class T, int digits>
Steps<T> steps_for_houses() {
    return {[](const Rules& rules, std::span<Vector<T>> cells, std::span<const Vector<T>> regions) {
                return HousePass<T, digits>(rules, cells, regions).run();
            },
            [](const Rules&, std::span<const Vector<T>> cells, Vector<T>& chosen) {
                return choose_fewest(cells, chosen);
            }};
}

/// Return the steps for that of these shapes which the box of the rules has, else for any.
template <class T, class... Shapes>
Steps<T> steps_of_box(AnyBox box) {
    Steps<T> steps = steps_for_box<T, AnyBox>();
    const auto take_if = [&](bool fits, Steps<T> other) { steps = fits ? other : steps; };
    (take_if(Shapes::is_of(box), steps_for_box<T, Shapes>()), ...);
    return steps;
}

}  // namespace batchsolve::lanes
