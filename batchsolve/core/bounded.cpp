// Dancing links for items with bounds.
#include "bounded.h"

#include "spares.h"

namespace batchsolve {

PreparedLinks prepare_bounded(const Problem& problem, std::span<const std::uint32_t> handicaps) {
    const auto prepare = [&]<bool colored, bool ruled>() {
        return prepared<BoundedLinks<colored, ruled, false, NoPrices>>(problem, handicaps);
    };
    return with_facts(!problem.colors.empty(), !handicaps.empty(), prepare);
}

}  // namespace batchsolve
