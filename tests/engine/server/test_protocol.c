/* SPDX-License-Identifier: MIT */
/* The protocol as well-behaved viewers see it (docs/protocol.md). */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/server/server.h"
#include "tests/fakes/engine_thread.h"
#include "tests/suites.h"
#include "tests/support.h"

static json_t *of_run(long run)
{
    return json_pack("{s:I}", "run", (json_int_t)run);
}

START_TEST(greets_and_tells_its_status)
{
    struct client *client = viewer();
    json_t *hello = ask(client, "hello", json_pack("{s:s}", "version", "0"));
    ck_assert_str_eq(string_of(hello, "version"), "test");
    ck_assert_int_eq((int)number_of(hello, "pid"), getpid());
    ck_assert_int_eq((int)number_of(hello, "protocol"), 1);
    json_t *status = ask(client, "status", NULL);
    ck_assert(json_is_true(json_object_get(status, "running")));
    ck_assert(json_is_null(json_object_get(status, "run")));
    json_t *devices = ask(client, "devices", NULL);
    ck_assert_uint_eq(json_array_size(devices), 1);
    ck_assert_str_eq(string_of(json_array_get(devices, 0), "device"), "cpu:0");
    json_decref(devices);
    json_decref(status);
    json_decref(hello);
    client_close(client);
}
END_TEST

START_TEST(a_follower_hears_every_event_in_order)
{
    struct client *client = viewer();
    long run = submit(client, "epochs=3 batch=10 train-rows=70");
    wait_status(client, run, "done");
    tell(client, "follow", of_run(run));
    json_t *event = next_note(client, "event");
    ck_assert_str_eq(string_of(event, "event"), "run");
    json_decref(event);
    for (int epoch = 1, step = 1; epoch <= 3; epoch++) {
        for (int i = 0; i < 7; i++, step++) {
            event = next_note(client, "event");
            ck_assert_str_eq(string_of(event, "event"), "step");
            ck_assert_int_eq((int)number_of(event, "step"), step);
            ck_assert_int_eq((long)number_of(event, "run"), run);
            json_decref(event);
        }
        event = next_note(client, "event");
        ck_assert_str_eq(string_of(event, "event"), "epoch");
        json_decref(event);
    }
    event = next_note(client, "event");
    ck_assert_str_eq(string_of(event, "status"), "done");
    json_decref(event);
    client_close(client);
}
END_TEST

START_TEST(a_follower_may_do_without_steps)
{
    static const char *const names[] = {"run", "epoch", "epoch", "end"};
    struct client *client = viewer();
    long run = submit(client, "epochs=2");
    tell(client, "follow", json_pack("{s:I, s:b}", "run", (json_int_t)run, "steps", 0));
    for (int i = 0; i < 4; i++) {
        json_t *event = next_note(client, "event");
        ck_assert_str_eq(string_of(event, "event"), names[i]);
        json_decref(event);
    }
    client_close(client);
}
END_TEST

START_TEST(runs_wait_their_turn)
{
    struct client *client = viewer();
    long first = submit(client, "model=slow epochs=100");
    long second = submit(client, "epochs=1"), third = submit(client, "epochs=1");
    ck_assert(first < second && second < third);
    tell(client, "watch", json_pack("{s:f}", "interval", 0.05));
    json_t *state = NULL, *queue = NULL;
    /* Until the first one has been taken from there. */
    for (int i = 0; i < 1000 && json_array_size(queue) != 2; i++) {
        json_decref(state);
        state = next_note(client, "state");
        queue = json_object_get(state, "queue");
    }
    ck_assert_uint_eq(json_array_size(queue), 2);
    ck_assert_int_eq(json_integer_value(json_array_get(queue, 0)), second);
    json_decref(state);
    tell(client, "stop", of_run(second));
    tell(client, "stop", of_run(first));
    expect_end(client, second, "cancelled");
    expect_end(client, first, "stopped");
    expect_end(client, third, "done");
    json_t *runs = ask(client, "runs", NULL);
    ck_assert_uint_eq(json_array_size(runs), 3);
    static const char *const ends[] = {"stopped", "cancelled", "done"};
    for (int i = 0; i < 3; i++)
        ck_assert_str_eq(string_of(json_array_get(runs, (size_t)i), "status"), ends[i]);
    json_decref(runs);
    client_close(client);
}
END_TEST

