// Grids as text: columns of Arrow to digits, and what a survey of them counts.
//
// `Lists` checks the offsets of a column, and readers that tables of symbols have an entry for any
// byte. A grid has digits 0 .. 255, 0 for blank cells. `batchsolve.problems.notation` says how
// grids are written.
#pragma once

#include "arrays.h"

namespace batchsolve::text {

using Byte = std::uint8_t;

/// The values of a column of text.
using Texts = Lists<Byte, std::int32_t>;

/// Return a value without the white space around it.
Bytes trimmed(Bytes value);

/// The set of the bytes that separate numbers.
constexpr std::uint64_t separators = 1ull << ' ' | 1ull << ',' | 1ull << ';' | 1ull << '\t';

constexpr bool is_separator(Byte c) { return c < 64 && (separators >> c & 1); }

/// Faults of values that are no grids; others are the number of the first wrong cell.
enum Fault : std::int32_t { fine = -1, wrong_length = -2, two_blanks = -3 };

/// In a table of symbols, a byte that is neither a digit nor a blank, whose entry is 0.
constexpr Byte bad = 255;

/// Read a column of grids of a byte a cell, and the fault of each; the digits of wrong ones mean
/// nothing. The table has the digit of each byte.
void read_symbols(const Texts& texts, Bytes table, Rows<Byte> grids,
                  std::span<std::int32_t> faults);

/// Read grids of n_digits numbers from the first digit on, which is 0 or 1; the table says which of
/// the other tokens are blanks.
void read_numbers(const Texts& texts, Bytes table, int first_digit, int n_digits, Rows<Byte> grids,
                  std::span<std::int32_t> faults);

/// Facts about values, without the white space around them.
struct Survey {
    std::vector<std::int64_t> n_bytes;
    std::vector<std::int64_t> n_tokens;    // 0 without separators
    std::vector<std::uint64_t> low, high;  // the set of bytes without separators; those from 127
                                           // on are bit 127
    std::vector<std::uint8_t> has_long;    // 1 if a token has more bytes than a number
};

/// Return the facts of each value.
Survey survey(const Texts& texts);

}  // namespace batchsolve::text
