/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/suites.h"
#include "ui/draw/preferences.h"
#include "ui/draw/theme.h"

static const enum palette palettes[] = {PALETTE_DEFAULT, PALETTE_COLOUR_BLIND};
static const enum background backgrounds[] = {BACKGROUND_AUTO, BACKGROUND_DARK, BACKGROUND_LIGHT};

/* One of the 256 colours as xterm has them; the first 16 differ from terminal to terminal. */
static void colour_256(int index, double *rgb)
{
    ck_assert_int_ge(index, 16);
    ck_assert_int_lt(index, 256);
    int parts[3] = {(index - 16) / 36, (index - 16) / 6 % 6, (index - 16) % 6};
    for (int i = 0; i < 3; i++) {
        int step = parts[i] == 0 ? 0 : 55 + 40 * parts[i];
        rgb[i] = (index < 232 ? step : 8 + 10 * (index - 232)) / 255.0;
    }
}

/* https://www.w3.org/TR/WCAG21/#dfn-relative-luminance */
static double luminance(int index)
{
    static const double weights[] = {0.2126, 0.7152, 0.0722};
    double rgb[3], sum = 0;
    colour_256(index, rgb);
    for (int i = 0; i < 3; i++)
        sum +=
            weights[i] * (rgb[i] <= 0.03928 ? rgb[i] / 12.92 : pow((rgb[i] + 0.055) / 1.055, 2.4));
    return sum;
}

static double contrast_on_black(int index)
{
    return (luminance(index) + 0.05) / 0.05;
}

static double contrast_on_white(int index)
{
    return 1.05 / (luminance(index) + 0.05);
}

START_TEST(luminance_is_that_of_wcag)
{
    ck_assert_double_eq_tol(contrast_on_black(231), 21, 1e-9);
    ck_assert_double_eq_tol(contrast_on_white(16), 21, 1e-9);
    ck_assert_double_eq_tol(contrast_on_white(243), 4.54, 0.005); /* #767676, a known border */
}
END_TEST

static bool is_dim(enum style style)
{
    return style == STYLE_LABEL || style == STYLE_TRACK || style == STYLE_SERIES_PAST;
}

/* WCAG 2: 4.5:1 for text, 3:1 for what is large or no text; on a background that is not known,
 * where hardly any colour has 4.5:1 against both black and white, 3:1. */
START_TEST(everything_can_be_read)
{
    for (size_t p = 0; p < 2; p++)
        for (size_t b = 0; b < 3; b++)
            for (int style = 0; style < STYLE_COUNT; style++) {
                struct theme theme = {256, palettes[p], backgrounds[b]};
                struct look look = theme_look(&theme, (enum style)style);
                if (look.colour < 0)
                    continue;
                const bool known = backgrounds[b] != BACKGROUND_AUTO;
                const double least = known && !is_dim((enum style)style) ? 4.5 : 3;
                ck_assert_uint_eq(look.attributes & LOOK_DIM, 0);
                if (backgrounds[b] != BACKGROUND_LIGHT)
                    ck_assert_msg(contrast_on_black(look.colour) >= least,
                                  "style %d in palette %zu: %d", style, p, look.colour);
                if (backgrounds[b] != BACKGROUND_DARK)
                    ck_assert_msg(contrast_on_white(look.colour) >= least,
                                  "style %d in palette %zu: %d", style, p, look.colour);
            }
}
END_TEST

/* A style that was added but is missing here would look like any other text. */
START_TEST(every_style_looks_like_something)
{
    for (size_t p = 0; p < 2; p++)
        for (size_t b = 0; b < 3; b++)
            for (int style = STYLE_NORMAL + 1; style < STYLE_COUNT; style++) {
                struct theme theme = {256, palettes[p], backgrounds[b]};
                struct look look = theme_look(&theme, (enum style)style);
                ck_assert_msg(look.colour >= 0 || look.attributes != 0, "style %d", style);
            }
}
END_TEST

START_TEST(colours_are_those_that_the_terminal_has)
{
    static const int counts[] = {0, 1, 7, 8, 15, 16, 88, 255, 256};
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++)
        for (size_t p = 0; p < 2; p++)
            for (size_t b = 0; b < 3; b++)
                for (int style = 0; style < STYLE_COUNT; style++) {
                    struct theme theme = {counts[c], palettes[p], backgrounds[b]};
                    int colour = theme_look(&theme, (enum style)style).colour;
                    int most = counts[c] >= 256 ? 256 : counts[c] >= 16 ? 16 : 8;
                    if (counts[c] < 8)
                        ck_assert_int_eq(colour, -1);
                    ck_assert_int_lt(colour, most);
                    ck_assert_int_ne(colour, 0); /* nothing is written in black */
                }
}
END_TEST

