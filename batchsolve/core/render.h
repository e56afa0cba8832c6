// Covers as rows of a table: the names of their options, and their order.
//
// For sorting, a list becomes a short string of 64-bit *words* with the same order: a word packs
// the *ranks* of as many names as fit, the first in its highest bits. `batchsolve.formats.render`
// says what rows look like. Its arrays are indices of each other: each function checks those that
// it uses.
#pragma once

#include "arrays.h"

namespace batchsolve::render {

/// Return the lists of the ranks of options, in ascending order of options; lists sorted if asked.
GrowingLists<std::int32_t> ranked(Lists<std::uint32_t> covers, std::span<const std::uint32_t> ranks,
                                  bool in_order);

}  // namespace batchsolve::render
