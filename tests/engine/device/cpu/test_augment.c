/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "engine/data/augment.h"
#include "tests/reference/trial.h"
#include "tests/suites.h"
#include "tests/support.h"

/*
 * Augmentation by the CPU backend against pictures that are changed here, step by step and in the
 * other direction: each pixel is put where it goes.
 */

enum { ROWS = 9, SEED = 11, EPOCH = 3, LOGITS = 5 };

static const struct net_shape shapes[] = {{1, 6, 6}, {3, 9, 7}, {20, 5, 12}, {2, 3, 1}};
enum { SHAPES = sizeof shapes / sizeof *shapes };
static const uint32_t flags[] = {AUGMENT_NONE, AUGMENT_FLIP, AUGMENT_CROP, AUGMENT_FLIP_CROP};
enum { FLAGS = sizeof flags / sizeof *flags };

static const char layers[] = "{ type = \"conv\"; channels = 4; kernel = 3; pad = 1; }, \"tanh\", "
                             "{ type = \"linear\"; outputs = 5; }";

/* One channel of row `row`, h x w, from `from` to `to`. */
static void change_plane(uint32_t row, uint32_t how, uint32_t epoch, struct net_shape shape,
                         const uint8_t *from, uint8_t *to)
{
    struct rng_stream stream = rng_stream(SEED, RNG_AUGMENT, 0, row, epoch);
    bool mirror = (how & AUGMENT_FLIP) && rng_word(&stream, 0) >= UINT32_C(0x80000000);
    int down = how & AUGMENT_CROP ? (int)(rng_word(&stream, 1) % 9) - 4 : 0;
    int right = how & AUGMENT_CROP ? (int)(rng_word(&stream, 2) % 9) - 4 : 0;
    memset(to, 0, (size_t)shape.h * (size_t)shape.w);
    for (int y = 0; y < shape.h; y++)
        for (int x = 0; x < shape.w; x++) {
            int at_y = y + down, at_x = (mirror ? shape.w - 1 - x : x) + right;
            if (at_y >= 0 && at_y < shape.h && at_x >= 0 && at_x < shape.w)
                to[at_y * shape.w + at_x] = from[y * shape.w + x];
        }
}

static struct dataset changed(const struct dataset *data, uint32_t how, uint32_t epoch)
{
    struct net_shape shape = {data->channels, data->height, data->width};
    size_t plane = (size_t)shape.h * (size_t)shape.w, planes = (size_t)data->channels;
    struct dataset copy = *data;
    copy.pixels = malloc((size_t)data->rows * planes * plane);
    ck_assert_ptr_nonnull(copy.pixels);
    for (size_t row = 0; row < (size_t)data->rows; row++)
        for (size_t c = 0; c < planes; c++) {
            size_t at = (row * planes + c) * plane;
            change_plane((uint32_t)row, how, epoch, shape, data->pixels + at, copy.pixels + at);
        }
    return copy;
}

/* What the network makes of `rows` rows from `first` on. */
static void logits_by(const struct trial_device *device, const struct trial *trial,
                      const struct dataset *data, enum plan_mode mode, int first, int rows,
                      uint32_t how, uint32_t epoch, float *logits)
{
    struct error err = ERROR_INIT;
    struct batch_result result;
    struct rig rig;
    rig_open(&rig, trial, device);
    struct plan *plan = rig_plan(&rig, &(struct plan_request){.mode = mode, .rows = rows});
    const struct batch batch = {.data = data,
                                .index = trial->index + first,
                                .rows = rows,
                                .global_rows = ROWS,
                                .seed = SEED,
                                .epoch = epoch,
                                .augment = how};
    ck_assert_msg(rig.backend->plan_run(rig.device, plan, &batch, &result, &err) &&
                      rig.backend->plan_logits(rig.device, plan, logits, &err),
                  "%s", err.text);
    rig.backend->plan_destroy(rig.device, plan);
    rig_close(&rig);
}

static void logits_of(const struct trial *trial, const struct dataset *data, enum plan_mode mode,
                      int first, int rows, uint32_t how, uint32_t epoch, float *logits)
{
    const struct trial_device cpu = trial_cpu(2);
    logits_by(&cpu, trial, data, mode, first, rows, how, epoch, logits);
}

