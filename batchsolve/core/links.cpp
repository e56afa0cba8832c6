// Dancing links, for problems with and without colours and branching rules.
#include "links.h"

#include "search.h"

namespace batchsolve {

namespace {

template <bool colored, bool ruled>
class Prepared : public PreparedLinks {
public:
    Prepared(const Problem& problem, Handicaps handicaps) : links_(problem, std::move(handicaps)) {}

    void search(Search& search, std::size_t begin, std::size_t end) const override {
        auto moves = links_;
        Covers covers{search};
        search.below(moves, covers, begin, end);
    }

private:
    Links<colored, ruled> links_;
};

}  // namespace

void check(const Problem& problem, const Handicaps& handicaps) {
    if (!handicaps.of_item.empty() && handicaps.of_item.size() != problem.n_items + 1) {
        throw std::invalid_argument("each item has a handicap");
    }
}

void check_order(const Problem& problem, std::span<const Item> order) {
    std::vector<Item> sorted(order.begin(), order.end());
    std::ranges::sort(sorted);
    bool is_right = sorted.size() == problem.n_primary;
    for (Item i = 0; is_right && i < sorted.size(); ++i) is_right = sorted[i] == i;
    if (!is_right) throw std::invalid_argument("an order has each primary item once");
}

std::unique_ptr<PreparedLinks> PreparedLinks::of(const Problem& problem, Handicaps handicaps) {
    check(problem, handicaps);
    const bool colored = !problem.colors.empty(), ruled = !handicaps.of_item.empty();
    if (colored && ruled) return std::make_unique<Prepared<true, true>>(problem, handicaps);
    if (colored) return std::make_unique<Prepared<true, false>>(problem, handicaps);
    if (ruled) return std::make_unique<Prepared<false, true>>(problem, handicaps);
    return std::make_unique<Prepared<false, false>>(problem, handicaps);
}

Outcome search_links(std::span<const PreparedLinks* const> problems,
                     std::span<const std::int64_t> places, const Task& task) {
    if (places.size() != task.stacks.size()) {
        throw std::invalid_argument("each stack has the place of its problem");
    }
    Search search(task);
    for (std::size_t begin = 0, end = 0; begin < places.size(); begin = end) {
        while (end < places.size() && places[end] == places[begin]) ++end;
        if (places[begin] < 0 || places[begin] >= std::ssize(problems)) {
            throw std::invalid_argument("a stack has the place of no problem");
        }
        problems[static_cast<std::size_t>(places[begin])]->search(search, begin, end);
    }
    return std::move(search.out);
}

}  // namespace batchsolve
