// Grids as text: columns of Arrow to digits, and what a survey of them counts.
//
// `Lists` checks the offsets of a column, and readers that tables of symbols have an entry for any
// byte. A grid has digits 0 .. 255, 0 for blank cells. `batchsolve.problems.notation` says how
// grids are written.
#pragma once

#include <tuple>

#include "arrays.h"

namespace batchsolve::text {

using Byte = std::uint8_t;

/// The values of a column of text.
using Texts = Lists<Byte, std::int32_t>;

/// The set of the bytes that separate numbers.
constexpr std::uint64_t separators = 1ull << ' ' | 1ull << ',' | 1ull << ';' | 1ull << '\t';

constexpr bool is_separator(Byte c) { return c < 64 && (separators >> c & 1); }

/// Faults of values that are no grids; others are the number of the first wrong cell.
enum Fault : std::int32_t { fine = -1, wrong_length = -2, two_blanks = -3 };

/// In a table of symbols, a byte that is neither a digit nor a blank, whose entry is 0.
constexpr Byte bad = 255;

constexpr std::size_t longest_number = 3;  // bytes, because digits are at most 255
constexpr unsigned too_much = 100'000;     // is the value of all larger numbers, and of no number

/// A part of a value between separators, and the number that it is, or -1.
struct Token {
    Bytes text;
    int number;
};

/// Return the first token of a text, and take it away; it is empty at the end.
inline Token next_token(Bytes& text) {
    std::size_t begin = 0;
    while (begin < text.size() && is_separator(text[begin])) ++begin;
    unsigned number = 0;
    bool is_number = true;
    std::size_t end = begin;
    for (; end < text.size() && !is_separator(text[end]); ++end) {
        const auto digit = static_cast<unsigned>(text[end] - '0');
        is_number &= digit <= 9;
        number = std::min(10 * number + digit, too_much);
    }
    const Bytes token = text.subspan(begin, end - begin);
    text = text.subspan(end);
    return {token, is_number ? static_cast<int>(number) : -1};
}

/// Return the number of tokens of a value, and whether one has more bytes than a number. Its loops
/// have no branches: tables of numbers take 1.4 to 1.7 times as long if tokens are read one by one.
inline std::pair<std::int64_t, bool> tokens_of(Bytes value) {
    std::vector<Byte> parts(value.size() + longest_number, 1);  // 1 for a separator, or nothing
    std::ranges::transform(value, parts.begin() + longest_number, [](Byte c) {
        return static_cast<Byte>((c == ' ') | (c == ',') | (c == ';') | (c == '\t'));
    });
    std::size_t n_tokens = 0;
    Byte least = 1;
    for (std::size_t x = 0; x < value.size(); ++x) {
        n_tokens += parts[x + 2] > parts[x + 3];
        least &= static_cast<Byte>(parts[x] | parts[x + 1] | parts[x + 2] | parts[x + 3]);
    }
    return {static_cast<std::int64_t>(n_tokens), least == 0};
}

/// Read the numbers of one grid; return its fault. If 0 is not a blank, it has one kind of blanks.
inline std::int32_t read_one(Bytes value, Bytes table, int first_digit, int n_digits,
                             bool zero_is_blank, std::span<Byte> grid) {
    const int before = first_digit - 1, last = before + n_digits;
    std::int32_t fault = fine;
    bool has_zero = false, has_blank = false;
    int most = 0;
    std::size_t cell = 0;
    for (Token token = next_token(value); !token.text.empty(); token = next_token(value), ++cell) {
        const auto& text = token.text;
        int number = token.number;
        has_zero |= number == 0;
        if (number < 0) {
            const bool minus_one = text.size() == 2 && text[0] == '-' && text[1] == '1';
            const bool is_blank = minus_one || (text.size() == 1 && table[text[0]] == 0);
            has_blank |= is_blank;
            number = is_blank ? before : int{too_much};
        }
        most = std::max(most, number);
        if (number > last && fault == fine) fault = static_cast<std::int32_t>(cell);
        if (cell < grid.size()) grid[cell] = static_cast<Byte>(number > last ? 0 : number - before);
    }
    if (cell != grid.size()) return wrong_length;
    const bool seems_from_zero =
        before == 0 && !zero_is_blank && has_zero && has_blank && most < n_digits;
    return seems_from_zero ? two_blanks : fault;
}

/// Return a value without the white space around it.
inline Bytes trimmed(Bytes value) {
    const auto is_space = [](Byte c) { return 0 < c && c <= ' '; };
    while (!value.empty() && is_space(value.front())) value = value.subspan(1);
    while (!value.empty() && is_space(value.back())) value = value.first(value.size() - 1);
    return value;
}

/// Read a column of grids by a function of a value and its grid, which returns the fault; wrong
/// ones become blank.
void read_each(const Texts& texts, Bytes table, Rows<Byte> grids, std::span<std::int32_t> faults,
               auto read) {
    require(table.size() == 256, "a table of symbols has 256 entries");
    require(grids.size() == texts.size() && faults.size() == texts.size(),
            "each text is a grid, and has a fault");
    for (std::size_t k = 0; k < texts.size(); ++k) {
        faults[k] = read(trimmed(texts[k]), grids[k]);
        if (faults[k] != fine) std::ranges::fill(grids[k], Byte{0});
    }
}

/// Return whether some cells are written as 0, and others as blanks.
inline bool has_two_blanks(Bytes value, Bytes grid) {
    bool has_zero = false, has_blank = false;
    for (std::size_t cell = 0; cell < grid.size(); ++cell) {
        has_zero |= value[cell] == '0';
        has_blank |= grid[cell] == 0 && value[cell] != '0';
    }
    return has_zero && has_blank;
}

/// Read the symbols of one grid; return its fault.
inline std::int32_t read_one(Bytes value, Bytes table, Byte last, std::span<Byte> grid) {
    if (value.size() != grid.size()) return wrong_length;
    for_each_below(grid.size(), [&](std::size_t cell) { grid[cell] = table[value[cell]]; });
    Byte most = 0;
    for (const Byte digit : grid) most = std::max(most, digit);
    if (most == bad) return static_cast<std::int32_t>(std::ranges::find(grid, bad) - grid.begin());
    const bool seems_from_zero =
        last && std::ranges::find(grid, last) == grid.end() && has_two_blanks(value, grid);
    return seems_from_zero ? two_blanks : fine;
}

/// Read a column of grids of a byte a cell. The table has the digit of each byte. Grids without the
/// digit `last` have one kind of blanks; if that is 0, all may have several.
inline void read_symbols(const Texts& texts, Bytes table, Byte last, Rows<Byte> grids,
                         std::span<std::int32_t> faults) {
    read_each(texts, table, grids, faults, [&](Bytes value, std::span<Byte> grid) {
        return read_one(value, table, last, grid);
    });
}

/// Read grids of n_digits numbers from the first digit on, which is 0 or 1; the table says which of
/// the other tokens are blanks.
inline void read_numbers(const Texts& texts, Bytes table, int first_digit, int n_digits,
                         bool zero_is_blank, Rows<Byte> grids, std::span<std::int32_t> faults) {
    require(0 <= first_digit && first_digit <= 1 && 0 <= n_digits && n_digits <= 255,
            "digits begin at 0 or 1, and there are 255 at most");
    read_each(texts, table, grids, faults, [&](Bytes value, std::span<Byte> grid) {
        return read_one(value, table, first_digit, n_digits, zero_is_blank, grid);
    });
}

/// Facts about values, without the white space around them.
struct Survey {
    std::vector<std::int64_t> n_bytes;
    std::vector<std::int64_t> n_tokens;    // 0 without separators
    std::vector<std::uint64_t> low, high;  // the set of bytes without separators; those from 127
                                           // on are bit 127
    std::vector<std::uint8_t> has_long;    // 1 if a token has more bytes than a number

    auto parts() { return std::tie(n_bytes, n_tokens, low, high, has_long); }
};

/// Return the facts of each value.
inline Survey survey(const Texts& texts) {
    const auto n = texts.size();
    Survey facts{std::vector<std::int64_t>(n), std::vector<std::int64_t>(n),
                 std::vector<std::uint64_t>(n), std::vector<std::uint64_t>(n),
                 std::vector<std::uint8_t>(n)};
    for (std::size_t k = 0; k < n; ++k) {
        const Bytes value = trimmed(texts[k]);
        std::uint64_t low = 0, high = 0;
        for (const std::uint64_t c : value) {
            const auto bit = std::uint64_t{1} << (c & 63);
            low |= c < 64 ? bit : 0;
            high |= c < 64 ? 0 : c < 127 ? bit : std::uint64_t{1} << 63;
        }
        facts.n_bytes[k] = static_cast<std::int64_t>(value.size());
        facts.low[k] = low & ~separators;
        facts.high[k] = high;
        facts.has_long[k] = value.size() > longest_number;
        if (low & separators) {
            std::tie(facts.n_tokens[k], facts.has_long[k]) = tokens_of(value);
        }
    }
    return facts;
}

}  // namespace batchsolve::text
