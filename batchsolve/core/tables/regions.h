// Regions of grids, written as a label of a byte for each cell.
//
// `Lists` checks offsets; labels are indices of arrays with an entry for each byte.
#pragma once

#include <array>

#include "text.h"

namespace batchsolve::tables {

/// The regions of the cells of rows, and which rows are wrong.
struct Regions {
    static constexpr std::uint8_t none = 255;  // the region of the cells of an empty row

    Matrix<std::uint8_t> numbers;
    std::vector<std::uint8_t> is_wrong;
};

/// Number the regions of grids of n × n cells, in the order of their first cells.
///
/// A row is wrong that is not empty, and does not have n labels of n cells each.
inline Regions number_regions(const text::Texts& texts, std::size_t n) {
    require(1 <= n && n <= 255, "grids of 1 × 1 to 255 × 255 cells have regions");
    const std::size_t n_cells = n * n;
    Regions regions{{texts.size(), n_cells, Regions::none},
                    std::vector<std::uint8_t>(texts.size())};
    for (std::size_t row = 0; row < texts.size(); ++row) {
        const auto labels = texts[row];
        regions.is_wrong[row] = !labels.empty();
        if (labels.size() != n_cells) continue;
        std::array<std::size_t, 256> sizes{};
        for (const auto label : labels) ++sizes[label];
        const auto is_full = [&](auto label) { return sizes[label] == n; };
        regions.is_wrong[row] = !std::ranges::all_of(labels, is_full);
        if (regions.is_wrong[row]) continue;
        std::array<std::uint8_t, 256> number_of;
        number_of.fill(Regions::none);
        std::uint8_t n_regions = 0;
        for (std::size_t cell = 0; cell < n_cells; ++cell) {
            auto& number = number_of[labels[cell]];
            if (number == Regions::none) number = n_regions++;
            regions.numbers[row][cell] = number;
        }
    }
    return regions;
}

}  // namespace batchsolve::tables
