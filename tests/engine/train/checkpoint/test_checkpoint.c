/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <dirent.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "engine/model/file.h"
#include "engine/train/checkpoint/checkpoint.h"
#include "engine/train/checkpoint/deletion.h"
#include "engine/weights/file.h"
#include "tests/suites.h"
#include "tests/support.h"

/* Checkpoints on disk: every bit comes back, the right ones are kept, damaged ones are refused. */

static char *folder, *checkpoints;
static struct net *net;

#define must(CALL) ck_assert_msg(CALL, "%s", err.text)

static void setup(void)
{
    struct error err = ERROR_INIT;
    char *model = shipped_model("smallnet");
    folder = temporary_folder();
    checkpoints = format("%s/checkpoints/12", folder);
    must(net_load_default(model, &net, &err));
    free(model);
}

static void teardown(void)
{
    net_free(net);
    free(checkpoints);
    remove_tree(folder);
}

/* Without momentum, and with. */
static const struct state_arrays arrays[] = {{0}, {1, {"momentum_buffer"}}};

static struct checkpoint make(long steps, bool momentum)
{
    struct error err = ERROR_INIT;
    struct checkpoint c;
    must(checkpoint_create(net, &arrays[momentum], &c, &err));
    weights_init(net, &c.weights, INIT_NORMAL, 0.01, (uint64_t)steps);
    c.weights.batches_tracked = steps;
    for (size_t i = 0; momentum && i < net->value_count; i++)
        c.state[i] = (float)i / 3;
    c.place = (struct checkpoint_place){
        .epochs = 2,
        .steps = steps,
        .rows = steps * 256,
        .lr = 0.1,
        .epoch = {.steps = 3,
                  .rows = 768,
                  .correct = 99,
                  .loss_sum = 1.0 / 3,
                  .seconds = 0.7,
                  .compute_s = 0.6,
                  .sync_s = 0.05,
                  .reduce_s = 0.04},
        .train_s = 12.3456789012345678,
        .eval_s = 0.1,
        .before_train_s = 2.3,
        .before_eval_s = 0.03,
        .time_count = 2,
        .times = {1.0 / 3, 0.1},
        .state_from = 7,
        .val_loss = NAN,
        .val_acc = NAN,
        .test_loss = NAN,
        .test_acc = 0.8125,
        .best_epoch = 1,
        .since_best = 1,
        .best_acc = 1.0 / 7,
        .batch = 256,
        .train_rows = 60000,
        .seed = UINT64_MAX,
    };
    return c;
}

static const struct checkpoint_kept none = {-1, -1};

static void write_one(long steps, bool momentum, long best)
{
    const struct checkpoint_kept kept = {-1, best};
    struct error err = ERROR_INIT;
    struct checkpoint c = make(steps, momentum);
    must(checkpoint_write(net, checkpoints, &c, &kept, &err));
    checkpoint_free(&c);
}

/* Files in the folder. */
static int count_files(void)
{
    int count = 0;
    DIR *directory = opendir(checkpoints);
    if (!directory)
        return 0;
    for (const struct dirent *entry; (entry = readdir(directory));)
        count += entry->d_name[0] != '.';
    closedir(directory);
    return count;
}

START_TEST(every_bit_comes_back)
{
    bool momentum = _i == 1;
    struct error err = ERROR_INIT;
    struct checkpoint written = make(590, momentum), read;
    long steps = 0;
    must(checkpoint_write(net, checkpoints, &written, &none, &err));
    ck_assert_int_eq(count_files(), momentum ? 2 : 1);
    must(checkpoint_find(checkpoints, &steps, &err));
    ck_assert_int_eq(steps, 590);
    must(checkpoint_create(net, &arrays[momentum], &read, &err));
    must(checkpoint_read(net, checkpoints, 590, &read, &err));
    ck_assert_mem_eq(read.weights.values, written.weights.values, net->value_count * sizeof(float));
    ck_assert(read.weights.batches_tracked == 590);
    for (int i = 0; momentum && i < net->param_count; i++)
        if (net_is_trained(&net->params[i]))
            ck_assert_mem_eq(read.state + net->params[i].offset,
                             written.state + net->params[i].offset,
                             net->params[i].count * sizeof(float));
    const struct checkpoint_place *a = &read.place, *b = &written.place;
    ck_assert(a->epochs == b->epochs && a->steps == b->steps && a->rows == b->rows);
    ck_assert(a->lr == b->lr && a->train_s == b->train_s && a->eval_s == b->eval_s);
    ck_assert(a->before_train_s == b->before_train_s && a->before_eval_s == b->before_eval_s);
    ck_assert_int_eq(a->time_count, b->time_count);
    ck_assert_mem_eq(a->times, b->times, sizeof a->times);
    ck_assert(a->state_from == b->state_from);
    ck_assert(a->epoch.steps == b->epoch.steps && a->epoch.rows == b->epoch.rows);
    ck_assert(a->epoch.correct == b->epoch.correct && a->epoch.loss_sum == b->epoch.loss_sum);
    ck_assert(a->epoch.seconds == b->epoch.seconds && a->epoch.compute_s == b->epoch.compute_s);
    ck_assert(a->epoch.sync_s == b->epoch.sync_s && a->epoch.reduce_s == b->epoch.reduce_s);
    ck_assert(!a->evaluated);
    ck_assert(isnan(a->test_loss) && a->test_acc == b->test_acc && a->best_acc == b->best_acc);
    ck_assert(a->best_epoch == b->best_epoch && a->since_best == b->since_best);
    ck_assert(a->batch == b->batch && a->train_rows == b->train_rows && a->seed == b->seed);
    checkpoint_free(&read);
    checkpoint_free(&written);
}
END_TEST

