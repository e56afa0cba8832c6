// Rules at random for Python: each row has a stream of random numbers of its own.
#include "draw/cages.h"
#include "draw/lines.h"
#include "draw/regions.h"
#include "python/module.h"

namespace batchsolve::python {

namespace {

/// The rows that are drawn for, as the arrays that Python passes.
class Rows {
public:
    Rows(Array<std::uint64_t> keys, Array<std::int64_t> rows, Array<std::int64_t> attempts)
        : rows_(span_of(rows)), attempts_(span_of(attempts)) {
        if (keys.size() != 2 || rows_.size() != attempts_.size()) {
            throw nb::value_error("there are two keys, and each row has an attempt");
        }
        std::ranges::copy(span_of(keys), keys_);
    }
    std::size_t size() const { return rows_.size(); }
    Random random(std::size_t k) const {
        return {keys_, static_cast<std::uint64_t>(rows_[k]),
                static_cast<std::uint64_t>(attempts_[k])};
    }

private:
    std::uint64_t keys_[2];
    std::span<const std::int64_t> rows_, attempts_;
};

/// Return the side of square grids of digits 1 to 64, one for each row.
std::uint32_t side_of(Array<std::uint8_t, 2> solutions, std::size_t n_rows) {
    std::uint32_t n = 0;
    while (n < 64 && n * n < solutions.shape(1)) ++n;
    const auto is_digit = [](std::uint8_t digit) { return 1 <= digit && digit <= 64; };
    if (solutions.shape(0) != n_rows || n * n != solutions.shape(1) ||
        !std::ranges::all_of(span_of(solutions), is_digit)) {
        throw nb::value_error("each row has a square grid of digits 1 to 64");
    }
    return n;
}

void check_sizes(std::uint32_t least, std::uint32_t most) {
    if (least < 1 || most < least || most > 4096) throw nb::value_error("sizes are 1 to 4096");
}

auto draw_regions(Array<std::uint64_t> keys, Array<std::int64_t> numbers,
                  Array<std::int64_t> attempts, std::uint32_t n) {
    const Rows rows(keys, numbers, attempts);
    if (n < 1 || n > 255) throw nb::value_error("there are 1 to 255 regions");
    const std::size_t n_cells = n * n;
    std::vector<std::uint8_t> regions(rows.size() * n_cells);
    {
        const nb::gil_scoped_release release;
        draw::Regions drawn(n);
        for (std::size_t k = 0; k < rows.size(); ++k) {
            drawn.draw(rows.random(k), std::span(regions).subspan(k * n_cells, n_cells));
        }
    }
    return to_python(std::move(regions), {rows.size(), n_cells});
}

auto draw_cages(Array<std::uint64_t> keys, Array<std::int64_t> numbers,
                Array<std::int64_t> attempts, Array<std::uint8_t, 2> solutions, std::uint32_t least,
                std::uint32_t most) {
    const Rows rows(keys, numbers, attempts);
    check_sizes(least, most);
    const std::uint32_t n = side_of(solutions, rows.size());
    const std::size_t n_cells = n * n;
    std::vector<std::int16_t> cages(rows.size() * n_cells);
    {
        const nb::gil_scoped_release release;
        draw::Cages drawn(n, least, most);
        for (std::size_t k = 0; k < rows.size(); ++k) {
            drawn.draw(rows.random(k), span_of(solutions).subspan(k * n_cells, n_cells),
                       std::span(cages).subspan(k * n_cells, n_cells));
        }
    }
    return to_python(std::move(cages), {rows.size(), n_cells});
}

nb::list draw_lines(Array<std::uint64_t> keys, Array<std::int64_t> numbers,
                    Array<std::int64_t> attempts, Array<std::uint8_t, 2> solutions,
                    Array<std::uint8_t> kinds, std::uint32_t least, std::uint32_t most, int gap) {
    const Rows rows(keys, numbers, attempts);
    check_sizes(least, most);
    if (!kinds.size() || !std::ranges::all_of(span_of(kinds), [](auto kind) { return kind < 4; })) {
        throw nb::value_error("there are four kinds of lines, and one at least is drawn");
    }
    const std::uint32_t n = side_of(solutions, rows.size());
    std::vector<std::vector<draw::Line>> lines;
    {
        const nb::gil_scoped_release release;
        draw::Lines drawn(n, span_of(kinds), least, most, gap);
        for (std::size_t k = 0; k < rows.size(); ++k) {
            lines.push_back(
                drawn.draw(rows.random(k), span_of(solutions).subspan(k * n * n, n * n)));
        }
    }
    nb::list of_rows;
    for (const auto& of_row : lines) {
        nb::list list;
        for (const auto& line : of_row) {
            nb::list cells;
            for (const auto cell : line.cells) cells.append(cell);
            list.append(nb::make_tuple(static_cast<unsigned>(line.kind), nb::tuple(cells)));
        }
        of_rows.append(list);
    }
    return of_rows;
}

}  // namespace

void add_draw(nb::module_& m) {
    m.def("draw_regions", &draw_regions);
    m.def("draw_cages", &draw_cages);
    m.def("draw_lines", &draw_lines);
}

}  // namespace batchsolve::python
