// Memory for large tables that are read at random: in pages of 2 MB, where the kernel has them, so
// that fewer addresses have to be translated. NumPy asks for the same.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <vector>

#if __has_include(<sys/mman.h>)
#include <sys/mman.h>
#endif

namespace batchsolve {

template <class T>
struct LargePages {
    using value_type = T;

    LargePages() = default;
    template <class U>
    LargePages(const LargePages<U>&) {}

    T* allocate(std::size_t n) {
        if (!is_large(n)) return std::allocator<T>().allocate(n);
        void* place = ::operator new(n * sizeof(T), page);
#ifdef MADV_HUGEPAGE
        madvise(place, n * sizeof(T), MADV_HUGEPAGE);
#endif
        return static_cast<T*>(place);
    }
    void deallocate(T* place, std::size_t n) {
        if (!is_large(n)) return std::allocator<T>().deallocate(place, n);
        ::operator delete(place, page);
    }

    bool operator==(const LargePages&) const = default;

private:
    static constexpr std::align_val_t page{1 << 21};

    static bool is_large(std::size_t n) { return n * sizeof(T) >= 2 * std::size_t(page); }
};

template <class T>
using LargeVector = std::vector<T, LargePages<T>>;

}  // namespace batchsolve
