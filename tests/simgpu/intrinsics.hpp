/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_TESTS_SIMGPU_INTRINSICS_HPP
#define DPARTUI_TESTS_SIMGPU_INTRINSICS_HPP

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <vector_functions.h>

#include "tests/simgpu/block.hpp"

/* The device functions that kernels use, on the host. Atomics are plain: one thread runs at a time,
 * and none is taken off in the middle. */

static constexpr int warpSize = 32;

static inline void __syncthreads(int line = __builtin_LINE())
{
    simgpu::block_barrier(line);
}

static inline void __syncwarp(unsigned mask = 0xffffffffu, int line = __builtin_LINE())
{
    simgpu::warp_meet(simgpu::WARP_SYNC, mask, nullptr, 0, 0, line);
}

static inline void __threadfence()
{
    simgpu::race_fence();
}
static inline void __threadfence_block() {}
static inline unsigned __activemask()
{
    return 0xffffffffu;
}

namespace simgpu
{
template <typename T> T shuffle(unsigned mask, T value, int source, int line)
{
    static_assert(sizeof(T) <= warp_value_size && std::is_trivially_copyable_v<T>);
    warp_meet(WARP_SHUFFLE, mask, &value, sizeof value, source, line);
    return value;
}
} // namespace simgpu

template <typename T>
T __shfl_sync(unsigned mask, T value, int lane, int width = 32, int line = __builtin_LINE())
{
    int segment = simgpu::lane_number() / width * width;
    return simgpu::shuffle(mask, value, segment + (lane & (width - 1)), line);
}

template <typename T>
T __shfl_xor_sync(unsigned mask, T value, int bits, int width = 32, int line = __builtin_LINE())
{
    int lane = simgpu::lane_number(), source = lane ^ bits;
    bool behind = source >= (lane / width + 1) * width;
    return simgpu::shuffle(mask, value, behind ? lane : source, line);
}

template <typename T>
T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32,
                   int line = __builtin_LINE())
{
    int lane = simgpu::lane_number(), source = lane + static_cast<int>(delta);
    bool behind = source >= (lane / width + 1) * width;
    return simgpu::shuffle(mask, value, behind ? lane : source, line);
}

template <typename T>
T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32,
                 int line = __builtin_LINE())
{
    int lane = simgpu::lane_number(), source = lane - static_cast<int>(delta);
    bool before = source < lane / width * width;
    return simgpu::shuffle(mask, value, before ? lane : source, line);
}

static inline unsigned __ballot_sync(unsigned mask, int vote, int line = __builtin_LINE())
{
    return simgpu::warp_meet(simgpu::WARP_BALLOT, mask, nullptr, 0, vote != 0, line);
}
static inline int __any_sync(unsigned mask, int vote, int line = __builtin_LINE())
{
    return __ballot_sync(mask, vote, line) != 0;
}
static inline int __all_sync(unsigned mask, int vote, int line = __builtin_LINE())
{
    return __ballot_sync(mask, !vote, line) == 0;
}

#define SIMGPU_LOAD(NAME)                                                                          \
    template <typename T> T NAME(const T *p)                                                       \
    {                                                                                              \
        return *p;                                                                                 \
    }
SIMGPU_LOAD(__ldg)
SIMGPU_LOAD(__ldca)
SIMGPU_LOAD(__ldcg)
SIMGPU_LOAD(__ldcs)
SIMGPU_LOAD(__ldlu)
SIMGPU_LOAD(__ldcv)
#undef SIMGPU_LOAD

#define SIMGPU_STORE(NAME)                                                                         \
    template <typename T> void NAME(T *p, T value)                                                 \
    {                                                                                              \
        *p = value;                                                                                \
    }
SIMGPU_STORE(__stwb)
SIMGPU_STORE(__stcg)
SIMGPU_STORE(__stcs)
SIMGPU_STORE(__stwt)
#undef SIMGPU_STORE

/* The race detector is told of atomics by name. */
#define SIMGPU_NOT_WATCHED __attribute__((no_sanitize("thread")))

#define SIMGPU_ATOMIC(NAME, RESULT)                                                                \
    template <typename T, typename U> SIMGPU_NOT_WATCHED T NAME(T *p, U operand)                   \
    {                                                                                              \
        simgpu::race_atomic(p, sizeof *p);                                                         \
        T old = *p, value = static_cast<T>(operand);                                               \
        *p = RESULT;                                                                               \
        return old;                                                                                \
    }
SIMGPU_ATOMIC(atomicAdd, static_cast<T>(old + value))
SIMGPU_ATOMIC(atomicSub, static_cast<T>(old - value))
SIMGPU_ATOMIC(atomicExch, value)
SIMGPU_ATOMIC(atomicMin, std::min(old, value))
SIMGPU_ATOMIC(atomicMax, std::max(old, value))
SIMGPU_ATOMIC(atomicAnd, old &value)
SIMGPU_ATOMIC(atomicOr, old | value)
SIMGPU_ATOMIC(atomicXor, old ^ value)
SIMGPU_ATOMIC(atomicInc, old >= value ? 0 : old + 1)
#undef SIMGPU_ATOMIC

