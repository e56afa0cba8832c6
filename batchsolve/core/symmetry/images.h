// Random images of puzzles under the symmetries that keep their rules.
//
// The random numbers of a row are a stream of its own, begun with the seed and the number of the
// row. Permutations and images are exactly uniform. `Group` checks the cells and digits that it
// uses as indices, `draw_images` the digits of grids.
#pragma once

#include <memory_resource>
#include <numeric>
#include <string_view>
#include <unordered_set>

#include "random.h"

namespace batchsolve::symmetry {

using Cell = std::uint16_t;
using Digit = std::uint8_t;

/// The symmetries of grids with the same rules.
struct Group {
    /// The ways to relabel digits: none, reversing their order, or all of them.
    enum Labels { none, reversed, all };

    int n_digits;
    int box_rows, box_columns;   // 0 if bands and stacks are not permuted
    int labels;                  // of `Labels`
    Rows<const Cell> turns;      // without a box: all permutations of the cells
    Rows<const Cell> moves;      // permutations of the cells that generate all of them
    Rows<const Digit> relabels;  // labels of 0 .. n_digits, relabellings that generate all

    auto parts() {
        return std::tie(n_digits, box_rows, box_columns, labels, turns, moves, relabels);
    }
    std::size_t n_cells() const { return moves.width; }

    /// Throw std::invalid_argument if arrays do not fit together, or name no cell or digit.
    void check() const {
        const bool has_boxes = box_rows > 0 && box_columns > 0;
        const auto n = static_cast<std::size_t>(n_digits);
        const bool fits = 1 <= n_digits && n_digits <= 255 && 0 < n_cells() && n_cells() <= 65535 &&
                          (has_boxes ? box_rows * box_columns == n_digits && n_cells() == n * n
                                     : box_rows == 0 && turns.size() > 0) &&
                          0 <= labels && labels <= all && turns.width == n_cells() &&
                          relabels.width == n + 1 && are_below(turns.values, n_cells()) &&
                          are_below(moves.values, n_cells()) && are_below(relabels.values, n + 1);
        require(fits, "the arrays of a group do not fit together");
    }
};

/// Images of grids, those of a grid one after the other.
struct Images {
    std::vector<std::int64_t> sources;  // the grid of each
    Matrix<std::uint8_t> puzzles, solutions;

    auto parts() { return std::tie(sources, puzzles, solutions); }
};

constexpr std::size_t lost_draws = 16;  // beside four for each image, before the orbit is closed

using Grid = std::span<const Digit>;

/// Different grids, which are kept elsewhere.
using Seen = std::pmr::unordered_set<std::string_view>;

inline std::string_view bytes_of(Grid grid) {
    return {reinterpret_cast<const char*>(grid.data()), grid.size()};
}

/// A random element of a group: a permutation of the cells, and labels of digits.
class Element {
public:
    explicit Element(const Group& group)
        : group_(group),
          cells_(group.n_cells()),
          labels_(static_cast<std::size_t>(group.n_digits) + 1),
          rows_(static_cast<std::size_t>(group.n_digits)),
          columns_(rows_.size()) {}

    void become_identity() {
        std::iota(cells_.begin(), cells_.end(), Cell{0});
        std::iota(labels_.begin(), labels_.end(), Digit{0});
    }

    void draw(Random& random) {
        draw_cells(random);
        draw_labels(random);
    }

    /// Write the image of a grid: the digit of a cell is the label of that of another.
    void apply(Grid grid, std::span<Digit> image) const {
        for (std::size_t cell = 0; cell < image.size(); ++cell) {
            image[cell] = labels_[grid[cells_[cell]]];
        }
    }

private:
    /// Permute groups of `size` lines, and the lines within each.
    void shuffle(Random& random, int size, std::vector<Cell>& lines) {
        std::vector<Cell>&groups = groups_, &within = within_;
        groups.resize(lines.size() / static_cast<std::size_t>(size));
        within.resize(static_cast<std::size_t>(size));
        std::iota(groups.begin(), groups.end(), Cell{0});
        random.shuffle(std::span(groups));
        auto line = lines.begin();
        for (const auto group : groups) {
            std::iota(within.begin(), within.end(), static_cast<Cell>(group * size));
            random.shuffle(std::span(within));
            line = std::ranges::copy(within, line).out;
        }
    }

