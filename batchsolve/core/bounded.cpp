// Dancing links for items with bounds.
#include "bounded.h"

#include "spares.h"

namespace batchsolve {

std::unique_ptr<PreparedLinks> prepare_bounded(const Problem& problem,
                                               std::span<const std::uint32_t> handicaps) {
    const auto make = [&]<bool colored, bool ruled>() -> std::unique_ptr<PreparedLinks> {
        using Moves = BoundedLinks<colored, ruled, false, NoPrices>;
        return std::make_unique<SpareLinks<Moves>>(problem, handicaps);
    };
    return with_facts(!problem.colors.empty(), !handicaps.empty(), make);
}

}  // namespace batchsolve