START_TEST(a_run_can_be_paused_and_retuned)
{
    struct client *client = viewer();
    long run = submit(client, "model=slow epochs=1000 lr=0.1");
    tell(client, "follow", of_run(run));
    json_decref(next_event(client, run, "step"));
    tell(client, "pause", of_run(run));
    wait_status(client, run, "paused");
    tell(client, "set_lr", json_pack("{s:I, s:f}", "run", (json_int_t)run, "lr", 0.25));
    tell(client, "unpause", of_run(run));
    for (double lr = 0.1; lr != 0.25;) {
        json_t *step = next_event(client, run, "step");
        lr = number_of(step, "lr");
        json_decref(step);
    }
    tell(client, "pause", of_run(run));
    wait_status(client, run, "paused");
    tell(client, "resume", of_run(run)); /* the old name of unpause */
    wait_status(client, run, "running");
    tell(client, "pause", of_run(run));
    tell(client, "stop", json_pack("{s:I, s:b}", "run", (json_int_t)run, "now", 1));
    expect_end(client, run, "stopped");
    refuse(client, "stop", of_run(run), ERROR_FAILED);
    refuse(client, "pause", of_run(run), ERROR_FAILED);
    refuse(client, "set_lr", json_pack("{s:I, s:f}", "run", (json_int_t)run, "lr", 0.25),
           ERROR_FAILED);
    client_close(client);
}
END_TEST

START_TEST(a_run_is_shown_with_its_epochs)
{
    struct client *client = viewer();
    long run = submit(client, "epochs=4 batch=32 seed=7");
    wait_status(client, run, "done");
    json_t *record = ask(client, "show", of_run(run));
    json_t *epochs = json_object_get(record, "epochs");
    ck_assert_uint_eq(json_array_size(epochs), 4);
    for (size_t i = 0; i < 4; i++)
        ck_assert_int_eq((int)number_of(json_array_get(epochs, i), "epoch"), (int)i + 1);
    ck_assert_int_eq((int)number_of(record, "batch"), 32);
    ck_assert_int_eq((int)number_of(json_object_get(record, "spec"), "seed"), 7);
    ck_assert_double_eq_tol(number_of(record, "best_test_acc"), 0.875, 1e-12);
    ck_assert_double_eq_tol(number_of(record, "test_acc"), 0.9, 1e-12);
    ck_assert_str_eq(string_of(record, "model"), "linear");
    json_decref(record);
    client_close(client);
}
END_TEST

START_TEST(a_failure_ends_the_run_only)
{
    struct client *client = viewer();
    long failing = submit(client, "model=fail"), next = submit(client, "epochs=1");
    tell(client, "follow", of_run(failing));
    json_t *end = next_event(client, failing, "end");
    ck_assert_str_eq(string_of(end, "status"), "failed");
    ck_assert_ptr_nonnull(strstr(string_of(end, "error"), "step 3"));
    json_decref(end);
    wait_status(client, next, "done");
    json_t *record = ask(client, "show", of_run(failing));
    ck_assert_str_eq(string_of(record, "status"), "failed");
    ck_assert_ptr_nonnull(strstr(string_of(record, "error"), "step 3"));
    json_decref(record);
    client_close(client);
}
END_TEST

/* Whatever a run leaves unsaid, its followers learn that it has ended. */
START_TEST(a_silent_end_is_told)
{
    struct client *client = viewer();
    long run = submit(client, "model=mute epochs=1");
    tell(client, "follow", of_run(run));
    expect_end(client, run, "done");
    client_close(client);
}
END_TEST

