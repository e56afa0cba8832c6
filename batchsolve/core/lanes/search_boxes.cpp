#include "lanes/boxes.h"
#include "lanes/lanes.h"
#include "lanes/search.h"

namespace batchsolve::lanes {

Grids search_boxes(int rows, int columns, const Task& task, Order order) {
    const auto search = [&]<class T>(T) {
        BoxGrids<T> grids(rows, columns);
        return Search(grids, task, order).run();
    };
    return rows * columns <= 16 ? search(std::uint16_t{}) : search(std::uint32_t{});
}

}  // namespace batchsolve::lanes
