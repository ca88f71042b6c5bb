/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/figure.h"
#include "tests/suites.h"
#include "ui/draw/canvas.h"
#include "ui/draw/surface.h"

static const struct canvas_pen pen = {1, CANVAS_SOLID, STYLE_SERIES};

static void open_surface(struct surface *surface, int rows, int columns, bool utf8)
{
    struct error err = ERROR_INIT;
    *surface = (struct surface){.utf8 = utf8};
    ck_assert(surface_resize(surface, rows, columns, &err));
}

/* The surface is exactly these lines. */
static void check_dump(const struct surface *surface, const char *expected)
{
    struct text text = TEXT_INIT;
    surface_dump(surface, &text);
    ck_assert_str_eq(text_cstr(&text), expected);
    text_free(&text);
}

static void check_canvas(const struct canvas *canvas, const char *expected)
{
    struct surface surface;
    open_surface(&surface, canvas->rows, canvas->columns, canvas->kind != CANVAS_ASCII);
    canvas_show(canvas, &surface, 0, 0);
    check_dump(&surface, expected);
    surface_free(&surface);
}

START_TEST(each_braille_dot)
{
    static const char *const expected[8] = {"⠁\n", "⠈\n", "⠂\n", "⠐\n", "⠄\n", "⠠\n", "⡀\n", "⢀\n"};
    struct error err = ERROR_INIT;
    struct canvas canvas;
    for (int i = 0; i < 8; i++) {
        ck_assert(canvas_open(&canvas, 1, 1, CANVAS_BRAILLE, &err));
        canvas_dot(&canvas, i % 2, i / 2, 1, STYLE_SERIES);
        check_canvas(&canvas, expected[i]);
        canvas_close(&canvas);
    }
}
END_TEST

START_TEST(lines)
{
    struct error err = ERROR_INIT;
    struct canvas canvas;
    ck_assert(canvas_open(&canvas, 2, 4, CANVAS_BRAILLE, &err));
    canvas_line(&canvas, 0, 7, 7, 0, &pen);
    check_canvas(&canvas, "  ⡠⠊\n⡠⠊\n");
    canvas_close(&canvas);
    ck_assert(canvas_open(&canvas, 2, 6, CANVAS_ASCII, &err));
    canvas_line(&canvas, 0, 5, 5, 0, &pen);
    check_canvas(&canvas, "   .-'\n.-'\n");
    canvas_close(&canvas);
    ck_assert(canvas_open(&canvas, 1, 4, CANVAS_BRAILLE, &err));
    struct canvas_pen dotted = {1, CANVAS_DOTS, STYLE_SERIES_PAST};
    canvas_line(&canvas, 0, 0, 7, 0, &dotted);
    check_canvas(&canvas, "⠁⠁⠁⠁\n");
    canvas_close(&canvas);
}
END_TEST

START_TEST(quadrants)
{
    struct error err = ERROR_INIT;
    struct canvas canvas;
    ck_assert(canvas_open(&canvas, 1, 16, CANVAS_QUADRANT, &err));
    ck_assert_int_eq(canvas.dots_across, 32);
    ck_assert_int_eq(canvas.dots_down, 2);
    /* Each cell has the quarters of its number's bits: left and right above, left and right below.
     */
    for (int i = 0; i < 16; i++)
        for (int bit = 0; bit < 4; bit++)
            if (i & 1 << bit)
                canvas_dot(&canvas, 2 * i + bit % 2, bit / 2, 1, STYLE_SERIES);
    check_canvas(&canvas, " ▘▝▀▖▌▞▛▗▚▐▜▄▙▟█\n");
    canvas_close(&canvas);
    ck_assert(canvas_open(&canvas, 2, 4, CANVAS_QUADRANT, &err));
    canvas_line(&canvas, 0, 3, 7, 0, &pen);
    check_canvas(&canvas, "  ▄▀\n▄▀\n");
    canvas_close(&canvas);
}
END_TEST

START_TEST(patterns_tell_lines_apart)
{
    static const unsigned patterns[] = {
        CANVAS_SOLID,    CANVAS_LONG_DASHES, CANVAS_DASHES, CANVAS_SHORT_DASHES,
        CANVAS_DASH_DOT, CANVAS_NOTCHED,     CANVAS_DOTS,   CANVAS_FEW_DOTS,
    };
    enum { COUNT = sizeof patterns / sizeof patterns[0] };
    struct error err = ERROR_INIT;
    struct surface surface;
    struct canvas canvas;
    open_surface(&surface, COUNT, 4, false);
    for (int i = 0; i < COUNT; i++) {
        struct canvas_pen one = {1, patterns[i], STYLE_SERIES};
        canvas_sample(CANVAS_ASCII, &one, &surface, i, 0);
    }
    check_dump(&surface, "----\n---\n  --\n--\n - -\n- --\n- -\n-\n");
    surface_free(&surface);
    ck_assert_int_eq(canvas_sample_width(CANVAS_ASCII), 4);
    ck_assert_int_eq(canvas_sample_width(CANVAS_AUTO), 2);
    /* A line that is drawn in two parts keeps its rhythm. */
    ck_assert(canvas_open(&canvas, 1, 12, CANVAS_ASCII, &err));
    struct canvas_pen dashes = {1, CANVAS_SHORT_DASHES, STYLE_SERIES};
    canvas_line(&canvas, 0, 1, 4, 1, &dashes);
    canvas_line(&canvas, 5, 1, 11, 1, &dashes);
    check_canvas(&canvas, "--  --  --\n");
    canvas_close(&canvas);
}
END_TEST

