/* SPDX-License-Identifier: MIT */
#include "tests/ui/control/chart_fixture.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/ui/replay.h"
#include "ui/control/engine.h"
#include "ui/panels/chart.h"

struct replay replay;

void tell(const char *format, ...)
{
    char line[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    replay_line(&replay, line);
}

/* A point each tenth of an epoch. */
void fine_point(long run, int tenth)
{
    tell("{\"method\":\"event\",\"params\":{\"event\":\"point\",\"run\":%ld,\"epoch\":%g,"
         "\"step\":%d,\"train_loss\":%g,\"train_acc\":%g,\"samples_per_s\":4500,\"lr\":%g}}",
         run, tenth / 10.0, 10 * tenth, 2.3 * exp(-tenth / 20.0), 1 - exp(-tenth / 20.0),
         tenth <= 25 ? 0.1 : 0.05);
}

void epoch(long run, int number)
{
    tell("{\"method\":\"event\",\"params\":{\"event\":\"epoch\",\"run\":%ld,\"epoch\":%d,"
         "\"step\":%d,\"train_loss\":%g,\"train_acc\":0.8,\"test_loss\":0.6,\"test_acc\":%g,"
         "\"lr\":0.1}}",
         run, number, 100 * number, 2.3 * exp(-number / 2.0), 0.8 + 0.01 * number);
}

void begin_run(long run)
{
    tell("{\"method\":\"state\",\"params\":{\"pid\":1,\"run\":{\"run\":%ld,\"status\":\"running\","
         "\"epochs\":8},\"devices\":[]}}",
         run);
    tell("{\"id\":1,\"method\":\"runs\"}");
    tell("{\"id\":1,\"result\":[{\"run\":1,\"status\":\"%s\",\"model\":\"m\",\"data\":\"d\","
         "\"lr\":0.1,\"epochs\":8,\"epochs_done\":0},{\"run\":2,\"status\":\"running\","
         "\"model\":\"m\",\"data\":\"d\",\"lr\":0.1,\"epochs\":8,\"epochs_done\":0}]}",
         run == 1 ? "running" : "done");
}

static void setup(void)
{
    replay_begin(&replay);
    ui_connected(&replay.ui);
    begin_run(1);
    for (int tenth = 1; tenth <= 43; tenth++) {
        fine_point(1, tenth);
        if (tenth % 10 == 0)
            epoch(1, tenth / 10);
    }
    tell("{\"method\":\"event\",\"params\":{\"event\":\"retune\",\"run\":1,\"epoch\":3,"
         "\"step\":250,\"what\":\"lr\",\"from\":0.1,\"to\":0.05}}");
    replay_keys(&replay, "<Tab><Tab><Tab>");
    ck_assert_int_eq(replay.ui.focus, PANEL_CHART);
}

static void teardown(void)
{
    replay_end(&replay);
}

void check_window(double low, double high)
{
    double from, to;
    run_chart_window(&replay.ui, &from, &to);
    ck_assert_double_eq_tol(from, low, 1e-9);
    ck_assert_double_eq_tol(to, high, 1e-9);
}

void check_cursor(double at)
{
    ck_assert(replay.ui.chart.reading);
    ck_assert_double_eq_tol(replay.ui.chart.cursor, at, 1e-9);
}

void check_shown(const char *text, bool shown)
{
    char *screen = replay_screen(&replay, 24, 80, true);
    ck_assert_msg((strstr(screen, text) != NULL) == shown, "%s: %s\n%s",
                  shown ? "missing" : "there", text, screen);
    free(screen);
}

TCase *chart_case(const char *name)
{
    TCase *tests = tcase_create(name);
    tcase_add_checked_fixture(tests, setup, teardown);
    return tests;
}
