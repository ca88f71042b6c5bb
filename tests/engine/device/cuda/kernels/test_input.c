/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "engine/data/augment.h"
#include "tests/engine/device/cuda/kernels/cuda_tensor.h"

static const uint64_t seed = UINT64_C(0x299f31d0a4093822);
static const uint32_t key[2] = {0xa4093822, 0x299f31d0};
enum { EPOCH = 4, DATA = 11 };

/* A small data set on the device, and its rows in the order in which they are taken. */
struct data {
    int channels, h, w;
    uint8_t *pixels;
    double *numbers;
};

static struct data data_of(int channels, int h, int w)
{
    struct data d = {channels, h, w, NULL, NULL};
    const struct rng_stream stream = rng_stream(1, RNG_RANDOM_DATA, 0, 0, 0);
    const size_t count = (size_t)(DATA * channels * h * w);
    d.pixels = malloc(count);
    d.numbers = calloc(count, sizeof *d.numbers);
    ck_assert(d.pixels && d.numbers);
    for (size_t i = 0; i < count; i++) {
        d.pixels[i] = (uint8_t)rng_word(&stream, i);
        d.numbers[i] = (double)(float)rng_normal(&stream, i);
    }
    return d;
}

/* The picture as augmentation leaves it, by definition. */
static double pixel_at(const struct data *d, uint32_t row, uint32_t id, uint32_t flags, int c,
                       int y, int x, const double *scale, const double *shift)
{
    const struct rng_stream stream = rng_stream(seed, RNG_AUGMENT, 0, id, EPOCH);
    if (flags & AUGMENT_CROP) {
        y -= (int)(rng_word(&stream, 1) % 9) - 4;
        x -= (int)(rng_word(&stream, 2) % 9) - 4;
    }
    double pixel = 0;
    if (y >= 0 && y < d->h && x >= 0 && x < d->w) {
        const bool flip = (flags & AUGMENT_FLIP) && rng_word(&stream, 0) >> 31;
        const size_t from =
            (((size_t)row * d->channels + c) * d->h + y) * d->w + (flip ? d->w - 1 - x : x);
        pixel = d->pixels[from];
    }
    return pixel * scale[c] + shift[c];
}

static const struct input_case {
    int channels, h, w, kernel, stride, pad, rows;
    bool numbers, indexed, own_ids;
    uint32_t flags;
} cases[] = {
    {1, 28, 28, 0, 0, 0, 5, false, true, false, 0},
    {3, 9, 7, 0, 0, 0, 11, false, true, false, AUGMENT_FLIP | AUGMENT_CROP},
    {1, 28, 28, 3, 1, 1, 5, false, true, false, AUGMENT_FLIP},
    {3, 8, 8, 3, 2, 1, 4, false, false, true, AUGMENT_FLIP | AUGMENT_CROP},
    {3, 5, 6, 5, 1, 2, 3, true, true, false, AUGMENT_CROP},
    {2, 3, 1, 0, 0, 0, 11, true, false, false, 0},
    {10, 1, 1, 0, 0, 0, 1, true, false, false, 0},
    {1, 4, 4, 3, 1, 1, 0, false, true, false, 0},
};
enum { CASES = sizeof cases / sizeof cases[0] };

static const uint32_t order[DATA] = {7, 3, 10, 0, 0, 5, 9, 1, 2, 8, 4};
static const uint32_t names[DATA] = {59999, 3, 17, 4000000000u, 5, 6, 7, 8, 9, 10, 11};