/* What is good, risky and bad are three looks, whatever the terminal. */
START_TEST(verdicts_differ)
{
    static const int counts[] = {8, 16, 256};
    static const enum style verdicts[] = {STYLE_GOOD, STYLE_WARNING, STYLE_BAD};
    for (size_t c = 0; c < 3; c++)
        for (size_t p = 0; p < 2; p++)
            for (size_t b = 0; b < 3; b++)
                for (int i = 0; i < 3; i++) {
                    struct theme theme = {counts[c], palettes[p], backgrounds[b]};
                    ck_assert_int_ne(theme_look(&theme, verdicts[i]).colour,
                                     theme_look(&theme, verdicts[(i + 1) % 3]).colour);
                }
}
END_TEST

START_TEST(curves_of_runs_differ)
{
    static const enum style curves[] = {STYLE_SERIES, STYLE_SERIES_MARKED, STYLE_SERIES_MARKED_2,
                                        STYLE_SERIES_MARKED_3, STYLE_SERIES_MARKED_4};
    enum { COUNT = sizeof curves / sizeof curves[0] };
    for (size_t p = 0; p < 2; p++)
        for (size_t b = 0; b < 3; b++)
            for (int i = 0; i < COUNT; i++)
                for (int j = 0; j < i; j++) {
                    struct theme theme = {256, palettes[p], backgrounds[b]};
                    ck_assert_msg(theme_look(&theme, curves[i]).colour !=
                                      theme_look(&theme, curves[j]).colour,
                                  "curves %d and %d in palette %zu", i, j, p);
                }
}
END_TEST

START_TEST(curves_differ_without_colours)
{
    struct theme mono = {0, PALETTE_DEFAULT, BACKGROUND_AUTO};
    ck_assert_uint_ne(theme_look(&mono, STYLE_SERIES).attributes,
                      theme_look(&mono, STYLE_SERIES_PAST).attributes);
    ck_assert_uint_eq(theme_look(&mono, STYLE_CURSOR).attributes, LOOK_REVERSE);
}
END_TEST

static const struct {
    const char *variable;
    enum background background;
} says[] = {
    {NULL, BACKGROUND_AUTO},
    {"", BACKGROUND_AUTO},
    {"15;0", BACKGROUND_DARK},
    {"0;15", BACKGROUND_LIGHT},
    {"0;7", BACKGROUND_LIGHT},
    {"7;8", BACKGROUND_DARK},
    {"12;9", BACKGROUND_LIGHT},
    {"15;default;0", BACKGROUND_DARK},
    {"0;default", BACKGROUND_AUTO},
    {"0;", BACKGROUND_AUTO},
    {"15", BACKGROUND_AUTO},
    {"0;16", BACKGROUND_AUTO},
    {"0;15x", BACKGROUND_AUTO},
    {"0;-1", BACKGROUND_AUTO},
    {"0;99999999999999999999", BACKGROUND_AUTO},
};

START_TEST(the_terminal_names_its_background)
{
    ck_assert_int_eq(theme_background(says[_i].variable), says[_i].background);
}
END_TEST

START_TEST(preferences_make_the_theme)
{
    struct preferences preferences;
    preferences_init(&preferences);
    unsetenv("COLORFGBG");
    ck_assert_int_eq(theme_make(&preferences, 256).colours, 256);
    ck_assert_int_eq(theme_make(&preferences, 256).background, BACKGROUND_AUTO);
    setenv("COLORFGBG", "0;15", 1);
    ck_assert_int_eq(theme_make(&preferences, 256).background, BACKGROUND_LIGHT);
    preferences.background = BACKGROUND_DARK;
    ck_assert_int_eq(theme_make(&preferences, 256).background, BACKGROUND_DARK);
    preferences.colour = false;
    ck_assert_int_eq(theme_make(&preferences, 256).colours, 0);
    unsetenv("COLORFGBG");
}
END_TEST

static void expect_sgr(struct theme theme, enum style style, const char *wanted)
{
    char buffer[THEME_SGR];
    ck_assert_int_eq(theme_sgr(&theme, style, buffer), (int)strlen(wanted));
    ck_assert_str_eq(buffer, wanted);
}

START_TEST(control_sequences)
{
    struct theme dark = {256, PALETTE_DEFAULT, BACKGROUND_DARK};
    struct theme sixteen = {16, PALETTE_DEFAULT, BACKGROUND_DARK};
    struct theme eight = {8, PALETTE_COLOUR_BLIND, BACKGROUND_LIGHT};
    struct theme mono = {0, PALETTE_DEFAULT, BACKGROUND_AUTO};
    expect_sgr(dark, STYLE_NORMAL, "\033[0m");
    expect_sgr(dark, STYLE_SERIES, "\033[0;1;38;5;39m");
    expect_sgr(dark, STYLE_FOCUS, "\033[0;1;4m");
    expect_sgr(sixteen, STYLE_GOOD, "\033[0;92m");
    expect_sgr(eight, STYLE_GOOD, "\033[0;34m");
    expect_sgr(mono, STYLE_CURSOR, "\033[0;7m");
    expect_sgr(mono, STYLE_GOOD, "\033[0m");
    for (int style = 0; style < STYLE_COUNT; style++) {
        char buffer[THEME_SGR];
        ck_assert_int_lt(theme_sgr(&dark, (enum style)style, buffer), THEME_SGR);
    }
}
END_TEST

