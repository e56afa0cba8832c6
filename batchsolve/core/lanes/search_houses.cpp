#include "lanes/houses.h"
#include "lanes/lanes.h"
#include "lanes/search.h"

namespace batchsolve::lanes {

Grids search_houses(const Rules& rules, const RowRules& own, std::span<const std::int64_t> rows,
                    const Task& task, Order order) {
    check_rules(rows.size() == task.stacks.size(), "each stack has a row");
    const auto search = [&]<class T>(T) {
        HouseGrids<T> grids(rules, own, rows);
        return Search(grids, task, order).run();
    };
    return rules.n_digits <= 16 ? search(std::uint16_t{}) : search(std::uint32_t{});
}

}  // namespace batchsolve::lanes
