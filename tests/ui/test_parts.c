/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "base/escape.h"
#include "tests/suites.h"
#include "tests/ui/replay.h"
#include "ui/frame/header.h"
#include "ui/frame/keys.h"
#include "ui/frame/palette.h"
#include "ui/frame/status.h"
#include "ui/panels/chart.h"
#include "ui/panels/device_parts.h"
#include "ui/panels/devices.h"
#include "ui/panels/form.h"
#include "ui/panels/runs.h"
#include "ui/views/dashboard.h"

/*
 * Every part of the screen keeps to its rectangle, at every size: drawn in the middle of a surface
 * full of a character that nothing draws, it changes none outside. That the rectangles themselves
 * lie side by side is test_layout's.
 */
static const char *const machines[] = {"devices-0", "machine-0", "machine-1",
                                       "machine-2", "machine-8", "machine-16"};

enum {
    MACHINES = sizeof machines / sizeof machines[0],
    MARGIN = 3,
    ROWS = 60,
    COLUMNS = 200,
    UNTOUCHED = 0x7f, /* no surface function puts it */
};

/* All but the dashboard's view, which is its panels. */
static const struct part {
    const char *name;
    draw_part *draw;
    enum view_id view;
    bool one_row;
    const char *keys; /* pressed first */
} parts[] = {
    {"header", header_draw, VIEW_DASHBOARD, true, ""},
    {"status", status_draw, VIEW_DASHBOARD, true, ""},
    {"status with a message", status_draw, VIEW_HELP, true, "s"},
    {"status with a prompt", status_draw, VIEW_DASHBOARD, true, "r0.05"},
    {"status with a question", status_draw, VIEW_DASHBOARD, true, "x"},
    {"keys", keys_draw, VIEW_DASHBOARD, true, ""},
    {"devices", panel_devices, VIEW_DASHBOARD, false, ""},
    {"devices' curves", panel_devices, VIEW_DASHBOARD, false, "t"},
    {"chart", panel_chart, VIEW_DASHBOARD, false, "b<Tab><Tab><Tab><Left>+"},
    {"form", panel_form, VIEW_DASHBOARD, false, "<Tab><Enter>123"},
    {"runs", panel_runs, VIEW_DASHBOARD, false, "<Tab><Tab><Down> "},
    {"palette", palette_draw, VIEW_DASHBOARD, false, ":e"},
    {"list of runs", NULL, VIEW_RUNS, false, "<Down> /run"},
    {"list of no runs", NULL, VIEW_RUNS, false, "/no such run"},
    {"run", NULL, VIEW_RUN, false, ""},
    {"compare", NULL, VIEW_COMPARE, false, "c"},
    {"plan of a sweep", NULL, VIEW_COMPARE, false, "w"},
    {"log", NULL, VIEW_LOG, false, "/run"},
    {"log of nothing", NULL, VIEW_LOG, false, "/no such message"},
    {"settings", NULL, VIEW_SETTINGS, false, "<Down>+<End>"},
    {"device", NULL, VIEW_DEVICE, false, ""},
    {"help", NULL, VIEW_HELP, false, "<Down>"},
};

enum { PARTS = sizeof parts / sizeof parts[0] };

static void open_part(struct replay *replay, const struct part *part, const char *recording)
{
    replay_begin(replay);
    replay_recording(replay, recording, 0);
    replay_view(replay, part->view);
    replay_keys(replay, part->keys);
}

static bool is_inside(const struct rect *area, int y, int x)
{
    return y >= area->y && y < area->y + area->h && x >= area->x && x < area->x + area->w;
}

/* One character of one column that moves nothing; ASCII where only that may be. */
static bool is_proper(const struct cell *cell, bool utf8)
{
    return cell->character == UNTOUCHED ||
           (cell->character >= ' ' && cell->character < UNTOUCHED) ||
           (utf8 && cell->character > 0x9f && wcwidth((wchar_t)cell->character) == 1);
}

