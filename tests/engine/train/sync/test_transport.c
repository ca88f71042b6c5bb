/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "engine/train/sync/sync.h"
#include "tests/engine/train/run/parallel_fixture.h"
#include "tests/fakes/posing_backend.h"
#include "tests/recorder.h"
#include "tests/suites.h"
#include "tests/support.h"

/*
 * What keeps replicas equal below the methods: whichever transport the devices need, a run comes to
 * what it comes to on CPU devices. The GPUs here are CPU devices that pose as such.
 */

static const char *const methods[] = {"allreduce", "reduce-broadcast", "central"};

enum lot { LOT_STAGED, LOT_COLLECTIVE, LOT_NAMED_TWICE, LOT_MIXED, LOTS };

static const char *const descriptions[LOTS] = {
    "through host memory:", "pretended collective",
    "through host memory:", "through host memory in the network's own order:"};

/* "cuda:0,cuda:1", "cuda:0,cuda:0", "cuda:0,cpu:0,cuda:1": a new string. */
static char *device_names(enum lot lot, int count)
{
    struct text text = TEXT_INIT;
    for (int i = 0; i < count; i++) {
        int index = lot == LOT_NAMED_TWICE ? i / 2 : lot == LOT_MIXED ? i / 2 : i;
        text_printf(&text, "%s%s:%d", i > 0 ? "," : "", lot == LOT_MIXED && i % 2 ? "cpu" : "cuda",
                    index);
    }
    char *names = strdup(text_cstr(&text));
    ck_assert_ptr_nonnull(names);
    text_free(&text);
    return names;
}

static void pose(enum lot lot)
{
    posing_reset();
    posing.has_collective = lot == LOT_COLLECTIVE;
}

static void check_left_clean(void)
{
    ck_assert_int_eq(atomic_load(&posing.misuse), 0);
    ck_assert_int_eq(atomic_load(&posing.opened), atomic_load(&posing.closed));
    ck_assert_int_eq(atomic_load(&posing.joined), atomic_load(&posing.left));
    ck_assert_int_eq(atomic_load(&posing.stages), 0);
}

static const struct {
    const char *model, *settings;
} kinds[] = {
    {"plain", "momentum=0.9 weight-decay=0.01"},
    {"normalised", "sync-bn=yes momentum=0.9 weight-decay=0.01"},
};

enum { KINDS = sizeof kinds / sizeof *kinds };

/* Eight devices access memory as three do, but with sanitizers take most of the time. */
#ifdef __SANITIZE_ADDRESS__
enum { COUNTS = PARALLEL_COUNTS - 1 };
#else
enum { COUNTS = PARALLEL_COUNTS };
#endif

/* Every transport sums in the order of the devices, so not a bit may differ. Each number of devices
 * takes each method with one split or another. */
START_TEST(any_transport_comes_to_the_same_bits)
{
    enum lot lot = (enum lot)(_i % LOTS);
    const struct parallel_split *split = &parallel_splits[_i / LOTS % PARALLEL_SPLITS];
    int kind = (_i + _i / LOTS) % KINDS;
    char *common = format("max-steps=10 %s %s", split->batches, kinds[kind].settings);
    pose(lot);
    for (int i = 0; i < COUNTS; i++) {
        char *names = device_names(lot, parallel_counts[i]);
        char *near =
            format("%s devices=cpu:0-%d split=%s", common, parallel_counts[i] - 1, split->rule[i]);
        char *far = format("%s devices=%s split=%s sync=%s", common, names, split->rule[i],
                           methods[(_i / LOTS + i) % 3]);
        struct outcome cpus = train(kinds[kind].model, near);
        struct outcome many = train(kinds[kind].model, far);
        check_same(&cpus, &many, far);
        outcome_free(&many);
        outcome_free(&cpus);
        free(far);
        free(near);
        free(names);
    }
    check_left_clean();
    free(common);
}
END_TEST

/* Statistics of the first device that has rows, also where it is of another kind than those who
 * evaluate and save. */
START_TEST(running_statistics_take_any_transport)
{
    enum lot lot = (enum lot)(_i % LOTS);
    bool stopped = _i / LOTS % 2;
    pose(lot);
    char *names = device_names(lot, 3);
    char *settings = format("batch=24 order=sequential lr=0 %s split=weighted:0,1,1 devices=%s "
                            "sync=%s",
                            stopped ? "" : "max-steps=1", names, methods[_i / LOTS / 2]);
    struct outcome all = train_until("normalised", settings, stopped);
    struct outcome shard =
        train("normalised", "batch=12 train-rows=12 order=sequential max-steps=1 lr=0");
    for (int i = 0; i < all.net->param_count; i++)
        ck_assert_double_le(
            difference(&all.net->params[i], all.weights.values, shard.weights.values), 1e-6);
    if (!stopped)
        ck_assert_double_eq_tol(all.test_loss, shard.test_loss, 1e-6);
    check_left_clean();
    outcome_free(&all);
    outcome_free(&shard);
    free(settings);
    free(names);
}
END_TEST

static struct recorder rec;

