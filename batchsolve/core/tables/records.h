// Where the records of a CSV table end.
#pragma once

#include "arrays.h"

namespace batchsolve::tables {

struct RecordEnd {
    std::size_t offset;  // of the next record
    bool is_open;        // true if a quotation mark is open at the end of the search

    auto parts() { return std::tie(offset, is_open); }
};

/// Find the end of the last complete record, or of record `most` from `begin` on if not 0.
///
/// As in pyarrow, a quotation mark opens a field only at its beginning, and a second mark right
/// behind the closing one opens it again. Nothing is quoted if the delimiter is 0.
inline RecordEnd record_end(Bytes data, std::size_t begin, std::uint8_t delimiter,
                            std::size_t most) {
    std::size_t end = begin, behind_closing = 0;
    bool is_open = false;
    for (std::size_t x = begin; x < data.size(); ++x) {
        const auto c = data[x];
        if (c > '"') continue;  // most bytes: neither a line end nor a quotation mark
        if (c == '"' && is_open) {
            is_open = false;
            behind_closing = x + 1;
        } else if (c == '"') {
            const auto before = x > begin ? data[x - 1] : '\n';
            const bool begins = before == delimiter || before == '\n' || before == '\r';
            is_open = delimiter != 0 && (begins || behind_closing == x);
        } else if (c == '\n' && !is_open) {
            end = x + 1;
            if (--most == 0) break;
        }
    }
    return {end, is_open};
}

}  // namespace batchsolve::tables