static void check_surface(const struct part *part, const struct surface *surface,
                          const struct rect *area)
{
    enum { MORE_WORDS = 5 }; /* rows above the status line that a long text of its takes */
    struct rect all = *area;
    if (part->draw == status_draw) {
        all.y -= MORE_WORDS;
        all.h += MORE_WORDS;
    }
    for (int y = 0; y < surface->rows; y++)
        for (int x = 0; x < surface->columns; x++) {
            const struct cell *cell = surface_at(surface, y, x);
            bool touched = cell->character != UNTOUCHED || cell->style != 0 || cell->line != 0;
            if (touched && !is_inside(&all, y, x))
                ck_abort_msg("%s at %dx%d draws in row %d, column %d", part->name, area->w, area->h,
                             y - area->y, x - area->x);
            if (!is_proper(cell, surface->utf8))
                ck_abort_msg("%s at %dx%d draws U+%04X", part->name, area->w, area->h,
                             (unsigned)cell->character);
        }
    if (surface->cursor_y >= 0 && !is_inside(area, surface->cursor_y, surface->cursor_x))
        ck_abort_msg("%s at %dx%d puts the cursor outside", part->name, area->w, area->h);
}

static void draw_part_alone(struct replay *replay, const struct part *part, int h, int w,
                            struct surface *surface)
{
    draw_part *draw = part->draw ? part->draw : view_of(part->view)->draw;
    struct rect area = {MARGIN, MARGIN, h, w};
    struct error err = ERROR_INIT;
    /* The size of the surface without allocating each. */
    surface->rows = h + 2 * MARGIN;
    surface->columns = w + 2 * MARGIN;
    surface->cursor_y = surface->cursor_x = -1;
    for (int i = 0; i < surface->rows * surface->columns; i++)
        surface->cells[i] = (struct cell){.character = UNTOUCHED};
    replay->ui.rows = h;
    replay->ui.columns = w;
    if (!draw(&replay->ui, surface, area, &err)) /* ck_assert() writes to a file each time */
        ck_abort_msg("%s", err.text);
    check_surface(part, surface, &area);
}

/* Every size of a usual terminal once, larger ones in steps, each with another recording than the
 * one before. */
START_TEST(part_stays_in_its_rectangle)
{
    const struct part *part = &parts[_i / MACHINES];
    int machine = _i % MACHINES, size = 0;
    struct surface surface = {.utf8 = false};
    struct error err = ERROR_INIT;
    struct replay replay;
    open_part(&replay, part, machines[machine]);
    ck_assert(surface_resize(&surface, ROWS + 2 * MARGIN, COLUMNS + 2 * MARGIN, &err));
    for (int h = 1; h <= (part->one_row ? 1 : ROWS); h += h < 24 ? 1 : 4)
        for (int w = 1; w <= COLUMNS; w += w < 81 ? 1 : 7)
            if (size++ % MACHINES == machine) {
                surface.utf8 = (h / MACHINES + w) % 2;
                draw_part_alone(&replay, part, h, w, &surface);
            }
    surface_free(&surface);
    replay_end(&replay);
}
END_TEST

/* The same of what an engine that is out of its mind has said. */
START_TEST(damaged_part_stays_in_its_rectangle)
{
    static const char *const recordings[] = {"machine-2", "runs", "sensors", "sweep", "log"};
    unsigned seed = (unsigned)_i + 1;
    struct surface surface = {.utf8 = true};
    struct error err = ERROR_INIT;
    struct replay replay;
    replay_begin(&replay);
    replay_recording(&replay, recordings[_i % 5], seed);
    ck_assert(surface_resize(&surface, ROWS + 2 * MARGIN, COLUMNS + 2 * MARGIN, &err));
    for (int i = 0; i < PARTS; i++) {
        replay_view(&replay, parts[i].view);
        replay_keys(&replay, parts[i].keys);
        for (int w = 1; w <= COLUMNS; w += 1 + w / 6)
            draw_part_alone(&replay, &parts[i], parts[i].one_row ? 1 : 1 + w % 31, w, &surface);
        replay_keys(&replay, "<Esc><Esc>");
    }
    surface_free(&surface);
    replay_end(&replay);
}
END_TEST

/* The parts of every view's screen: a header, two lines below, and the view between. */
static void check_screen(struct replay *replay, int rows, int columns, struct surface *surface)
{
    replay_draw(replay, rows, columns, surface);
    for (int y = 0; y < rows; y++)
        for (int x = 0; x < columns; x++)
            if (!is_proper(surface_at(surface, y, x), surface->utf8))
                ck_abort_msg("%dx%d: U+%04X in row %d, column %d", columns, rows,
                             (unsigned)surface_at(surface, y, x)->character, y, x);
    struct layout l = dashboard_layout(&replay->ui, rows, columns);
    if (l.too_small)
        return;
    ck_assert(l.header.y == 0 && l.header.h == 1 && l.status.y >= l.header.h);
    ck_assert_int_eq(l.status.y + l.status.h + l.keys.h, rows);
}

