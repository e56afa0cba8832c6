#include "tables/cages.h"

#include <array>
#include <optional>

namespace batchsolve::tables {

namespace {

using text::Byte;

constexpr std::size_t most_sum_digits = 9;

bool separates(Byte c) { return c <= ' ' || c == ',' || c == ';'; }

/// The totals of the labels of one row.
class Sums {
public:
    explicit Sums(std::int64_t no_sum) : no_sum_(no_sum) {}

    /// Read words such as ``A=10`` or ``B=?``; return false if the text does not consist of them.
    bool read(Bytes text) {
        has_total_.fill(false);
        n_ = 0;
        while (true) {
            text = {std::ranges::find_if_not(text, separates), text.end()};
            if (text.empty()) return true;
            const auto end = std::ranges::find_if(text, separates);
            if (!add({text.begin(), end})) return false;
            text = {end, text.end()};
        }
    }

    std::size_t size() const { return n_; }
    bool has(Byte label) const { return has_total_[label]; }
    std::int64_t operator[](Byte label) const { return totals_[label]; }

private:
    bool add(Bytes word) {
        if (word.size() < 3 || word[1] != '=') return false;
        const Byte label = word[0];
        if (label >= 128 || label == '=' || label == '.' || has(label)) return false;
        const auto total = total_of(word.subspan(2));
        if (!total) return false;
        has_total_[label] = true;
        totals_[label] = *total;
        ++n_;
        return true;
    }

    std::optional<std::int64_t> total_of(Bytes digits) const {
        if (digits.size() == 1 && digits[0] == '?') return no_sum_;
        if (digits.size() > most_sum_digits) return {};
        std::int64_t total = 0;
        for (const Byte c : digits) {
            if (c < '0' || c > '9') return {};
            total = 10 * total + (c - '0');
        }
        return total;
    }

    std::int64_t no_sum_;
    std::array<bool, 256> has_total_{};
    std::array<std::int64_t, 256> totals_{};
    std::size_t n_ = 0;
};

/// The cells of the labels of one row.
class Cells {
public:
    /// Read labels; return false if one has no sum, or a sum has no cells.
    ///
    /// Cages of all digits without a sum, or of more cells, are not read here either.
    bool read(Bytes labels, const Sums& sums, std::size_t n, std::int64_t no_sum) {
        for (const Byte label : order_) cells_[label].clear();
        order_.clear();
        for (std::size_t cell = 0; cell < labels.size(); ++cell) {
            const Byte label = labels[cell];
            if (label == '.') continue;
            if (separates(label) || !sums.has(label)) return false;
            if (cells_[label].empty()) order_.push_back(label);
            cells_[label].push_back(static_cast<std::uint16_t>(cell));
        }
        return order_.size() == sums.size() && std::ranges::all_of(order_, [&](Byte label) {
                   const auto size = cells_[label].size();
                   return size < n || (size == n && sums[label] != no_sum);
               });
    }

    /// The labels, in the order of their first cells.
    Bytes labels() const { return order_; }
    std::span<const std::uint16_t> operator[](Byte label) const { return cells_[label]; }

private:
    std::vector<Byte> order_;
    std::array<std::vector<std::uint16_t>, 256> cells_;
};

}  // namespace

Cages read_cages(const text::Texts& labels, const text::Texts& sums, std::size_t n, Bytes is_wanted,
                 std::int64_t no_sum) {
    require(is_wanted.size() == labels.size() && is_wanted.size() == sums.size(),
            "each row has a text of labels and one of sums");
    Cages cages;
    cages.is_read.resize(is_wanted.size());
    Sums totals(no_sum);
    Cells cells;
    for (std::size_t row = 0; row < is_wanted.size(); ++row) {
        if (is_wanted[row] && labels[row].size() == n * n && totals.read(sums[row]) &&
            cells.read(labels[row], totals, n, no_sum)) {
            for (const Byte label : cells.labels()) {
                cages.cells.append(cells[label]);
                cages.totals.push_back(totals[label]);
            }
            cages.is_read[row] = 1;
        }
        cages.cages_of.push_back(static_cast<std::int64_t>(cages.totals.size()));
    }
    return cages;
}

}  // namespace batchsolve::tables
