/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "tests/replay.h"
#include "tests/support.h"

/*
 * Screens of recorded situations against the dumps in tests/ui/golden. After a change that is meant
 * to be seen: UPDATE_GOLDEN=1 tests/test_views, then read the difference.
 */
static const struct {
    const char *name, *recording; /* NULL: no engine */
    const char *keys;
    enum link_state link; /* what becomes of the engine at the end */
    enum canvas_kind canvas;
} scenes[] = {
    {"starting", NULL, "", LINK_STARTING, CANVAS_AUTO},
    {"no-engine", NULL, "", LINK_NO_ENGINE, CANVAS_AUTO},
    {"lost", "train-2", "", LINK_LOST, CANVAS_AUTO},
    {"idle", "idle", "", LINK_UP, CANVAS_AUTO},
    {"suggestion", "idle", "<Down> +", LINK_UP, CANVAS_AUTO},
    {"train-1", "train-1", "", LINK_UP, CANVAS_AUTO},
    {"train-2", "train-2", "", LINK_UP, CANVAS_AUTO},
    {"train-8", "train-8", "<Tab><Tab><End>", LINK_UP, CANVAS_AUTO},
    {"finished", "finished", "<Tab><Tab><Down><Down>3", LINK_UP, CANVAS_AUTO},
    {"edit", "idle", "<Tab><Down><Down><Down><Enter>-7<Enter>", LINK_UP, CANVAS_AUTO},
    {"retune", "train-2", "r0.05", LINK_UP, CANVAS_AUTO},
    {"stop", "train-2", "x", LINK_UP, CANVAS_AUTO},
    {"help", "idle", "?<End>", LINK_UP, CANVAS_AUTO},
    {"palette", "train-2", ":ru<Down>", LINK_UP, CANVAS_AUTO},
    {"chart-both", "curves", "2b", LINK_UP, CANVAS_AUTO},
    {"chart-cursor", "curves", "3<Tab><Tab><Tab><Left><PageUp><PageUp><Right>", LINK_UP,
     CANVAS_AUTO},
    {"chart-zoom", "curves", "3<Tab><Tab><Tab>++y", LINK_UP, CANVAS_AUTO},
    {"chart-lr", "curves", "6<Tab><Tab><Tab><Left>", LINK_UP, CANVAS_AUTO},
    {"chart-marked", "curves", "<Tab><Tab><Down><Down> <Down> <Down> ", LINK_UP, CANVAS_AUTO},
    {"chart-quadrant", "curves", "3b", LINK_UP, CANVAS_QUADRANT},
};

static const struct {
    int rows, columns;
} sizes[] = {{24, 80}, {30, 100}, {50, 200}, {15, 48}};

static void play(struct replay *replay, int scene)
{
    replay_begin(replay);
    replay->ui.preferences.canvas = scenes[scene].canvas;
    if (scenes[scene].recording != NULL)
        replay_recording(replay, scenes[scene].recording, 0);
    replay_keys(replay, scenes[scene].keys);
    if (scenes[scene].link == LINK_LOST)
        ui_disconnected(
            &replay->ui, LINK_LOST,
            "the engine is gone. If it ended, so did its runs. Press e to start another");
    else if (scenes[scene].link == LINK_NO_ENGINE)
        ui_disconnected(&replay->ui, LINK_NO_ENGINE,
                        "cannot start dpartui-engine (install it beside dpartui or in PATH): No "
                        "such file or directory - press e to try again");
}

static void draw_all(struct replay *replay, bool utf8, struct text *out)
{
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        char *screen = replay_screen(replay, sizes[i].rows, sizes[i].columns, utf8);

        text_printf(out, "== %dx%d\n%s", sizes[i].columns, sizes[i].rows, screen);
        free(screen);
    }
}

/* Put the difference on the test's output. */
static void show_difference(const char *golden, const char *actual)
{
    char *folder = temporary_folder();
    put_file(folder, "actual", actual, strlen(actual));
    char *command = format("diff -u '%s' '%s/actual'", golden, folder);

    fflush(stdout);
    if (system(command) == -1)
        printf("diff cannot be run\n");
    free(command);
    remove_tree(folder);
}

