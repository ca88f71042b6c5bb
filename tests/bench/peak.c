/* SPDX-License-Identifier: MIT */
#include <dnnl.h>
#include <float.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/text.h"

/*
 * What this machine can do at most, to measure a training against:
 *   peak THREADS
 * prints a JSON object: the GFLOP/s of a product of two square matrices in f32 by oneDNN, and the
 * GB/s of a triad, a = b + s c, over arrays that no cache holds (J. D. McCalpin, "Memory bandwidth
 * and machine balance in current high performance computers", 1995; three arrays are counted, so
 * what the processor reads before it writes is not). The best of a number of times.
 */

enum { MATRIX = 2048, TIMES = 8 };
static const long ELEMENTS = 1L << 25; /* 128 MiB an array */

struct arrays {
    float *a, *b, *c;
};

static bool arrays_create(struct arrays *arrays, long count)
{
    *arrays = (struct arrays){.a = malloc((size_t)count * sizeof *arrays->a),
                              .b = malloc((size_t)count * sizeof *arrays->b),
                              .c = malloc((size_t)count * sizeof *arrays->c)};
    if (!arrays->a || !arrays->b || !arrays->c)
        return false;
        /* Each thread touches first what it will use. */
#pragma omp parallel for schedule(static)
    for (long i = 0; i < count; i++) {
        arrays->a[i] = 0;
        arrays->b[i] = 1.0F / (float)(i % 7 + 1);
        arrays->c[i] = (float)(i % 5 - 2);
    }
    return true;
}

static void arrays_free(struct arrays *arrays)
{
    free(arrays->a);
    free(arrays->b);
    free(arrays->c);
}

static bool multiply(const struct arrays *m, double *gflops)
{
    double best = DBL_MAX;
    for (int i = 0; i < TIMES; i++) {
        double begin = clock_seconds();
        if (dnnl_sgemm('N', 'N', MATRIX, MATRIX, MATRIX, 1, m->b, MATRIX, m->c, MATRIX, 0, m->a,
                       MATRIX) != dnnl_success)
            return false;
        double seconds = clock_seconds() - begin;
        best = seconds < best ? seconds : best;
    }
    *gflops = 2.0 * MATRIX * MATRIX * MATRIX / best / 1e9;
    return true;
}

static double triad(const struct arrays *v)
{
    float *restrict a = v->a;
    const float *restrict b = v->b, *restrict c = v->c;
    double best = DBL_MAX;
    for (int i = 0; i < TIMES; i++) {
        float factor = (float)(i + 1);
        double begin = clock_seconds();
#pragma omp parallel for simd schedule(static)
        for (long k = 0; k < ELEMENTS; k++)
            a[k] = b[k] + factor * c[k];
        double seconds = clock_seconds() - begin;
        best = seconds < best ? seconds : best;
    }
    return 3.0 * (double)ELEMENTS * (double)sizeof *a / best / 1e9;
}

int main(int argc, char **argv)
{
    long threads;
    double gflops = 0;
    struct arrays matrices = {0}, vectors = {0};
    if (argc != 2 || !parse_long(argv[1], 1, 1024, &threads)) {
        fprintf(stderr, "usage: %s THREADS\n", argv[0]);
        return 2;
    }
    omp_set_num_threads((int)threads);
    bool ok = arrays_create(&matrices, (long)MATRIX * MATRIX) &&
              arrays_create(&vectors, ELEMENTS) && multiply(&matrices, &gflops);
    if (ok)
        printf("{\"sgemm_gflops\": %.1f, \"triad_gb_s\": %.2f}\n", gflops, triad(&vectors));
    else
        fprintf(stderr, "peak: no memory, or no product of matrices\n");
    arrays_free(&matrices);
    arrays_free(&vectors);
    return ok ? 0 : 1;
}
