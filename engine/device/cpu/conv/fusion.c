/* SPDX-License-Identifier: MIT */
#include "engine/device/cpu/conv/fusion.h"

#include <string.h>

void conv_moments_join(const struct conv_moments *moments, int stride, int threads, int width,
                       double *sums, float *origin)
{
    double *squares = sums + width;
    bool any = false;
    memset(sums, 0, 2 * (size_t)width * sizeof *sums);
    for (int t = 0; t < threads; t++) {
        const struct conv_moments *m = &moments[(size_t)t * (size_t)stride];
        const double count = (double)m->count;
        if (m->count == 0)
            continue;
        if (!any)
            memcpy(origin, m->origin, (size_t)width * sizeof *origin);
        any = true;
        for (int k = 0; k < width; k++) {
            const double moved = (double)m->origin[k] - (double)origin[k];
            sums[k] += m->sum[k] + count * moved;
            squares[k] += m->square[k] + (2 * m->sum[k] + count * moved) * moved;
        }
    }
}
