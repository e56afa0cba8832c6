// Columns of cages and sums, where each label of a cage is one character.
//
// `batchsolve.tables.cage_columns` says what is read; other rows are left to it. Labels are indices
// of arrays with an entry for each byte.
#pragma once

#include "text.h"

namespace batchsolve::tables {

/// The cages of rows: row k has those from cages_of[k] to cages_of[k + 1]; cage c has the total
/// totals[c] and the cells cells[c].
struct Cages {
    std::vector<std::int64_t> cages_of{0}, totals;
    GrowingLists<std::uint16_t> cells;
    std::vector<std::uint8_t> is_read;  // 1 for each row that was read
};

/// Read the wanted rows of grids of n × n cells; a cage without a sum has the total `no_sum`.
Cages read_cages(const text::Texts& labels, const text::Texts& sums, std::size_t n, Bytes is_wanted,
                 std::int64_t no_sum);

}  // namespace batchsolve::tables
