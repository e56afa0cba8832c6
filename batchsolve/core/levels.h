// The levels of processors for which the core is compiled.
#pragma once

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace batchsolve {

/// Return the best level that the processor and the system support.
///
/// `__builtin_cpu_supports` would do, but finds nothing where zig links the module.
inline const char* best_level() {
#if defined(__x86_64__)
    unsigned a, b, c, d, kept_by_system, unused;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE)) return "baseline";
    __asm__("xgetbv" : "=a"(kept_by_system), "=d"(unused) : "c"(0));
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return "baseline";
    const auto has = [](unsigned these, unsigned all) { return (these & all) == all; };
    constexpr unsigned wide = bit_AVX512F | bit_AVX512DQ | bit_AVX512BW | bit_AVX512VL;
    constexpr unsigned counts = bit_AVX512VPOPCNTDQ | bit_AVX512BITALG;
    if (!has(kept_by_system, 0x06) || !has(b, bit_AVX2 | bit_BMI | bit_BMI2)) return "baseline";
    return has(kept_by_system, 0xe6) && has(b, wide) && has(c, counts) ? "avx512" : "avx2";
#else
    return "baseline";
#endif
}

}  // namespace batchsolve
