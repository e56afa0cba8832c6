// An exact cover problem, as engines take it.
#pragma once

#include "arrays.h"

namespace batchsolve {

using Option = std::uint32_t;
using Item = std::uint32_t;
using Color = std::uint32_t;

/// The bounds of a primary item: in how many options of a cover it must, and may, be.
struct Bounds {
    std::uint32_t least, most;
};

/// Option o has the items indices[indptr[o]] .. indices[indptr[o + 1] - 1]; the first n_primary
/// items are primary.
///
/// The constructor checks every offset and item, so that engines follow them without checks.
class Problem {
public:
    Problem(Ints indptr, std::span<const Item> indices, std::span<const Color> colors, Ints bounds,
            Item n_items, Item n_primary)
        : n_items(n_items),
          n_primary(n_primary),
          colors(colors.begin(), colors.end()),
          items_{{indptr.begin(), indptr.end()}, {indices.begin(), indices.end()}} {
        require(n_primary <= n_items, "there are more primary items than items");
        check_bounds(indptr, indices.size());
        require(indptr.front() == 0 && indptr.back() == std::ssize(indices),
                "the options have all entries");
        require(indices.size() + indptr.size() + n_items < 0xffffffff, "the problem is too large");
        require(colors.empty() || colors.size() == indices.size(), "each entry has a colour");
        require(bounds.empty() || bounds.size() == 2 * std::size_t{n_primary},
                "each primary item has two bounds");
        require(are_below(indices, n_items), "an option has an item that does not exist");
        for (std::size_t i = 0; i < bounds.size(); i += 2) {
            require(0 <= bounds[i] && bounds[i] <= bounds[i + 1] && 0 < bounds[i + 1],
                    "bounds are 0 or more, the upper one is positive and not below the lower one");
            constexpr std::int64_t most = 0xffffffff;
            this->bounds.push_back({static_cast<std::uint32_t>(std::min(bounds[i], most)),
                                    static_cast<std::uint32_t>(std::min(bounds[i + 1], most))});
        }
    }

    Option n_options() const { return static_cast<Option>(items_.size()); }
    std::size_t n_entries() const { return items_.values.size(); }

    std::span<const Item> items_of(Option o) const { return items_[o]; }
    /// The bounds of an item; a secondary one has 0 and 1.
    Bounds bounds_of(Item i) const {
        return i >= n_primary ? Bounds{0, 1} : bounds.empty() ? Bounds{1, 1} : bounds[i];
    }
    /// The colours of the same items; 0 is none. Empty if the problem has no colours.
    std::span<const Color> colors_of(Option o) const {
        if (colors.empty()) return {};
        return std::span(colors).subspan(items_.bounds[o], items_[o].size());
    }

    const Item n_items, n_primary;
    std::vector<Color> colors;   // of all entries; empty if there are none
    std::vector<Bounds> bounds;  // of the primary items; empty if all are 1

private:
    GrowingLists<Item> items_;  // of each option
};

/// Return the primary item that all options have, the first of those with the least upper bound;
/// n_items if there is none.
inline Item item_of_all_options(const Problem& problem) {
    std::vector<Option> sizes(problem.n_items);
    for (Option o = 0; o < problem.n_options(); ++o) {
        for (const Item i : problem.items_of(o)) ++sizes[i];
    }
    Item found = problem.n_items;
    const auto most = [&](Item i) { return problem.bounds_of(i).most; };
    for (Item i = 0; i < problem.n_primary; ++i) {
        const bool is_less = found == problem.n_items || most(i) < most(found);
        if (sizes[i] == problem.n_options() && is_less) found = i;
    }
    return found;
}

}  // namespace batchsolve
