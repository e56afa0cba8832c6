#include "lanes/dig.h"

#include "lanes/lanes.h"

namespace batchsolve::lanes {

std::size_t dig_grids(const Rules& rules, const RowRules& own, Ints own_rows, const Wish& wish,
                      const Made& made, const Streams& streams, Ints numbers) {
    require(own_rows.size() == numbers.size(), "each row has rules");
    return with_digits(rules.n_digits, [&]<class T>(T) {
        LaneGrids<T> grids(rules, own, own_rows);
        return Digging(grids, wish, made, streams, numbers).run();
    });
}

}  // namespace batchsolve::lanes
