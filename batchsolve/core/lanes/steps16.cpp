#include "lanes/steps.h"

namespace batchsolve::lanes {

Steps<std::uint16_t> steps_of(const Rules& rules, std::uint16_t) {
    using T = std::uint16_t;
    if (rules.box.rows > 0) {
        return steps_of_box<T, Box<2, 2>, Box<2, 3>, Box<3, 2>, Box<3, 3>, Box<2, 4>, Box<4, 2>,
                            Box<2, 5>, Box<5, 2>, Box<3, 4>, Box<4, 3>, Box<4, 4>>(rules.box);
    }
    return rules.n_digits == 9 ? steps_for_houses<T, 9>() : steps_for_houses<T, 0>();
}

}  // namespace batchsolve::lanes
