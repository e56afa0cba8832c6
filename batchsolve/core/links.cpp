// Dancing links, for problems with and without colours and branching rules.
#include "links.h"

#include "search.h"
#include "spares.h"

namespace batchsolve {

namespace {

template <bool colored, bool ruled>
class Prepared : public PreparedLinks {
public:
    Prepared(const Problem& problem, Handicaps handicaps)
        : links_(Links<colored, ruled>(problem, std::move(handicaps))) {}

    void search(Search& search, std::size_t begin, std::size_t end) const override {
        Covers covers{search};
        links_.lend([&](auto& moves) { search.below(moves, covers, begin, end); });
    }

private:
    mutable Spares<Links<colored, ruled>> links_;
};

}  // namespace

void check_order(const Problem& problem, std::span<const Item> order) {
    std::vector<Item> sorted(order.begin(), order.end());
    std::ranges::sort(sorted);
    bool is_right = sorted.size() == problem.n_primary;
    for (Item i = 0; is_right && i < sorted.size(); ++i) is_right = sorted[i] == i;
    require(is_right, "an order has each primary item once");
}

std::unique_ptr<PreparedLinks> PreparedLinks::of(const Problem& problem,
                                                 std::span<const std::uint32_t> handicaps) {
    const auto make = [&]<bool colored, bool ruled>() -> std::unique_ptr<PreparedLinks> {
        return std::make_unique<Prepared<colored, ruled>>(problem, Handicaps(problem, handicaps));
    };
    return with_facts(!problem.colors.empty(), !handicaps.empty(), make);
}

Outcome search_links(const std::vector<const PreparedLinks*>& problems, Ints places,
                     const Task& task) {
    require(places.size() == task.stacks.size(), "each stack has the place of its problem");
    Search search(task);
    for (std::size_t begin = 0, end = 0; begin < places.size(); begin = end) {
        while (end < places.size() && places[end] == places[begin]) ++end;
        require(0 <= places[begin] && places[begin] < std::ssize(problems),
                "a stack has the place of no problem");
        problems[static_cast<std::size_t>(places[begin])]->search(search, begin, end);
    }
    return std::move(search.out);
}

}  // namespace batchsolve
