/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "tests/suites.h"
#include "tests/support.h"
#include "tests/ui/golden_case.h"
#include "tests/ui/replay.h"
#include "ui/app/recording.h"
#include "ui/control/engine.h"
#include "ui/control/picture.h"

/*
 * What can happen to the engine, its runs and devices, and of the workbench's own files: a dump in
 * tests/ui/golden/states for each, of what the user sees at first and where the whole story is.
 */

/* In the words of ui/app/link.c. */
#define GONE                                                                                       \
    "the engine is gone. If it ended, its runs are interrupted and can be resumed. Press e to "    \
    "start another"

#define NO_STORE                                                                                   \
    "/home/user/.local/share/dpartui/runs.db: cannot be opened: Permission denied; the runs of "   \
    "this engine are lost when it ends"

static void no_engine(struct replay *replay)
{
    ui_disconnected(&replay->ui, LINK_NO_ENGINE,
                    "cannot start dpartui-engine (install it beside dpartui or in PATH): No such "
                    "file or directory - press e to try again");
}

static void no_answer(struct replay *replay)
{
    ui_disconnected(&replay->ui, LINK_NO_ENGINE,
                    "the engine was started but does not answer: see `dpartui engine status`; "
                    "press e to try again");
}

static void engine_stopped(struct replay *replay)
{
    replay_line(replay, "{\"jsonrpc\":\"2.0\",\"method\":\"leaving\",\"params\":{}}");
    ui_disconnected(&replay->ui, LINK_LOST, "the engine was stopped. Press e to start it again");
}

static void engine_back(struct replay *replay)
{
    ui_disconnected(&replay->ui, LINK_LOST, GONE);
    replay_recording(replay, "idle", 0);
}

/* As an engine of another version greets. */
static void other_protocol(struct replay *replay)
{
    replay_line(replay, "{\"id\":1,\"method\":\"hello\"}");
    replay_line(replay, "{\"id\":1,\"result\":{\"version\":\"0.9.0\",\"pid\":1,\"protocol\":2}}");
}

/* An engine that could not open the run store. */
static void no_store(struct replay *replay)
{
    replay_line(replay,
                "{\"jsonrpc\":\"2.0\",\"method\":\"log\",\"params\":{\"number\":900,"
                "\"time\":1763660000,\"level\":\"error\",\"run\":null,\"text\":\"" NO_STORE "\"}}");
    replay_line(replay, "{\"jsonrpc\":\"2.0\",\"method\":\"state\",\"params\":{\"pid\":4242,"
                        "\"version\":\"0.1.0\",\"host\":\"tower\",\"queue\":[],\"run\":null,"
                        "\"devices\":[],\"no_gpus\":null,\"store\":\"" NO_STORE "\"}}");
}

/* Algorithms are measured, and the user has waited long enough. */
static void preparing(struct replay *replay)
{
    replay_line(replay, "{\"jsonrpc\":\"2.0\",\"method\":\"state\",\"params\":{\"pid\":4242,"
                        "\"version\":\"0.1.0\",\"host\":\"tower\",\"queue\":[],\"run\":{\"run\":21,"
                        "\"status\":\"running\",\"phase\":\"prepare\",\"model\":\"resnet18\","
                        "\"data\":\"fashion-mnist\",\"epoch\":0,\"epochs\":10,\"step\":0,"
                        "\"total_steps\":2350,\"epoch_step\":0,\"steps_per_epoch\":235,\"lr\":0.1,"
                        "\"elapsed_s\":14.2,\"stopping\":true},\"devices\":[],\"no_gpus\":null,"
                        "\"store\":null}}");
}

static bool send_nothing(void *context, enum request request, json_t *params, struct error *err)
{
    (void)context;
    (void)request;
    json_decref(params);
    return error_set(err, ERROR_FAILED, "the engine takes nothing: it is busy or stopped");
}

static void deaf_engine(struct replay *replay)
{
    replay->ui.requester.send = send_nothing;
    replay_keys(replay, "p");
}

static bool save_on_full_disk(void *context, struct error *err)
{
    (void)context;
    return error_set(err, ERROR_FAILED,
                     "/home/user/.config/dpartui/settings.conf: cannot write: No space left on "
                     "device");
}

static void settings_on_full_disk(struct replay *replay)
{
    replay->saved.source.save = save_on_full_disk;
    replay_keys(replay, "S<Down><Down>+w");
}

static void picture_nowhere(struct replay *replay)
{
    static const char path[] = "/no/such/folder/screen.txt";
    struct theme theme = theme_make(&replay->ui.preferences, 256);
    struct surface surface = {.utf8 = true};
    replay_draw(replay, 24, 80, &surface);
    memcpy(replay->ui.want_picture, path, sizeof path);
    picture_write(&replay->ui, &surface, &theme);
    surface_free(&surface);
}

static void recording_on_full_disk(struct replay *replay)
{
    json_t *message = json_pack("{s:s}", "method", "state");
    struct error err = ERROR_INIT;
    struct recording *recording;
    ck_assert_msg(recording_open(&recording, "/dev/full", &err), "%s", err.text);
    ck_assert(!recording_put(recording, message, &err));
    ui_say(&replay->ui, true, "%s", err.text);
    /* Once is enough. */
    ck_assert(recording_put(recording, message, &err));
    recording_close(recording);
    json_decref(message);
}

/* As ui/app/reach.c says it. */
static void line_down(struct replay *replay)
{
    snprintf(replay->ui.host, sizeof replay->ui.host, "gpu1");
    ui_line_down(&replay->ui, 1763650992, 1, "ssh was ended by signal 9 (Killed)");
    ui_line_down(&replay->ui, 1763650992, 4, "ssh: connect to host gpu1 port 22: No route to host");
}

