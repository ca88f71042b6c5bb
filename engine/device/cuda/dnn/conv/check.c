/* SPDX-License-Identifier: MIT */
#include "engine/device/cuda/dnn/conv/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/device/cuda/dnn/conv/reference.h"

/* Products on the host for all elements of a check: some milliseconds. */
#define PRODUCTS ((size_t)1 << 22)
#define AT_LEAST 4

static size_t products_of_element(const struct conv_request *r)
{
    if (r->pattern == CONV_WEIGHTS)
        return (size_t)r->rows * (size_t)r->out_h * (size_t)r->out_w;
    return (size_t)(r->pattern == CONV_DATA ? r->out : r->in) * (size_t)r->kernel_h *
           (size_t)r->kernel_w;
}

/* The first and the last element, and others in equal steps; an odd step meets all channels. */
static void pick(struct conv_check *check)
{
    const size_t count = conv_role_count(check->bench->request, check->role);
    const size_t most = PRODUCTS / products_of_element(check->bench->request);
    size_t wanted = most < AT_LEAST              ? AT_LEAST
                    : most > CONV_CHECK_ELEMENTS ? CONV_CHECK_ELEMENTS
                                                 : most;
    if (wanted > count)
        wanted = count;
    check->count = (int)wanted;
    for (size_t i = 0; i < wanted; i++)
        check->at[i] = i == 0 ? 0 : i + 1 == wanted ? count - 1 : (count / wanted * i) | 1;
}

static bool make_wanted(struct conv_check *check)
{
    const struct conv_bench *bench = check->bench;
    struct conv_inputs inputs = {.period = CONV_BENCH_NUMBERS};
    check->wanted = calloc(CONV_CHECK_ELEMENTS, sizeof *check->wanted);
    if (!check->wanted)
        return error_memory(bench->err, "a check of convolutions");
    for (int role = CONV_X; role < CONV_ROLES; role++)
        inputs.numbers[role] = bench->numbers[role];
    for (int i = 0; i < check->count; i++)
        check->wanted[i] = conv_reference(bench->request, &inputs, check->role, check->at[i]);
    return true;
}

static struct tensor_shape shape_of_result(const struct conv_request *r)
{
    return (struct tensor_shape){
        .rows = r->rows, .h = r->out_h, .w = r->out_w, .channels = r->out, .real = r->out};
}

/* What the kernel of our own works in. */
static bool take_memory(struct conv_check *check, bool *short_of_memory)
{
    struct conv_bench *bench = check->bench;
    const struct conv_request *r = bench->request;
    const size_t counters = KERNEL_COUNTERS * sizeof *check->counters;
    return conv_bench_take(bench, &check->scratch, kernel_sums_scratch(shape_of_result(r)),
                           short_of_memory) &&
           conv_bench_take(bench, (void **)&check->sums, 2 * (size_t)r->out * sizeof(double),
                           short_of_memory) &&
           conv_bench_take(bench, (void **)&check->counters, counters, short_of_memory) &&
           cuda_check(cudaMemsetAsync(check->counters, 0, counters, bench->maker->stream),
                      "cudaMemsetAsync", bench->err);
}

bool conv_check_open(struct conv_check *check, struct conv_bench *bench, bool *short_of_memory)
{
    const struct conv_request *r = bench->request;
    *check = (struct conv_check){.bench = bench};
    check->role = r->pattern == CONV_WEIGHTS ? CONV_W : r->pattern == CONV_DATA ? CONV_X : CONV_Y;
    pick(check);
    return make_wanted(check) &&
           (!conv_role_used(r, CONV_SUMS) || take_memory(check, short_of_memory));
}

void conv_check_close(struct conv_check *check)
{
    free(check->wanted);
    if (!check->bench || check->bench->stuck)
        return;
    (void)cudaFree(check->scratch);
    (void)cudaFree(check->sums);
    (void)cudaFree(check->counters);
}

bool conv_check_dirty(const struct conv_check *check)
{
    const struct conv_bench *bench = check->bench;
    for (int role = CONV_X; role < CONV_ROLES; role++)
        if (conv_role_used(bench->request, role) && conv_role_written(bench->request, role) &&
            !cuda_check(cudaMemsetAsync(bench->pointers[0][role], 0xff,
                                        conv_role_bytes(bench->request, role),
                                        bench->maker->stream),
                        "cudaMemsetAsync", bench->err))
            return false;
    return true;
}

static bool fetch(const struct conv_check *check, void *to, const void *from, size_t bytes)
{
    return cuda_check(
        cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, check->bench->maker->stream),
        "cudaMemcpyAsync", check->bench->err);
}

