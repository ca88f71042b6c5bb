/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "tests/suites.h"
#include "tests/support.h"
#include "tests/ui/golden_case.h"
#include "tests/ui/replay.h"
#include "ui/draw/ansi.h"
#include "ui/session/view.h"

/*
 * Every view with 0, 1, 2, 8 and 16 devices in text, with 2 devices in every kind of colours, and
 * charts in mono, against tests/ui/golden/matrix and tests/ui/golden/colour. The recordings
 * machine-N are one situation on machines of 0 to 16 devices.
 */
static const int machines[] = {0, 1, 2, 8, 16};

enum { MACHINES = sizeof machines / sizeof machines[0] };

static void open_view(struct replay *replay, int devices, enum view_id view)
{
    char *recording = format("machine-%d", devices);
    replay_begin(replay);
    replay_recording(replay, recording, 0);
    replay_view(replay, view);
    free(recording);
}

START_TEST(view_looks_as_before)
{
    static const struct {
        int rows, columns;
        bool utf8;
    } dumps[] = {
        {24, 80, false}, {24, 80, true}, {30, 100, false}, {30, 100, true}, {50, 200, true}};
    int devices = machines[_i % MACHINES];
    enum view_id view = (enum view_id)(_i / MACHINES);
    struct text text = TEXT_INIT;
    struct replay replay;
    open_view(&replay, devices, view);
    for (size_t i = 0; i < sizeof dumps / sizeof dumps[0]; i++) {
        char *screen = replay_screen(&replay, dumps[i].rows, dumps[i].columns, dumps[i].utf8);
        text_printf(&text, "== %dx%d %s\n%s", dumps[i].columns, dumps[i].rows,
                    dumps[i].utf8 ? "utf8" : "ascii", screen);
        free(screen);
    }
    char *name = format("matrix/%s-%d.txt", view_name(view), devices);
    compare_golden(name, text_cstr(&text));
    free(name);
    text_free(&text);
    replay_end(&replay);
}
END_TEST

/* {1;38;5;39} for the sequence that gives text this look, {} for the one that takes it away. */
static void spell_sequences(const char *from, struct text *to)
{
    static const char begin[] = "\033[0";
    while (*from != '\0') {
        const char *next = strstr(from, begin), *end;
        text_append(to, from, next ? (size_t)(next - from) : strlen(from));
        if (!next)
            return;
        next += strlen(begin);
        next += *next == ';';
        ck_assert((end = strchr(next, 'm')) != NULL);
        text_printf(to, "{%.*s}", (int)(end - next), next);
        from = end + 1;
    }
}

START_TEST(colours_look_as_before)
{
    static const struct theme themes[] = {
        {256, PALETTE_DEFAULT, BACKGROUND_DARK},      {256, PALETTE_DEFAULT, BACKGROUND_LIGHT},
        {256, PALETTE_COLOUR_BLIND, BACKGROUND_DARK}, {256, PALETTE_COLOUR_BLIND, BACKGROUND_LIGHT},
        {16, PALETTE_DEFAULT, BACKGROUND_DARK},       {16, PALETTE_COLOUR_BLIND, BACKGROUND_LIGHT},
        {8, PALETTE_DEFAULT, BACKGROUND_DARK},        {0, PALETTE_DEFAULT, BACKGROUND_DARK},
    };
    static const char *const palettes[] = {"default", "colour-blind"};
    static const char *const backgrounds[] = {"auto", "dark", "light"};
    struct surface surface = {.utf8 = true};
    struct text text = TEXT_INIT;
    struct replay replay;
    open_view(&replay, 2, (enum view_id)_i);
    replay_draw(&replay, 24, 80, &surface);
    for (size_t i = 0; i < sizeof themes / sizeof themes[0]; i++) {
        struct text dump = TEXT_INIT;
        surface_dump_ansi(&surface, &themes[i], &dump);
        text_printf(&text, "== %d colours, palette %s, background %s\n", themes[i].colours,
                    palettes[themes[i].palette], backgrounds[themes[i].background]);
        spell_sequences(text_cstr(&dump), &text);
        text_free(&dump);
    }
    char *name = format("colour/%s.txt", view_name((enum view_id)_i));
    compare_golden(name, text_cstr(&text));
    free(name);
    text_free(&text);
    surface_free(&surface);
    replay_end(&replay);
}
END_TEST

/* Two charts and one, smoothed: without colours and with them. */
START_TEST(charts_look_as_before)
{
    static const struct theme themes[] = {{0, PALETTE_DEFAULT, BACKGROUND_DARK},
                                          {256, PALETTE_DEFAULT, BACKGROUND_DARK}};
    static const int sizes[][2] = {{24, 80}, {50, 200}};
    struct text text = TEXT_INIT;
    struct replay replay;
    replay_begin(&replay);
    replay_recording(&replay, "curves", 0);
    replay_keys(&replay, "3ool");
    for (size_t i = 0; i < 4; i++) {
        const int *size = sizes[i / 2];
        struct surface surface = {.utf8 = true};
        struct text dump = TEXT_INIT;
        replay_draw(&replay, size[0], size[1], &surface);
        surface_dump_ansi(&surface, &themes[i % 2], &dump);
        text_printf(&text, "== %dx%d, %d colours\n", size[1], size[0], themes[i % 2].colours);
        spell_sequences(text_cstr(&dump), &text);
        text_free(&dump);
        surface_free(&surface);
    }
    compare_golden("colour/chart.txt", text_cstr(&text));
    text_free(&text);
    replay_end(&replay);
}
END_TEST

int main(void)
{
    setenv("TZ", "UTC0", 1); /* the log has the time of day */
    Suite *suite = suite_create("matrix");
    TCase *tests = tcase_create("matrix");
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, view_looks_as_before, 0, VIEW_COUNT * MACHINES);
    tcase_add_loop_test(tests, colours_look_as_before, 0, VIEW_COUNT);
    tcase_add_test(tests, charts_look_as_before);
    suite_add_tcase(suite, tests);
    return run_suites(suite, NULL);
}
