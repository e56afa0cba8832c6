// Covers that are the least of their orbits under symmetries of a problem.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

namespace batchsolve::symmetry {

/// Tell for each cover whether no symmetry makes another of it whose options, ascending, come
/// first.
///
/// `images` has the image of each of `n_options` options under each symmetry. Cover k has the
/// options from offsets[k] to offsets[k + 1]. Both are checked here.
inline std::vector<std::uint8_t> least_covers(std::span<const std::int64_t> offsets,
                                              std::span<const std::uint32_t> options,
                                              std::span<const std::uint32_t> images,
                                              std::size_t n_options) {
    const auto exists = [&](auto option) { return option < n_options; };
    if (!std::ranges::all_of(options, exists) || !std::ranges::all_of(images, exists)) {
        throw std::invalid_argument("a cover or an image has an option that does not exist");
    }
    std::vector<std::uint8_t> is_least(offsets.size() - 1, 1);
    std::vector<std::uint32_t> cover, other;
    for (std::size_t k = 0; k < is_least.size(); ++k) {
        const auto begin = static_cast<std::size_t>(offsets[k]);
        const auto some = options.subspan(begin, static_cast<std::size_t>(offsets[k + 1]) - begin);
        if (some.empty()) continue;
        cover.assign(some.begin(), some.end());
        std::ranges::sort(cover);
        other.resize(cover.size());
        for (auto rest = images; is_least[k] && !rest.empty(); rest = rest.subspan(n_options)) {
            auto first = cover[0] + 1;
            for (std::size_t x = 0; x < cover.size(); ++x) {
                other[x] = rest[cover[x]];
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
