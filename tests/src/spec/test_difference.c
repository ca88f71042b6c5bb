/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <string.h>

#include "spec/difference.h"
#include "spec/likeness.h"
#include "spec/set.h"
#include "tests/suites.h"

/* The settings in which two runs differ. */

static struct spec_differences found;

static bool find(const char *first, const char *second, struct error *err)
{
    const json_t *const none[2] = {NULL, NULL};
    json_t *specs[] = {json_loads(first, 0, NULL), json_loads(second, 0, NULL)};
    ck_assert(specs[0] && specs[1]);
    bool ok = spec_differences_find(&found, (const json_t *const *)specs, none, err);
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

/* Also of a setting that began alike. */
START_TEST(live_changes_are_differences)
{
    struct error err = ERROR_INIT;
    json_t *spec = json_pack("{s:f, s:i}", "lr", 0.1, "epochs", 10);
    json_t *many = json_loads("[{\"what\":\"pause\",\"epoch\":2},"
                              "{\"what\":\"lr\",\"epoch\":4,\"from\":0.1,\"to\":0.05},"
                              "{\"what\":\"epochs\",\"epoch\":4,\"from\":10,\"to\":12},"
                              "{\"what\":\"lr\",\"epoch\":5,\"from\":0.05,\"to\":0.04},"
                              "{\"what\":\"lr\",\"epoch\":6,\"from\":0.04,\"to\":0.03},"
                              "{\"what\":\"lr\",\"epoch\":7,\"from\":0.03,\"to\":0.01}]",
                              0, NULL);
    json_t *one = json_loads("[{\"what\":\"lr\",\"epoch\":3,\"to\":0.02,\"scale\":0.5}]", 0, NULL);
    const json_t *const specs[] = {spec, spec}, *const retunes[] = {many, one};
    ck_assert(spec_differences_find(&found, specs, retunes, &err));
    ck_assert_int_eq(found.count, 2);
    expect(0, "lr", "0.1, then 0.05 from epoch 4, 2 more, then 0.01 from epoch 7",
           "0.1, then x 0.5 from epoch 3");
    expect(1, "epochs", "10, then 12 from epoch 4", "10");
    spec_differences_free(&found);
    json_decref(spec);
    json_decref(many);
    json_decref(one);
}
END_TEST

/* The spec of a resumed run has what it was resumed with. */
START_TEST(resuming_comes_after_live_changes)
{
    struct error err = ERROR_INIT;
    json_t *resumed = json_pack("{s:f, s:i}", "lr", 0.02, "epochs", 8);
    json_t *other = json_pack("{s:f, s:i}", "lr", 0.02, "epochs", 8);
    json_t *changes = json_loads("[{\"what\":\"epochs\",\"epoch\":5,\"from\":5,\"to\":6},"
                                 "{\"what\":\"lr\",\"epoch\":3,\"from\":0.1,\"to\":0.05}]",
                                 0, NULL);
    const json_t *const specs[] = {resumed, other}, *const retunes[] = {changes, NULL};
    ck_assert(spec_differences_find(&found, specs, retunes, &err));
    expect(0, "lr", "0.1, then 0.05 from epoch 3, resumed with 0.02", "0.02");
    expect(1, "epochs", "5, then 6 from epoch 5, resumed with 8", "8");
    spec_differences_free(&found);
    json_decref(resumed);
    json_decref(other);
    json_decref(changes);
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

/* Of a run that is resumed with other settings. */
static const struct {
    const char *key, *before, *after;
    bool as_fast;
} resumes[] = {
    {"lr", "0.1", "0.2", true},
    {"epochs", "3", "5", true},
    {"save", "/a", "/b", true},
    {"devices", "cpu:0-1", "cpu:0,cpu:1", true},
    {"devices", "free:2=cuda:0,cuda:1", "free:2=cuda:1,cuda:3", true},
    {"devices", "free:2=cuda:0,cuda:1", "free:2", true},
    {"devices", "free:2", "free:2=cuda:0,cuda:1", true},
    {"devices", "free:1=cuda:0", "free:2=cuda:0,cuda:1", false},
    {"devices", "cpu:0-1", "cpu:0-2", false},
    {"devices", "cpu:0-2", "cpu:0-1", false},
    {"cpu-threads", "1", "2", false},
    {"strategy", "data", "pipeline", false},
    {"dtype", "f32", "bf16", false},
    {"optimizer", "sgd", "adam", false},
    {"profile", "false", "true", false},
};

START_TEST(some_change_the_time_of_a_step)
{
    struct error err = ERROR_INIT;
    struct spec before, after;
    spec_init(&before);
    spec_init(&after);
    ck_assert_msg(spec_set(&before, resumes[_i].key, resumes[_i].before, &err) &&
                      spec_set(&after, resumes[_i].key, resumes[_i].after, &err),
                  "%s", err.text);
    ck_assert_msg(spec_is_as_fast(&after, &before) == resumes[_i].as_fast, "%s %s", resumes[_i].key,
                  resumes[_i].after);
    spec_free(&before);
    spec_free(&after);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("difference");
    TCase *tests = tcase_create("difference");
    tcase_add_test(tests, only_what_differs_is_found);
    tcase_add_test(tests, what_is_missing_has_its_default);
    tcase_add_test(tests, live_changes_are_differences);
    tcase_add_test(tests, resuming_comes_after_live_changes);
    tcase_add_test(tests, what_is_no_spec_is_an_error);
    tcase_add_loop_test(tests, some_change_the_time_of_a_step, 0, sizeof resumes / sizeof *resumes);
    suite_add_tcase(suite, tests);
    return run_suites(suite, NULL);
}
