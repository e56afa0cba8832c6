// Rules at random for Python: each row has a stream of random numbers of its own.
#include "draw/cages.h"
#include "draw/lines.h"
#include "draw/regions.h"
#include "python/module.h"

namespace nanobind::detail {

using batchsolve::draw::DrawnLines;

template <>
struct type_caster<DrawnLines>
    : FieldsCaster<DrawnLines, &DrawnLines::lines_of, &DrawnLines::kinds, &DrawnLines::cells> {};

}  // namespace nanobind::detail

namespace batchsolve::python {

namespace {

/// Call a function with the place and the random numbers of each row.
void for_each_row(const Streams& streams, Ints rows, Ints attempts, auto draw) {
    require(rows.size() == attempts.size(), "each row has an attempt");
    for (std::size_t k = 0; k < rows.size(); ++k) draw(k, streams.of(rows[k], attempts[k]));
}

/// Return the side of square grids of digits 1 to 64, one for each row.
std::uint32_t side_of(Grids solutions, std::size_t n_rows) {
    std::uint32_t n = 0;
    while (n < 64 && n * n < solutions.width) ++n;
    const auto is_digit = [](std::uint8_t digit) { return 1 <= digit && digit <= 64; };
    require(solutions.size() == n_rows && n * n == solutions.width &&
                std::ranges::all_of(solutions.values, is_digit),
            "each row has a square grid of digits 1 to 64");
    return n;
}

void check_sizes(std::uint32_t least, std::uint32_t most) {
    require(1 <= least && least <= most && most <= 4096, "sizes are 1 to 4096");
}

auto draw_regions(const Streams& streams, Ints rows, Ints attempts, std::uint32_t n) {
    require(1 <= n && n <= 255, "there are 1 to 255 regions");
    Matrix<std::uint8_t> regions(rows.size(), n * n);
    draw::Regions drawn(n);
    for_each_row(streams, rows, attempts,
                 [&](std::size_t k, Random random) { drawn.draw(random, regions[k]); });
    return regions;
}

auto draw_cages(const Streams& streams, Ints rows, Ints attempts, Grids solutions,
                std::uint32_t least, std::uint32_t most) {
    check_sizes(least, most);
    draw::Cages drawn(side_of(solutions, rows.size()), least, most);
    Matrix<std::int16_t> cages(rows.size(), solutions.width);
    for_each_row(streams, rows, attempts,
                 [&](std::size_t k, Random random) { drawn.draw(random, solutions[k], cages[k]); });
    return cages;
}

auto draw_lines(const Streams& streams, Ints rows, Ints attempts, Grids solutions, Bytes kinds,
                std::uint32_t least, std::uint32_t most, int gap) {
    check_sizes(least, most);
    require(!kinds.empty() && std::ranges::max(kinds) < 4,
            "there are four kinds of lines, and one at least is drawn");
    draw::Lines grown(side_of(solutions, rows.size()), kinds, least, most, gap);
    draw::DrawnLines drawn;
    for_each_row(streams, rows, attempts,
                 [&](std::size_t k, Random random) { grown.draw(random, solutions[k], drawn); });
    return drawn;
}

}  // namespace

void add_draw(nb::module_& m) {
    m.def("draw_regions", &draw_regions, Unlocked());
    m.def("draw_cages", &draw_cages, Unlocked());
    m.def("draw_lines", &draw_lines, Unlocked());
}

}  // namespace batchsolve::python
