#include "lanes/steps.h"

namespace batchsolve::lanes {

Steps<std::uint16_t> steps_of(const Rules& rules, std::uint16_t) {
    using T = std::uint16_t;
    if (rules.box.rows > 0) {
        return steps_of_box<T, 2, 2, 2, 3, 3, 2, 3, 3, 2, 4, 4, 2, 2, 5, 5, 2, 3, 4, 4, 3, 4, 4>(
            rules.box);
    }
    return rules.n_digits == 9 ? steps_for_houses<T, 9>() : steps_for_houses<T, 0>();
}

}  // namespace batchsolve::lanes
