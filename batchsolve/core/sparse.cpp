// Exact cover with a cell for each item: how many options it has left, counted down.
//
// Taking an option takes away the options that conflict with it, word by word as bits.cpp does, and
// every option that goes is counted down in the cells of its items. The branch item is found by
// comparing as many cells at once as a vector has. The highest bit of a cell says that its item is
// covered.
//
// Nothing is ever undone. The remaining options and the cells form one short row; a node with
// several children copies it for all of them but the last. Forced choices, which are most choices
// in grids of Sudoku, copy nothing. (Knuth's dancing cells, The Art of Computer
// Programming 7.2.2.3, likewise restore nothing but sizes, but move every option that goes within
// the sets of its items.)
//
// Stacks of a search begin with the same options, such as the clues of a grid: a residual
// (residual.h) is built once, below these. The tree is that of links.h, node by node.
#include <cstring>
#include <limits>
#include <utility>

#include "engines.h"
#include "residual.h"
#include "search.h"
#include "vectors.h"

namespace batchsolve {

/// What stacks leave that begin with some options; nothing if these clash.
struct Beginning {
    Beginning(const Problem& problem, std::span<const Option> common)
        : number(problem.n_options(), gone) {
        ResidualBuilder builder(problem);
        const std::int32_t clash = builder.select(common);
        n_common = clash < 0 ? common.size() : static_cast<std::size_t>(clash);
        if (clash >= 0) return;  // `select` finds no option behind those before it
        builder.build(residual);
        for (std::uint32_t o = 0; const Option option : residual.options) number[option] = o++;
        std::vector<std::size_t> sizes(residual.items.size());
        for (const auto i : residual.covers.values)
            most_of_an_item = std::max(most_of_an_item, ++sizes[i]);
    }

    static constexpr std::uint32_t gone = ~0u;

    Residual residual;
    std::size_t n_common;               // options that all stacks begin with
    std::vector<std::uint32_t> number;  // option -> its number in the residual, or `gone`
    std::size_t most_of_an_item = 0;    // options that it has
};

/// The moves below a beginning, with cells of an unsigned type that has a bit more than the number
/// of options of any item.
template <class Cell>
class Sparse {
public:
    static constexpr std::size_t most_options = std::size_t{1} << (8 * sizeof(Cell) - 1);

    Sparse(const Problem& problem, Beginning beginning)
        : from_(std::move(beginning)), levels_(problem.n_primary + 1) {
        n_cells_ = (from_.residual.items.size() + width - 1) / width * width;
        require(from_.most_of_an_item < most_options && n_cells_ <= 0xffff,
                "the cells are too small for the problem");
        lay_out_items();
        alive_.clear(16, from_.residual.words);
        cells_.clear(16, full_.size());
    }

    std::int32_t select(std::span<const Option> stack) {
        row_ = 0;
        fill_first(alive_[0], from_.residual.options.size());
        std::ranges::copy(full_, cells_[0].begin());
        for (std::size_t s = from_.n_common; s < stack.size(); ++s) {
            const std::uint32_t o =
                stack[s] < from_.number.size() ? from_.number[stack[s]] : Beginning::gone;
            if (o == Beginning::gone || !has_bit(alive_[0], o)) return static_cast<std::int32_t>(s);
            take(o);
        }
        return -1;
    }

    /// The branch item is the first with at most one option, or else of those with the fewest.
    Node choose(std::size_t level) {
        const auto here = cells_[row_].first(n_cells_);
        Vector<Cell> fewest = Vector<Cell>{} + covered;
        item_ = n_cells_;
        Cell size = covered;
        for (std::size_t i = 0; i < n_cells_; i += width) {
            const Vector<Cell> group = load(here, i);
            if (const auto low = bits(group <= 1)) {
                item_ = i + static_cast<std::size_t>(std::countr_zero(low));
                size = here[item_];
                break;
            }
            fewest = lesser(fewest, group);
        }
        if (item_ == n_cells_) {
            size = least<Cell>(fewest);
            if (size == covered) return Node::cover;
            for (std::size_t i = 0; item_ == n_cells_; i += width) {
                if (const auto low = bits(load(here, i) <= size)) {
                    item_ = i + static_cast<std::size_t>(std::countr_zero(low));
                }
            }
        }
        levels_[level].choice.n_branches = size;
        return size == 0 ? Node::dead_end : Node::branch;
    }

    void open(std::size_t level) {
        Level& at = levels_[level];
        at.row = row_;
        at.item = item_;
        at.begin(from_.residual, alive_[row_]);
    }

    bool open_range(const Range& range) {
        Level& at = levels_[0];
        at.row = 0;
        return at.begin_range(from_.residual, alive_[0], range) && cells_[0][at.item] < covered;
    }

