// Tasks and outcomes, as Python passes and gets them.
#pragma once

#include <stdexcept>

#include "python/arrays.h"
#include "task.h"

namespace batchsolve::python {

inline nb::tuple packed(GrowingStacks&& stacks) {
    return nb::make_tuple(to_python(std::move(stacks.offsets)),
                          to_python(std::move(stacks.options)),
                          to_python(std::move(stacks.parents)));
}

inline nb::tuple packed(Outcome&& out) {
    return nb::make_tuple(to_python(std::move(out.counts)), to_python(std::move(out.nodes)),
                          to_python(std::move(out.clash)), packed(std::move(out.covers)),
                          packed(std::move(out.frontier)), to_python(std::move(out.weights)));
}

/// A task as Python passes it: the arrays are kept alive by the caller.
struct TaskArrays {
    Array<std::int64_t> offsets;
    Array<Option> options;
    Array<std::int64_t> roots, limits, allowances;
    std::int64_t budget, depth, keep, room;

    Task task() const {
        const Stacks stacks{span_of(offsets), span_of(options), span_of(roots)};
        if (limits.size() != stacks.size() || allowances.size() != stacks.size()) {
            throw std::invalid_argument("each stack has a limit and an allowance");
        }
        return {stacks, span_of(limits), span_of(allowances), budget, depth, keep, room};
    }
};

}  // namespace batchsolve::python
