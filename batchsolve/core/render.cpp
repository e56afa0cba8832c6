#include "render.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <stdexcept>

namespace batchsolve::render {

namespace {

constexpr int word_bits = 64;
using Words = std::vector<std::uint64_t>;

/// A row of words in a sort, with its first word, where most comparisons end.
struct Row {
    std::uint64_t first;
    std::uint32_t number;
};

/// Return the number of bits of ranks below n.
int bits_of(std::size_t n) { return std::max(1, static_cast<int>(std::bit_width(n - 1))); }

/// Return the ascending order of rows of words; `words_of` returns those of a row.
std::vector<std::uint32_t> sorted_order(std::size_t n, auto words_of) {
    std::vector<Row> rows(n);
    for (std::size_t k = 0; k < n; ++k) {
        const auto words = words_of(k);
        rows[k] = {words.empty() ? 0 : words[0], static_cast<std::uint32_t>(k)};
    }
    const auto is_less = [&](const Row& a, const Row& b) {
        if (a.first != b.first) return a.first < b.first;
        return std::ranges::lexicographical_compare(words_of(a.number), words_of(b.number));
    };
    if (!std::ranges::is_sorted(rows, is_less)) {  // as it often is after a search
        std::ranges::stable_sort(rows, is_less);
    }
    std::vector<std::uint32_t> order(n);
    std::ranges::transform(rows, order.begin(), &Row::number);
    return order;
}

/// Return the cells in which grids differ.
std::vector<std::size_t> varying_cells(std::span<const std::uint8_t> grids, std::size_t n_cells) {
    std::vector<std::uint8_t> differs(n_cells);
    for (std::size_t k = 0; k < grids.size(); k += n_cells) {
        for (std::size_t cell = 0; cell < n_cells; ++cell) {
            differs[cell] |= static_cast<std::uint8_t>(grids[k + cell] ^ grids[cell]);
        }
    }
    std::vector<std::size_t> cells;
    for (std::size_t cell = 0; cell < n_cells; ++cell) {
        if (differs[cell]) cells.push_back(cell);
    }
    return cells;
}

/// Pack the ranks of lists, counted from 1, so that a list is less than its extensions.
Lists<std::uint64_t> packed(std::span<const std::int64_t> bounds,
                            std::span<const std::int32_t> ranks, int bits) {
    Lists<std::uint64_t> lists{{0}, {}};
    const auto per_word = static_cast<std::int64_t>(word_bits / bits);
    for (std::size_t k = 1; k < bounds.size(); ++k) {
        lists.bounds.push_back(lists.bounds.back() +
                               (bounds[k] - bounds[k - 1] + per_word - 1) / per_word);
    }
    lists.elements.resize(static_cast<std::size_t>(lists.bounds.back()));
    auto word = lists.elements.begin();
    for (std::size_t k = 1; k < bounds.size(); ++k) {
        int shift = word_bits;
        const auto begin = static_cast<std::size_t>(bounds[k - 1]);
        const auto list = ranks.subspan(begin, static_cast<std::size_t>(bounds[k]) - begin);
        for (const auto rank : list) {
            if (shift < bits) {
                shift = word_bits;
                ++word;
            }
            shift -= bits;
            *word |= (static_cast<std::uint64_t>(rank) + 1) << shift;
        }
        word += !list.empty();
    }
    return lists;
}

/// Return the elements of list k.
auto list_of(const auto& bounds, const auto& elements, std::size_t k) {
    const auto begin = static_cast<std::size_t>(bounds[k]);
    return std::span(elements).subspan(begin, static_cast<std::size_t>(bounds[k + 1]) - begin);
}

/// Write text at the front of a room, and take that away from it.
void put(text::Bytes text, std::span<std::uint8_t>& room) {
    std::ranges::copy(text, room.begin());
    room = room.subspan(text.size());
}

}  // namespace

std::vector<std::uint32_t> order_of_grids(std::span<const std::uint8_t> grids, std::size_t n_cells,
                                          std::span<const std::uint64_t> ranks) {
    std::array<std::uint64_t, 256> rank_of{};
    std::ranges::copy(ranks, rank_of.begin());
    const auto cells = varying_cells(grids, n_cells);
    const int bits = bits_of(ranks.size() - 1);  // blank cells need none
    const auto per_word = static_cast<std::size_t>(word_bits / bits);
    const std::size_t n = grids.size() / n_cells;
    const std::size_t n_words = (cells.size() + per_word - 1) / per_word;
    Words words(n * n_words);
    for (std::size_t k = 0; k < n; ++k) {
        const auto grid = grids.subspan(k * n_cells, n_cells);
        for (std::size_t w = 0; w < n_words; ++w) {
            std::uint64_t word = 0;
            const auto end = std::min((w + 1) * per_word, cells.size());
            for (auto x = w * per_word; x < end; ++x) word = word << bits | rank_of[grid[cells[x]]];
            words[k * n_words + w] = word;
        }
    }
    return sorted_order(
        n, [&](std::size_t k) { return std::span(words).subspan(k * n_words, n_words); });
}

Lists<std::int32_t> ranked(std::span<const std::int64_t> offsets,
                           std::span<const std::uint32_t> options,
                           std::span<const std::uint32_t> ranks, bool in_order) {
    if (std::ranges::any_of(options, [&](auto option) { return option >= ranks.size(); })) {
        throw std::invalid_argument("a cover has an option without a name");
    }
    const std::size_t n = offsets.size() - 1;
    Lists<std::int32_t> lists{std::vector<std::int64_t>(n + 1), {}};
    lists.elements.reserve(options.size());
    std::vector<std::uint32_t> cover;
    for (std::size_t k = 0; k < n; ++k) {
        const auto some = list_of(offsets, options, k);
        cover.assign(some.begin(), some.end());
        std::ranges::sort(cover);
        for (const auto option : cover) {
            lists.elements.push_back(static_cast<std::int32_t>(ranks[option]));
        }
        lists.bounds[k + 1] = static_cast<std::int64_t>(lists.elements.size());
    }
    if (!in_order || options.empty()) return lists;
    const auto most = std::ranges::max(ranks) + std::uint64_t{1};
    const auto words = packed(lists.bounds, lists.elements, bits_of(most + 1));
    const auto order =
        sorted_order(n, [&](std::size_t k) { return list_of(words.bounds, words.elements, k); });
    Lists<std::int32_t> sorted{{0}, {}};
    sorted.elements.reserve(lists.elements.size());
    for (const auto k : order) {
        const auto list = list_of(lists.bounds, lists.elements, k);
        sorted.elements.insert(sorted.elements.end(), list.begin(), list.end());
        sorted.bounds.push_back(static_cast<std::int64_t>(sorted.elements.size()));
    }
    return sorted;
}

std::vector<std::uint8_t> write_grids(std::span<const std::uint8_t> grids, std::size_t n_cells,
                                      std::span<const std::uint32_t> order,
                                      const text::Symbols& symbols, const Frame& frame) {
    if (std::ranges::any_of(order, [&](auto k) { return k >= grids.size() / n_cells; })) {
        throw std::invalid_argument("an order of grids that do not exist");
    }
    const std::size_t size = frame.head.size() + n_cells + frame.tail.size();
    std::vector<std::uint8_t> lines(order.size() * size);
    std::span<std::uint8_t> room(lines);
    for (const auto k : order) {
        put(frame.head, room);
        symbols.write(grids.subspan(k * n_cells, n_cells), room.first(n_cells));
        room = room.subspan(n_cells);
        put(frame.tail, room);
    }
    return lines;
}

template <class Key>
Lists<std::uint8_t> join(std::span<const std::int64_t> bounds, std::span<const Key> keys,
                         std::span<const std::int64_t> starts, text::Bytes pieces,
                         const Frame& frame) {
    const auto n_pieces = static_cast<std::int64_t>(starts.size()) - 1;
    if (std::ranges::any_of(keys, [&](auto key) { return key < 0 || key >= n_pieces; })) {
        throw std::invalid_argument("a row has a piece of text that does not exist");
    }
    Lists<std::uint8_t> lines{std::vector<std::int64_t>(bounds.size()), {}};
    for (std::size_t k = 0; k + 1 < bounds.size(); ++k) {
        const auto row = list_of(bounds, keys, k);
        auto size = frame.head.size() + frame.tail.size();
        if (!row.empty()) size += (row.size() - 1) * frame.separator.size();
        for (const auto key : row) {
            size += list_of(starts, pieces, static_cast<std::size_t>(key)).size();
        }
        lines.bounds[k + 1] = lines.bounds[k] + static_cast<std::int64_t>(size);
    }
    lines.elements.resize(static_cast<std::size_t>(lines.bounds.back()));
    std::span<std::uint8_t> room(lines.elements);
    for (std::size_t k = 0; k + 1 < bounds.size(); ++k) {
        put(frame.head, room);
        bool is_first = true;
        for (const auto key : list_of(bounds, keys, k)) {
            if (!is_first) put(frame.separator, room);
            put(list_of(starts, pieces, static_cast<std::size_t>(key)), room);
            is_first = false;
        }
        put(frame.tail, room);
    }
    return lines;
}

template Lists<std::uint8_t> join(std::span<const std::int64_t>, std::span<const std::int32_t>,
                                  std::span<const std::int64_t>, text::Bytes, const Frame&);
template Lists<std::uint8_t> join(std::span<const std::int64_t>, std::span<const std::uint8_t>,
                                  std::span<const std::int64_t>, text::Bytes, const Frame&);

}  // namespace batchsolve::render
