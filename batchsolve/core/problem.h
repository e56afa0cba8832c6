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
    Problem(std::span<const std::int64_t> indptr, std::span<const Item> indices,
            std::span<const Color> colors, std::span<const std::int64_t> bounds, Item n_items,
            Item n_primary)
        : n_items(n_items), n_primary(n_primary), colors(colors.begin(), colors.end()) {
        require(n_primary <= n_items, "there are more primary items than items");
        check_bounds(indptr, indices.size());
        require(indptr.front() == 0 && indptr.back() == std::ssize(indices),
                "the options have all entries");
        require(indices.size() + indptr.size() + n_items < 0xffffffff, "the problem is too large");
        require(colors.empty() || colors.size() == indices.size(), "each entry has a colour");
        require(bounds.empty() || bounds.size() == 2 * std::size_t{n_primary},
                "each primary item has two bounds");
        begins_.assign(indptr.begin(), indptr.end());
        for (const Item i : indices)
            require(i < n_items, "an option has an item that does not exist");
        items_.assign(indices.begin(), indices.end());
        for (std::size_t i = 0; i < bounds.size(); i += 2) {
            require(0 <= bounds[i] && bounds[i] <= bounds[i + 1] && 0 < bounds[i + 1],
                    "bounds are 0 or more, the upper one is positive and not below the lower one");
            constexpr std::int64_t most = 0xffffffff;
            this->bounds.push_back({static_cast<std::uint32_t>(std::min(bounds[i], most)),
                                    static_cast<std::uint32_t>(std::min(bounds[i + 1], most))});
        }
    }

    Option n_options() const { return static_cast<Option>(begins_.size() - 1); }
    std::size_t n_entries() const { return items_.size(); }

    std::span<const Item> items_of(Option o) const {
        return std::span(items_).subspan(begins_[o], begins_[o + 1] - begins_[o]);
    }
    /// The colours of the same items; 0 is none. Empty if the problem has no colours.
    std::span<const Color> colors_of(Option o) const {
        if (colors.empty()) return {};
        return std::span(colors).subspan(begins_[o], begins_[o + 1] - begins_[o]);
    }

    const Item n_items, n_primary;
    std::vector<Color> colors;   // of all entries; empty if there are none
    std::vector<Bounds> bounds;  // of the primary items; empty if all are 1

private:
    std::vector<std::size_t> begins_;
    std::vector<Item> items_;
};

}  // namespace batchsolve
