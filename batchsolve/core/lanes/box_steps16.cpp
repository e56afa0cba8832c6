#include "lanes/box_steps.h"

namespace batchsolve::lanes {

BoxSteps<std::uint16_t> box_steps(AnyBox box, std::uint16_t) {
    return steps_of<std::uint16_t, 2, 2, 2, 3, 3, 2, 3, 3, 2, 4, 4, 2, 2, 5, 5, 2, 3, 4, 4, 3, 4,
                    4>(box);
}

}  // namespace batchsolve::lanes