    void draw_cells(Random& random) {
        if (group_.box_rows == 0) {
            const auto n_turns = static_cast<std::uint32_t>(group_.turns.size());
            std::ranges::copy(group_.turns[random.below(n_turns)], cells_.begin());
            return;
        }
        shuffle(random, group_.box_rows, rows_);
        shuffle(random, group_.box_columns, columns_);
        const bool is_turned = group_.box_rows == group_.box_columns && random.below(2) == 1;
        const auto n = static_cast<Cell>(group_.n_digits);
        const Cell down = is_turned ? 1 : n, right = is_turned ? n : 1;
        for (auto& column : columns_) column = static_cast<Cell>(column * right);
        auto cell = cells_.begin();
        for (const auto row : rows_) {
            const auto first = static_cast<Cell>(row * down);
            for (const auto column : columns_) *cell++ = static_cast<Cell>(first + column);
        }
    }

    void draw_labels(Random& random) {
        const auto digits = std::span(labels_).subspan(1);
        if (group_.labels == Group::all) {
            random.shuffle(digits);
        } else if (group_.labels == Group::reversed) {
            std::iota(digits.begin(), digits.end(), Digit{1});
            if (random.below(2) == 1) std::ranges::reverse(digits);
        }
    }

    const Group& group_;
    std::vector<Cell> cells_;
    std::vector<Digit> labels_;
    std::vector<Cell> rows_, columns_, groups_, within_;
};

/// Return true if no generator of the group makes another image of those found.
inline bool is_orbit(const Seen& found, const Group& group, std::span<Digit> image) {
    const auto is_there = [&] { return found.contains(bytes_of(image)); };
    for (const std::string_view grid : found) {
        for (std::size_t m = 0; m < group.moves.size(); ++m) {
            const auto digit_of = [&](Cell cell) { return static_cast<Digit>(grid[cell]); };
            std::ranges::transform(group.moves[m], image.begin(), digit_of);
            if (!is_there()) return false;
        }
        for (std::size_t r = 0; r < group.relabels.size(); ++r) {
            const auto label_of = [&](char digit) {
                return group.relabels[r][static_cast<Digit>(digit)];
            };
            std::ranges::transform(grid, image.begin(), label_of);
            if (!is_there()) return false;
        }
    }
    return true;
}

/// Draw up to `most` different images of each puzzle, and those of its solution; the first is the
/// puzzle itself if `original`. The rows' numbers choose their random numbers.
///
/// Images that repeat are drawn again. After many, they are an orbit if it is closed.
inline Images draw_images(Rows<const Digit> puzzles, Rows<const Digit> solutions, Ints numbers,
                          const Streams& streams, std::size_t most, bool original,
                          const Group& group) {
    group.check();
    const auto n_cells = group.n_cells(), n_grids = numbers.size();
    const bool are_solved = solutions.width > 0;
    const auto fit = [&](const Rows<const Digit>& grids) {
        return grids.size() == n_grids && grids.width == n_cells &&
               are_below(grids.values, group.n_digits + 1);
    };
    require(fit(puzzles) && (!are_solved || fit(solutions)),
            "grids of other cells or digits than their group");
    Images images{.sources = {},
                  .puzzles = {n_grids * most, n_cells},
                  .solutions = {n_grids * most, solutions.width}};
    Element element(group);
    std::vector<std::byte> bytes(1 << 12);  // for what is found of a few images
    for (std::size_t k = 0; k < n_grids; ++k) {
        Random random = streams.of(numbers[k], 0);
        const auto first = images.sources.size();
        element.become_identity();
        std::pmr::monotonic_buffer_resource room(bytes.data(), bytes.size());
        Seen found(most, &room);
        std::size_t n_lost = 0;
        for (bool is_drawn = !original; found.size() < most; is_drawn = true) {
            const auto next = first + found.size();
            const auto image = images.puzzles[next];
            if (is_drawn) element.draw(random);
            element.apply(puzzles[k], image);
            if (found.insert(bytes_of(image)).second) {
                if (are_solved) element.apply(solutions[k], images.solutions[next]);
            } else if (++n_lost >= 4 * found.size() + lost_draws) {
                n_lost = 0;
                if (is_orbit(found, group, image)) break;
            }
        }
        images.sources.resize(first + found.size(), static_cast<std::int64_t>(k));
    }
    images.puzzles.resize(images.sources.size());
    images.solutions.resize(images.sources.size());
    return images;
}

}  // namespace batchsolve::symmetry
