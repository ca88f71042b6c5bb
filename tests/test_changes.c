/* SPDX-License-Identifier: MIT */
/* Methods that change runs, and what the engine keeps of them: notes, curves, messages. */
#include <stdlib.h>
#include <string.h>

#include "tests/engine_thread.h"

#define SLOW "model=slow epochs=1000"

static json_t *with(long run, const char *key, json_t *value)
{
    json_t *params = json_pack("{s:I}", "run", (json_int_t)run);
    if (key)
        json_object_set_new(params, key, value);
    return params;
}

static json_t *of(long run)
{
    return with(run, NULL, NULL);
}

/* Begin watching. */
static struct client *watcher(void)
{
    struct client *client = viewer();
    tell(client, "watch", json_pack("{s:f}", "interval", 0.05));
    return client;
}

/* A request that must fail, with these words. */
static void refuse_saying(struct client *client, const char *method, json_t *params,
                          const char *words)
{
    struct error err = ERROR_INIT;
    ck_assert_msg(!client_call(client, method, params, 20, NULL, &err), "%s works", method);
    ck_assert_msg(strstr(err.text, words) != NULL, "%s: %s", method, err.text);
}

/* The next retune of a run must be this one. */
static void check_retune(struct client *client, long run, const char *what)
{
    json_t *event = next_event(client, run, "retune");
    ck_assert_str_eq(string_of(event, "what"), what);
    number_of(event, "epoch");
    number_of(event, "step");
    json_decref(event);
}

START_TEST(a_run_stops_after_its_epoch)
{
    struct client *client = watcher();
    long run = submit(client, SLOW);
    wait_status(client, run, "running");
    tell(client, "stop", with(run, "when", json_string("epoch")));
    check_retune(client, run, "stop_after_epoch");
    json_t *record = ask(client, "show", of(run));
    ck_assert(json_is_true(json_object_get(record, "stop_after_epoch")));
    ck_assert_uint_eq(json_array_size(json_object_get(record, "retunes")), 1);
    json_decref(record);
    json_t *end = next_event(client, run, "end");
    ck_assert_str_eq(string_of(end, "status"), "stopped");
    /* Whole epochs of ten steps. */
    ck_assert_int_gt((long)number_of(end, "steps"), 0);
    ck_assert_int_eq((long)number_of(end, "steps") % 10, 0);
    json_decref(end);
    record = ask(client, "show", of(run));
    ck_assert(json_is_false(json_object_get(record, "stop_after_epoch")));
    json_decref(record);
    refuse(client, "stop", with(run, "when", json_string("never")), ERROR_FAILED);
    client_close(client);
}
END_TEST

START_TEST(a_stop_after_the_epoch_can_be_withdrawn)
{
    struct client *client = watcher();
    long run = submit(client, SLOW " batch=1 train-rows=400"); /* two seconds an epoch */
    wait_status(client, run, "running");
    tell(client, "stop", with(run, "when", json_string("epoch")));
    check_retune(client, run, "stop_after_epoch");
    json_t *state;
    bool seen = false;
    for (int i = 0; i < 40 && !seen; i++, json_decref(state)) {
        state = next_note(client, "state");
        json_t *ours = json_object_get(state, "run");
        seen = json_is_true(json_object_get(ours, "stop_after_epoch"));
        ck_assert(!seen || number_of(ours, "retunes") == 1);
    }
    ck_assert(seen);
    tell(client, "stop", with(run, "when", json_string("never")));
    tell(client, "stop", with(run, "when", json_string("never")));
    check_retune(client, run, "go_on");
    tell(client, "stop", of(run));
    refuse(client, "stop", with(run, "when", json_string("never")), ERROR_FAILED);
    wait_status(client, run, "stopped");
    client_close(client);
}
END_TEST