START_TEST(a_new_layer_takes_the_cell)
{
    struct error err = ERROR_INIT;
    struct canvas canvas;
    ck_assert(canvas_open(&canvas, 1, 2, CANVAS_BRAILLE, &err));
    canvas_dot(&canvas, 0, 0, 1, STYLE_SERIES_PAST);
    canvas_dot(&canvas, 2, 0, 1, STYLE_SERIES_PAST);
    canvas_dot(&canvas, 1, 3, 2, STYLE_SERIES);
    check_canvas(&canvas, "⢀⠁\n");
    ck_assert_int_eq(canvas.cells[0].style, STYLE_SERIES);
    ck_assert_int_eq(canvas.cells[1].style, STYLE_SERIES_PAST);
    canvas_close(&canvas);
}
END_TEST

START_TEST(nothing_is_drawn_outside)
{
    struct error err = ERROR_INIT;
    struct canvas canvas;
    ck_assert(canvas_open(&canvas, 2, 2, CANVAS_BRAILLE, &err));
    canvas_dot(&canvas, -1, 0, 1, STYLE_SERIES);
    canvas_dot(&canvas, 0, 8, 1, STYLE_SERIES);
    canvas_line(&canvas, -1e300, -5, 1e300, -5, &pen);
    canvas_line(&canvas, NAN, 0, 3, 3, &pen);
    canvas_line(&canvas, 0, 0, INFINITY, 3, &pen);
    check_canvas(&canvas, "\n\n");
    canvas_line(&canvas, -1e9, 0, 1e9, 0, &pen);
    check_canvas(&canvas, "⠉⠉\n\n");
    canvas_close(&canvas);
    ck_assert(!canvas_open(&canvas, 0, 4, CANVAS_BRAILLE, &err));
}
END_TEST

START_TEST(text_is_cut_with_an_ellipsis)
{
    struct surface surface;
    open_surface(&surface, 1, 12, true);
    ck_assert_int_eq(surface_text(&surface, 0, 1, 5, STYLE_NORMAL, "fashion"), 5);
    surface_right(&surface, 0, 7, 5, STYLE_NORMAL, "1.87x");
    check_dump(&surface, " fash… 1.87x\n");
    surface_free(&surface);
    open_surface(&surface, 1, 5, false);
    surface_text(&surface, 0, 0, 5, STYLE_NORMAL, "fashion");
    check_dump(&surface, "fash~\n");
    surface_text(&surface, 0, 3, 9, STYLE_NORMAL, "outside");
    surface_text(&surface, 0, -3, 4, STYLE_NORMAL, "left");
    surface_text(&surface, 7, 0, 4, STYLE_NORMAL, "below");
    check_dump(&surface, "tasou\n");
    surface_free(&surface);
}
END_TEST

START_TEST(text_from_outside_is_harmless)
{
    struct surface surface;
    /* Escape, newline, a wide character, a combining one, right-to-left marks, broken UTF-8. */
    static const char text[] = "a\x1b[2J\n漢e\xcc\x81\xe2\x80\xae\xff\xe4\xbcz\xc0\x80é";
    open_surface(&surface, 1, 60, true);
    ck_assert_int_eq(surface_text(&surface, 0, 0, 60, STYLE_NORMAL, text), text_columns(text));
    check_dump(&surface, "a\\x1b[2J\\x0a?e?\\u202e\\xff\\xe4\\xbcz\\xc0\\x80é\n");
    surface_clear(&surface);
    surface_right(&surface, 0, 0, 60, STYLE_NORMAL, "\xe2\x80\xae");
    ck_assert_int_eq(surface_at(&surface, 0, 54)->character, '\\');
    surface_free(&surface);
    /* Combining marks of other scripts, wide symbols; Greek and Thai letters have one column. */
    open_surface(&surface, 1, 20, true);
    surface_text(&surface, 0, 0, 20, STYLE_NORMAL, "कि กั ✅❌⭐⚡ λ—א");
    check_dump(&surface, "क? ก? ???? λ—?\n");
    surface_free(&surface);
    /* An escape is drawn whole or not at all. */
    open_surface(&surface, 3, 7, true);
    surface_text(&surface, 0, 0, 7, STYLE_NORMAL, "a\xe2\x80\xae");
    surface_text(&surface, 1, 0, 7, STYLE_NORMAL, "ab\xe2\x80\xae");
    surface_text(&surface, 2, 0, 7, STYLE_NORMAL, "a\xe2\x80\xaez");
    check_dump(&surface, "a\\u202e\nab…\na…\n");
    surface_free(&surface);
    open_surface(&surface, 4, 8, true);
    surface_paragraph(&surface, (struct rect){0, 0, 4, 8}, STYLE_NORMAL,
                      "ab \xe2\x80\xae\xe2\x80\xae cd \xe2\x80\xae");
    check_dump(&surface, "ab\n\\u202e\n\\u202e\ncd …\n");
    surface_free(&surface);
    ck_assert_uint_eq(text_line_length("\xe2\x80\xaez", 2), 3); /* never nothing */
    open_surface(&surface, 1, 4, false);
    surface_text(&surface, 0, 0, 4, STYLE_NORMAL, "é·…");
    check_dump(&surface, "???\n");
    surface_free(&surface);
}
END_TEST

