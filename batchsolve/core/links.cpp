// Dancing links, for problems with and without colours and branching rules.
#include "links.h"

#include "spares.h"

namespace batchsolve {

void check_order(const Problem& problem, std::span<const Item> order) {
    std::vector<Item> sorted(order.begin(), order.end());
    std::ranges::sort(sorted);
    bool is_right = sorted.size() == problem.n_primary;
    for (Item i = 0; is_right && i < sorted.size(); ++i) is_right = sorted[i] == i;
    require(is_right, "an order has each primary item once");
}

std::unique_ptr<PreparedLinks> prepare_links(const Problem& problem,
                                             std::span<const std::uint32_t> handicaps) {
    if (!problem.bounds.empty()) return prepare_bounded(problem, handicaps);
    const auto make = [&]<bool colored, bool ruled>() -> std::unique_ptr<PreparedLinks> {
        return std::make_unique<SpareLinks<Links<colored, ruled>>>(problem, handicaps);
    };
    return with_facts(!problem.colors.empty(), !handicaps.empty(), make);
}

}  // namespace batchsolve
