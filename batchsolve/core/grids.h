// Grids as stacks, and back: option cell · N + digit - 1 puts a digit into a cell.
//
// The binding checks that stacks have offsets within their options; digits and options are checked
// here before they are indices.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace batchsolve {

/// Stacks, one behind the other: stack k has the options from offsets[k] to offsets[k + 1].
struct StacksOfGrids {
    std::vector<std::int64_t> offsets;
    std::vector<std::uint32_t> options;
};

/// Return the clues of grids of `n_cells` digits up to n_digits as stacks.
inline StacksOfGrids stacks_of_grids(std::span<const std::uint8_t> grids, std::size_t n_cells,
                                     std::uint32_t n_digits) {
    StacksOfGrids stacks{{0}, {}};
    for (auto rest = grids; !rest.empty(); rest = rest.subspan(n_cells)) {
        std::uint32_t n_clues = 0;
        for (const auto digit : rest.first(n_cells)) n_clues += digit != 0;
        stacks.offsets.push_back(stacks.offsets.back() + n_clues);
    }
    stacks.options.resize(static_cast<std::size_t>(stacks.offsets.back()) + 1);
    const std::span<std::uint32_t> options(stacks.options);
    std::size_t end = 0;
    for (; !grids.empty(); grids = grids.subspan(n_cells)) {
        std::uint32_t first = 0;  // the option of the cell's first digit
        for (const auto digit : grids.first(n_cells)) {
            options[end] = first + digit - 1;  // overwritten if the cell is blank
            end += digit != 0;
            first += n_digits;
        }
    }
    stacks.options.pop_back();
    return stacks;
}

/// Return the grids of stacks; options that fill no cell are left out.
inline std::vector<std::uint8_t> grids_of_stacks(std::span<const std::int64_t> offsets,
                                                 std::span<const std::uint32_t> options,
                                                 std::size_t n_cells, std::uint32_t n_digits) {
    struct Filled {
        std::uint16_t cell;
        std::uint8_t digit;
    };
    std::vector<Filled> filled_by;
    for (std::size_t cell = 0; cell < n_cells; ++cell) {
        for (std::uint32_t digit = 1; digit <= n_digits; ++digit) {
            filled_by.push_back(
                {static_cast<std::uint16_t>(cell), static_cast<std::uint8_t>(digit)});
        }
    }
    const std::span<const Filled> filled(filled_by);
    std::vector<std::uint8_t> grids((offsets.size() - 1) * n_cells);
    std::span<std::uint8_t> rest(grids);
    for (std::size_t k = 0; k + 1 < offsets.size(); ++k, rest = rest.subspan(n_cells)) {
        const auto begin = static_cast<std::size_t>(offsets[k]);
        for (const auto option :
             options.subspan(begin, static_cast<std::size_t>(offsets[k + 1]) - begin)) {
            if (option < filled.size()) rest[filled[option].cell] = filled[option].digit;
        }
    }
    return grids;
}

}  // namespace batchsolve