    bool try_next(std::size_t level) {
        Level& at = levels_[level];
        if (at.n_untried == 0) return false;
        at.take_next(from_.residual, alive_[row_]);
        if (at.n_untried > 0) copy_row();
        take(at.option);
        return true;
    }

    void take_back(std::size_t level) { row_ = levels_[level].row; }
    void abandon(std::size_t) {}  // a stack begins with a row of its own

    Choice choice(std::size_t level) const { return levels_[level].choice; }
    void for_each_untried(std::size_t level, auto visit) const {
        const Level& at = levels_[level];
        at.for_each_untried(from_.residual, alive_[at.row], visit);
    }
    std::optional<Item> branch_item(std::size_t level) const {
        return from_.residual.items[levels_[level].item];
    }

private:
    static constexpr std::size_t width = n_lanes<Cell>;
    static constexpr Cell covered = Cell{1} << (8 * sizeof(Cell) - 1);
    struct Level : Branches {
        std::size_t row = 0;
    };

    static Vector<Cell> load(std::span<const Cell> cells, std::size_t i) {
        Vector<Cell> group;
        std::memcpy(&group, cells.subspan(i, width).data(), sizeof group);
        return group;
    }

    /// List the primary items of each option, equally many: the cell behind all others fills up.
    void lay_out_items() {
        const std::size_t n = from_.residual.options.size();
        full_.assign(n_cells_ + width, std::numeric_limits<Cell>::max());
        std::fill_n(full_.begin(), from_.residual.items.size(), Cell{0});
        std::size_t most = 0;
        for (std::size_t o = 0; o < n; ++o) most = std::max(most, from_.residual.covers[o].size());
        items_ = {n, most, static_cast<std::uint16_t>(n_cells_)};
        for (std::size_t o = 0; o < n; ++o) {
            auto item = items_[o].begin();
            for (const auto i : from_.residual.covers[o]) {
                *item++ = static_cast<std::uint16_t>(i);
                ++full_[i];
            }
        }
    }

    /// Go on in a copy of the current row.
    void copy_row() {
        if (row_ + 1 == cells_.size()) {
            alive_.resize(2 * cells_.size());
            cells_.resize(2 * cells_.size());
        }
        std::ranges::copy(alive_[row_], alive_[row_ + 1].begin());
        std::ranges::copy(cells_[row_], cells_[row_ + 1].begin());
        ++row_;
    }

    /// Take an option: cover its items, and count down the items of options that go.
    void take(std::size_t o) {
        // a cell may be a char, which may alias anything: what the loop needs stays in registers
        const auto here = cells_[row_];
        const auto left = alive_[row_];
        const auto conflicts = from_.residual.conflicts[o];
        const Rows<std::uint16_t> items_of{items_.values, items_.n_rows, items_.width};
        for (const auto i : items_of[o]) here[i] |= covered;
        for (std::size_t w = 0; w < left.size(); ++w) {
            Word going = left[w] & conflicts[w];
            left[w] ^= going;
            for (; going != 0; going &= going - 1) {
                const auto other = 64 * w + static_cast<std::size_t>(std::countr_zero(going));
                for (const auto i : items_of[other]) --here[i];
            }
        }
    }

    Beginning from_;
    Matrix<std::uint16_t> items_;  // option -> the cells of its primary items
    std::size_t n_cells_ = 0;      // of a row; one more vector takes what fills up
    std::vector<Cell> full_;       // the cells before anything is taken
    Matrix<Word> alive_;           // row -> the options left
    Matrix<Cell> cells_;           // row -> cell -> how many options its item has left
    std::size_t row_ = 0;
    std::size_t item_ = 0;  // the branch item
    std::vector<Level> levels_;
};

std::optional<Outcome> search_sparse(const Problem& problem, const Task& task) {
    constexpr std::size_t most_options = (1 << 15) - 1, most_items = (1 << 16) - 129;
    const auto& stacks = task.stacks;
    if (problem.n_primary > most_items || leaves_more(problem, stacks, most_options)) return {};
    Search search(task, problem.n_options());
    const auto common = common_beginning(stacks);
    const std::int64_t whole[] = {0, std::ssize(common)};
    const bool fits = !leaves_more(problem, {whole, common}, most_options);
    const std::size_t n = fits ? stacks.size() : 1;  // of one beginning; a stack alone leaves less
    for (std::size_t k = 0; k < stacks.size(); k += n) {
        Beginning beginning(problem, fits ? common : stacks[k]);
        const auto search_with = [&](auto moves) {
            Covers covers{search};
            search.below(moves, covers, k, k + n);
        };
        if (beginning.most_of_an_item < Sparse<std::uint8_t>::most_options) {
            search_with(Sparse<std::uint8_t>(problem, std::move(beginning)));
        } else {
            search_with(Sparse<std::uint16_t>(problem, std::move(beginning)));
        }
    }
    return std::move(search.out);
}

}  // namespace batchsolve