START_TEST(states_tell_of_run_and_devices)
{
    struct client *client = viewer();
    tell(client, "watch", json_pack("{s:f}", "interval", 0.05));
    json_t *state = next_note(client, "state");
    ck_assert(json_is_null(json_object_get(state, "run")));
    json_t *device = json_array_get(json_object_get(state, "devices"), 0);
    /* The very first may come before the machine's figures. */
    if (json_is_null(json_object_get(device, "memory_total"))) {
        json_decref(state);
        state = next_note(client, "state");
        device = json_array_get(json_object_get(state, "devices"), 0);
    }
    ck_assert_str_eq(string_of(device, "state"), "idle");
    ck_assert(json_is_null(json_object_get(device, "rows")));
    ck_assert_double_gt(number_of(device, "memory_total"), 0);
    json_decref(state);
    long run = submit(client, "model=slow epochs=1000 devices=cpu:0-2 batch=64 "
                              "lr-schedule=cosine:0.1 warmup=1.5");
    json_t *ours;
    for (;; json_decref(state)) {
        state = next_note(client, "state");
        ours = json_object_get(state, "run");
        if (json_is_object(ours) && number_of(ours, "step") > 1)
            break;
    }
    ck_assert_int_eq((long)number_of(ours, "run"), run);
    ck_assert_str_eq(string_of(ours, "status"), "running");
    ck_assert_int_eq((int)number_of(ours, "steps_per_epoch"), 10);
    ck_assert_str_eq(string_of(ours, "lr_schedule"), "cosine:0.1");
    ck_assert(number_of(ours, "warmup") == 1.5);
    /* The one of the machine, and after it the two that only the run has. */
    json_t *devices = json_object_get(state, "devices");
    ck_assert_uint_eq(json_array_size(devices), 3);
    for (size_t i = 0; i < 3; i++)
        ck_assert_int_eq((int)number_of(json_array_get(devices, i), "rows"), 64);
    ck_assert_str_eq(string_of(json_array_get(devices, 2), "device"), "cpu:2");
    json_decref(state);
    client_close(client);
}
END_TEST

START_TEST(who_follows_and_watches_hears_events_once)
{
    struct client *client = viewer();
    tell(client, "watch", json_pack("{s:f}", "interval", 1.0));
    long run = submit(client, "model=slow epochs=2");
    tell(client, "follow", json_pack("{s:I, s:b}", "run", (json_int_t)run, "steps", 0));
    int epochs = 0;
    for (bool ended = false; !ended;) {
        json_t *event = next_note(client, "event");
        epochs += strcmp(string_of(event, "event"), "epoch") == 0;
        ended = strcmp(string_of(event, "event"), "end") == 0;
        json_decref(event);
    }
    ck_assert_int_eq(epochs, 2);
    client_close(client);
}
END_TEST

START_TEST(impossible_requests_are_refused)
{
    struct client *client = viewer();
    refuse(client, "submit", json_pack("{s:i}", "batch", 0), ERROR_USAGE);
    refuse(client, "submit", json_pack("{s:s}", "batch", "many"), ERROR_USAGE);
    refuse(client, "submit", json_pack("{s:i}", "colour", 1), ERROR_USAGE);
    refuse(client, "submit", json_pack("{s:s}", "model", "wrong"), ERROR_USAGE);
    refuse(client, "submit", json_pack("{s:s}", "save", "relative"), ERROR_USAGE);
    refuse(client, "show", json_pack("{s:i}", "run", 1), ERROR_ABSENT);
    refuse(client, "show", NULL, ERROR_USAGE);
    refuse(client, "stop", json_pack("{s:s}", "run", "1"), ERROR_USAGE);
    refuse(client, "watch", json_pack("{s:f}", "interval", -1.0), ERROR_USAGE);
    refuse(client, "fetch", json_pack("{s:s}", "dataset", "everything"), ERROR_USAGE);
    refuse(client, "fetch", NULL, ERROR_USAGE);
    refuse(client, "model", NULL, ERROR_USAGE);
    refuse(client, "dance", NULL, ERROR_FAILED);
    client_close(client);
}
END_TEST

START_TEST(a_model_is_described_by_the_devices)
{
    char *file = shipped_model("linear");
    struct client *client = viewer();
    /* The made-up device refuses to be opened: its words must come through. */
    struct error err = ERROR_INIT;
    ck_assert(!client_call(client, "model", json_pack("{s:s}", "model", file), 20, NULL, &err));
    ck_assert_ptr_nonnull(strstr(err.text, "made-up"));
    client_close(client);
    free(file);
}
END_TEST