START_TEST(pictures_are_those_of_the_reference)
{
    const struct trial_device by_layers = trial_cpu_by_layers(2);
    struct trial trial;
    float got[ROWS * LOGITS], expected[ROWS * LOGITS];
    uint32_t how = flags[_i % FLAGS];
    trial_make(&trial, layers, shapes[_i / FLAGS], LOGITS, ROWS, false, 1);
    struct dataset copy = changed(&trial.data, how, EPOCH);
    logits_of(&trial, &trial.data, PLAN_TRAIN, 0, ROWS, how, EPOCH, got);
    logits_of(&trial, &copy, PLAN_TRAIN, 0, ROWS, AUGMENT_NONE, EPOCH, expected);
    ck_assert_mem_eq(got, expected, sizeof got);
    logits_by(&by_layers, &trial, &trial.data, PLAN_TRAIN, 0, ROWS, how, EPOCH, got);
    logits_by(&by_layers, &trial, &copy, PLAN_TRAIN, 0, ROWS, AUGMENT_NONE, EPOCH, expected);
    ck_assert_mem_eq(got, expected, sizeof got);
    free(copy.pixels);
    trial_free(&trial);
}
END_TEST

/* A row is changed alike in any shard, and in another way in another epoch. */
START_TEST(a_row_and_the_epoch_alone_decide)
{
    struct trial trial;
    float all[ROWS * LOGITS], part[ROWS * LOGITS], later[ROWS * LOGITS];
    trial_make(&trial, layers, (struct net_shape){3, 9, 7}, LOGITS, ROWS, false, 1);
    logits_of(&trial, &trial.data, PLAN_TRAIN, 0, ROWS, AUGMENT_FLIP_CROP, EPOCH, all);
    struct dataset copy = changed(&trial.data, AUGMENT_FLIP_CROP, EPOCH);
    logits_of(&trial, &trial.data, PLAN_TRAIN, 4, 5, AUGMENT_FLIP_CROP, EPOCH, part);
    logits_of(&trial, &copy, PLAN_TRAIN, 4, 5, AUGMENT_NONE, EPOCH, later);
    ck_assert_mem_eq(part, later, 5 * LOGITS * sizeof *part);
    logits_of(&trial, &trial.data, PLAN_TRAIN, 0, ROWS, AUGMENT_FLIP_CROP, EPOCH + 1, later);
    ck_assert_mem_ne(all, later, sizeof all);
    free(copy.pixels);
    trial_free(&trial);
}
END_TEST

START_TEST(evaluation_sees_pictures_as_they_are)
{
    struct trial trial;
    float asked[ROWS * LOGITS], plain[ROWS * LOGITS];
    trial_make(&trial, layers, (struct net_shape){3, 9, 7}, LOGITS, ROWS, false, 1);
    logits_of(&trial, &trial.data, PLAN_EVAL, 0, ROWS, AUGMENT_FLIP_CROP, EPOCH, asked);
    logits_of(&trial, &trial.data, PLAN_EVAL, 0, ROWS, AUGMENT_NONE, EPOCH, plain);
    ck_assert_mem_eq(asked, plain, sizeof plain);
    trial_free(&trial);
}
END_TEST

/* All nine places in either direction occur, about equally often, and so do both sides. */
START_TEST(chances_are_even)
{
    enum { TRIES = 9000 };
    int down[9] = {0}, right[9] = {0}, flipped = 0;
    for (uint32_t row = 0; row < TRIES; row++) {
        struct rng_stream stream = rng_stream(SEED, RNG_AUGMENT, 0, row, EPOCH);
        uint32_t words[4];
        rng_block(&stream, 0, words);
        struct augment_change change = augment_change_of(words, AUGMENT_FLIP_CROP);
        ck_assert(change.down >= -4 && change.down <= 4 && change.right >= -4 && change.right <= 4);
        down[change.down + 4]++;
        right[change.right + 4]++;
        flipped += change.flip;
    }
    /* 1000 each, standard deviation 30; 4500, 47. */
    for (int i = 0; i < 9; i++)
        ck_assert(abs(down[i] - 1000) < 150 && abs(right[i] - 1000) < 150);
    ck_assert_int_lt(abs(flipped - TRIES / 2), 240);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("augment");
    TCase *tcase = tcase_create("augment");
    tcase_add_loop_test(tcase, pictures_are_those_of_the_reference, 0, SHAPES * FLAGS);
    tcase_add_test(tcase, a_row_and_the_epoch_alone_decide);
    tcase_add_test(tcase, evaluation_sees_pictures_as_they_are);
    tcase_add_test(tcase, chances_are_even);
    suite_add_tcase(suite, tcase);
    return run_suites(suite, NULL);
}
