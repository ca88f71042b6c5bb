/* SPDX-License-Identifier: MIT */
/* Methods that change runs. */
#include <stdlib.h>
#include <string.h>

#include "tests/fakes/engine_thread.h"

#define SLOW "model=slow epochs=1000"

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
    /* The third continues, or a later one. */
    refuse_saying(client, "set_epochs", with(run, "epochs", json_integer(1)), "fewer than ");
    long rising = submit(client, "epochs=3 warmup=2");
    refuse_saying(client, "set_epochs", with(rising, "epochs", json_integer(1)),
                  "warmup 2 is longer than the run of 1 epoch: ");
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
    refuse(client, "show", of(second), ERROR_ABSENT);
    wait_status(client, third, "done");
    client_close(client);
}
END_TEST

static long edits_of(struct client *client, int *states)
{
    json_t *state = next_note(client, "state");
    long edits = (long)number_of(state, "edits");
    json_decref(state);
    ++*states;
    return edits;
}

/* What no event tells another viewer; and not one by one, for it lists all runs again each time. */
START_TEST(others_hear_of_edits_together)
{
    enum { EDITS = 100 };
    struct client *client = viewer(), *other;
    int states = 0;
    long run = submit(client, "epochs=1");
    wait_status(client, run, "done");
    other = watcher();
    const long before = edits_of(other, &states);
    for (int i = 2; i < EDITS; i++)
        tell(client, "note", with(run, "text", json_string(i % 2 ? "odd" : "even")));
    tell(client, "tag", with(run, "add", json_pack("[s]", "thesis")));
    tell(client, "delete", of(run));
    while (edits_of(other, &states) < before + EDITS)
        ;
    ck_assert_int_lt(states, EDITS / 2);
    client_close(other);
    client_close(client);
}
END_TEST

START_TEST(checkpoints_are_measured)
{
    struct client *client = viewer();
    json_t *answer = ask(client, "checkpoints", json_pack("{s:[i,i]}", "runs", 1, 99));
    ck_assert(number_of(answer, "count") == 0 && number_of(answer, "bytes") == 0);
    /* Of which runs: a viewer may have asked about others since. */
    const json_t *runs = json_object_get(answer, "runs");
    ck_assert_uint_eq(json_array_size(runs), 2);
    ck_assert_int_eq(json_integer_value(json_array_get(runs, 1)), 99);
    json_decref(answer);
    refuse(client, "checkpoints", NULL, ERROR_USAGE);
    json_t *many = json_array();
    for (int i = 0; i < 2049; i++)
        json_array_append_new(many, json_integer(i + 1));
    refuse_saying(client, "checkpoints", json_pack("{s:o}", "runs", many), "at most 2048");
    refuse_saying(client, "checkpoints", json_pack("{s:[i,i]}", "runs", 1, 1), "has 1 twice");
    refuse_saying(client, "checkpoints", json_pack("{s:[i,s]}", "runs", 1, "2"), "runs[1] must be");
    client_close(client);
}
END_TEST

START_TEST(wrong_changes_are_refused)
{
    struct client *client = viewer();
    long run = submit(client, SLOW), queued = submit(client, SLOW);
    static const char *const methods[] = {"stop",    "set_lr", "set_epochs", "pause",
                                          "unpause", "move",   "delete",     "note"};
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
    tcase_add_test(tests, others_hear_of_edits_together);
    tcase_add_test(tests, checkpoints_are_measured);
    tcase_add_test(tests, wrong_changes_are_refused);
    suite_add_tcase(suite, tests);
    return suite;
}
