// The arrays of Python as the core sees them: rows of equal length, and lists one behind the other.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

namespace batchsolve {

/// Throw std::invalid_argument, ValueError in Python, unless something holds.
inline void require(bool is_right, const char* what) {
    if (!is_right) throw std::invalid_argument(what);
}

using Ints = std::span<const std::int64_t>;
using Bytes = std::span<const std::uint8_t>;
using Word = std::uint64_t;

/// True if all values are below a bound.
bool are_below(const auto& values, auto bound) {
    return std::ranges::all_of(values, [=](auto x) { return std::cmp_less(x, bound); });
}

/// Call a function with each number below n. Eight calls are one step of the loop, which takes a
/// third less time where each moves a byte.
template <class Function>
void for_each_below(std::size_t n, Function function) {
    std::size_t k = 0;
    for (; k + 8 <= n; k += 8) {
        for (std::size_t x = k; x < k + 8; ++x) function(x);
    }
    for (; k < n; ++k) function(k);
}

/// Rows of `width` values each.
template <class T>
struct Rows {
    std::span<T> values;
    std::size_t n_rows, width;

    std::size_t size() const { return n_rows; }
    std::span<T> operator[](std::size_t k) const { return values.subspan(k * width, width); }
};

/// Rows that keep their values.
template <class T>
struct Matrix {
    Matrix(std::size_t n_rows = 0, std::size_t width = 0, T value = {})
        : values(n_rows * width, value), n_rows(n_rows), width(width) {}
    explicit Matrix(Rows<const T> rows)
        : values(rows.values.begin(), rows.values.end()), n_rows(rows.n_rows), width(rows.width) {}

    /// Begin anew with zeros.
    void clear(std::size_t new_n_rows, std::size_t new_width) {
        values.assign(new_n_rows * new_width, T{});
        n_rows = new_n_rows;
        width = new_width;
    }
    std::size_t size() const { return n_rows; }
    std::span<T> operator[](std::size_t k) { return std::span(values).subspan(k * width, width); }
    std::span<const T> operator[](std::size_t k) const {
        return std::span(values).subspan(k * width, width);
    }
    void resize(std::size_t n) {
        values.resize(n * width);
        n_rows = n;
    }

    std::vector<T> values;
    std::size_t n_rows, width;
};

/// Check that bounds of lists ascend, within a number of values.
template <class Bound>
void check_bounds(std::span<const Bound> bounds, std::size_t n_values) {
    require(!bounds.empty() && bounds.front() >= 0 && std::ranges::is_sorted(bounds) &&
                static_cast<std::size_t>(bounds.back()) <= n_values,
            "the bounds of lists ascend, within the number of values");
}

/// Lists, one behind the other: list k has the values from bounds[k] to bounds[k + 1]. The
/// constructor checks the bounds.
template <class T, class Bound = std::int64_t>
class Lists {
public:
    Lists(std::span<const Bound> bounds, std::span<const T> values)
        : bounds_(bounds), values_(values) {
        check_bounds(bounds, values.size());
    }

    auto parts() { return std::tie(bounds_, values_); }
    std::size_t size() const { return bounds_.size() - 1; }
    std::span<const T> operator[](std::size_t k) const {
        return values_.subspan(bounds_[k], bounds_[k + 1] - bounds_[k]);
    }
    std::span<const T> values() const { return values_; }
    bool has_all_values() const {
        return bounds_.front() == 0 && bounds_.back() == std::ssize(values_);
    }

private:
    std::span<const Bound> bounds_;
    std::span<const T> values_;
};

/// Return the number of the first list that has a value twice, or -1.
template <class T>
std::int64_t first_repeating(const Lists<T>& lists) {
    std::vector<T> values;
    for (std::size_t k = 0; k < lists.size(); ++k) {
        values.assign(lists[k].begin(), lists[k].end());
        std::ranges::sort(values);
        if (std::ranges::adjacent_find(values) != values.end()) return static_cast<std::int64_t>(k);
    }
    return -1;
}

/// Lists that keep their values, and grow at the end.
template <class T>
struct GrowingLists {
    std::vector<std::int64_t> bounds{0};
    std::vector<T> values;

    auto parts() { return std::tie(bounds, values); }
    std::size_t size() const { return bounds.size() - 1; }
    void clear() {
        bounds.resize(1);
        values.clear();
    }
    void end_list() { bounds.push_back(static_cast<std::int64_t>(values.size())); }
    void append(std::span<const T> some) {
        values.insert(values.end(), some.begin(), some.end());
        end_list();
    }
    std::span<const T> operator[](std::size_t k) const {
        return std::span(values).subspan(bounds[k], bounds[k + 1] - bounds[k]);
    }
};

}  // namespace batchsolve
