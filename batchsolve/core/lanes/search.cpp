#include "lanes/search.h"

namespace batchsolve::lanes {

Grids search_grids(const Rules& rules, const RowRules& own, Ints rows, const Task& task) {
    require(rows.size() == task.stacks.size(), "each stack has a row");
    return with_digits(rules.n_digits, [&]<class T>(T) {
        LaneGrids<T> grids(rules, own, rows);
        return Search(grids, task).run();
    });
}

}  // namespace batchsolve::lanes
