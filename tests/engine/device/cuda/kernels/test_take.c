/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "tests/engine/device/cuda/kernels/cuda_tensor.h"

/* Sums that a convolution made, taken for its BatchNorm. */

static const struct tensor_shape shape = {5, 3, 3, 24, 17};
enum { CHANNELS = 24, LARGE = 9 };

/* Random numbers; in one channel a mean of 32 beside which the
 * deviation is nothing, or some 4000 times smaller. */
static double *make_tensor(enum cuda_type type)
{
    double *x = tensor_random(shape, type, 1, 1);
    for (size_t i = LARGE; i < tensor_size(shape); i += CHANNELS)
        x[i] = type == CUDA_BF16 ? 32 : 32 + (double)(i / CHANNELS % 3) / 128;
    return x;
}

/* Where the sums are good they are taken as they are given, here not the tensor's, so that it
 * shows. Where f32 does not do, the sums of a pack of channels come from the tensor, and are nearer
 * to it than f32 could be. */
START_TEST(sums_of_a_convolution_are_taken)
{
    static const enum cuda_type types[] = {CUDA_F32, CUDA_BF16};
    const size_t count = tensor_size(shape);
    const int pack = types[_i] == CUDA_BF16 ? 8 : 4; /* channels that a block looks at */
    double *x = make_tensor(types[_i]), exact[2 * CHANNELS] = {0}, given[2 * CHANNELS];
    double *out = cuda_memory(NULL, sizeof exact);
    for (size_t i = 0; i < count; i++) {
        exact[i % CHANNELS] += x[i];
        exact[CHANNELS + i % CHANNELS] += x[i] * x[i];
    }
    for (int c = 0; c < CHANNELS; c++) {
        const bool recomputed = c / pack == LARGE / pack;
        given[c] = (double)(float)(recomputed ? 1.001 * exact[c] : 2 * exact[c]);
        given[CHANNELS + c] =
            (double)(float)(recomputed ? exact[CHANNELS + c] : 8 * exact[CHANNELS + c] + 1);
    }
    cuda_done(kernel_norm_take_sums(cuda_stream, types[_i], shape, tensor_put(x, count, types[_i]),
                                    cuda_vector(given, CHANNELS),
                                    cuda_vector(given + CHANNELS, CHANNELS), out, NULL, NULL));
    double *got = cuda_doubles_copy(out, 2 * CHANNELS);
    for (int k = 0; k < 2 * CHANNELS; k++) {
        const bool recomputed = k % CHANNELS / pack == LARGE / pack;
        const double wanted = recomputed ? exact[k] : given[k];
        const double limit = recomputed ? 1e-10 * (1 + fabs(wanted)) : 0;
        ck_assert_msg(fabs(got[k] - wanted) <= limit, "%d: %.17g, not %.17g", k, got[k], wanted);
    }
    free(got);
    free(x);
}
END_TEST

Suite *take_suite(void)
{
    Suite *suite = suite_create("cuda take");
    TCase *tests = tcase_create("cuda take");
    tcase_add_checked_fixture(tests, cuda_setup, cuda_teardown);
    tcase_add_loop_test(tests, sums_of_a_convolution_are_taken, 0, 2);
    suite_add_tcase(suite, tests);
    return suite;
}