static void line_tried(struct replay *replay)
{
    line_down(replay);
    ui_line_down(&replay->ui, 1763650992, 0, "me@gpu1: Permission denied (publickey,password).");
}

static void take(struct host *host, const char *method, const char *params)
{
    struct error err = ERROR_INIT;
    json_t *value = json_loads(params, 0, NULL);
    ck_assert_ptr_nonnull(value);
    host->state = HOST_UP;
    ck_assert(strcmp(method, "runs") == 0 ? state_runs(&host->engine, value, &err)
                                          : state_notification(&host->engine, method, value, &err));
    json_decref(value);
}

/* One that trains, one whose run failed, one without an engine, one that is down, and one that has
 * not answered yet. */
static void hosts(struct replay *replay)
{
    static char names[][16] = {"me@gpu1", "gpu2", "laptop", "gpu3", "\x1b[2Jevil"};
    char *const list[] = {names[0], names[1], names[2], names[3], names[4], NULL};
    struct error err = ERROR_INIT;
    struct hosts *hosts = &replay->ui.hosts;
    ck_assert_msg(hosts_init(hosts, list, "me@gpu1", &err), "%s", err.text);
    take(&hosts->host[1], "runs",
         "[{\"run\":12,\"status\":\"running\",\"model\":\"resnet18\",\"epochs\":10,"
         "\"epochs_done\":3,\"test_acc\":0.9123}]");
    take(&hosts->host[1], "state",
         "{\"pid\":7,\"run\":{\"run\":12,\"status\":\"running\",\"model\":\"resnet18\","
         "\"epoch\":4,\"epochs\":10},\"devices\":["
         "{\"device\":\"cuda:0\",\"available\":true,\"load\":0.9},"
         "{\"device\":\"cuda:1\",\"available\":true,\"load\":0.8},"
         "{\"device\":\"cpu:0\",\"available\":true,\"load\":null}]}");
    take(&hosts->host[2], "runs",
         "[{\"run\":3,\"status\":\"failed\",\"model\":\"a-model-of-a-long-name\","
         "\"epochs\":1000,\"epochs_done\":999,\"test_acc\":null}]");
    host_lost(&hosts->host[3], HOST_NO_ENGINE,
              "no engine is running: 'dpartui engine start' starts one");
    host_lost(&hosts->host[4], HOST_DOWN, "ssh: connect to host gpu3 port 22: No route to host");
    replay_keys(replay, "H<Down>");
}

static const struct {
    const char *name, *recording; /* NULL: none yet */
    void (*happen)(struct replay *replay);
    const char *keys; /* to the view that says more; NULL: none */
} states[] = {
    {"starting", NULL, NULL, NULL},
    {"no-engine", NULL, no_engine, "L"},
    {"no-answer", NULL, no_answer, "L"},
    {"other-protocol", "idle", other_protocol, "L"},
    {"no-store", "idle", no_store, "L"},
    {"deaf-engine", "paused", deaf_engine, "L"},
    {"engine-lost", "engine-lost", NULL, "R"},
    {"engine-back", "engine-lost", engine_back, "L"},
    {"engine-stopped", "paused", engine_stopped, "L"},
    {"device-lost", "device-lost", NULL, "<Down><Down><Enter>"},
    {"diverged", "diverged", NULL, "R/run=2<Enter><Enter>"},
    {"disk-full", "disk-full", NULL, "R/run=2<Enter><Enter>"},
    {"disk-full-settings", "idle", settings_on_full_disk, "<Esc>L"},
    {"disk-full-recording", "paused", recording_on_full_disk, NULL},
    {"picture-not-written", "paused", picture_nowhere, "L"},
    {"paused", "paused", NULL, "R"},
    {"stop-after-epoch", "stop-after-epoch", NULL, "R"},
    {"queue", "queue", NULL, "R"},
    {"preparing", "idle", preparing, NULL},
    {"line-down", "paused", line_down, "L"},
    {"line-tried", "paused", line_tried, NULL},
    {"hosts", "idle", hosts, NULL},
};

/* What the workbench says itself is of this moment. */
static void set_times(struct state *state)
{
    for (int i = 0; i < state->log_count; i++)
        if (state->log[i].local)
            state->log[i].time = 1763660000;
}

static void dump(struct replay *replay, int rows, int columns, bool utf8, struct text *out)
{
    char *screen = replay_screen(replay, rows, columns, utf8);
    text_printf(out, "== %dx%d %s\n%s", columns, rows, utf8 ? "utf8" : "ascii", screen);
    free(screen);
}

START_TEST(state_looks_as_before)
{
    struct text text = TEXT_INIT;
    struct replay replay;
    replay_begin(&replay);
    if (states[_i].recording)
        replay_recording(&replay, states[_i].recording, 0);
    if (states[_i].happen)
        states[_i].happen(&replay);
    dump(&replay, 24, 80, true, &text);
    dump(&replay, 24, 80, false, &text);
    dump(&replay, 15, 48, true, &text);
    if (states[_i].keys) {
        text_printf(&text, "== after the keys %s\n", states[_i].keys);
        replay_keys(&replay, states[_i].keys);
        set_times(&replay.ui.state);
        dump(&replay, 24, 80, true, &text);
        dump(&replay, 30, 100, false, &text);
    }
    char *name = format("states/%s.txt", states[_i].name);
    compare_golden(name, text_cstr(&text));
    free(name);
    text_free(&text);
    replay_end(&replay);
}
END_TEST

int main(void)
{
    setenv("TZ", "UTC0", 1);
    Suite *suite = suite_create("states");
    TCase *tests = tcase_create("states");
    tcase_add_loop_test(tests, state_looks_as_before, 0, (int)(sizeof states / sizeof states[0]));
    suite_add_tcase(suite, tests);
    return run_suites(suite, NULL);
}
