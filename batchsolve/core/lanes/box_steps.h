// The steps of shapes of boxes, each compiled for its own.
#pragma once

#include "lanes/boxes.h"

namespace batchsolve::lanes {

template <class T, class Shape>
BoxSteps<T> steps_for(auto shape_of) {
    static constexpr auto shape = decltype(shape_of){};
    return {[](std::span<Vector<T>> cells, AnyBox box) {
                return BoxPass<Vector<T>, Shape>(cells, shape(box)).run();
            },
            [](std::span<const Vector<T>> cells, AnyBox box, Vector<T>& chosen) {
                return BoxChoice<Vector<T>, Shape>(cells, shape(box)).run(chosen);
            }};
}

/// Return the steps for the first of these shapes that a box has, else those for any.
template <class T, int rows, int columns, int... others>
BoxSteps<T> steps_of(AnyBox box) {
    if (box.rows == rows && box.columns == columns) {
        return steps_for<T, Box<rows, columns>>([](AnyBox) { return Box<rows, columns>(); });
    }
    if constexpr (sizeof...(others) > 0) {
        return steps_of<T, others...>(box);
    } else {
        return steps_for<T, AnyBox>([](AnyBox any) { return any; });
    }
}

}  // namespace batchsolve::lanes