/* What was left open is filled in, and nothing is submitted. */
/* The settings of an evaluation by words, of weights in a file that no fake reads. */
static json_t *weights_of(const char *model)
{
    return json_pack("{s:s, s:s, s:b}", "model", model, "init", "/w.safetensors", "confusion", 1);
}

START_TEST(weights_are_evaluated)
{
    struct client *client = viewer();
    json_t *result = ask(client, "evaluate", weights_of("linear"));
    char *matrix = json_dumps(json_object_get(result, "confusion"), JSON_COMPACT);
    char *names = json_dumps(json_object_get(result, "class_names"), JSON_COMPACT);
    ck_assert_str_eq(matrix, "[[5,1],[2,2]]");
    ck_assert_str_eq(names, "[\"yes\",\"n\\\\xffo\"]");
    ck_assert_str_eq(string_of(result, "file"), "/w.safetensors");
    ck_assert_double_eq(number_of(result, "test_acc"), 0.9);
    free(matrix);
    free(names);
    json_decref(result);
    result = ask(client, "evaluate",
                 json_pack("{s:s, s:s}", "model", "linear", "init", "/w.safetensors"));
    ck_assert_ptr_null(json_object_get(result, "confusion"));
    json_decref(result);
    /* No run is added. */
    result = ask(client, "runs", NULL);
    ck_assert_uint_eq(json_array_size(result), 0);
    json_decref(result);
    refuse_saying(client, "evaluate", json_object(), "'init', a file of weights, is missing");
    refuse_saying(client, "evaluate", of_run(3), "run 3");
    refuse(client, "evaluate", json_pack("{s:s}", "run", "3"), ERROR_USAGE);
    long run = submit(client, "epochs=1");
    wait_status(client, run, "done");
    refuse_saying(client, "evaluate", of_run(run), "run 1 has no checkpoint in ");
    client_close(client);
}
END_TEST

START_TEST(an_evaluation_is_cancelled)
{
    struct client *client = viewer(), *other = viewer();
    struct error err = ERROR_INIT;
    long id;
    ck_assert(client_send(client, "evaluate", weights_of("endless"), &id, &err));
    json_t *progress = next_note(client, "evaluate");
    json_decref(progress);
    progress = next_note(client, "evaluate");
    ck_assert_str_eq(string_of(progress, "phase"), "evaluate");
    ck_assert_double_eq(number_of(progress, "done"), 10);
    json_decref(progress);
    refuse_saying(other, "evaluate", weights_of("linear"),
                  "another request to evaluate is in progress");
    /* Only the viewer's own, and only those of that method. */
    json_t *none = ask(other, "cancel", json_pack("{s:s}", "method", "evaluate"));
    ck_assert_double_eq(number_of(none, "cancelled"), 0);
    json_decref(none);
    none = ask(client, "cancel", json_pack("{s:s}", "method", "fetch"));
    ck_assert_double_eq(number_of(none, "cancelled"), 0);
    json_decref(none);
    refuse_saying(client, "cancel", NULL, "'method' is missing");
    json_t *one = ask(client, "cancel", json_pack("{s:s}", "method", "evaluate"));
    ck_assert_double_eq(number_of(one, "cancelled"), 1);
    json_decref(one);
    for (bool answered = false; !answered;) {
        json_t *message = NULL;
        ck_assert_msg(client_next(client, &message, &err), "%s", err.text);
        answered = message && json_integer_value(json_object_get(message, "id")) == id;
        if (answered) {
            ck_assert(!client_response(message, NULL, &err));
            ck_assert_str_eq(err.text, "the evaluation was cancelled");
        }
        json_decref(message);
    }
    client_close(other);
    client_close(client);
}
END_TEST

START_TEST(a_submission_is_checked)
{
    struct client *client = viewer();
    json_t *checked = ask(client, "check", json_pack("{s:i, s:i}", "batch", 64, "epochs", 3));
    ck_assert_str_eq(string_of(checked, "model"), "linear");
    ck_assert_str_eq(string_of(checked, "data"), "glyphs");
    ck_assert_int_eq((int)number_of(checked, "batch"), 64);
    ck_assert_int_gt((int)number_of(checked, "train_rows"), 64);
    json_decref(checked);
    refuse(client, "check", json_pack("{s:s}", "model", "wrong"), ERROR_USAGE);
    refuse(client, "check", json_pack("{s:s}", "modle", "linear"), ERROR_USAGE);
    json_t *runs = ask(client, "runs", NULL);
    ck_assert_uint_eq(json_array_size(runs), 0);
    json_decref(runs);
    client_close(client);
}
END_TEST

