// Dancing links, for problems with and without colours and branching rules.
#include "links.h"

#include "spares.h"

namespace batchsolve {

PreparedLinks prepare_links(const Problem& problem, std::span<const std::uint32_t> handicaps) {
    if (!problem.bounds.empty()) return prepare_bounded(problem, handicaps);
    const auto prepare = [&]<bool colored, bool ruled>() {
        return prepared<Links<colored, ruled>>(problem, handicaps);
    };
    return with_facts(!problem.colors.empty(), !handicaps.empty(), prepare);
}

}  // namespace batchsolve
