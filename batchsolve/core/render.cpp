#include "render.h"

#include <bit>

namespace batchsolve::render {

namespace {

constexpr int word_bits = 64;

/// A row of words in a sort, with its first word, where most comparisons end.
struct Row {
    std::uint64_t first;
    std::uint32_t number;
};

/// Return the number of bits of ranks below n.
int bits_of(std::size_t n) { return std::max(1, static_cast<int>(std::bit_width(n - 1))); }

/// Return the ascending order of rows of words.
std::vector<std::uint32_t> sorted_order(const auto& words_of) {
    std::vector<Row> rows(words_of.size());
    for (std::size_t k = 0; k < rows.size(); ++k) {
        const auto words = words_of[k];
        rows[k] = {words.empty() ? 0 : words[0], static_cast<std::uint32_t>(k)};
    }
    const auto is_less = [&](const Row& a, const Row& b) {
        if (a.first != b.first) return a.first < b.first;
        return std::ranges::lexicographical_compare(words_of[a.number], words_of[b.number]);
    };
    if (!std::ranges::is_sorted(rows, is_less)) {  // as it often is after a search
        std::ranges::stable_sort(rows, is_less);
    }
    std::vector<std::uint32_t> order(rows.size());
    std::ranges::transform(rows, order.begin(), &Row::number);
    return order;
}

/// Pack the ranks of lists, counted from 1, so that a list is less than its extensions.
GrowingLists<std::uint64_t> packed(const GrowingLists<std::int32_t>& lists, int bits) {
    GrowingLists<std::uint64_t> words;
    for (std::size_t k = 0; k < lists.size(); ++k) {
        int shift = 0;
        for (const auto rank : lists[k]) {
            if (shift < bits) {
                shift = word_bits;
                words.values.push_back(0);
            }
            shift -= bits;
            words.values.back() |= (static_cast<std::uint64_t>(rank) + 1) << shift;
        }
        words.end_list();
    }
    return words;
}

}  // namespace

GrowingLists<std::int32_t> ranked(Lists<std::uint32_t> covers, std::span<const std::uint32_t> ranks,
                                  bool in_order) {
    require(std::ranges::all_of(covers.values(), [&](auto o) { return o < ranks.size(); }),
            "a cover has an option without a name");
    GrowingLists<std::int32_t> lists;
    lists.values.reserve(covers.values().size());
    std::vector<std::uint32_t> cover;
    for (std::size_t k = 0; k < covers.size(); ++k) {
        cover.assign(covers[k].begin(), covers[k].end());
        std::ranges::sort(cover);
        for (const auto option : cover) {
            lists.values.push_back(static_cast<std::int32_t>(ranks[option]));
        }
        lists.end_list();
    }
    if (!in_order || lists.values.empty()) return lists;
    const auto most = std::ranges::max(ranks) + std::uint64_t{1};
    GrowingLists<std::int32_t> sorted;
    sorted.values.reserve(lists.values.size());
    for (const auto k : sorted_order(packed(lists, bits_of(most + 1)))) sorted.append(lists[k]);
    return sorted;
}

}  // namespace batchsolve::render
