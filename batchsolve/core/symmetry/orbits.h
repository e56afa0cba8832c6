// Covers that are the least of their orbits under symmetries of a problem.
#pragma once

#include "arrays.h"

namespace batchsolve::symmetry {

/// Tell for each cover, a list of options, whether no symmetry makes another of it whose options,
/// ascending, come first. `images` has the image of each option under each symmetry; it is checked
/// here, as the options are.
inline std::vector<std::uint8_t> least_covers(Lists<std::uint32_t> covers,
                                              Rows<const std::uint32_t> images) {
    require(are_below(covers.values(), images.width) && are_below(images.values, images.width),
            "a cover or an image has an option that does not exist");
    std::vector<std::uint8_t> is_least(covers.size(), 1);
    std::vector<std::uint32_t> cover, other;
    for (std::size_t k = 0; k < is_least.size(); ++k) {
        if (covers[k].empty()) continue;
        cover.assign(covers[k].begin(), covers[k].end());
        std::ranges::sort(cover);
        other.resize(cover.size());
        for (std::size_t s = 0; is_least[k] && s < images.size(); ++s) {
            const auto image = images[s];
            auto first = cover[0] + 1;
            for (std::size_t x = 0; x < cover.size(); ++x) {
                other[x] = image[cover[x]];
                first = std::min(first, other[x]);
            }
            if (first > cover[0]) continue;
            if (first == cover[0]) std::ranges::sort(other);
            is_least[k] = first == cover[0] && !std::ranges::lexicographical_compare(other, cover);
        }
    }
    return is_least;
}

}  // namespace batchsolve::symmetry
