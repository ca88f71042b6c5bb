/* SPDX-License-Identifier: MIT */
#include "tests/engine/train/run/divided_fixture.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/engine/train/run/parallel_fixture.h"
#include "tests/support.h"

enum { DEVICES = 3 };

const char *const divided_kinds[DIVIDED_KINDS] = {
    "",
    "momentum=0.9 weight-decay=0.01",
    "optimizer=adam lr=0.001 no-decay=norm-bias weight-decay=0.01",
    "clip-norm=0.05",
    "augment=flip-crop label-smoothing=0.1",
    "ema=0.9",
    "clip-norm=0.05 ema=0.9",
};

static void begin(struct recorder *rec, const char *model, const char *settings)
{
    char *all = format("model=%s/%s.conf data=%s/data lr=0.05 init=default cpu-threads=1 %s",
                       folder, model, folder, settings);
    recorder_init(rec, all);
    free(all);
}

bool divided_run(struct recorder *rec, const char *model, const char *settings)
{
    begin(rec, model, settings);
    rec->limits.grace_s = 1;
    return recorder_run(rec);
}

void expect_one_devices(const char *model, const char *common, const char *const *more,
                        size_t count, double tolerance)
{
    struct outcome one = train(model, common);
    for (size_t i = 0; i < count; i++) {
        char *settings = format("%s %s", common, more[i]);
        struct outcome other = train(model, settings);
        check_close(&one, &other, tolerance, settings);
        outcome_free(&other);
        free(settings);
    }
    outcome_free(&one);
}

void expect_refusal(const char *settings, const char *reason)
{
    struct recorder rec;
    ck_assert(!divided_run(&rec, "normalised", settings));
    ck_assert_int_eq(rec.err.kind, ERROR_USAGE);
    ck_assert_msg(strstr(rec.err.text, reason), "%s", rec.err.text);
    recorder_free(&rec);
}

static void expect_next_run_works(const char *settings)
{
    struct recorder rec;
    posing_reset();
    ck_assert_msg(divided_run(&rec, "plain", settings), "%s", rec.err.text);
    recorder_free(&rec);
}

void expect_failure(const char *settings, int device, enum posing_phase phase)
{
    struct recorder rec;
    char name[16];
    posing_reset();
    posing.device = device;
    posing.phase = phase;
    snprintf(name, sizeof name, "cuda:%d: ", device);
    ck_assert(!divided_run(&rec, "plain", settings));
    ck_assert_int_eq(rec.err.kind, ERROR_FAILED);
    ck_assert_msg(strstr(rec.err.text, name) && strstr(rec.err.text, "went wrong"), "%s",
                  rec.err.text);
    ck_assert_int_eq(atomic_load(&posing.opened), atomic_load(&posing.closed));
    recorder_free(&rec);
    expect_next_run_works(settings);
}

void expect_hang(const char *settings, int device)
{
    struct recorder rec;
    char name[16];
    posing_reset();
    posing.device = device;
    posing.phase = POSING_PASS;
    posing.hangs = true;
    snprintf(name, sizeof name, "cuda:%d: ", device);
    begin(&rec, "plain", settings);
    rec.limits.stall_s = 2; /* the other devices answer in time on a busy machine, too */
    rec.limits.grace_s = 0.2;
    ck_assert(!recorder_run(&rec));
    ck_assert_msg(strncmp(rec.err.text, name, strlen(name)) == 0 &&
                      strstr(rec.err.text, "no sign of progress"),
                  "%s", rec.err.text);
    recorder_free(&rec);
    /* Once it comes back it gives back what it holds. */
    atomic_store(&posing.go_on, true);
    for (int i = 0; i < 1000 && atomic_load(&posing.closed) < DEVICES; i++)
        usleep(10000);
    ck_assert_int_eq(atomic_load(&posing.closed), DEVICES);
    expect_next_run_works(settings);
}
