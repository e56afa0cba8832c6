// Lines at random that a solved grid obeys: thermometers, whispers, renbans and palindromes.
//
// A line is a path of cells, each beside the next by an edge or a corner; no two lines meet. All
// cells are those of `Square`.
#pragma once

#include <cstdlib>

#include "draw/square.h"

namespace batchsolve::draw {

/// Digits that rise, that differ much, that follow one another in any order, and that read the same
/// from both ends.
enum class LineKind : std::uint8_t { thermo, whisper, renban, palindrome };

/// The lines of rows: row k has those from lines_of[k] to lines_of[k + 1].
struct DrawnLines {
    std::vector<std::int64_t> lines_of{0};
    std::vector<std::uint8_t> kinds;    // of `LineKind`
    GrowingLists<std::uint32_t> cells;  // from end to end; of a thermometer, from its least digit

    auto parts() { return std::tie(lines_of, kinds, cells); }
};

class Lines {
public:
    Lines(std::uint32_t n, Bytes kinds, std::uint32_t least, std::uint32_t most, int gap)
        : square_(n), kinds_(kinds), least_(least), most_(most), gap_(gap) {}

    /// Let lines of a row grow from the cells, in random order, to random sizes; drop those too
    /// short.
    void draw(Random random, Bytes solution, DrawnLines& drawn) {
        is_free_.assign(square_.n_cells(), 1);
        for (const std::uint32_t cell : square_.shuffled(random)) {
            if (!is_free_[cell]) continue;
            const auto kind = kinds_[random.below(static_cast<std::uint32_t>(kinds_.size()))];
            std::uint32_t wanted = least_ + random.below(most_ - least_ + 1);
            Line line{static_cast<LineKind>(kind), {cell}};
            if (line.kind == LineKind::renban) wanted = std::min(wanted, square_.n - 1);
            is_free_[cell] = 0;
            grow(random, solution, line, wanted);
            if (line.cells.size() >= least_ && is_whole(solution, line)) {
                drawn.kinds.push_back(kind);
                drawn.cells.append(line.cells);
            } else {
                for (const std::uint32_t each : line.cells) is_free_[each] = 1;
            }
        }
        drawn.lines_of.push_back(static_cast<std::int64_t>(drawn.kinds.size()));
    }

private:
    struct Line {
        LineKind kind;
        std::vector<std::uint32_t> cells;
    };

    /// Add random cells that fit; a palindrome grows at both ends, from its middle.
    void grow(Random& random, Bytes digits, Line& line, std::uint32_t wanted) {
        auto& cells = line.cells;
        while (cells.size() < wanted) {
            const bool is_two_sided =
                line.kind == LineKind::palindrome && (wanted - cells.size()) % 2 == 0;
            std::uint32_t end = outside, begin = outside;
            Pick pick(random);
            for_each_free(cells.back(), [&](std::uint32_t near) {
                if (!is_two_sided) {
                    if (fits(digits, line, near, static_cast<int>(wanted)) && pick.is_next())
                        end = near;
                    return;
                }
                for_each_free(cells.front(), [&](std::uint32_t far) {
                    if (far == near || digits[far] != digits[near] || !pick.is_next()) return;
                    end = near;
                    begin = far;
                });
            });
            if (end == outside) break;
            if (begin != outside) {
                cells.insert(cells.begin(), begin);
                is_free_[begin] = 0;
            }
            cells.push_back(end);
            is_free_[end] = 0;
        }
    }

    void for_each_free(std::uint32_t cell, auto visit) const {
        square_.for_each_king_move(cell, [&](std::uint32_t near) {
            if (is_free_[near]) visit(near);
        });
    }

    /// Return true if a cell may follow the last one of a line.
    bool fits(Bytes digits, const Line& line, std::uint32_t cell, int wanted) const {
        const int digit = digits[cell], last = digits[line.cells.back()];
        switch (line.kind) {
            case LineKind::thermo:
                return digit > last;
            case LineKind::whisper:
                return std::abs(digit - last) >= gap_;
            case LineKind::palindrome:
                return digit == last;
            case LineKind::renban:
                break;
        }
        return std::ranges::all_of(line.cells, [&](std::uint32_t other) {
            const int distance = std::abs(digit - digits[other]);
            return distance > 0 && distance < wanted;
        });
    }

    /// Return true unless it is a renban whose digits leave one out.
    static bool is_whole(Bytes digits, const Line& line) {
        if (line.kind != LineKind::renban) return true;
        const auto digit = [&](std::uint32_t cell) { return digits[cell]; };
        const auto [low, high] = std::ranges::minmax(line.cells, {}, digit);
        return static_cast<std::size_t>(digits[high] - digits[low]) + 1 == line.cells.size();
    }

    Square square_;
    Bytes kinds_;
    std::uint32_t least_, most_;
    int gap_;
    std::vector<std::uint8_t> is_free_;
};

}  // namespace batchsolve::draw
