#include "lanes/dig.h"

#include "lanes/boxes.h"
#include "lanes/houses.h"
#include "lanes/lanes.h"

namespace batchsolve::lanes {

std::size_t dig_boxes(int rows, int columns, const Digs& digs) {
    const auto dig = [&]<class T>(T) {
        BoxGrids<T> grids(rows, columns);
        return Digging(grids, digs).run();
    };
    return rows * columns <= 16 ? dig(std::uint16_t{}) : dig(std::uint32_t{});
}

std::size_t dig_houses(const Rules& rules, const RowRules& own,
                       std::span<const std::int64_t> own_rows, const Digs& digs) {
    check_rules(own_rows.size() == digs.rows.size(), "each row has rules");
    const auto dig = [&]<class T>(T) {
        HouseGrids<T> grids(rules, own, own_rows);
        return Digging(grids, digs).run();
    };
    return rules.n_digits <= 16 ? dig(std::uint16_t{}) : dig(std::uint32_t{});
}

}  // namespace batchsolve::lanes
