// The check of the offsets of stacks, whose sizes and places the core takes from them.
#pragma once

#include <algorithm>

#include "python/arrays.h"

namespace batchsolve::python {

/// Throw ValueError unless offsets ascend within the number of elements.
inline void check_stacks(const Array<std::int64_t>& offsets, std::size_t n_elements) {
    const auto bounds = span_of(offsets);
    if (bounds.empty() || bounds.front() < 0 || !std::ranges::is_sorted(bounds) ||
        static_cast<std::size_t>(bounds.back()) > n_elements) {
        throw nb::value_error("offsets ascend, within the number of elements");
    }
}

}  // namespace batchsolve::python