/* Only where the run had none: a file that is missing is a fault. */
START_TEST(momentum_begins_at_zero)
{
    struct error err = ERROR_INIT;
    struct checkpoint c = make(100, false);
    struct checkpoint_place place;
    must(checkpoint_write(net, checkpoints, &c, &none, &err));
    checkpoint_free(&c);
    c = make(100, true);
    must(checkpoint_read(net, checkpoints, 100, &c, &err));
    for (size_t i = 0; i < net->value_count; i++)
        ck_assert(c.state[i] == 0);
    ck_assert_int_eq(c.place.state_from, 100);
    must(checkpoint_read_place(checkpoints, 100, &place, &err));
    ck_assert(place.steps == 100 && place.lr == 0.1);
    write_one(200, true, -1);
    char *path = path_join(checkpoints, "step-00000200.momentum.safetensors");
    ck_assert_int_eq(unlink(path), 0);
    ck_assert(!checkpoint_read(net, checkpoints, 200, &c, &err));
    ck_assert_int_eq(err.kind, ERROR_FAILED);
    free(path);
    checkpoint_free(&c);
}
END_TEST

/* What both have is kept. */
START_TEST(another_optimizer_begins_at_zero)
{
    static const struct state_arrays other = {3,
                                              {"square_avg", "momentum_buffer", STATE_UNAVERAGED}};
    struct error err = ERROR_INIT;
    struct checkpoint c, written = make(100, true);
    must(checkpoint_write(net, checkpoints, &written, &none, &err));
    must(checkpoint_create(net, &other, &c, &err));
    must(checkpoint_read(net, checkpoints, 100, &c, &err));
    ck_assert_int_eq(c.place.state_from, 100);
    ck_assert_mem_eq(c.state + 2 * net->value_count, written.weights.values,
                     net->value_count * sizeof(float));
    for (int i = 0; i < net->param_count; i++) {
        const struct net_param *param = &net->params[i];
        for (size_t k = param->offset; k < param->offset + param->count; k++) {
            ck_assert(c.state[k] == 0);
            if (net_is_trained(param))
                ck_assert(c.state[net->value_count + k] == written.state[k]);
        }
    }
    checkpoint_free(&c);
    checkpoint_free(&written);
}
END_TEST

START_TEST(the_newest_and_the_best_are_kept)
{
    struct error err = ERROR_INIT;
    long steps = 0;
    for (long step = 100; step <= 500; step += 100)
        write_one(step, true, 200);
    ck_assert_int_eq(count_files(), 4);
    must(checkpoint_find(checkpoints, &steps, &err));
    ck_assert_int_eq(steps, 500);
    struct checkpoint c;
    must(checkpoint_create(net, &arrays[1], &c, &err));
    must(checkpoint_read(net, checkpoints, 200, &c, &err));
    ck_assert_int_eq(c.place.steps, 200);
    ck_assert(!checkpoint_read(net, checkpoints, 300, &c, &err));
    checkpoint_free(&c);
    must(checkpoint_remove_all(checkpoints, &err));
    ck_assert(!checkpoint_find(checkpoints, &steps, &err));
    ck_assert_int_eq(err.kind, ERROR_ABSENT);
    must(checkpoint_remove_all(checkpoints, &err));
}
END_TEST

START_TEST(sizes_add_up)
{
    struct error err = ERROR_INIT;
    long count = 0;
    double bytes = 0;
    must(checkpoint_measure(checkpoints, &count, &bytes, &err));
    ck_assert(count == 0 && bytes == 0);
    write_one(100, true, 100);
    write_one(200, false, 100);
    put_file(checkpoints, "step-00000300.safetensors.1f3-abc", "half", 4);
    put_file(checkpoints, "notes.txt", "mine", 4);
    must(checkpoint_measure(checkpoints, &count, &bytes, &err));
    ck_assert_int_eq(count, 2);
    /* Two with weights, of which one has as many numbers of state, and a header each. */
    double numbers = 4.0 * (double)net->value_count;
    ck_assert_msg(bytes > 3 * numbers && bytes < 4 * numbers, "%.0f", bytes);
    must(checkpoint_measure(checkpoints, &count, &bytes, &err));
    ck_assert_int_eq(count, 4);
}
END_TEST