static void compare(const char *name, const char *charset, const char *actual)
{
    char *path = format("%s/tests/ui/golden/%s.%s.txt", getenv("top_srcdir"), name, charset);
    struct error err = ERROR_INIT;
    char *expected = NULL;
    size_t length;

    if (getenv("UPDATE_GOLDEN") != NULL) {
        struct file_writer writer = FILE_WRITER_INIT;

        ck_assert_msg(file_writer_open(&writer, path, &err) &&
                          file_writer_put(&writer, actual, strlen(actual), &err) &&
                          file_writer_commit(&writer, &err),
                      "%s", err.text);
    } else {
        ck_assert_msg(file_read(path, 1 << 20, &expected, &length, &err), "%s", err.text);
        if (strcmp(expected, actual) != 0) {
            show_difference(path, actual);
            ck_abort_msg("%s looks different", path);
        }
    }
    free(expected);
    free(path);
}

START_TEST(scene_looks_as_before)
{
    static const char *const charsets[] = {"ascii", "utf8"};
    struct replay replay;

    play(&replay, _i);
    for (int utf8 = 0; utf8 < 2; utf8++) {
        struct text text = TEXT_INIT;

        draw_all(&replay, utf8, &text);
        compare(scenes[_i].name, charsets[utf8], text_cstr(&text));
        text_free(&text);
    }
    replay_end(&replay);
}
END_TEST

START_TEST(scene_fits_every_size)
{
    struct replay replay;

    play(&replay, _i);
    for (int rows = 1; rows <= 60; rows += rows < 20 ? 1 : 7)
        for (int columns = 1; columns <= 200; columns += columns < 90 ? 1 : 11)
            free(replay_screen(&replay, rows, columns, columns % 2));
    replay_end(&replay);
}
END_TEST

/* A small generator: the same keys and damage on every machine. */
static unsigned next_random(unsigned *seed)
{
    *seed = *seed * 1103515245u + 12345u;
    return *seed >> 16;
}

static void press_random_keys(struct replay *replay, int count, unsigned *seed)
{
    static const char *const keys[] = {
        "s",       "x",       "r",     "g",      "e",      "u",       "y",     "n",       " ",
        "+",       "-",       "1",     "2",      "3",      "4",       "c",     "?",       "h",
        "j",       "k",       "<Tab>", "<Up>",   "<Down>", "<Left>",  "5",     "0",       ".",
        "<Right>", "<Enter>", "<Esc>", "<Home>", "<End>",  "<Enter>", "<Tab>", "<Enter>", "<Esc>",
    };

    while (count-- > 0)
        replay_keys(replay, keys[next_random(seed) % (sizeof keys / sizeof keys[0])]);
}

START_TEST(damaged_messages_do_no_harm)
{
    static const char *const recordings[] = {"idle", "train-1", "train-2", "train-8", "finished"};
    unsigned seed = (unsigned)_i + 1;
    struct replay replay;

    replay_begin(&replay);
    for (size_t i = 0; i < sizeof recordings / sizeof recordings[0]; i++) {
        replay_recording(&replay, recordings[i], seed + (unsigned)i);
        press_random_keys(&replay, 40, &seed);
        free(replay_screen(&replay, 1 + (int)(next_random(&seed) % 60),
                           1 + (int)(next_random(&seed) % 200), seed % 2));
        if (next_random(&seed) % 3 == 0)
            ui_disconnected(&replay.ui, LINK_LOST, "gone");
    }
    replay_end(&replay);
}
END_TEST

START_TEST(random_keys_do_no_harm)
{
    unsigned seed = 4711u + (unsigned)_i;
    struct replay replay;

    replay_begin(&replay);
    replay_recording(&replay, _i % 2 ? "train-8" : "train-2", 0);
    for (int i = 0; i < 100; i++) {
        press_random_keys(&replay, 100, &seed);
        free(replay_screen(&replay, 24, 80, true));
        ck_assert(!replay.ui.quit);
    }
    replay_end(&replay);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("views");
    TCase *tests = tcase_create("views");
    int count = (int)(sizeof scenes / sizeof scenes[0]);

    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, scene_looks_as_before, 0, count);
    tcase_add_loop_test(tests, scene_fits_every_size, 0, count);
    tcase_add_loop_test(tests, damaged_messages_do_no_harm, 0, 100);
    tcase_add_loop_test(tests, random_keys_do_no_harm, 0, 2);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
