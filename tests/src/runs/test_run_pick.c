/* SPDX-License-Identifier: MIT */
/* Which runs are listed, and in which order. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runs/pick.h"
#include "store/list.h"
#include "store/write.h"
#include "tests/suites.h"
#include "tests/support.h"

static struct error err;
static json_t *runs;

static json_t *make_run(int number, const char *model, const char *const *devices, double acc,
                        double submitted)
{
    json_t *list = json_array();
    for (size_t i = 0; devices[i]; i++)
        json_array_append_new(list, json_string(devices[i]));
    return json_pack("{s:i, s:s, s:s, s:s, s:o, s:o, s:f, s:[s], s:n}", "run", number, "model",
                     model, "data", "glyphs", "status", number % 2 ? "done" : "failed", "devices",
                     list, "test_acc", isnan(acc) ? json_null() : json_real(acc), "submitted_at",
                     submitted, "tags", number == 1 ? "Thesis" : "other", "note");
}

static void put_best(size_t index, const char *key, double accuracy)
{
    json_object_set_new(json_array_get(runs, index), key, json_real(accuracy));
}

static void setup(void)
{
    static const char *const one[] = {"cpu:0", NULL}, *const two[] = {"cpu:0", "cpu:1", NULL};
    err = (struct error)ERROR_INIT;
    setenv("TZ", "UTC0", 1);
    tzset();
    runs = json_array();
    json_array_append_new(runs, make_run(1, "linear", one, 0.5, 1000));
    json_array_append_new(runs, make_run(2, "lenet", two, NAN, 2000));
    json_array_append_new(runs, make_run(3, "Linear", one, 0.75, 3000));
    json_array_append_new(runs, make_run(4, "lenet", one, 0.5, 4000));
    /* The first has validation rows. */
    put_best(0, "best_test_acc", 0.5);
    put_best(0, "best_val_acc", 0.8);
    put_best(2, "best_test_acc", 0.75);
    put_best(3, "best_test_acc", 0.6);
}

static void teardown(void)
{
    json_decref(runs);
}

/* The numbers of the runs, each a digit. */
static const char *order(void)
{
    static char text[20];
    size_t count = json_array_size(runs);
    for (size_t i = 0; i < count; i++)
        text[i] = (char)('0' + json_integer_value(json_object_get(json_array_get(runs, i), "run")));
    text[count] = '\0';
    return text;
}

static const struct {
    const char *sort;
    long limit;
    const char *order;
} sorts[] = {
    {NULL, 0, "1234"},      {NULL, 2, "34"},      {"acc", 0, "1432"},    {"-acc", 0, "3142"},
    {"-acc", 1, "3"},       {"-run", 0, "4321"},  {"model", 0, "2413"},  {"-model", 0, "1324"},
    {"date", 3, "123"},     {"-devices", 1, "2"}, {"status", 0, "1324"}, {"note", 0, "1234"},
    {"seconds", 0, "1234"}, {"run", 9, "1234"},   {"best", 0, "4312"},   {"-best", 0, "1342"},
};

START_TEST(runs_are_sorted)
{
    struct store_filter filter = STORE_FILTER_INIT;
    filter.limit = sorts[_i].limit;
    ck_assert_msg(!sorts[_i].sort || run_pick_key_named(sorts[_i].sort, &filter, &err), "%s",
                  err.text);
    ck_assert_msg(run_pick_sort(runs, &filter, &err), "%s", err.text);
    ck_assert_str_eq(order(), sorts[_i].order);
}
END_TEST

START_TEST(unknown_keys_are_named)
{
    struct store_filter filter = STORE_FILTER_INIT;
    ck_assert(!run_pick_key_named("-spede", &filter, &err));
    ck_assert_int_eq(err.kind, ERROR_USAGE);
    ck_assert_ptr_nonnull(strstr(err.text, "speed"));
    ck_assert(!run_pick_key_named("elephant", &filter, &err));
    ck_assert_ptr_nonnull(strstr(err.text, "run, date, "));
}
END_TEST

/* The numbers of runs as order() of a list that is not `runs`. */
static void same_order(json_t *list, const char *numbers, const char *what)
{
    json_t *before = runs;
    runs = list;
    ck_assert_msg(strcmp(order(), numbers) == 0, "%s: %s, not %s", what, order(), numbers);
    runs = before;
}

