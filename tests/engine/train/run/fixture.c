/* SPDX-License-Identifier: MIT */
#include "tests/engine/train/run/fixture.h"

#include <stdio.h>

struct recorder rec;

static void setup(void)
{
    fake_reset();
}

static void teardown(void)
{
    recorder_free(&rec);
    ck_assert_int_eq(atomic_load(&fake.misuse), 0);
    ck_assert_int_eq(atomic_load(&fake.opened), atomic_load(&fake.closed));
}

void run_ok(const char *settings)
{
    recorder_init(&rec, settings);
    ck_assert_msg(recorder_run(&rec), "%s", rec.err.text);
}

void run_stopped(void)
{
    ck_assert(!recorder_run(&rec));
    ck_assert_int_eq(rec.err.kind, ERROR_CANCELLED);
}

const char *run_stopped_saving(const char *settings,
                               void (*on_event)(struct recorder *recorder, const char *kind,
                                                json_t *event))
{
    const char *path = temporary_path("stopped");
    char text[700];
    snprintf(text, sizeof text, "%s save=%s", settings, path);
    recorder_init(&rec, text);
    rec.on_event = on_event;
    run_stopped();
    return path;
}

TCase *add_case(Suite *suite, const char *name)
{
    TCase *tcase = tcase_create(name);
    tcase_set_timeout(tcase, 60);
    tcase_add_checked_fixture(tcase, setup, teardown);
    suite_add_tcase(suite, tcase);
    return tcase;
}
