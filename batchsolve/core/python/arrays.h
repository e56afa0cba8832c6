// Arrays of Python as spans, and vectors as arrays of Python.
//
// Only the files of this folder know Python. They check the shapes and types of arrays; what an
// array says of another (an index, an offset) is checked by the class that is built from it.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <span>
#include <utility>
#include <vector>

namespace batchsolve::python {

namespace nb = nanobind;

/// A contiguous array of Python that is only read.
template <class T, int n_dimensions = 1>
using Array = nb::ndarray<const T, nb::ndim<n_dimensions>, nb::c_contig, nb::device::cpu>;

/// A contiguous array of Python that is written in place.
template <class T, int n_dimensions = 1>
using Output = nb::ndarray<T, nb::ndim<n_dimensions>, nb::c_contig, nb::device::cpu>;

/// Return the elements of an array, one row behind the other.
template <class AnyArray>
auto span_of(const AnyArray& array) {
    return std::span(array.data(), array.size());
}

/// Return an array of Python that owns the elements of a vector, of one dimension by default.
template <class T>
nb::ndarray<nb::numpy, T> to_python(std::vector<T>&& values,
                                    std::initializer_list<std::size_t> shape = {}) {
    auto* kept = new std::vector<T>(std::move(values));
    const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    if (shape.size()) return {kept->data(), shape, owner};
    return {kept->data(), {kept->size()}, owner};
}

/// Call a function without Python's lock.
auto unlocked(auto&& call) {
    const nb::gil_scoped_release release;
    return call();
}

}  // namespace batchsolve::python
