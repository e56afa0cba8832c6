// What a search of grids is asked for, and finds, beyond the contract of engines.
#pragma once

#include <cstdint>
#include <vector>

#include "task.h"

namespace batchsolve::lanes {

/// The order of a search: whether the stacks of a root may be searched in any order, and whether
/// the options of a cover may stand in any, so that it is written as digits.
struct Order {
    bool is_any, is_unordered;
};

/// Covers have the options that fill cells alone, or none if they are written as digits.
struct Grids {
    Outcome out;
    std::vector<std::uint8_t> digits;  // of covers, cell by cell
};

}  // namespace batchsolve::lanes
