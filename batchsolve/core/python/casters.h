// Arrays of Python as the spans and rows of the core, its vectors as arrays of Python, and the
// functions that add what Python calls to the module.
//
// Only the files of this folder know Python. The casters of this one check the shapes and types of
// arrays, so that functions of the core are bound as they are; what an array says of another (an
// index, an offset) is checked by the core.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <thread>
#include <tuple>
#include <utility>

#include "arrays.h"
#include "random.h"

namespace batchsolve::python {

namespace nb = nanobind;

using Grids = Rows<const std::uint8_t>;

/// Gives Python's lock back as long as it lives. Before 3.14, Python unwinds a thread that wants
/// the lock while the interpreter ends; it cannot unwind the frames here, so the thread waits in
/// them.
class WithoutLock {
public:
    WithoutLock() : state_(PyEval_SaveThread()) {}
    WithoutLock(const WithoutLock&) = delete;
    WithoutLock& operator=(const WithoutLock&) = delete;
    ~WithoutLock() {
        try {
            PyEval_RestoreThread(state_);
        } catch (...) {
            for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
        }
    }

private:
    PyThreadState* state_;
};

/// A function so bound does not hold Python's lock.
using Unlocked = nb::call_guard<WithoutLock>;

/// Return an array of Python that owns the values of a vector.
template <class T>
nb::ndarray<nb::numpy, T> array_of(std::vector<T>&& values,
                                   std::initializer_list<std::size_t> shape) {
    auto* kept = new std::vector<T>(std::move(values));
    const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return {kept->data(), shape, owner};
}
template <class T>
auto to_python(std::vector<T>&& values) {
    return array_of(std::move(values), {values.size()});
}
template <class T>
auto to_python(Matrix<T>&& rows) {
    return array_of(std::move(rows.values), {rows.n_rows, rows.width});
}

/// What nanobind asks of a caster that makes a value.
template <class T>
struct CasterOf {
    using Value = T;
    template <class>
    using Cast = T;
    template <class>
    static constexpr bool can_cast() {
        return true;
    }
};

/// The caster of a view of a contiguous array, which is not converted if the core writes into it.
template <class View, class T, int n_dimensions>
struct ViewCaster : CasterOf<View> {
    using Array = nb::ndarray<T, nb::ndim<n_dimensions>, nb::c_contig, nb::device::cpu>;
    static constexpr auto Name = nb::detail::make_caster<Array>::Name;

    bool from_python(nb::handle source, std::uint32_t flags, nb::detail::cleanup_list* cleanup) {
        if (!std::is_const_v<T>) flags &= ~std::uint32_t{nb::detail::cast_flags::convert};
        return array.from_python(source, flags, cleanup);
    }
    operator View() {
        const auto& from = array.value;
        if constexpr (n_dimensions == 1) {
            return View(std::span<T>(from.data(), from.size()));
        } else {
            return View{{from.data(), from.size()}, from.shape(0), from.shape(1)};
        }
    }

    nb::detail::make_caster<Array> array;
};

/// Add what Python calls to the module.
void add_all(nb::module_& m);

}  // namespace batchsolve::python

namespace nanobind::detail {

using batchsolve::Rows;
using batchsolve::python::ViewCaster;

template <class T>
struct type_caster<std::span<T>> : ViewCaster<std::span<T>, T, 1> {};

template <class T>
struct type_caster<Rows<T>> : ViewCaster<Rows<T>, T, 2> {};

template <>
struct type_caster<batchsolve::Streams> : ViewCaster<batchsolve::Streams, const std::uint64_t, 1> {
};

/// Vectors of numbers and matrices are arrays of Python; other vectors are lists.
template <class T, class Element>
struct OwnerCaster {
    using Value = T;
    using Array = ndarray<numpy, Element>;
    static constexpr auto Name = make_caster<Array>::Name;

    static handle from_cpp(T&& owner, rv_policy policy, cleanup_list* cleanup) {
        return make_caster<Array>::from_cpp(batchsolve::python::to_python(std::move(owner)), policy,
                                            cleanup);
    }
};

template <class T>
    requires std::is_arithmetic_v<T>
struct type_caster<std::vector<T>> : OwnerCaster<std::vector<T>, T> {};

template <class T>
struct type_caster<batchsolve::Matrix<T>> : OwnerCaster<batchsolve::Matrix<T>, T> {};

/// Python passes and gets a struct as a tuple of its `parts`, of which the constructor makes it.
template <class T>
    requires requires(T whole) { whole.parts(); }
struct type_caster<T> : batchsolve::python::CasterOf<T> {
    static constexpr auto Name = const_name("tuple");

    bool from_python(handle source, std::uint32_t flags, cleanup_list* cleanup) {
        const auto take = [&](auto&... part) {
            Py_ssize_t place = 0;
            return PyTuple_Check(source.ptr()) &&
                   PyTuple_GET_SIZE(source.ptr()) == sizeof...(part) &&
                   (part.from_python(PyTuple_GET_ITEM(source.ptr(), place++), flags, cleanup) &&
                    ...);
        };
        return std::apply(take, parts);
    }
    operator T() {
        const auto make = []<class... Casters>(Casters&... part) {
            return T{part.operator cast_t<typename Casters::Value>()...};
        };
        return std::apply(make, parts);
    }
    static handle from_cpp(T&& whole, rv_policy, cleanup_list*) {
        const auto to_tuple = [](auto&&... part) {
            return nanobind::make_tuple(std::move(part)...);
        };
        return std::apply(to_tuple, whole.parts()).release();
    }

    template <class... Parts>
    static std::tuple<make_caster<Parts>...> casters_of(std::tuple<Parts...>);
    decltype(casters_of(std::declval<T&>().parts())) parts;
};

}  // namespace nanobind::detail