START_TEST(epochs_can_be_more_or_fewer)
{
    struct client *client = watcher();
    long run = submit(client, "model=slow epochs=5"), waiting = submit(client, "epochs=1");
    json_decref(next_event(client, run, "epoch"));
    tell(client, "set_epochs", with(run, "epochs", json_integer(1000)));
    json_t *event = next_event(client, run, "retune");
    ck_assert_str_eq(string_of(event, "what"), "epochs");
    ck_assert(number_of(event, "from") == 5 && number_of(event, "to") == 1000);
    json_decref(event);
    json_decref(next_event(client, run, "epoch"));
    /* The third goes on, or a later one. */
    refuse_saying(client, "set_epochs", with(run, "epochs", json_integer(1)), "fewer than ");
    json_t *runs = ask(client, "runs", NULL);
    ck_assert(number_of(json_array_get(runs, 0), "epochs") == 1000);
    json_decref(runs);
    tell(client, "set_epochs", with(run, "epochs", json_integer(8)));
    tell(client, "set_epochs", with(waiting, "epochs", json_integer(3)));
    json_t *end = next_event(client, run, "end");
    ck_assert_str_eq(string_of(end, "status"), "done");
    ck_assert(number_of(end, "steps") == 80);
    json_decref(end);
    wait_status(client, waiting, "done");
    json_t *record = ask(client, "show", of(waiting));
    ck_assert(number_of(record, "epochs_done") == 3);
    ck_assert(number_of(json_object_get(record, "spec"), "epochs") == 3);
    json_decref(record);
    refuse(client, "set_epochs", with(run, "epochs", json_integer(9)), ERROR_FAILED);
    client_close(client);
}
END_TEST

static void check_queue(const long *expected, size_t count)
{
    struct client *fresh = watcher();
    json_t *state = next_note(fresh, "state"), *queue = json_object_get(state, "queue");
    ck_assert_uint_eq(json_array_size(queue), count);
    for (size_t i = 0; i < count; i++)
        ck_assert_int_eq(json_integer_value(json_array_get(queue, i)), expected[i]);
    json_decref(state);
    client_close(fresh);
}

START_TEST(waiting_runs_change_their_places)
{
    struct client *client = watcher();
    long first = submit(client, SLOW), a = submit(client, "epochs=1");
    long b = submit(client, "epochs=1"), c = submit(client, "epochs=1");
    wait_status(client, first, "running");
    check_queue((long[]){a, b, c}, 3);
    tell(client, "move", with(c, "place", json_integer(0)));
    check_queue((long[]){c, a, b}, 3);
    tell(client, "move", with(c, "place", json_integer(1)));
    check_queue((long[]){a, c, b}, 3);
    tell(client, "move", with(a, "place", json_integer(1000000)));
    check_queue((long[]){c, b, a}, 3);
    tell(client, "move", with(b, "place", json_integer(1)));
    check_queue((long[]){c, b, a}, 3);
    refuse(client, "move", with(first, "place", json_integer(0)), ERROR_FAILED);
    refuse(client, "move", with(a, "place", json_integer(-1)), ERROR_USAGE);
    refuse(client, "move", of(a), ERROR_USAGE);
    tell(client, "stop", of(b));
    check_queue((long[]){c, a}, 2);
    refuse(client, "move", with(b, "place", json_integer(0)), ERROR_FAILED);
    /* That is the order in which they train. */
    tell(client, "stop", of(first));
    double ended[2];
    wait_status(client, a, "done");
    for (int i = 0; i < 2; i++) {
        json_t *record = ask(client, "show", of(i ? a : c));
        ended[i] = number_of(record, "ended_at");
        ck_assert(number_of(record, "started_at") >= number_of(record, "submitted_at"));
        ck_assert(ended[i] >= number_of(record, "started_at"));
        json_decref(record);
    }
    ck_assert(ended[0] <= ended[1]);
    client_close(client);
}
END_TEST

