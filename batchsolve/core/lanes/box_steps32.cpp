#include "lanes/box_steps.h"

namespace batchsolve::lanes {

BoxSteps<std::uint32_t> box_steps(AnyBox box, std::uint32_t) {
    return steps_of<std::uint32_t, 5, 5>(box);
}

}  // namespace batchsolve::lanes