START_TEST(preferences_are_words)
{
    static const char *const names[] = {"charset", "colour", "palette", "background", "canvas",
                                        "load",    "x_axis", "y_axis",  "smoothing",  "mouse"};
    struct preferences preferences;
    struct error err = ERROR_INIT;
    preferences_init(&preferences);
    ck_assert_str_eq(preferences_get(&preferences, "colour"), "yes");
    ck_assert_str_eq(preferences_get(&preferences, "mouse"), "yes");
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *const *words = preferences_words(names[i]);
        ck_assert_ptr_nonnull(words);
        for (; *words; words++) {
            ck_assert(preferences_set(&preferences, names[i], *words, &err));
            ck_assert_str_eq(preferences_get(&preferences, names[i]), *words);
        }
    }
    ck_assert_str_eq(preferences_get(&preferences, "columns"), "default");
    ck_assert(preferences_set(&preferences, "columns", "note, run  s/epoch,acc", &err));
    ck_assert_str_eq(preferences_get(&preferences, "columns"), "note,run,s/epoch,acc");
    ck_assert(run_columns_have(&preferences.columns, RUN_COLUMN_TEST_ACC));
    ck_assert(!run_columns_have(&preferences.columns, RUN_COLUMN_MODEL));
    ck_assert(!preferences_set(&preferences, "columns", "run,modell", &err));
    ck_assert_str_eq(
        err.text, "columns: 'modell' is neither 'default' alone nor one of run, model, data, rows, "
                  "devices, strategy, batch, lr, epochs, acc, best, s/epoch, samples/s, "
                  "speed-up, J/epoch, samples/J, status, started, split, sync, note");
    ck_assert(!preferences_set(&preferences, "columns", "run,note,run", &err));
    ck_assert_str_eq(err.text, "columns: 'run' is there twice");
    ck_assert(!preferences_set(&preferences, "columns", " ,", &err));
    ck_assert_ptr_nonnull(strstr(err.text, "columns is empty: give 'default' or some of run, "));
    ck_assert_str_eq(preferences_get(&preferences, "columns"), "note,run,s/epoch,acc");
    run_columns_add(&preferences.columns, RUN_COLUMN_SPEED);
    run_columns_add(&preferences.columns, RUN_COLUMN_NUMBER);
    ck_assert_str_eq(preferences_get(&preferences, "columns"), "samples/s,note,run,s/epoch,acc");
    run_columns_remove(&preferences.columns, RUN_COLUMN_NOTE);
    run_columns_remove(&preferences.columns, RUN_COLUMN_MODEL);
    ck_assert_str_eq(preferences_get(&preferences, "columns"), "samples/s,run,s/epoch,acc");
    ck_assert(preferences_set(&preferences, "columns", "default", &err));
    ck_assert(run_columns_have(&preferences.columns, RUN_COLUMN_MODEL));
    ck_assert_ptr_null(preferences_words("batch"));
    ck_assert_ptr_null(preferences_get(&preferences, "batch"));
    ck_assert(!preferences_set(&preferences, "batch", "1", &err));
    ck_assert(!preferences_set(&preferences, "background", "Dark", &err));
    ck_assert_str_eq(err.text, "background 'Dark' is none of auto, dark, light");
    ck_assert_int_eq(preferences.background, BACKGROUND_LIGHT);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("theme");
    TCase *tests = tcase_create("theme");
    tcase_add_test(tests, luminance_is_that_of_wcag);
    tcase_add_test(tests, everything_can_be_read);
    tcase_add_test(tests, every_style_looks_like_something);
    tcase_add_test(tests, colours_are_those_that_the_terminal_has);
    tcase_add_test(tests, verdicts_differ);
    tcase_add_test(tests, curves_of_runs_differ);
    tcase_add_test(tests, curves_differ_without_colours);
    tcase_add_loop_test(tests, the_terminal_names_its_background, 0, sizeof says / sizeof says[0]);
    tcase_add_test(tests, preferences_make_the_theme);
    tcase_add_test(tests, control_sequences);
    tcase_add_test(tests, preferences_are_words);
    suite_add_tcase(suite, tests);
    return run_suites(suite, NULL);
}
