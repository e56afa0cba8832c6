// Residuals whose rows stand side by side in vectors, so that the options that items have left are
// counted for as many items at once as a vector has words.
#pragma once

#include "residual.h"
#include "vectors.h"

namespace batchsolve {

/// A residual with a *tag* for each item, of which searches make the *key* of the item.
struct Grouped : Residual {
    // the language lets words of a vector be read as words
    Word& tag(std::size_t i) {
        return std::span(reinterpret_cast<Word*>(tags.data()), tags.size() * width)[i];
    }

    /// Write the groups of a residual that was built; tags that no item has are `no_item`.
    void lay_out(Word no_item) {
        const std::size_t n_groups = (items.size() + width - 1) / width;
        groups.assign(n_groups * words, Words{});
        tags.assign(n_groups, Words{} + no_item);
        for (std::size_t i = 0; i < items.size(); ++i) {
            const auto row = rows[i];
            for (std::size_t w = 0; w < words; ++w) {
                groups[i / width * words + w][i % width] = row[w];
            }
        }
    }

    /// Return the least of the keys, which `key_of` makes of tags and the numbers of options left,
    /// or of those of the first groups, if one of them is below `low`.
    Word least_key(std::span<const Word> alive, Word low, auto key_of) const {
        const Words* group = groups.data();  // as many as `lay_out` wrote
        Words best = ~Words{};
        for (std::size_t g = 0; g < tags.size(); ++g) {
            Words met{};
            for (const Word w : alive) met += popcount(*group++ & w);
            best = lesser(best, key_of(tags[g], met));
            // the jump is hard to foresee, and few groups are soon counted
            if (g > 0 && g % 2 == 0 && bits(best < low) != 0) break;
        }
        return least<Word>(best);
    }

    static constexpr std::size_t width = n_lanes<Word>;

    std::vector<Words> groups;  // word w of `width` items, one behind the other
    std::vector<Words> tags;
};

}  // namespace batchsolve
