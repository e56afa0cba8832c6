#include "lanes/steps.h"

namespace batchsolve::lanes {

Steps<std::uint32_t> steps_of(const Rules& rules, std::uint32_t) {
    using T = std::uint32_t;
    return rules.box.rows > 0 ? steps_of_box<T, Box<5, 5>>(rules.box) : steps_for_houses<T, 0>();
}

}  // namespace batchsolve::lanes