START_TEST(what_a_killed_writer_left_goes)
{
    struct error err = ERROR_INIT;
    long steps = 0;
    write_one(100, true, -1);
    put_file(checkpoints, "step-00000200.safetensors.1f3-abc", "half", 4);
    put_file(checkpoints, "step-00000200.momentum.safetensors", "whole, without weights", 22);
    put_file(checkpoints, "notes.txt", "mine", 4);
    put_file(checkpoints, "step-00000100.safetensors.keep", "mine, too", 9);
    must(checkpoint_find(checkpoints, &steps, &err));
    ck_assert_int_eq(steps, 100);
    write_one(300, true, -1);
    ck_assert_int_eq(count_files(), 4);
    must(checkpoint_remove_all(checkpoints, &err));
    ck_assert_int_eq(count_files(), 2);
}
END_TEST

static bool is_seven(void *context, long run)
{
    ++*(int *)context;
    return run == 7;
}

/* Of deletions that the engine did not come to the end of; what is no run's folder stays. */
START_TEST(the_store_decides_what_marked_ones_are)
{
    static const char *const names[] = {"7", "8", "mine.deleted", "7.old.deleted"};
    struct error err = ERROR_INIT;
    char *paths[4];
    long steps = 0;
    int asked = 0;
    for (int i = 0; i < 4; i++) {
        paths[i] = path_join(checkpoints, names[i]);
        must(make_directories(paths[i], 0700, &err));
        put_file(paths[i], "step-00000100.safetensors", "weights", 7);
    }
    must(checkpoint_mark_deleted(paths[0], &err));
    must(checkpoint_mark_deleted(paths[0], &err));
    must(checkpoint_mark_deleted(paths[1], &err));
    ck_assert(!checkpoint_find(paths[0], &steps, &err));
    must(checkpoint_settle_deletions(checkpoints, is_seven, &asked, &err));
    ck_assert_int_eq(asked, 2);
    ck_assert_int_eq(count_files(), 3);
    must(checkpoint_find(paths[0], &steps, &err));
    must(checkpoint_find(paths[2], &steps, &err));
    must(checkpoint_find(paths[3], &steps, &err));
    /* What an older deletion has left does not keep a run that began again from being deleted. */
    must(checkpoint_mark_deleted(paths[0], &err));
    must(make_directories(paths[0], 0700, &err));
    put_file(paths[0], "step-00000100.safetensors", "weights", 7);
    must(checkpoint_mark_deleted(paths[0], &err));
    must(checkpoint_remove_marked(paths[0], &err));
    for (int i = 0; i < 4; i++) {
        must(checkpoint_remove_all(paths[i], &err));
        free(paths[i]);
    }
}
END_TEST

/* Files that hold something else than the checkpoint. */
START_TEST(damaged_ones_are_refused)
{
    static const char *const names[] = {"step-00000100.safetensors",
                                        "step-00000100.momentum.safetensors"};
    struct error err = ERROR_INIT;
    struct checkpoint c;
    write_one(100, true, -1);
    char *path = path_join(checkpoints, names[_i % 2]), *data = NULL;
    size_t length;
    must(file_read(path, 1 << 24, &data, &length, &err));
    if (_i < 2)
        length -= 5;
    else
        memset(data, 'x', 64);
    put_file(checkpoints, names[_i % 2], data, length);
    must(checkpoint_create(net, &arrays[1], &c, &err));
    ck_assert(!checkpoint_read(net, checkpoints, 100, &c, &err));
    ck_assert_msg(strstr(err.text, names[_i % 2]) != NULL, "%s", err.text);
    checkpoint_free(&c);
    free(data);
    free(path);
}
END_TEST

START_TEST(plain_weights_are_no_checkpoint)
{
    struct error err = ERROR_INIT;
    struct checkpoint c = make(100, false);
    must(make_directories(checkpoints, 0700, &err));
    char *path = checkpoint_path(checkpoints, 100);
    must(weights_write(net, path, &c.weights, NULL, &err));
    ck_assert(!checkpoint_read(net, checkpoints, 100, &c, &err));
    ck_assert_msg(strstr(err.text, "not written as a checkpoint") != NULL, "%s", err.text);
    ck_assert_int_eq(err.kind, ERROR_FAILED);
    free(path);
    checkpoint_free(&c);
}
END_TEST