static float widen(const void *number, enum cuda_type type)
{
    uint32_t bits = 0;
    float value;
    memcpy(type == CUDA_BF16 ? (char *)&bits + 2 : (char *)&bits, number, cuda_type_size(type));
    memcpy(&value, &bits, sizeof value);
    return value;
}

/*
 * Sums in another order, of factors rounded to TF32 or by Winograd's transforms, differ by a small
 * part of what a sum of that many random terms is likely to be; a term left out, or a share of a
 * sum that was split, by far more.
 */
static bool is_near(const struct conv_check *check, const struct conv_sum *wanted, float got)
{
    const enum number_type type = check->bench->request->type;
    const double sum_error = type == TYPE_F32 ? 1e-4 : 0x1p-6;
    const double store_error = type == TYPE_BF16 ? 0x1p-8 : 1e-6;
    const double limit = sum_error * sqrt(wanted->squares) + store_error * fabs(wanted->value);
    return fabs((double)got - wanted->value) <= limit; /* false for NaN */
}

static bool check_elements(struct conv_check *check, bool *agrees)
{
    const struct conv_bench *bench = check->bench;
    const enum cuda_type type = conv_role_type(bench->request, check->role);
    const char *result = bench->pointers[0][check->role];
    const size_t size = cuda_type_size(type);
    char numbers[CONV_CHECK_ELEMENTS][sizeof(float)];
    /* Copies to memory that is not pinned wait for the device by themselves, and without end. */
    if (!conv_bench_wait(check->bench))
        return false;
    for (int i = 0; i < check->count; i++)
        if (!fetch(check, numbers[i], result + check->at[i] * size, size))
            return false;
    if (!conv_bench_wait(check->bench))
        return false;
    for (int i = 0; i < check->count && *agrees; i++) {
        const float got = widen(numbers[i], type);
        *agrees = is_near(check, &check->wanted[i], got);
        if (!*agrees)
            snprintf(check->fault, sizeof check->fault, "%s[%zu] is %.6g, not %.6g",
                     conv_role_name(check->role), check->at[i], (double)got,
                     check->wanted[i].value);
    }
    return true;
}

/* Ours are of the result as stored: rounded, by up to 2^-9 of each number. */
static bool sums_agree(const struct conv_request *r, const float *sums, const float *squares,
                       const double *ours)
{
    const double count = (double)r->rows * r->out_h * r->out_w;
    for (int c = 0; c < r->out; c++) {
        const double square = ours[r->out + c];
        if (!(fabs((double)sums[c] - ours[c]) <= 0x1p-8 * sqrt(count * square)) ||
            !(fabs((double)squares[c] - square) <= 0x1p-6 * square))
            return false;
    }
    return true;
}

static bool check_sums(struct conv_check *check, bool *agrees)
{
    const struct conv_bench *bench = check->bench;
    const struct conv_request *r = bench->request;
    const size_t channels = (size_t)r->out;
    const struct norm_params no_statistics = {.channels = r->out};
    double *ours = malloc(2 * channels * sizeof *ours);
    float *theirs = malloc(2 * channels * sizeof *theirs);
    bool ok = (ours && theirs) || error_memory(bench->err, "sums of a convolution");
    ok = ok &&
         cuda_check(kernel_norm_sums(bench->maker->stream, conv_role_type(r, CONV_Y),
                                     shape_of_result(r), bench->pointers[0][CONV_Y],
                                     (struct sums_memory){check->scratch, check->counters},
                                     check->sums, &no_statistics, NULL),
                    "kernel", bench->err) &&
         conv_bench_wait(check->bench) &&
         fetch(check, ours, check->sums, 2 * channels * sizeof *ours) &&
         fetch(check, theirs, bench->pointers[0][CONV_SUMS], channels * sizeof *theirs) &&
         fetch(check, theirs + channels, bench->pointers[0][CONV_SQUARES],
               channels * sizeof *theirs) &&
         conv_bench_wait(check->bench);
    if (ok && *agrees && !sums_agree(r, theirs, theirs + channels, ours)) {
        *agrees = false;
        snprintf(check->fault, sizeof check->fault, "the sums by channel are not those of y");
    }
    free(ours);
    free(theirs);
    return ok;
}

bool conv_check_results(struct conv_check *check, bool *agrees)
{
    *agrees = true;
    return check_elements(check, agrees) &&
           (!conv_role_used(check->bench->request, CONV_SUMS) || check_sums(check, agrees));
}
