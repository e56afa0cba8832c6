// Covers as rows of a table: their order, and their text.
//
// For sorting, a list becomes a short string of 64-bit *words* with the same order: a word packs
// the *ranks* of as many names as fit, the first in its highest bits. `batchsolve.formats.render`
// says what rows look like. Its arrays are indices of each other: each function checks those that
// it uses.
#pragma once

#include "text.h"

namespace batchsolve::render {

/// Return the lists of the ranks of options, in ascending order of options; lists sorted if asked.
GrowingLists<std::int32_t> ranked(Lists<std::uint32_t> covers, std::span<const std::uint32_t> ranks,
                                  bool in_order);

/// The text before a row, between its pieces, and behind a row.
struct Frame {
    Bytes head, separator, tail;
};

/// Write grids in an order as symbols, equally long rows of text.
Matrix<std::uint8_t> write_grids(Rows<const std::uint8_t> grids,
                                 std::span<const std::uint32_t> order, const text::Symbols& symbols,
                                 const Frame& frame);

/// Write the pieces of text of every row, which has their numbers.
template <class Key>
GrowingLists<std::uint8_t> join(Lists<Key> rows, Lists<std::uint8_t> pieces, const Frame& frame);

}  // namespace batchsolve::render