template <typename T> SIMGPU_NOT_WATCHED T atomicCAS(T *p, T expected, T value)
{
    simgpu::race_atomic(p, sizeof *p);
    T old = *p;
    if (old == expected)
        *p = value;
    return old;
}

template <typename T, typename U> constexpr std::common_type_t<T, U> min(T a, U b)
{
    using C = std::common_type_t<T, U>;
    return std::min<C>(static_cast<C>(a), static_cast<C>(b));
}
template <typename T, typename U> constexpr std::common_type_t<T, U> max(T a, U b)
{
    using C = std::common_type_t<T, U>;
    return std::max<C>(static_cast<C>(a), static_cast<C>(b));
}

namespace simgpu
{
template <typename To, typename From> To bits_as(From from)
{
    static_assert(sizeof(To) == sizeof(From));
    To to;
    memcpy(&to, &from, sizeof to);
    return to;
}
} // namespace simgpu

#define SIMGPU_FUNCTION(RESULT, NAME, PARAMETERS, VALUE)                                           \
    static inline RESULT NAME PARAMETERS                                                           \
    {                                                                                              \
        return VALUE;                                                                              \
    }
SIMGPU_FUNCTION(unsigned, __float_as_uint, (float x), simgpu::bits_as<unsigned>(x))
SIMGPU_FUNCTION(int, __float_as_int, (float x), simgpu::bits_as<int>(x))
SIMGPU_FUNCTION(float, __uint_as_float, (unsigned x), simgpu::bits_as<float>(x))
SIMGPU_FUNCTION(float, __int_as_float, (int x), simgpu::bits_as<float>(x))
SIMGPU_FUNCTION(long long, __double_as_longlong, (double x), simgpu::bits_as<long long>(x))
SIMGPU_FUNCTION(double, __longlong_as_double, (long long x), simgpu::bits_as<double>(x))
SIMGPU_FUNCTION(unsigned, __umulhi, (unsigned a, unsigned b),
                static_cast<unsigned>(uint64_t{a} * b >> 32))
SIMGPU_FUNCTION(unsigned long long, __umul64hi, (unsigned long long a, unsigned long long b),
                static_cast<unsigned long long>(static_cast<unsigned __int128>(a) * b >> 64))
SIMGPU_FUNCTION(int, __popc, (unsigned x), __builtin_popcount(x))
SIMGPU_FUNCTION(int, __clz, (int x), x ? __builtin_clz(static_cast<unsigned>(x)) : 32)
SIMGPU_FUNCTION(int, __ffs, (int x), __builtin_ffs(x))
SIMGPU_FUNCTION(float, __fdividef, (float a, float b), a / b)
SIMGPU_FUNCTION(float, __saturatef, (float x), fminf(fmaxf(x, 0.0f), 1.0f))
SIMGPU_FUNCTION(float, rsqrtf, (float x), 1.0f / sqrtf(x))
SIMGPU_FUNCTION(double, rsqrt, (double x), 1.0 / sqrt(x))
SIMGPU_FUNCTION(float, __frcp_rn, (float x), 1.0f / x)
SIMGPU_FUNCTION(float, __fsqrt_rn, (float x), sqrtf(x))
SIMGPU_FUNCTION(float, __fdiv_rn, (float a, float b), a / b)
SIMGPU_FUNCTION(float, __fmaf_rn, (float a, float b, float c), fmaf(a, b, c))
SIMGPU_FUNCTION(double, __fma_rn, (double a, double b, double c), fma(a, b, c))
SIMGPU_FUNCTION(float, __uint2float_rn, (unsigned x), static_cast<float>(x))
SIMGPU_FUNCTION(float, __int2float_rn, (int x), static_cast<float>(x))
SIMGPU_FUNCTION(int, __float2int_rz, (float x), static_cast<int>(x))
SIMGPU_FUNCTION(int, __float2int_rn, (float x), static_cast<int>(lrintf(x)))
/* Never joined into a multiply-add: the compiler is told so where it matters (-ffp-contract). */
SIMGPU_FUNCTION(float, __fadd_rn, (float a, float b), a + b)
SIMGPU_FUNCTION(float, __fsub_rn, (float a, float b), a - b)
SIMGPU_FUNCTION(float, __fmul_rn, (float a, float b), a *b)
SIMGPU_FUNCTION(double, __dadd_rn, (double a, double b), a + b)
SIMGPU_FUNCTION(double, __dmul_rn, (double a, double b), a *b)
#undef SIMGPU_FUNCTION

/* The C library has these names for itself. */
#define __expf(X)  expf(X)
#define __logf(X)  logf(X)
#define __tanhf(X) tanhf(X)

#endif
