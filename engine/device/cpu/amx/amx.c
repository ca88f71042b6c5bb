/* SPDX-License-Identifier: MIT */
/* The loops of blocked.h by the matrix unit. */
#include "engine/device/cpu/amx/kernels.h"

#include "config.h"

#if defined(HAVE_AMX)

#include <sys/syscall.h>
#include <unistd.h>

#include "engine/device/cpu/core/onednn.h"
#include "engine/device/cpu/simd/vector_avx512.h"

#undef TARGET
#define TARGET __attribute__((target("avx512f,amx-tile,amx-bf16")))

#define tile_zero(tile)           _tile_zero(tile)
#define tile_load(tile, from)     _tile_loadd(tile, from, TILE_LINE)
#define tile_store(tile, to)      _tile_stored(tile, to, TILE_LINE)
#define tile_multiply(sums, a, b) _tile_dpbf16ps(sums, a, b)

/* Of all tiles: 16 lines of 64 bytes. */
static const struct {
    uint8_t palette, start_row, reserved[14];
    uint16_t line_bytes[16];
    uint8_t lines[16];
} __attribute__((packed, aligned(64))) configuration = {
    .palette = 1,
    .line_bytes = {64, 64, 64, 64, 64, 64, 64, 64},
    .lines = {16, 16, 16, 16, 16, 16, 16, 16},
};

/* Each thread configures the unit before it uses tiles and releases it afterwards: while it is in
 * use, every context switch saves 8 KiB more. */
static inline TARGET void tiles_begin(void)
{
    _tile_loadconfig(&configuration);
}

static inline TARGET void tiles_end(void)
{
    _tile_release();
}

/* Linux lets only processes that asked use the registers of tiles (arch_prctl(2)). oneDNN is asked
 * as well, which can be told to leave instructions out. */
static bool processor_has_tiles(void)
{
    enum { ARCH_REQ_XCOMP_PERM = 0x1023, XFEATURE_XTILEDATA = 18 };
    return library_uses(dnnl_cpu_isa_avx512_core_amx) &&
           syscall(SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA) == 0;
}

#include "engine/device/cpu/simd/transpose.h"

#define AMX_KERNELS amx_kernels
#define AMX_NAME    "AMX"
#include "engine/device/cpu/amx/blocked.h"

#else

static bool fits(const struct conv_shape *shape)
{
    (void)shape;
    return false;
}

#define NO_KERNEL(DIRECTION)                                                                       \
    {                                                                                              \
        .block = 16, .direction = (DIRECTION), .fits = fits                                        \
    }
#define NO_KERNELS                                                                                 \
    {                                                                                              \
        NO_KERNEL(CONV_FORWARD), NO_KERNEL(CONV_BACKWARD_DATA), NO_KERNEL(CONV_BACKWARD_WEIGHTS)   \
    }

const struct conv_kernel amx_kernels[] = NO_KERNELS, amx_avx512_kernels[] = NO_KERNELS;

#endif