static void check_input(const struct input_case *c, enum cuda_type type)
{
    const struct data d = data_of(c->channels, c->h, c->w);
    const double scale[10] = {0.0078125, 0.25, 0.5}, shift[10] = {-0.5, 0.125, 1};
    const int kernel = c->kernel ? c->kernel : 1, stride = c->kernel ? c->stride : 1;
    const int columns = kernel * kernel * c->channels;
    const struct tensor_shape shape = {c->rows, (c->h + 2 * c->pad - kernel) / stride + 1,
                                       (c->w + 2 * c->pad - kernel) / stride + 1,
                                       cuda_padded(columns), columns};
    const size_t data = (size_t)(DATA * c->channels * c->h * c->w), count = tensor_size(shape);
    void *y = cuda_memory(NULL, count * cuda_type_size(type));
    const struct input_args args = {.pixels = c->numbers ? NULL : cuda_memory(d.pixels, data),
                                    .numbers = c->numbers ? cuda_vector(d.numbers, data) : NULL,
                                    .index = c->indexed ? cuda_memory(order, sizeof order) : NULL,
                                    .ids = c->own_ids ? cuda_memory(names, sizeof names) : NULL,
                                    .channels = c->channels,
                                    .h = c->h,
                                    .w = c->w,
                                    .scale = cuda_vector(scale, 10),
                                    .shift = cuda_vector(shift, 10),
                                    .augment = {c->flags, {key[0], key[1]}, EPOCH},
                                    .kernel_h = c->kernel,
                                    .kernel_w = c->kernel,
                                    .stride_h = c->stride,
                                    .stride_w = c->stride,
                                    .pad_h = c->pad,
                                    .pad_w = c->pad,
                                    .y_shape = shape,
                                    .type = type,
                                    .y = y};
    cuda_done(kernel_input(cuda_stream, &args));
    double *want = calloc(count + 1, sizeof *want), *got = tensor_get(y, count, type);
    tensor_padding_is_zero(got, shape);
    for (size_t i = 0; i < count; i++) {
        const int tap = (int)(i % (size_t)shape.channels);
        const size_t place = i / (size_t)shape.channels;
        const int channel = tap % c->channels, step = tap / c->channels;
        const int x = (int)(place % (size_t)shape.w) * stride - c->pad + step % kernel;
        const int line = (int)(place / (size_t)shape.w % (size_t)shape.h);
        const int top = line * stride - c->pad + step / kernel;
        const size_t n = place / (size_t)(shape.w * shape.h);
        const uint32_t row = c->indexed ? order[n] : (uint32_t)n;
        if (tap >= columns || x < 0 || x >= c->w || top < 0 || top >= c->h)
            continue;
        if (c->numbers)
            want[i] = d.numbers[((row * (size_t)c->channels + channel) * c->h + top) * c->w + x];
        else
            want[i] = pixel_at(&d, row, c->own_ids ? names[n] : row, c->flags, channel, top, x,
                               scale, shift);
        want[i] = tensor_rounded(want[i], type);
    }
    tensor_compare("input", got, want, count, type, 0);
    free(d.pixels);
    free(d.numbers);
}

START_TEST(rows_become_the_first_tensor)
{
    FOR_EACH_TYPE(type)
    check_input(&cases[_i], type);
}
END_TEST

static const struct tensor_shape dropped[] = {
    {5, 1, 1, 128, 120},
    {3, 4, 5, 8, 6},
    {2, 3, 3, 24, 24},
    {11, 28, 28, 8, 1},
};

START_TEST(dropout_drops_what_the_engine_drops)
{
    const struct tensor_shape s = dropped[_i];
    const size_t count = tensor_size(s), pixels = (size_t)(s.h * s.w);
    const struct dropout_pass pass = {{key[0], key[1]}, EPOCH};
    const struct dropout_args args = {.shape = s,
                                      .ids = cuda_memory(names, sizeof names),
                                      .pass = cuda_memory(&pass, sizeof pass),
                                      .op = 9,
                                      .threshold = rng_threshold(0.25),
                                      .scale = 1.25f};
    FOR_EACH_TYPE(type)
    {
        double *x = tensor_random(s, type, 0, 1);
        void *at = tensor_put(x, count, type);
        cuda_done(kernel_dropout(cuda_stream, type, &args, at, at));
        for (size_t i = 0; i < count; i++) {
            const size_t c = i % (size_t)s.channels, place = i / (size_t)s.channels;
            const struct rng_stream stream =
                rng_stream(seed, RNG_DROPOUT, 9, names[place / pixels], EPOCH);
            const uint32_t word = rng_word(&stream, c * pixels + place % pixels);
            x[i] = word < args.threshold ? 0 : x[i] * 1.25;
        }
        double *y = tensor_get(at, count, type);
        tensor_padding_is_zero(y, s);
        tensor_compare("dropout", y, x, count, type, 0);
    }
}
END_TEST

