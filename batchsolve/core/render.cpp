#include "render.h"

#include <bit>
#include <utility>

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

/// Write text at the front of a room, and take that away from it.
void put(Bytes text, std::span<std::uint8_t>& room) {
    if (text.size() == 1) {  // as most are
        room.front() = text.front();
    } else {
        std::ranges::copy(text, room.begin());
    }
    room = room.subspan(text.size());
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

Matrix<std::uint8_t> write_grids(Rows<const std::uint8_t> grids,
                                 std::span<const std::uint32_t> order, const text::Symbols& symbols,
                                 const Frame& frame) {
    require(std::ranges::all_of(order, [&](auto k) { return k < grids.size(); }),
            "an order of grids that do not exist");
    Matrix<std::uint8_t> lines(order.size(), frame.head.size() + grids.width + frame.tail.size());
    std::span<std::uint8_t> room(lines.values);
    for (const auto k : order) {
        put(frame.head, room);
        symbols.write(grids[k], room.first(grids.width));
        room = room.subspan(grids.width);
        put(frame.tail, room);
    }
    return lines;
}

template <class Key>
GrowingLists<std::uint8_t> join(Lists<Key> rows, Lists<std::uint8_t> pieces, const Frame& frame) {
    const auto exists = [&](auto key) { return key >= 0 && std::cmp_less(key, pieces.size()); };
    require(std::ranges::all_of(rows.values(), exists),
            "a row has a piece of text that does not exist");
    const auto piece = [&](Key key) { return pieces[static_cast<std::size_t>(key)]; };
    GrowingLists<std::uint8_t> lines;
    for (std::size_t k = 0; k < rows.size(); ++k) {
        auto size = frame.head.size() + frame.tail.size();
        if (!rows[k].empty()) size += (rows[k].size() - 1) * frame.separator.size();
        for (const auto key : rows[k]) size += piece(key).size();
        lines.bounds.push_back(lines.bounds.back() + static_cast<std::int64_t>(size));
    }
    lines.values.resize(static_cast<std::size_t>(lines.bounds.back()));
    std::span<std::uint8_t> room(lines.values);
    for (std::size_t k = 0; k < rows.size(); ++k) {
        put(frame.head, room);
        bool is_first = true;
        for (const auto key : rows[k]) {
            if (!is_first) put(frame.separator, room);
            put(piece(key), room);
            is_first = false;
        }
        put(frame.tail, room);
    }
    return lines;
}

template GrowingLists<std::uint8_t> join(Lists<std::int32_t>, Lists<std::uint8_t>, const Frame&);
template GrowingLists<std::uint8_t> join(Lists<std::uint8_t>, Lists<std::uint8_t>, const Frame&);

}  // namespace batchsolve::render