START_TEST(ended_runs_can_be_deleted)
{
    struct client *client = viewer();
    long first = submit(client, "epochs=1"), second = submit(client, SLOW);
    long third = submit(client, "epochs=1");
    tell(client, "follow", of(first));
    json_decref(next_event(client, first, "end"));
    wait_status(client, second, "running");
    refuse_saying(client, "delete", of(second), "running");
    refuse_saying(client, "delete", of(third), "queued");
    tell(client, "delete", of(first));
    refuse_saying(client, "show", of(first), "no run");
    refuse_saying(client, "delete", of(first), "no run");
    json_t *runs = ask(client, "runs", NULL);
    ck_assert_uint_eq(json_array_size(runs), 2);
    ck_assert_int_eq((long)number_of(json_array_get(runs, 0), "run"), second);
    json_decref(runs);
    /* At once after its end, when the training side may still be busy with it. */
    tell(client, "follow", of(second));
    tell(client, "stop", of(second));
    json_decref(next_event(client, second, "end"));
    tell(client, "delete", of(second));
    refuse(client, "show", of(second), ERROR_FAILED);
    wait_status(client, third, "done");
    client_close(client);
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
    static const char *const refused[] = {"two\nlines",
                                          "bell\a",
                                          "\x1b[2J",
                                          "\x7f",
                                          "c1 \xc2\x9b"
                                          "2J",
                                          "tab\t"};
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
    refuse(client, "note", with(99, "text", json_string("x")), ERROR_FAILED);
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
    long run = submit(client, SLOW " lr=0.1 batch=64"), failing = submit(client, "model=fail");
    check_message(client, run, "info", "submitted: slow on glyphs, cpu:0, batch 64, lr 0.1");
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

START_TEST(wrong_changes_are_refused)
{
    struct client *client = viewer();
    long run = submit(client, SLOW), queued = submit(client, SLOW);
    static const char *const methods[] = {"stop",   "set_lr", "set_epochs", "pause",
                                          "resume", "move",   "delete",     "note"};
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        json_t *params = json_pack("{s:i, s:f, s:i, s:i, s:s}", "run", 99, "lr", 0.1, "epochs", 3,
                                   "place", 0, "text", "x");
        refuse_saying(client, methods[i], params, "no run 99");
        refuse(client, methods[i], NULL, ERROR_USAGE);
        refuse(client, methods[i], json_pack("{s:s}", "run", "1"), ERROR_USAGE);
    }
    wait_status(client, run, "running");
    refuse(client, "stop", with(run, "when", json_string("later")), ERROR_USAGE);
    refuse(client, "stop", with(run, "when", json_integer(1)), ERROR_USAGE);
    refuse(client, "set_epochs", with(run, "epochs", json_integer(0)), ERROR_USAGE);
    refuse(client, "set_epochs", with(run, "epochs", json_real(2.5)), ERROR_USAGE);
    refuse(client, "set_epochs", with(run, "epochs", json_integer(1000001)), ERROR_USAGE);
    refuse(client, "set_lr", with(run, "lr", json_integer(-1)), ERROR_USAGE);
    refuse(client, "pause", of(queued), ERROR_FAILED);
    refuse(client, "move", with(queued, "place", json_string("first")), ERROR_USAGE);
    /* Nothing to take back is no error. */
    tell(client, "stop", with(queued, "when", json_string("never")));
    wait_status(client, queued, "queued");
    client_close(client);
}
END_TEST

Suite *changes_suite(void)
{
    Suite *suite = suite_create("changes");
    TCase *tests = tcase_create("changes");
    tcase_set_timeout(tests, 60);
    tcase_add_checked_fixture(tests, engine_begin, engine_end);
    tcase_add_test(tests, a_run_stops_after_its_epoch);
    tcase_add_test(tests, a_stop_after_the_epoch_can_be_withdrawn);
    tcase_add_test(tests, epochs_can_be_more_or_fewer);
    tcase_add_test(tests, waiting_runs_change_their_places);
    tcase_add_test(tests, ended_runs_can_be_deleted);
    tcase_add_test(tests, a_run_has_a_note);
    tcase_add_test(tests, points_sum_up_the_steps);
    tcase_add_test(tests, the_engine_tells_what_happens);
    tcase_add_test(tests, messages_are_clean_and_bounded);
    tcase_add_test(tests, wrong_changes_are_refused);
    suite_add_tcase(suite, tests);
    return suite;
}