static char *settings_of(enum lot lot, int devices, const char *more)
{
    char *names = device_names(lot, devices);
    char *settings = format("model=%s/normalised.conf data=%s/data cpu-threads=1 batch=32 epochs=2 "
                            "devices=%s %s",
                            folder, folder, names, more);
    free(names);
    return settings;
}

static void record(enum lot lot, int devices, const char *more)
{
    char *settings = settings_of(lot, devices, more);
    recorder_init(&rec, settings);
    ck_assert_msg(recorder_run(&rec), "%s: %s", settings, rec.err.text);
    free(settings);
}

/* The record says what was chosen, and what each device computed in. */
START_TEST(the_record_says_how)
{
    enum lot lot = (enum lot)_i;
    pose(lot);
    posing.facts.type = TYPE_BF16;
    record(lot, 3, "");
    const json_t *run = recorder_event(&rec, "run", 0);
    const char *how = recorder_string(run, "sync_algorithm");
    ck_assert_msg(strncmp(how, descriptions[lot], strlen(descriptions[lot])) == 0, "%s", how);
    char *types = json_dumps(json_object_get(run, "types"), JSON_COMPACT);
    ck_assert_str_eq(types, lot == LOT_MIXED ? "[\"bf16\",\"f32\",\"bf16\"]"
                                             : "[\"bf16\",\"bf16\",\"bf16\"]");
    ck_assert_str_eq(recorder_string(run, "dtype"), "bf16");
    ck_assert(recorder_number(recorder_event(&rec, "epoch", 0), "sync_bandwidth") > 0);
    free(types);
    recorder_free(&rec);
    check_left_clean();
}
END_TEST

/* After the first pass with a plan, buckets are reduced during it. */
START_TEST(collective_overlaps_with_the_pass)
{
    pose(LOT_COLLECTIVE);
    record(LOT_COLLECTIVE, 2, "train-rows=80 sync=reduce-broadcast");
    /* Steps of 32, 32, 16 rows, twice: of six passes on each device two are the first. */
    ck_assert_int_eq(atomic_load(&posing.buckets), 2 * 6);
    ck_assert_int_eq(atomic_load(&posing.overlaps), 2 * 4);
    recorder_free(&rec);
    check_left_clean();
}
END_TEST

/* Where the collective does not serve the next best transport is taken, and the record says why. */
START_TEST(collective_that_does_not_serve)
{
    static const char *const reasons[] = {"this collective does not like cuda:0",
                                          "the collective broke"};
    pose(LOT_COLLECTIVE);
    posing.collective_refuses = _i == 0;
    posing.collective_breaks = _i == 1;
    record(LOT_COLLECTIVE, 3, "");
    const char *how = recorder_string(recorder_event(&rec, "run", 0), "sync_algorithm");
    ck_assert_msg(strncmp(how, "through host memory (", 21) == 0 && strstr(how, reasons[_i]), "%s",
                  how);
    ck_assert_int_eq(atomic_load(&posing.buckets), 0);
    recorder_free(&rec);
    check_left_clean();
}
END_TEST

/* Faults */

static void check_next_run_works(enum lot lot)
{
    recorder_free(&rec);
    pose(lot);
    record(lot, 3, "");
    recorder_free(&rec);
    check_left_clean();
}

static const enum lot faulty_lots[] = {LOT_STAGED, LOT_COLLECTIVE, LOT_MIXED};

static bool occurs(enum lot lot, enum posing_phase phase)
{
    switch (phase) {
    case POSING_BUCKET:
        return lot == LOT_COLLECTIVE;
    case POSING_WRITE:
        return lot != LOT_COLLECTIVE;
    case POSING_JOIN:
        return lot != LOT_COLLECTIVE; /* then the run continues without it */
    case POSING_SAVE:
        return false; /* there are no checkpoints */
    default:
        return phase != POSING_NEVER;
    }
}

/* In whatever phase a device fails, the run ends with its name and reason. */
START_TEST(failing_device)
{
    enum posing_phase phase = (enum posing_phase)(_i % POSING_PHASES);
    enum lot lot = faulty_lots[_i / POSING_PHASES];
    if (!occurs(lot, phase))
        return;
    char *settings = settings_of(lot, 3, "");
    pose(lot);
    posing.phase = phase;
    posing.device = 1;
    recorder_init(&rec, settings);
    ck_assert(!recorder_run(&rec));
    ck_assert_int_eq(rec.err.kind, ERROR_FAILED);
    ck_assert_msg(strstr(rec.err.text, "cuda:1") && strstr(rec.err.text, "went wrong"), "%s",
                  rec.err.text);
    check_left_clean();
    check_next_run_works(lot);
    free(settings);
}
END_TEST

