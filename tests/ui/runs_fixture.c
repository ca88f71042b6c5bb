/* SPDX-License-Identifier: MIT */
#include "tests/ui/runs_fixture.h"

#include <stdlib.h>
#include <string.h>

#include "ui/control/engine.h"

struct replay replay;

static void begin(void)
{
    ck_assert_int_eq(setenv("TZ", "UTC", 1), 0);
    replay_begin(&replay);
    replay_recording(&replay, "runs", 0);
    replay_keys(&replay, "R");
}

static void end(void)
{
    replay_end(&replay);
}

TCase *runs_case(const char *name)
{
    TCase *tests = tcase_create(name);
    tcase_add_checked_fixture(tests, begin, end);
    return tests;
}

void expect_selected(long run)
{
    ck_assert_int_eq(replay.ui.selected_run, run);
}

void expect_message(const char *text)
{
    ck_assert_str_eq(replay.ui.message.text, text);
}

void expect_on_screen(const char *text, bool wanted)
{
    char *screen = replay_screen(&replay, 50, 200, false);
    ck_assert_msg((strstr(screen, text) != NULL) == wanted, "'%s' is %s the screen:\n%s", text,
                  wanted ? "not on" : "on", screen);
    free(screen);
}

void without_run(long run)
{
    json_t *runs = json_array();
    for (int i = 0; i < replay.ui.state.run_count; i++)
        if (replay.ui.state.runs[i].run != run)
            json_array_append_new(runs, json_pack("{s:I, s:s, s:f}", "run",
                                                  (json_int_t)replay.ui.state.runs[i].run, "status",
                                                  run_status_name(replay.ui.state.runs[i].status),
                                                  "batch", replay.ui.state.runs[i].batch));
    ui_answer(&replay.ui, REQUEST_RUNS, runs, NULL);
    json_decref(runs);
}
