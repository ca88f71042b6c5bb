/* SPDX-License-Identifier: MIT */
/* What the engine keeps of runs: notes, curves, messages. */
#include <stdlib.h>
#include <string.h>

#include "engine/server/record/record.h"
#include "tests/fakes/engine_thread.h"

#define SLOW "model=slow epochs=1000"

/* A disk that is full for hours is one warning of a run, and other warnings have an end, too. */
START_TEST(repeated_warnings_do_not_grow)
{
    struct spec spec;
    spec_init(&spec);
    struct record *record = record_new(1, &spec);
    spec_free(&spec);
    ck_assert_ptr_nonnull(record);
    for (int i = 0; i < 15000; i++) {
        char text[40];
        snprintf(text, sizeof text, "%s %d", i % 2 ? "checkpoint" : "other", i);
        json_t *event = json_pack("{s:s, s:s, s:s*}", "event", "warning", "text", text, "about",
                                  i % 2 ? "checkpoint" : NULL);
        record_take_event(record, event);
        json_decref(event);
    }
    json_t *warnings = warnings_json(&record->warnings);
    ck_assert_uint_eq(json_array_size(warnings), 101);
    ck_assert_str_eq(json_string_value(json_array_get(warnings, 0)), "other 0");
    ck_assert_str_eq(json_string_value(json_array_get(warnings, 1)), "checkpoint 14999");
    ck_assert_str_eq(json_string_value(json_array_get(warnings, 100)),
                     "7401 more warnings are in the engine's log");
    json_decref(warnings);
    record_free(record);
}
END_TEST

static char *note_of(struct client *client, long run)
{
    json_t *record = ask(client, "show", of(run));
    const char *note = json_string_value(json_object_get(record, "note"));
    char *copy = note ? strdup(note) : NULL;
    ck_assert(note || json_is_null(json_object_get(record, "note")));
    json_decref(record);
    return copy;
}

START_TEST(a_run_has_a_note)
{
    static const char *const refused[] = {"two\nlines", "bell\a",        "\x1b[2J",
                                          "\x7f",       "c1 \302\2332J", "tab\t"};
    struct client *client = viewer();
    json_t *result =
        ask(client, "submit",
            json_pack("{s:s, s:s}", "model", "linear", "note", "warm start, \xc3\xa4"));
    long run = (long)number_of(result, "run");
    char *note = note_of(client, run), longest[402];
    ck_assert_str_eq(note, "warm start, \xc3\xa4");
    free(note);
    json_decref(result);
    tell(client, "note", with(run, "text", json_string("cold start")));
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        refuse(client, "note", with(run, "text", json_string(refused[i])), ERROR_USAGE);
        refuse(client, "submit", json_pack("{s:s}", "note", refused[i]), ERROR_USAGE);
    }
    memset(longest, 'x', sizeof longest - 1);
    longest[401] = '\0';
    refuse(client, "note", with(run, "text", json_string(longest)), ERROR_USAGE);
    refuse(client, "note", of(run), ERROR_USAGE);
    refuse(client, "note", with(run, "text", json_integer(1)), ERROR_USAGE);
    refuse(client, "note", with(99, "text", json_string("x")), ERROR_ABSENT);
    note = note_of(client, run);
    ck_assert_str_eq(note, "cold start");
    free(note);
    longest[400] = '\0';
    tell(client, "note", with(run, "text", json_string(longest)));
    note = note_of(client, run);
    ck_assert_str_eq(note, longest);
    free(note);
    tell(client, "note", with(run, "text", json_string("")));
    ck_assert_ptr_null(note_of(client, run));
    client_close(client);
}
END_TEST

START_TEST(points_sum_up_the_steps)
{
    struct client *client = watcher();
    long run = submit(client, "epochs=10 batch=10 train-rows=995"); /* 1000 steps */
    double rows = 0, loss_sum = 0;
    tell(client, "follow", of(run));
    long steps = 0, points = 0, summed = 0;
    while (steps < 1000 || points < 250) {
        json_t *event = next_note(client, "event");
        const char *name = string_of(event, "event");
        ck_assert_str_ne(name, "gap");
        if (strcmp(name, "step") == 0) {
            steps++;
            rows += number_of(event, "rows");
            loss_sum += number_of(event, "rows") * number_of(event, "loss");
        } else if (strcmp(name, "point") == 0) {
            points++;
            summed += (long)number_of(event, "steps");
            ck_assert_int_eq((long)number_of(event, "step"), summed);
        }
        json_decref(event);
    }
    ck_assert_int_eq(steps, 1000);
    ck_assert_int_eq(summed, 1000);
    json_t *record = ask(client, "show", of(run));
    const json_t *list = json_object_get(record, "points");
    ck_assert_uint_eq(json_array_size(list), 250);
    const json_t *last = json_array_get(list, 249);
    ck_assert(number_of(last, "epoch") == 10);
    /* Four steps each: those of the hundredth of an epoch that is short weigh less. */
    double sum = 0;
    for (size_t i = 0; i < 250; i++)
        sum += number_of(json_array_get(list, i), "train_loss") * (i % 25 == 24 ? 35 : 40);
    ck_assert_double_eq_tol(sum, loss_sum, 1e-6 * loss_sum);
    ck_assert(rows == 9950);
    json_decref(record);
    client_close(client);
}
END_TEST

