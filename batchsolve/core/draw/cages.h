// Cages at random in a solved grid: connected cells with different digits.
//
// All cells are those of `Square`. Who calls it checks that digits are 1 to 64.
#pragma once

#include "draw/square.h"

namespace batchsolve::draw {

class Cages {
public:
    Cages(std::uint32_t n, std::uint32_t least, std::uint32_t most)
        : square_(n), least_(least), most_(most) {}

    /// Set the cage of every cell, -1 if it has none.
    ///
    /// Cages grow from the cells, in random order, to random sizes. Those that stay too small are
    /// given up; then each cell without a cage joins one beside it where it may.
    void draw(Random random, Bytes solution, std::span<std::int16_t> cage_of) {
        const auto order = square_.shuffled(random);
        std::ranges::fill(cage_of, -1);
        cages_.clear();
        for (const std::uint32_t cell : order) {
            if (cage_of[cell] < 0) grow(random, solution, cage_of, cell);
        }
        for (const std::uint32_t cell : order) {
            if (cage_of[cell] < 0) join(random, solution, cage_of, cell);
        }
    }

private:
    struct Cage {
        std::uint32_t size;
        std::uint64_t digits;  // as bits
    };
    static std::uint64_t digit(Bytes solution, std::uint32_t cell) {
        return std::uint64_t{1} << (solution[cell] - 1);
    }

    void grow(Random& random, Bytes solution, std::span<std::int16_t> cage_of, std::uint32_t cell) {
        const std::uint32_t wanted = least_ + random.below(most_ - least_ + 1);
        std::uint64_t digits = 0;
        cells_.clear();
        while (cell != outside) {
            cage_of[cell] = static_cast<std::int16_t>(cages_.size());
            cells_.push_back(cell);
            digits |= digit(solution, cell);
            cell = outside;
            if (cells_.size() == wanted) break;
            Pick pick(random);
            for (const std::uint32_t each : cells_) {
                square_.for_each_side(each, [&](std::uint32_t near) {
                    const bool fits = cage_of[near] < 0 && !(digit(solution, near) & digits);
                    if (fits && pick.is_next()) cell = near;
                });
            }
        }
        if (cells_.size() < least_) {
            for (const std::uint32_t each : cells_) cage_of[each] = -1;
        } else {
            cages_.push_back({static_cast<std::uint32_t>(cells_.size()), digits});
        }
    }

    void join(Random& random, Bytes solution, std::span<std::int16_t> cage_of, std::uint32_t cell) {
        Pick pick(random);
        const std::uint64_t mine = digit(solution, cell);
        square_.for_each_side(cell, [&](std::uint32_t near) {
            if (cage_of[near] < 0) return;
            const Cage& cage = cages_[static_cast<std::size_t>(cage_of[near])];
            if (cage.size < most_ && !(cage.digits & mine) && pick.is_next())
                cage_of[cell] = cage_of[near];
        });
        if (cage_of[cell] < 0) return;
        Cage& joined = cages_[static_cast<std::size_t>(cage_of[cell])];
        ++joined.size;
        joined.digits |= mine;
    }

    Square square_;
    std::uint32_t least_, most_;
    std::vector<Cage> cages_;
    std::vector<std::uint32_t> cells_;  // of the cage that grows
};

}  // namespace batchsolve::draw
