/* SPDX-License-Identifier: MIT */
#include "tests/simgpu/race.hpp"

#include <cstdint>

/*
 * What compilers call for each access with -fsanitize=thread. Without the sanitizer's library
 * these are ours, and lead to the race detector.
 */
#if !defined(__SANITIZE_THREAD__)

#define ACCESS(NAME, SIZE, WRITE)                                                                  \
    void NAME(const void *p);                                                                      \
    void NAME(const void *p)                                                                       \
    {                                                                                              \
        simgpu::race_access(p, SIZE, WRITE, __builtin_return_address(0));                          \
    }
#define ACCESSES(SIZE)                                                                             \
    ACCESS(__tsan_read##SIZE, SIZE, false)                                                         \
    ACCESS(__tsan_write##SIZE, SIZE, true)                                                         \
    ACCESS(__tsan_unaligned_read##SIZE, SIZE, false)                                               \
    ACCESS(__tsan_unaligned_write##SIZE, SIZE, true)
#define RANGE(NAME, WRITE)                                                                         \
    void NAME(const void *p, size_t size);                                                         \
    void NAME(const void *p, size_t size)                                                          \
    {                                                                                              \
        simgpu::race_access(p, size, WRITE, __builtin_return_address(0));                          \
    }

/* Of the launchers only: kernels name their atomics (intrinsics.hpp). */
#define ATOMICS(BITS, TYPE)                                                                        \
    TYPE __tsan_atomic##BITS##_load(const volatile TYPE *p, int order);                            \
    TYPE __tsan_atomic##BITS##_load(const volatile TYPE *p, int)                                   \
    {                                                                                              \
        return __atomic_load_n(p, __ATOMIC_SEQ_CST);                                               \
    }                                                                                              \
    void __tsan_atomic##BITS##_store(volatile TYPE *p, TYPE value, int order);                     \
    void __tsan_atomic##BITS##_store(volatile TYPE *p, TYPE value, int)                            \
    {                                                                                              \
        __atomic_store_n(p, value, __ATOMIC_SEQ_CST);                                              \
    }

extern "C" {

ATOMICS(8, uint8_t)
ATOMICS(32, uint32_t)
ATOMICS(64, uint64_t)
ACCESSES(1)
ACCESSES(2)
ACCESSES(4)
ACCESSES(8)
ACCESSES(16)
RANGE(__tsan_read_range, false)
RANGE(__tsan_write_range, true)

void __tsan_init();
void __tsan_init() {}
void __tsan_func_entry(void *);
void __tsan_func_entry(void *) {}
void __tsan_func_exit();
void __tsan_func_exit() {}
void __tsan_vptr_read(void **);
void __tsan_vptr_read(void **) {}
void __tsan_vptr_update(void **, void *);
void __tsan_vptr_update(void **, void *) {}

} /* extern "C" */

#endif