START_TEST(paragraphs_break_between_words)
{
    struct surface surface;
    open_surface(&surface, 4, 10, true);
    surface_paragraph(&surface, (struct rect){0, 1, 4, 8}, STYLE_NORMAL,
                      "no engine is there and unpronounceable");
    check_dump(&surface, " no\n engine\n is there\n and unp…\n");
    surface_clear(&surface);
    surface_paragraph(&surface, (struct rect){0, 0, 4, 4}, STYLE_NORMAL, "unpronounce");
    check_dump(&surface, "unpr\nonou\nnce\n\n");
    surface_free(&surface);
}
END_TEST

START_TEST(bars)
{
    static const struct {
        double fraction;
        const char *expected;
    } cases[] = {{0, "────\n"}, {0.13, "╸───\n"}, {0.5, "━━──\n"}, {1, "━━━━\n"},
                 {7, "━━━━\n"}, {-1, "────\n"},   {NAN, "────\n"}};
    struct surface surface;
    open_surface(&surface, 1, 4, true);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        surface_bar(&surface, 0, 0, 4, cases[i].fraction);
        check_dump(&surface, cases[i].expected);
    }
    surface_free(&surface);
}
END_TEST

START_TEST(figures)
{
    struct figure f;
    ck_assert_str_eq(figure_count(&f, NAN), "-");
    ck_assert_str_eq(figure_count(&f, 0), "0");
    ck_assert_str_eq(figure_count(&f, 0.00142), "0.0014");
    ck_assert_str_eq(figure_count(&f, 0.0951), "0.095");
    ck_assert_str_eq(figure_count(&f, 0.0999), "0.10");
    ck_assert_str_eq(figure_count(&f, 0.456), "0.46");
    ck_assert_str_eq(figure_count(&f, 9.996), "10.0");
    ck_assert_str_eq(figure_count(&f, 845.4), "845");
    ck_assert_str_eq(figure_count(&f, 999.7), "1.00k");
    ck_assert_str_eq(figure_count(&f, 31200), "31.2k");
    ck_assert_str_eq(figure_count(&f, 4.5e6), "4.50M");
    ck_assert_str_eq(figure_duration(&f, 45.2), "45s");
    ck_assert_str_eq(figure_duration(&f, 252), "4m12s");
    ck_assert_str_eq(figure_duration(&f, 3780), "1h03m");
    ck_assert_str_eq(figure_duration(&f, 186000), "2d03h");
    ck_assert_str_eq(figure_duration(&f, -1), "-");
    ck_assert_str_eq(figure_memory(&f, 12.1 * (1 << 30), 139.0 * (1 << 30)), "12.1/139 GiB");
    ck_assert_str_eq(figure_memory(&f, NAN, 24.0 * (1 << 30)), "-/24 GiB");
    ck_assert_str_eq(figure_memory(&f, NAN, NAN), "-");
    ck_assert_str_eq(figure_percent(&f, 0.784), "78%");
    ck_assert_str_eq(figure_percent(&f, 3), "100%");
    ck_assert_str_eq(figure_times(&f, 1.874), "1.87x");
    ck_assert_str_eq(figure_digits(&f, 0.30000000000000004, 4), "0.3");
    ck_assert_str_eq(figure_digits(&f, 1e-5, 4), "1e-05");
    ck_assert_str_eq(figure_fixed(&f, 0.9154, 3), "0.915");
    ck_assert_str_eq(figure_whole(&f, 128), "128");
    for (double value = 1e-300; value < 1e300; value *= 7) {
        ck_assert_uint_lt(strlen(figure_count(&f, value)), 9);
        ck_assert_uint_lt(strlen(figure_whole(&f, value)), 14);
        figure_memory(&f, value, value);
        figure_duration(&f, value);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("canvas");
    TCase *tests = tcase_create("canvas");
    tcase_add_test(tests, each_braille_dot);
    tcase_add_test(tests, lines);
    tcase_add_test(tests, quadrants);
    tcase_add_test(tests, patterns_tell_lines_apart);
    tcase_add_test(tests, a_new_layer_takes_the_cell);
    tcase_add_test(tests, nothing_is_drawn_outside);
    tcase_add_test(tests, text_is_cut_with_an_ellipsis);
    tcase_add_test(tests, text_from_outside_is_harmless);
    tcase_add_test(tests, paragraphs_break_between_words);
    tcase_add_test(tests, bars);
    tcase_add_test(tests, figures);
    suite_add_tcase(suite, tests);
    return run_suites(suite, NULL);
}