START_TEST(screen_is_its_parts)
{
    static const int heights[] = {1, 3, 4, 8, 15, 24, 60};
    struct surface surface = {.utf8 = true};
    struct replay replay;
    open_part(&replay, &parts[0], machines[_i]);
    for (int view = 0; view < VIEW_COUNT; view++) {
        replay_view(&replay, (enum view_id)view);
        for (size_t i = 0; i < sizeof heights / sizeof heights[0]; i++)
            for (int columns = 1; columns <= COLUMNS; columns += 1 + columns / 20)
                check_screen(&replay, heights[i], columns, &surface);
    }
    surface_free(&surface);
    replay_end(&replay);
}
END_TEST

static void check_text(struct surface *surface, const char *text, int w)
{
    int whole = text_columns(text), used, x = 5;
    for (int i = 0; i < surface->rows * surface->columns; i++)
        surface->cells[i] = (struct cell){.character = UNTOUCHED};
    used = surface_text(surface, 1, x, w, STYLE_NORMAL, text);
    if (whole <= w)
        ck_assert_int_eq(used, whole);
    else
        ck_assert_msg(used <= w && used > w - ESCAPE_BYTES, "%d of %d columns", used, w);
    for (int i = 0; i < surface->rows * surface->columns; i++) {
        bool drawn = i >= surface->columns + x && i < surface->columns + x + used;
        if (!is_proper(&surface->cells[i], surface->utf8) ||
            (surface->cells[i].character != UNTOUCHED) != drawn)
            ck_abort_msg("'%s' in %d columns: cell %d", text, w, i);
    }
    if (w > 0 && whole > w) /* escapes are not cut */
        ck_assert_uint_eq(surface_at(surface, 1, x + used - 1)->character,
                          surface->utf8 ? U'…' : U'~');
}

/* Text in a field of any width is whole, or ends in an ellipsis. */
START_TEST(cut_text_ends_in_an_ellipsis)
{
    static const char *const texts[] = {"",
                                        "a",
                                        "ab",
                                        "r\u00e9sum\u00e9",
                                        "\u6f22\u5b57 kanji",
                                        "e\u0301 and \U0001f600",
                                        "\x1b[31mred\x07",
                                        "broken \xe6\xbc",
                                        "tab\tbed",
                                        "\u202eturned round",
                                        "a\u00adsoft hyphen"};
    struct surface surface = {.utf8 = _i};
    struct error err = ERROR_INIT;
    ck_assert(surface_resize(&surface, 3, 40, &err));
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        for (int w = 0; w <= 30; w++)
            check_text(&surface, texts[i], w);
    surface_free(&surface);
}
END_TEST

/* Colours are a hint: the number stands there in any case. */
START_TEST(low_loads_of_devices_that_train_stand_out)
{
    static const struct {
        bool in_run;
        const char *state;
        double load;
        enum style style;
    } cases[] = {
        {true, "train", 0.97, STYLE_GOOD},    {true, "train", 0.8, STYLE_GOOD},
        {true, "train", 0.79, STYLE_WARNING}, {true, "train", 0.5, STYLE_WARNING},
        {true, "train", 0.49, STYLE_BAD},     {true, "train", NAN, STYLE_NORMAL},
        {true, "prepare", 0.1, STYLE_NORMAL}, {true, "eval", 0.1, STYLE_NORMAL},
        {false, "idle", 0.1, STYLE_LABEL},    {false, "idle", 0.99, STYLE_LABEL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct state_device device = {.in_run = cases[i].in_run, .load = cases[i].load};
        snprintf(device.state, sizeof device.state, "%s", cases[i].state);
        ck_assert_msg(device_load_style(&device) == cases[i].style, "case %zu", i);
    }
}
END_TEST

int main(void)
{
    if (!setlocale(LC_CTYPE, "C.UTF-8")) /* for wcwidth() */
        return 77;
    setenv("TZ", "UTC0", 1);
    Suite *suite = suite_create("parts");
    TCase *tests = tcase_create("parts");
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, part_stays_in_its_rectangle, 0, PARTS * MACHINES);
    tcase_add_loop_test(tests, damaged_part_stays_in_its_rectangle, 0, 20);
    tcase_add_loop_test(tests, screen_is_its_parts, 0, MACHINES);
    tcase_add_loop_test(tests, cut_text_ends_in_an_ellipsis, 0, 2);
    tcase_add_test(tests, low_loads_of_devices_that_train_stand_out);
    suite_add_tcase(suite, tests);
    return run_suites(suite, NULL);
}