/* Commands take what the store found and the engine's runs for one list. */
START_TEST(the_store_sorts_in_the_same_way)
{
    char *folder = temporary_folder(), *path = format("%s/runs.db", folder);
    char notice[100], expected[20];
    struct store *store;
    json_t *run, *found;
    size_t index;
    ck_assert_msg(store_open(path, &store, notice, sizeof notice, &err), "%s", err.text);
    json_array_foreach(runs, index, run)
    {
        ck_assert_msg(store_put_run(store, run, NULL, NULL, &err), "%s", err.text);
    }
    for (size_t i = 0; run_pick_key(i); i++)
        for (int descending = 0; descending < 2; descending++)
            for (long limit = 0; limit < 4; limit++) {
                struct store_filter filter = STORE_FILTER_INIT;
                ck_assert(run_pick_key_named(run_pick_key(i), &filter, &err));
                filter.descending = descending;
                filter.limit = limit;
                ck_assert_msg(run_pick_sort(runs, &filter, &err), "%s", err.text);
                snprintf(expected, sizeof expected, "%s", order());
                ck_assert_msg(store_list(store, &filter, false, &found, &err), "%s", err.text);
                same_order(found, expected, run_pick_key(i));
                json_decref(found);
                teardown();
                setup();
            }
    ck_assert(!store_list(store, &(struct store_filter){.sort = "beauty"}, false, &found, &err));
    store_close(store);
    free(path);
    remove_tree(folder);
}
END_TEST

/* The runs that suit the filter, as order(). */
static const char *matches(struct store_filter filter)
{
    for (size_t i = json_array_size(runs); i-- > 0;)
        if (!run_pick_matches(json_array_get(runs, i), &filter))
            json_array_remove(runs, i);
    const char *found = order();
    teardown();
    setup();
    return found;
}

#define FILTER(...) ((struct store_filter){.since = NAN, .until = NAN, __VA_ARGS__})

START_TEST(runs_are_filtered)
{
    ck_assert_str_eq(matches(FILTER(.limit = 0)), "1234");
    ck_assert_str_eq(matches(FILTER(.model = "LINEAR")), "13");
    ck_assert_str_eq(matches(FILTER(.model = "line")), "");
    ck_assert_str_eq(matches(FILTER(.status = "failed", .model = "lenet")), "24");
    ck_assert_str_eq(matches(FILTER(.devices = "CPU:0-1")), "2");
    ck_assert_str_eq(matches(FILTER(.devices = "cpu:0-1")), "2");
    ck_assert_str_eq(matches(FILTER(.devices = "no device")), "");
    ck_assert_str_eq(matches(FILTER(.tag = "thesis")), "1");
    ck_assert_str_eq(matches(FILTER(.words = "  lin glyphs ")), "13");
    ck_assert_str_eq(matches(FILTER(.words = "cpu:0-1 fail")), "2");
    ck_assert_str_eq(matches(FILTER(.words = "THES")), "1");
    ck_assert_str_eq(matches(FILTER(.words = "lin thesis nothing")), "");
    struct store_filter between = FILTER(.limit = 0);
    between.since = 2000;
    between.until = 4000;
    ck_assert_str_eq(matches(between), "23");
}
END_TEST

static const struct {
    const char *text;
    bool end;
    double time; /* NAN: none */
} times[] = {
    {"2026-11-20", false, 1795132800},
    {"2026-11-20", true, 1795219200},
    {"2026-11-20 14:30", true, 1795185000},
    {"2026-11-20T14:30:05", false, 1795185005},
    {"90s", false, 999910},
    {"30m", false, 998200},
    {"12h", false, 956800},
    {"7d", false, 395200},
    {"2w", true, -209600},
    {"0.5h", false, 998200},
    {"2026-02-30", false, NAN},
    {"2026-13-01", false, NAN},
    {"2026-11-31", true, NAN},
    {"d", false, NAN},
    {"7", false, NAN},
    {"-7d", false, NAN},
    {"7y", false, NAN},
    {"", false, NAN},
    {"2026-11-20 25:00", false, NAN},
    {"2026-11-20x", false, NAN},
};

START_TEST(times_are_understood)
{
    double time = NAN;
    bool ok = run_pick_time(times[_i].text, 1e6, times[_i].end, &time, &err);
    ck_assert_int_eq(ok, isfinite(times[_i].time));
    if (ok)
        ck_assert_double_eq_tol(time, times[_i].time, 1e-6);
    else
        ck_assert_int_eq(err.kind, ERROR_USAGE);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("run_pick");
    TCase *tests = tcase_create("all");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_loop_test(tests, runs_are_sorted, 0, sizeof sorts / sizeof *sorts);
    tcase_add_test(tests, unknown_keys_are_named);
    tcase_add_test(tests, the_store_sorts_in_the_same_way);
    tcase_add_test(tests, runs_are_filtered);
    tcase_add_loop_test(tests, times_are_understood, 0, sizeof times / sizeof *times);
    suite_add_tcase(suite, tests);
    return run_suites(suite, NULL);
}
