/* SPDX-License-Identifier: MIT */
#include "tests/engine/train/run/fixture.h"

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

TCase *add_case(Suite *suite, const char *name)
{
    TCase *tcase = tcase_create(name);
    tcase_set_timeout(tcase, 60);
    tcase_add_checked_fixture(tcase, setup, teardown);
    suite_add_tcase(suite, tcase);
    return tcase;
}