START_TEST(only_an_idle_engine_ends_when_asked)
{
    struct client *client = viewer();
    long run = submit(client, "model=slow epochs=1000");
    refuse(client, "shutdown", NULL, ERROR_FAILED);
    tell(client, "stop", of_run(run));
    wait_status(client, run, "stopped");
    client_close(client);
}
END_TEST

START_TEST(a_second_engine_leaves)
{
    struct server_options options = {
        .log_fd = -1, .version = "second", .private_fd = -1, .signal_fd = -1};
    struct error err = ERROR_INIT;
    enum server_end end;
    ck_assert(!server_run(&options, &end, &err));
    ck_assert_int_eq(err.kind, ERROR_USAGE);
    struct client *client = viewer();
    json_t *hello = ask(client, "hello", NULL);
    ck_assert_str_eq(string_of(hello, "version"), "test");
    json_decref(hello);
    client_close(client);
}
END_TEST

START_TEST(who_watches_hears_that_it_ends)
{
    engine_begin();
    struct client *watching = watcher();
    engine_end();
    json_decref(next_note(watching, "leaving"));
    client_close(watching);
}
END_TEST

START_TEST(long_socket_paths_are_refused)
{
    char long_name[120];
    struct error err = ERROR_INIT;
    struct client *client = NULL;
    char *base = temporary_folder();
    memset(long_name, 'x', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = '\0';
    char *folder = format("%s/%s", base, long_name);
    ck_assert_int_eq(mkdir(folder, 0700), 0);
    setenv("XDG_RUNTIME_DIR", folder, 1);
    ck_assert(!client_connect(&client, &err));
    ck_assert_int_eq(err.kind, ERROR_FAILED);
    ck_assert_ptr_nonnull(strstr(err.text, "XDG_RUNTIME_DIR"));
    free(folder);
    remove_tree(base);
}
END_TEST

static Suite *protocol_suite(void)
{
    Suite *suite = suite_create("protocol");
    TCase *served = tcase_create("served"), *alone = tcase_create("alone");
    tcase_set_timeout(served, 60);
    tcase_add_checked_fixture(served, engine_begin, engine_end);
    tcase_add_test(served, greets_and_tells_its_status);
    tcase_add_test(served, a_follower_hears_every_event_in_order);
    tcase_add_test(served, a_follower_may_do_without_steps);
    tcase_add_test(served, runs_wait_their_turn);
    tcase_add_test(served, a_run_can_be_paused_and_retuned);
    tcase_add_test(served, a_run_is_shown_with_its_epochs);
    tcase_add_test(served, a_failure_ends_the_run_only);
    tcase_add_test(served, a_silent_end_is_told);
    tcase_add_test(served, states_tell_of_run_and_devices);
    tcase_add_test(served, who_follows_and_watches_hears_events_once);
    tcase_add_test(served, impossible_requests_are_refused);
    tcase_add_test(served, a_model_is_described_by_the_devices);
    tcase_add_test(served, weights_are_evaluated);
    tcase_add_test(served, an_evaluation_is_cancelled);
    tcase_add_test(served, a_submission_is_checked);
    tcase_add_test(served, only_an_idle_engine_ends_when_asked);
    tcase_add_test(served, a_second_engine_leaves);
    tcase_add_test(alone, who_watches_hears_that_it_ends);
    tcase_add_test(alone, long_socket_paths_are_refused);
    suite_add_tcase(suite, served);
    suite_add_tcase(suite, alone);
    return suite;
}

int main(void)
{
    return run_suites(protocol_suite(), hostile_suite(), flood_suite(), sensor_states_suite(),
                      changes_suite(), stored_runs_suite(), places_suite(), free_runs_suite(),
                      NULL);
}