START_TEST(saved_weights_say_what_they_are_of)
{
    struct error err = ERROR_INIT;
    struct checkpoint c = make(100, false);
    const struct checkpoint_origin origin = {.model = "linear",
                                             .data = "glyphs",
                                             .recipe = "{\"lr\":0.25}",
                                             .seed = 9,
                                             .test_rows = 300};
    json_t *note = NULL;
    must(make_directories(checkpoints, 0700, &err));
    char *path = checkpoint_path(checkpoints, 100);
    must(checkpoint_save(net, path, &c.weights, &origin, &err));
    must(checkpoint_verify(path, &err));
    must(checkpoint_note(path, &note, &err));
    char *text = json_dumps(note, JSON_COMPACT | JSON_SORT_KEYS);
    ck_assert_str_eq(text, "{\"data\":\"glyphs\",\"data_dir\":null,\"model\":\"linear\","
                           "\"recipe\":{\"lr\":0.25},\"seed\":9,\"test_rows\":300}");
    ck_assert(!checkpoint_read(net, checkpoints, 100, &c, &err));
    free(text);
    json_decref(note);
    free(path);
    checkpoint_free(&c);
}
END_TEST

START_TEST(the_best_is_found_by_its_note)
{
    struct error err = ERROR_INIT;
    const double accuracies[] = {0.5, 0.8, 0.8, NAN};
    const bool validated = _i;
    long steps = 0;
    json_t *note = NULL;
    for (int i = 0; i < 4; i++) {
        struct checkpoint c = make(100 * (i + 1), false);
        c.place.test_acc = validated ? 1 - accuracies[i] : accuracies[i];
        c.place.val_acc = validated ? accuracies[i] : NAN;
        c.place.evaluated = isfinite(accuracies[i]);
        c.origin =
            (struct checkpoint_origin){.model = "linear", .data = "glyphs", .test_rows = 300};
        /* So that none goes. */
        char *apart = format("%s/%d", checkpoints, i);
        must(checkpoint_write(net, apart, &c, &none, &err));
        char *from = checkpoint_path(apart, 100 * (i + 1));
        char *to = checkpoint_path(checkpoints, 100 * (i + 1));
        ck_assert_int_eq(rename(from, to), 0);
        free(from);
        free(to);
        free(apart);
        checkpoint_free(&c);
    }
    must(checkpoint_find_best(checkpoints, LONG_MAX, &steps, &err));
    ck_assert_int_eq(steps, 200);
    must(checkpoint_find(checkpoints, &steps, &err));
    ck_assert_int_eq(steps, 400);
    char *path = checkpoint_path(checkpoints, 200);
    must(checkpoint_note(path, &note, &err));
    ck_assert_str_eq(json_string_value(json_object_get(note, "model")), "linear");
    ck_assert_str_eq(json_string_value(json_object_get(note, "data")), "glyphs");
    ck_assert(json_is_null(json_object_get(note, "data_dir")));
    ck_assert_int_eq(json_integer_value(json_object_get(note, "test_rows")), 300);
    json_decref(note);
    free(path);
}
END_TEST

START_TEST(the_newest_is_best_when_none_was_evaluated)
{
    struct error err = ERROR_INIT;
    long steps = 0;
    ck_assert(!checkpoint_find_best(checkpoints, LONG_MAX, &steps, &err));
    ck_assert_int_eq(err.kind, ERROR_ABSENT);
    err = (struct error)ERROR_INIT;
    /* In the middle of an epoch: their accuracy is that of other weights. */
    write_one(100, false, 100);
    write_one(200, false, 100);
    must(checkpoint_find_best(checkpoints, LONG_MAX, &steps, &err));
    ck_assert_int_eq(steps, 200);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("checkpoints");
    TCase *tests = tcase_create("checkpoints");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_loop_test(tests, every_bit_comes_back, 0, 2);
    tcase_add_test(tests, momentum_begins_at_zero);
    tcase_add_test(tests, another_optimizer_begins_at_zero);
    tcase_add_test(tests, the_newest_and_the_best_are_kept);
    tcase_add_test(tests, sizes_add_up);
    tcase_add_test(tests, what_a_killed_writer_left_goes);
    tcase_add_test(tests, the_store_decides_what_marked_ones_are);
    tcase_add_loop_test(tests, damaged_ones_are_refused, 0, 4);
    tcase_add_test(tests, plain_weights_are_no_checkpoint);
    tcase_add_test(tests, saved_weights_say_what_they_are_of);
    tcase_add_loop_test(tests, the_best_is_found_by_its_note, 0, 2);
    tcase_add_test(tests, the_newest_is_best_when_none_was_evaluated);
    suite_add_tcase(suite, tests);
    return run_suites(suite, NULL);
}
