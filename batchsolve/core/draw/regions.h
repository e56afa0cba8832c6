// Regions at random, by *recombination* (D. DeFord, M. Duchin and J. Solomon, Recombination: a
// family of Markov chains for redistricting, 2021).
//
// Two regions that meet are joined, a random tree spans their cells, and it is cut at a random one
// of the edges that leave two halves. So regions are connected at all times. All cells are those of
// `Square`.
#pragma once

#include "draw/square.h"

namespace batchsolve::draw {

class Regions {
public:
    explicit Regions(std::uint32_t n) : square_(n), is_in_tree_(square_.n_cells()) {}

    /// Draw n connected regions of n cells: begin with rows, or columns; then recombine two of them
    /// again and again.
    void draw(Random random, std::span<std::uint8_t> region_of) {
        const std::uint32_t n = square_.n, n_cells = square_.n_cells();
        const bool has_columns = random.below(2) == 1;
        for (std::uint32_t cell = 0; cell < n_cells; ++cell) {
            region_of[cell] = static_cast<std::uint8_t>(has_columns ? cell % n : cell / n);
        }
        for (std::uint32_t join = 0; join < joins_per_cell * n_cells; ++join) {
            const std::uint32_t cell = random.below(n_cells);
            const std::uint32_t other = square_.neighbour(cell, random.below(4));
            if (other == outside || region_of[cell] == region_of[other]) continue;
            recombine(random, region_of, cell, region_of[other]);
        }
    }

private:
    static constexpr std::uint32_t joins_per_cell = 8;  // see docs/decisions/generate.md

    /// A cell of the tree, or one that may be added to it.
    struct Branch {
        std::uint32_t cell, above;  // the place of the branch that it grows from
        std::uint32_t size = 1;     // of the tree from here
        bool is_cut_off = false;
    };

    /// Draw the regions of a cell and `other` anew, if a tree from that cell has a fitting edge.
    void recombine(Random& random, std::span<std::uint8_t> region_of, std::uint32_t root,
                   std::uint8_t other) {
        const std::uint8_t one = region_of[root];
        grow(random, root,
             [&](auto cell) { return region_of[cell] == one || region_of[cell] == other; });
        const std::size_t top = choose_cut(random);
        if (top == 0) return;
        for (std::size_t x = 0; x < tree_.size(); ++x) {  // those above come before
            tree_[x].is_cut_off = x == top || (x > 0 && tree_[tree_[x].above].is_cut_off);
            region_of[tree_[x].cell] = tree_[x].is_cut_off ? other : one;
        }
    }

    /// Span some cells by a tree, one random edge at a time.
    void grow(Random& random, std::uint32_t root, auto is_one_of_them) {
        is_in_tree_.assign(is_in_tree_.size(), 0);
        tree_.clear();
        edges_.assign(1, {root, 0});
        while (!edges_.empty()) {
            Branch& chosen = edges_[random.below(static_cast<std::uint32_t>(edges_.size()))];
            const Branch branch = chosen;
            chosen = edges_.back();
            edges_.pop_back();
            if (is_in_tree_[branch.cell]) continue;
            is_in_tree_[branch.cell] = 1;
            square_.for_each_side(branch.cell, [&](std::uint32_t near) {
                if (is_in_tree_[near] || !is_one_of_them(near)) return;
                edges_.push_back({near, static_cast<std::uint32_t>(tree_.size())});
            });
            tree_.push_back(branch);
        }
    }

    /// Return the place of a branch with as many cells as there are beside it, or 0.
    std::size_t choose_cut(Random& random) {
        Pick pick(random);
        std::size_t top = 0;
        for (std::size_t x = tree_.size(); x-- > 1;) {
            tree_[tree_[x].above].size += tree_[x].size;
            if (tree_[x].size == square_.n && pick.is_next()) top = x;
        }
        return top;
    }

    Square square_;
    std::vector<Branch> tree_, edges_;
    std::vector<std::uint8_t> is_in_tree_;
};

}  // namespace batchsolve::draw
