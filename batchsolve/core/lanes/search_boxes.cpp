#include "lanes/boxes.h"
#include "lanes/lanes.h"
#include "lanes/search.h"

namespace batchsolve::lanes {

Grids search_boxes(int rows, int columns, const Task& task) {
    return with_digits(rows * columns, [&]<class T>(T) {
        BoxGrids<T> grids(rows, columns);
        return Search(grids, task).run();
    });
}

}  // namespace batchsolve::lanes