/* The text of the next message about a run. */
static void check_message(struct client *client, long run, const char *level, const char *words)
{
    for (;;) {
        json_t *message = next_note(client, "log");
        bool found = json_integer_value(json_object_get(message, "run")) == run &&
                     strstr(string_of(message, "text"), words);
        if (found) {
            ck_assert_str_eq(string_of(message, "level"), level);
            ck_assert(number_of(message, "time") > 1.6e9);
        }
        json_decref(message);
        if (found)
            return;
    }
}

START_TEST(the_engine_tells_what_happens)
{
    struct client *client = watcher();
    long run = submit(client, SLOW " lr=0.1 batch=64 lr-schedule=step:2000"),
         failing = submit(client, "model=fail");
    check_message(client, run, "info",
                  "submitted: slow on glyphs, cpu:0, batch 64, lr 0.1, step:2000, 1000");
    check_message(client, run, "info", "begins");
    tell(client, "set_lr", with(run, "lr", json_real(0.05)));
    check_message(client, run, "info", "lr 0.1 -> 0.05 after step ");
    tell(client, "stop", of(run));
    check_message(client, run, "info", "stopped after step");
    check_message(client, failing, "error", "step 3 fails");
    json_t *list = ask(client, "log", NULL);
    size_t count = json_array_size(list);
    ck_assert_uint_gt(count, 6);
    for (size_t i = 1; i < count; i++)
        ck_assert(number_of(json_array_get(list, i), "number") ==
                  number_of(json_array_get(list, i - 1), "number") + 1);
    json_decref(list);
    list = ask(client, "log", json_pack("{s:i}", "limit", 2));
    ck_assert_uint_eq(json_array_size(list), 2);
    ck_assert_str_eq(string_of(json_array_get(list, 1), "level"), "error");
    json_decref(list);
    refuse(client, "log", json_pack("{s:i}", "limit", 0), ERROR_USAGE);
    client_close(client);
}
END_TEST

START_TEST(messages_are_clean_and_bounded)
{
    struct client *client = viewer();
    char data[2000];
    memset(data, 'x', sizeof data - 1);
    data[sizeof data - 1] = '\0';
    data[3] = '\x1b';
    memcpy(data + 5, "\xc2\x9b", 2);
    /* Taken out at once: two messages each. */
    long first = submit(client, SLOW);
    for (int i = 0; i < 300; i++) {
        json_t *result =
            ask(client, "submit", json_pack("{s:s, s:s}", "model", "slow", "data", data));
        tell(client, "stop", of((long)number_of(result, "run")));
        json_decref(result);
    }
    json_t *list = ask(client, "log", NULL);
    ck_assert_uint_eq(json_array_size(list), 500);
    for (size_t i = 0; i < 500; i++) {
        const char *text = string_of(json_array_get(list, i), "text");
        ck_assert_uint_le(strlen(text), 800);
        ck_assert_ptr_null(strpbrk(text, "\x1b\n\x7f"));
        ck_assert_ptr_null(strstr(text, "\xc2\x9b"));
    }
    json_decref(list);
    tell(client, "stop", of(first));
    client_close(client);
}
END_TEST

Suite *stored_runs_suite(void)
{
    Suite *suite = suite_create("stored runs");
    TCase *tests = tcase_create("stored runs");
    tcase_set_timeout(tests, 60);
    tcase_add_checked_fixture(tests, engine_begin, engine_end);
    tcase_add_test(tests, a_run_has_a_note);
    tcase_add_test(tests, points_sum_up_the_steps);
    tcase_add_test(tests, the_engine_tells_what_happens);
    tcase_add_test(tests, repeated_warnings_do_not_grow);
    tcase_add_test(tests, messages_are_clean_and_bounded);
    suite_add_tcase(suite, tests);
    return suite;
}
