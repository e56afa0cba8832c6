// Columns of cages and sums, where each label of a cage is one character.
//
// `batchsolve.tables.rule_columns` says what is read; other rows are left to it. Labels are indices
// of arrays with an entry for each byte.
#pragma once

#include <array>
#include <optional>

#include "text.h"

namespace batchsolve::tables {

/// The cages of rows: row k has those from cages_of[k] to cages_of[k + 1]; cage c has the total
/// totals[c] and the cells cells[c].
struct Cages {
    std::vector<std::int64_t> cages_of{0}, totals;
    GrowingLists<std::uint16_t> cells;
    std::vector<std::uint8_t> is_read;  // 1 for each row that was read

    auto parts() { return std::tie(cages_of, totals, cells, is_read); }
};

using text::Byte;

/// Read ``10`` or ``?``, which is `no_sum`.
inline std::optional<std::int64_t> total_of(Bytes digits, std::int64_t no_sum) {
    if (digits.size() == 1 && digits[0] == '?') return no_sum;
    const int number = text::next_token(digits).number;
    if (number < 0 || number == text::too_much) return {};
    return number;
}

/// The cages of one row.
class RowCages {
public:
    RowCages(std::size_t n, std::int64_t no_sum) : n_(n), no_sum_(no_sum) {}

    /// Read a row; return false if a label has no sum, or a sum no cells, or a text has other words
    /// than ``A=10`` or ``B=?``.
    ///
    /// Cages of all digits without a sum, or of more cells, are not read here either.
    bool read(Bytes labels, Bytes sums) {
        cages_.fill({});
        order_.clear();
        std::size_t n_sums = 0;
        for (Bytes word; !(word = text::next_token(sums).text).empty(); ++n_sums) {
            if (!read_word(word)) return false;
        }
        for (const Byte label : labels) {
            if (label == '.') continue;
            if (!cages_[label].total) return false;
            if (cages_[label].n_cells++ == 0) order_.push_back(label);
        }
        return order_.size() == n_sums && std::ranges::all_of(order_, [&](Byte label) {
                   const auto [total, size] = cages_[label];
                   return size < n_ || (size == n_ && total != no_sum_);
               });
    }

    /// Append the cages, in the order of their first cells.
    void append_to(Cages& cages, Bytes labels) const {
        for (const Byte label : order_) {
            for (std::size_t cell = 0; cell < labels.size(); ++cell) {
                if (labels[cell] == label) {
                    cages.cells.values.push_back(static_cast<std::uint16_t>(cell));
                }
            }
            cages.cells.end_list();
            cages.totals.push_back(*cages_[label].total);
        }
    }

private:
    struct Cage {
        std::optional<std::int64_t> total;  // if it is named
        std::size_t n_cells = 0;
    };

    bool read_word(Bytes word) {
        if (word.size() < 3 || word[1] != '=') return false;
        auto& total = cages_[word[0]].total;
        const bool is_label = ' ' < word[0] && word[0] < 128 && word[0] != '=' && word[0] != '.';
        if (!is_label || total) return false;
        total = total_of(word.subspan(2), no_sum_);
        return total.has_value();
    }

    std::size_t n_;
    std::int64_t no_sum_;
    std::array<Cage, 256> cages_;  // by label
    std::vector<Byte> order_;      // the labels, by their first cells
};

/// Read the wanted rows of grids of n × n cells; a cage without a sum has the total `no_sum`.
inline Cages read_cages(const text::Texts& labels, const text::Texts& sums, std::size_t n,
                        Bytes is_wanted, std::int64_t no_sum) {
    require(is_wanted.size() == labels.size() && is_wanted.size() == sums.size(),
            "each row has a text of labels and one of sums");
    Cages cages;
    RowCages of_row(n, no_sum);
    for (std::size_t row = 0; row < is_wanted.size(); ++row) {
        const bool is_read =
            is_wanted[row] && labels[row].size() == n * n && of_row.read(labels[row], sums[row]);
        if (is_read) of_row.append_to(cages, labels[row]);
        cages.is_read.push_back(is_read);
        cages.cages_of.push_back(static_cast<std::int64_t>(cages.totals.size()));
    }
    return cages;
}

}  // namespace batchsolve::tables
