// Covers as rows of a table: their order, and their text.
//
// For sorting, a row becomes a short string of 64-bit *words* with the same order: a word packs the
// *ranks* of as many digits or names as fit, the first in its highest bits.
// `batchsolve.formats.render` says what rows look like. Its arrays are indices of each other: each
// function checks those that it uses, and the binding that covers are stacks.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "text.h"

namespace batchsolve::render {

/// Lists, one behind the other: list k has the elements from bounds[k] to bounds[k + 1].
template <class T>
struct Lists {
    std::vector<std::int64_t> bounds;
    std::vector<T> elements;
};

/// Return the ascending order of grids of `n_cells` digits, by the rank of each digit.
///
/// Cells in which all grids agree are left out.
std::vector<std::uint32_t> order_of_grids(std::span<const std::uint8_t> grids, std::size_t n_cells,
                                          std::span<const std::uint64_t> ranks);

/// Return the lists of the ranks of options, in ascending order of options; lists sorted if asked.
Lists<std::int32_t> ranked(std::span<const std::int64_t> offsets,
                           std::span<const std::uint32_t> options,
                           std::span<const std::uint32_t> ranks, bool in_order);

/// The text before a row, between its pieces, and behind a row.
struct Frame {
    text::Bytes head, separator, tail;
};

/// Write grids in an order as symbols, equally long rows of text.
std::vector<std::uint8_t> write_grids(std::span<const std::uint8_t> grids, std::size_t n_cells,
                                      std::span<const std::uint32_t> order,
                                      const text::Symbols& symbols, const Frame& frame);

/// Write the pieces of text of every row: piece k lies between starts[k] and starts[k + 1].
template <class Key>
Lists<std::uint8_t> join(std::span<const std::int64_t> bounds, std::span<const Key> keys,
                         std::span<const std::int64_t> starts, text::Bytes pieces,
                         const Frame& frame);

}  // namespace batchsolve::render