/* Each phase once, and those that transports do differently for each. */
static const struct {
    enum lot lot;
    enum posing_phase phase;
} hangs[] = {
    {LOT_MIXED, POSING_OPEN},           {LOT_MIXED, POSING_PLAN},
    {LOT_MIXED, POSING_PASS},           {LOT_MIXED, POSING_REDUCTION},
    {LOT_MIXED, POSING_UPDATE},         {LOT_STAGED, POSING_JOIN},
    {LOT_STAGED, POSING_REDUCTION},     {LOT_STAGED, POSING_WRITE},
    {LOT_COLLECTIVE, POSING_JOIN},      {LOT_COLLECTIVE, POSING_BUCKET},
    {LOT_COLLECTIVE, POSING_REDUCTION},
};

enum { HANGS = sizeof hangs / sizeof *hangs };

/* A run with a device that hangs in `phase`, and what it is left with. */
static void record_hanging(enum lot lot, int device, enum posing_phase phase, const char *settings,
                           const char *checkpoints)
{
    char name[16], other[16];
    snprintf(name, sizeof name, "cuda:%d", device);
    snprintf(other, sizeof other, "cuda:%d", 1 - device);
    pose(lot);
    atomic_store(&posing.phase, phase);
    posing.device = device;
    posing.hangs = true;
    recorder_init(&rec, settings);
    rec.keep.checkpoints = checkpoints;
    rec.limits.stall_s = 2; /* the other device answers in time on a busy machine, too */
    rec.limits.grace_s = 0.3;
    ck_assert(!recorder_run(&rec));
    ck_assert_int_eq(rec.err.kind, ERROR_FAILED);
    ck_assert_msg(strstr(rec.err.text, name) && !strstr(rec.err.text, other) &&
                      strstr(rec.err.text, "no sign of progress"),
                  "%s", rec.err.text);
    recorder_free(&rec);
    atomic_store(&posing.phase, POSING_NEVER);
}

static void let_it_come_back(void)
{
    atomic_store(&posing.go_on, true);
    for (int i = 0; i < 5000 && atomic_load(&posing.closed) < atomic_load(&posing.opened); i++)
        usleep(1000);
    usleep(20000);
    check_left_clean();
}

/* A device that hangs is named and left to itself; the next run does without it. */
START_TEST(hanging_device)
{
    enum lot lot = hangs[_i].lot;
    char *settings = settings_of(lot, 3, "");
    record_hanging(lot, 1, hangs[_i].phase, settings, NULL);
    record(lot, 3, "");
    recorder_free(&rec);
    let_it_come_back();
    free(settings);
}
END_TEST

/* One that hangs while it hands out its momentum may do so when the run has long ended. */
START_TEST(device_that_hangs_in_a_checkpoint)
{
    char *settings = settings_of(LOT_STAGED, 2, "momentum=0.9");
    record_hanging(LOT_STAGED, 0, POSING_SAVE, settings, temporary_path("checkpoints"));
    let_it_come_back();
    free(settings);
}
END_TEST

/* The sizes of the buckets */

START_TEST(buckets_cover_the_gradients)
{
    static const size_t counts[] = {16,      4096,     262144,   300000,    1 << 20,
                                    5000000, 11200000, 60000000, 140000000, 2000000000};
    size_t ends[SYNC_MAX_BUCKETS];
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        size_t count = counts[i] / 16 * 16, begin = 0;
        int buckets = sync_buckets(count, ends);
        ck_assert_int_ge(buckets, 1);
        ck_assert_int_le(buckets, SYNC_MAX_BUCKETS);
        for (int j = 0; j < buckets; j++) {
            ck_assert_uint_gt(ends[j], begin);
            ck_assert_uint_eq(ends[j] % 16, 0);
            if (buckets < SYNC_MAX_BUCKETS)
                ck_assert_uint_le(ends[j] - begin, 25 * (1 << 20) / sizeof(float) + 16);
            begin = ends[j];
        }
        ck_assert_uint_eq(begin, count);
    }
    ck_assert_int_eq(sync_buckets(60000, ends), 1);
    /* ResNet-18: 44.7 MB. It begins with a small bucket and ends with small ones. */
    int buckets = sync_buckets(11175824, ends);
    ck_assert_int_ge(buckets, 4);
    ck_assert_int_le(buckets, 8);
    ck_assert_uint_le(ends[0], 1 << 18);
    ck_assert_uint_le(11175824 - ends[buckets - 2], 1 << 19);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("transport");
    TCase *tcase = add_parallel_case(suite, "results");
    tcase_add_loop_test(tcase, any_transport_comes_to_the_same_bits, 0, LOTS * PARALLEL_SPLITS);
    tcase_add_loop_test(tcase, running_statistics_take_any_transport, 0, LOTS * 2 * 3);
    tcase_add_loop_test(tcase, the_record_says_how, 0, LOTS);
    tcase_add_test(tcase, collective_overlaps_with_the_pass);
    tcase_add_loop_test(tcase, collective_that_does_not_serve, 0, 2);
    tcase_add_test(tcase, buckets_cover_the_gradients);
    tcase = add_parallel_case(suite, "faults");
    tcase_add_loop_test(tcase, failing_device, 0, 3 * POSING_PHASES);
    tcase_add_loop_test(tcase, hanging_device, 0, HANGS);
    tcase_add_test(tcase, device_that_hangs_in_a_checkpoint);
    return run_suites(suite, NULL);
}