static void check_loss(int rows, int classes, int stride, double smoothing, enum cuda_type type)
{
    const struct tensor_shape s = {rows, 1, 1, stride, classes};
    const size_t count = tensor_size(s);
    double *x = tensor_random(s, CUDA_F32, 0, 1), *want = calloc(count + 1, sizeof *want);
    uint8_t *labels = calloc((size_t)rows + 1, 1), *guesses = calloc((size_t)rows + 1, 1);
    const double global_rows = 1000;
    struct loss_result expected = {0, 0};
    for (int n = 0; n < rows; n++) {
        double *row = x + (size_t)n * stride, max = row[0], sum = 0;
        int best = 0;
        row[n % classes] = row[0] = n % 3 ? row[0] : 50; /* some ties and large numbers */
        labels[n] = (uint8_t)(n % 2 ? n % classes : 0);
        for (int k = 0; k < classes; k++) {
            best = row[k] > row[best] ? k : best;
            max = fmax(max, row[k]);
        }
        for (int k = 0; k < classes; k++)
            sum += exp(row[k] - max);
        for (int k = 0; k < classes; k++)
            want[(size_t)n * stride + k] = (exp(row[k] - max) / sum - smoothing / classes -
                                            (k == labels[n]) * (1 - smoothing)) /
                                           global_rows;
        for (int k = 0; k < classes; k++)
            expected.loss_sum += (smoothing / classes + (k == labels[n]) * (1 - smoothing)) *
                                 (log(sum) + max - row[k]);
        guesses[n] = (uint8_t)best;
        expected.correct += best == labels[n];
    }
    void *gradient = cuda_memory(NULL, count * cuda_type_size(type));
    void *scratch = cuda_memory(NULL, kernel_loss_scratch(rows));
    struct loss_result *result = cuda_memory(NULL, sizeof *result), *got;
    const float *logits = cuda_vector(x, count);
    const uint8_t *of = cuda_memory(labels, (size_t)rows);
    const double *divisor = cuda_memory(&global_rows, sizeof global_rows);
    uint8_t *predicted = cuda_memory(NULL, (size_t)rows + 1), *seen;
    for (int evaluating = 0; evaluating < 2; evaluating++) {
        cuda_done(kernel_loss(cuda_stream, logits, rows, classes, stride, of, smoothing, divisor,
                              type, evaluating ? NULL : gradient, scratch, result,
                              evaluating ? predicted : NULL));
        got = cuda_copy(result, sizeof *got);
        ck_assert_double_eq_tol(got->loss_sum, expected.loss_sum, 1e-9 * (1 + expected.loss_sum));
        ck_assert_int_eq(got->correct, expected.correct);
        free(got);
    }
    if (rows > 0) {
        seen = cuda_copy(predicted, (size_t)rows);
        ck_assert_mem_eq(seen, guesses, (size_t)rows);
        free(seen);
    }
    free(guesses);
    tensor_compare("dlogits", tensor_get(gradient, count, type), want, count, type, 1e-12);
    free(x);
    free(labels);
}

START_TEST(loss_and_its_gradient)
{
    FOR_EACH_TYPE(type)
    {
        check_loss(1, 10, 16, 0, type);
        check_loss(37, 10, 16, 0.1, type);
        check_loss(8, 2, 8, 0, type);
        check_loss(5, 200, 200, 0.1, type);
        check_loss(37, 10, 16, 0, type);
        check_loss(3, 10, 16, 1, type);
        check_loss(0, 10, 16, 0, type);
    }
}
END_TEST

/* More blocks than the last kernel has threads. */
START_TEST(loss_of_many_rows)
{
    check_loss(2060, 3, 8, 0, CUDA_F32);
}
END_TEST

START_TEST(a_label_that_is_no_class_is_seen)
{
    const double x[8] = {1, 2, 3}, rows = 1;
    struct loss_result *result = cuda_memory(NULL, sizeof *result), *got;
    cuda_done(kernel_loss(cuda_stream, cuda_vector(x, 8), 1, 3, 8, cuda_memory("\x03", 1), 0.1,
                          cuda_memory(&rows, sizeof rows), CUDA_F32, NULL,
                          cuda_memory(NULL, kernel_loss_scratch(1)), result, NULL));
    got = cuda_copy(result, sizeof *got);
    ck_assert(isnan(got->loss_sum) && got->correct == 0);
    free(got);
}
END_TEST

Suite *input_suite(void)
{
    Suite *suite = suite_create("cuda input");
    TCase *tests = tcase_create("cuda input");
    tcase_add_checked_fixture(tests, cuda_setup, cuda_teardown);
    tcase_set_timeout(tests, 60); /* under sanitizers, on a busy machine */
    tcase_add_loop_test(tests, rows_become_the_first_tensor, 0, CASES);
    tcase_add_loop_test(tests, dropout_drops_what_the_engine_drops, 0,
                        sizeof dropped / sizeof dropped[0]);
    tcase_add_test(tests, loss_and_its_gradient);
    tcase_add_test(tests, loss_of_many_rows);
    tcase_add_test(tests, a_label_that_is_no_class_is_seen);
    suite_add_tcase(suite, tests);
    return suite;
}
