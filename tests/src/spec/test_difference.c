/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <string.h>

#include "spec/difference.h"
#include "tests/suites.h"

/* The settings in which two runs differ. */

static struct spec_differences found;

static bool find(const char *first, const char *second, struct error *err)
{
    json_t *specs[] = {json_loads(first, 0, NULL), json_loads(second, 0, NULL)};
    ck_assert(specs[0] && specs[1]);
    bool ok = spec_differences_find(&found, specs[0], specs[1], err);
    json_decref(specs[0]);
    json_decref(specs[1]);
    return ok;
}

static void expect(int at, const char *key, const char *first, const char *second)
{
    ck_assert_int_lt(at, found.count);
    ck_assert_str_eq(found.list[at].key, key);
    ck_assert_str_eq(found.list[at].value[0], first);
    ck_assert_str_eq(found.list[at].value[1], second);
}

START_TEST(only_what_differs_is_found)
{
    struct error err = ERROR_INIT;
    ck_assert_msg(find("{\"model\":\"lenet\",\"devices\":\"cpu:0-1\",\"batch\":512,\"lr\":0.2,"
                       "\"sync_bn\":false,\"save\":\"/tmp/a\"}",
                       "{\"model\":\"lenet\",\"devices\":\"cpu:0,cpu:1\",\"batch\":256,\"lr\":0.2,"
                       "\"sync_bn\":true,\"save\":null}",
                       &err),
                  "%s", err.text);
    ck_assert_int_eq(found.count, 3);
    expect(0, "batch", "512", "256");
    expect(1, "sync-bn", "no", "yes");
    expect(2, "save", "/tmp/a", "");
    spec_differences_free(&found);
    spec_differences_free(&found);
}
END_TEST

START_TEST(what_is_missing_has_its_default)
{
    struct error err = ERROR_INIT;
    ck_assert(find("{}", "{\"batch\":256,\"momentum\":0.5}", &err));
    ck_assert_int_eq(found.count, 1);
    expect(0, "momentum", "0", "0.5");
    spec_differences_free(&found);
}
END_TEST

START_TEST(what_is_no_spec_is_an_error)
{
    struct error err = ERROR_INIT;
    ck_assert(!find("{\"batch\":256}", "{\"batch\":\"many\"}", &err));
    ck_assert_msg(strstr(err.text, "batch") != NULL, "%s", err.text);
    spec_differences_free(&found);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("difference");
    TCase *tests = tcase_create("difference");
    tcase_add_test(tests, only_what_differs_is_found);
    tcase_add_test(tests, what_is_missing_has_its_default);
    tcase_add_test(tests, what_is_no_spec_is_an_error);
    suite_add_tcase(suite, tests);
    return run_suites(suite, NULL);
}
