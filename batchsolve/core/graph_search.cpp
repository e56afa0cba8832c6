// The walk that draws a decision diagram, over dancing links with keys.
#include "graph_search.h"

namespace batchsolve {

GraphSearch::GraphSearch(const Problem& problem, bool is_ordered, std::size_t room,
                         std::size_t room_for_keys)
    : links_(problem.colors.empty() ? AnyLinks(KeyedLinks<false>(problem, is_ordered))
                                    : AnyLinks(KeyedLinks<true>(problem, is_ordered))),
      drawing_(problem.n_primary + 2,
               std::visit([&](const auto& moves) { return moves.words_of_key(problem); }, links_),
               room, room_for_keys) {
    std::visit([](auto& moves) { moves.select({}); }, links_);
}

void GraphSearch::run(std::int64_t n_nodes) {
    if (has_ended_) return;
    const std::int64_t allowed = here_.nodes + n_nodes;
    constexpr auto any_depth = std::numeric_limits<std::size_t>::max();
    const auto walk_on = [&](auto& moves) {
        return walk(moves, drawing_, here_, any_depth, allowed);
    };
    is_done_ = has_ended_ = std::visit(walk_on, links_) == Event::done;
    is_out_of_memory_ = !is_done_ && here_.nodes < allowed;
}

double GraphSearch::share() const {
    if (is_done_) return 1;
    double share = 0, of_node = 1;
    const auto add_up = [&](const auto& moves) {
        for (std::size_t level = 0; level < here_.level; ++level) {
            const double n_branches = moves.choice(level).n_branches;
            double n_tried = n_branches - 1;
            moves.for_each_untried(level, [&](Choice) { --n_tried; });
            of_node /= n_branches;
            share += n_tried * of_node;
        }
    };
    std::visit(add_up, links_);
    return share;
}

}  // namespace batchsolve
