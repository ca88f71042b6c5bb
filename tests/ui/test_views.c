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
#include "ui/control/engine.h"

/*
 * Screens of recorded situations against the dumps in tests/ui/golden. After a change that is meant
 * to be seen: UPDATE_GOLDEN=1 tests/ui/test_views, then read the difference.
 */
static const struct {
    const char *name, *recording; /* NULL: no engine; "300": that many runs */
    const char *keys;
    enum link_state link; /* what becomes of the engine at the end */
} scenes[] = {
    {"starting", NULL, "", LINK_STARTING},
    {"no-engine", NULL, "", LINK_NO_ENGINE},
    {"lost", "train-2", "", LINK_LOST},
    {"idle", "idle", "", LINK_UP},
    {"suggestion", "idle", "<Down> +", LINK_UP},
    {"train-1", "train-1", "", LINK_UP},
    {"train-2", "train-2", "", LINK_UP},
    {"train-8", "train-8", "<Tab><Tab><End>", LINK_UP},
    {"mixed", "mixed", "", LINK_UP},
    {"mixed-device", "mixed", "i", LINK_UP},
    {"mixed-lost-device", "mixed", "<Down><Down>i", LINK_UP},
    {"mixed-run", "mixed", "R<Down><Enter>", LINK_UP},
    {"mixed-log", "mixed", "L", LINK_UP},
    {"finished", "finished", "<Tab><Tab><Down><Down>3", LINK_UP},
    {"edit", "idle", "<Tab><Down><Down><Down><Enter>-7<Enter>", LINK_UP},
    {"schedule", "finished", "<Tab><Down><Down><Down><Down><Down><Down>+++<Down>++", LINK_UP},
    {"schedule-first", "idle", "<Tab><Down><Down><Down><Down><Down><Down>-", LINK_UP},
    {"pipeline", "idle",
     "<Down> "
     "<Tab><PageDown><Down>+<Down><Down><Down><Down>+++<Down><Enter>conv2<Enter>",
     LINK_UP},
    {"retune", "train-2", "r0.05", LINK_UP},
    {"stop", "train-2", "x", LINK_UP},
    {"help", "idle", "?<End>", LINK_UP},
    {"settings-open", "idle", "S", LINK_UP},
    {"settings-changed", "idle", "S<Down><Down>+<Down><Down>++<End>+", LINK_UP},
    {"settings-wrong", "idle",
     "S<Down><Down><Down><Down><Down><Down><Down><Down>"
     "<Down><Down><Down><Down><Down><Down><Down><Down><Down><Down><Down><Down><Enter>0<Enter>",
     LINK_UP},
    {"settings-leave", "idle", "S<Down><Down>+qq", LINK_UP},
    {"settings-no-engine", NULL, "S", LINK_NO_ENGINE},
    {"palette", "train-2", ":ru<Down>", LINK_UP},
    {"chart-both", "curves", "2b", LINK_UP},
    {"chart-cursor", "curves", "3<Tab><Tab><Tab><Left><PageUp><PageUp><Right>", LINK_UP},
    {"chart-zoom", "curves", "3<Tab><Tab><Tab>++y", LINK_UP},
    {"chart-lr", "curves", "6<Tab><Tab><Tab><Left>", LINK_UP},
    {"chart-lr-rest", "schedule", "6", LINK_UP},
    {"chart-lr-scaled", "schedule-scaled", "6<Tab><Tab><Tab><Left>", LINK_UP},
    {"chart-log", "curves", "3l", LINK_UP},
    {"chart-smoothed", "curves", "3oo", LINK_UP},
    {"chart-steps", "curves", "3v", LINK_UP},
    {"chart-seconds", "curves", "3vvb<Tab><Tab><Tab><Left>", LINK_UP},
    {"chart-marked", "curves", "<Tab><Tab><Down><Down> <Down> <Down> ", LINK_UP},
    {"chart-quadrant", "curves", "3b", LINK_UP},
    {"devices-0", "devices-0", "", LINK_UP},
    {"devices-16", "train-16", "<End>", LINK_UP},
    {"devices-16-curves", "train-16", "t", LINK_UP},
    {"devices-64", "train-64", "<Down>", LINK_UP},
    {"devices-64-last", "train-64", "t<End>", LINK_UP},
    {"devices-sensors", "sensors", "t", LINK_UP},
    {"devices-lost", "device-lost", "", LINK_UP},
    {"devices-shared", "shared", "<Down>", LINK_UP},
    {"device", "sensors", "<Enter>", LINK_UP},
    {"device-shared", "shared", "<Down><Enter>", LINK_UP},
    {"device-own", "shared", "<Down><Down><Enter>", LINK_UP},
    {"device-cpu", "sensors", "i<End>", LINK_UP},
    {"device-lost", "device-lost", "<Down><Down><Enter>", LINK_UP},
    {"device-added", "idle", "++<Enter>", LINK_UP},
    {"log", "log", "L", LINK_UP},
    {"log-back", "log", "L<Up><Up>", LINK_UP},
    {"log-filter", "log", "L/gpu BUS", LINK_UP},
    {"log-filtered", "log", "L/run 1 slower<Enter>", LINK_UP},
    {"log-nothing", "log", "L/no such words<Enter>", LINK_UP},
    {"log-oldest", "log", "L<Home>", LINK_UP},
    {"log-empty", "idle", "L", LINK_UP},
    {"runs-none", "idle", "R", LINK_UP},
    {"runs-few", "train-2", "R<Down> ", LINK_UP},
    {"runs-all", "runs", "R<Down><Down> /run=13<Enter> <Esc>R/run=7<Enter> /<Esc>", LINK_UP},
    {"runs-sorted", "runs", "Rooooooo<Down>", LINK_UP},
    {"runs-filtered", "runs", "R/acc>0.8 resn<Enter>", LINK_UP},
    {"runs-no-match", "runs", "R/nothing like this", LINK_UP},
    {"runs-queue", "runs", "RKK", LINK_UP},
    {"runs-delete", "runs", "R<Down><Down><Down><Down>X", LINK_UP},
    {"runs-columns", "runs",
     "S<Down><Down><Down><Down><Down><Down><Down><Enter>acc run model note rows<Enter>Roo",
     LINK_UP},
    {"columns", "runs", "RV<Down><Down> <End>", LINK_UP},
    {"runs-lost", "runs", "R", LINK_LOST},
    {"differences", "runs", "R/run=4<Enter> /run=18<Enter>d", LINK_UP},
    {"differences-end", "runs", "R/run=7<Enter> /run=20<Enter>d<End>", LINK_UP},
    {"runs-300", "300", "R<Down><Down><Down><Down><Down><Down><Down><Down><Down><Down>", LINK_UP},
    {"run-running", "runs", "R<Down><Down><Enter>", LINK_UP},
    {"run-end", "runs", "R<Down><Down><Enter><End>", LINK_UP},
    {"run-failed", "runs", "R/run=10<Enter><Enter>", LINK_UP},
    {"run-waiting", "runs", "R<Enter>", LINK_UP},
    {"run-devices", "runs", "R/run=4<Enter><Enter>", LINK_UP},
    {"run-gpus", "compare-8", "R/run=2<Enter><Enter>", LINK_UP},
    {"run-lost", "runs", "R<Down><Down><Enter>", LINK_LOST},
    {"interrupted", "interrupted", "", LINK_UP},
    {"interrupted-runs", "interrupted", "R<Down>", LINK_UP},
    {"interrupted-run", "interrupted", "R<Down><Enter>", LINK_UP},
    {"interrupted-resume", "interrupted", "R<Down>a", LINK_UP},
    {"interrupted-tags", "interrupted", "R<End>Tthesis final", LINK_UP},
    {"validation", "validation", "", LINK_UP},
    {"validation-runs", "validation", "R<Down>", LINK_UP},
    {"validation-run", "validation", "R<Down><Enter>", LINK_UP},
    {"pipeline-run", "pipeline", "R<Enter><PageDown>", LINK_UP},
    {"confusion", "confusion", "R<Enter>m", LINK_UP},
    {"confusion-end", "confusion", "Rm<End>", LINK_UP},
    {"confusion-asked", "finished", "Rm", LINK_UP},
    {"confusion-many", "confusion-100", "Rm", LINK_UP},
    {"confusion-matrix", "confusion-100", "Rm<End><Right><Right>", LINK_UP},
    {"confusion-lost", "finished", "Rm", LINK_LOST},
    {"compare-empty", "idle", "C", LINK_UP},
    {"compare-2", "compare-2", "C<Down><Down>", LINK_UP},
    {"compare-8", "compare-8", "C<End>", LINK_UP},
    {"compare-sweep", "sweep", "Cc", LINK_UP},
    {"compare-plan", "compare-8", "Cw", LINK_UP},
    {"compare-seeds", "seeds", "Ccccc", LINK_UP},
    {"compare-grid", "grid", "C<Down>", LINK_UP},
    {"compare-grid-samples", "grid", "Ct0.85<Enter>ccc<End>", LINK_UP},
    {"compare-grid-words", "grid-words", "C", LINK_UP},
    {"compare-values", "idle", "Cwvbatch=128,256 lr=0.05,0.1", LINK_UP},
    {"compare-target", "seeds", "Ct0.88<Enter>", LINK_UP},
};

static const struct {
    int rows, columns;
} sizes[] = {{24, 80}, {30, 100}, {50, 200}, {15, 48}};

/* More runs than any screen has lines. */
static void make_up_runs(struct replay *replay, int count)
{
    json_t *runs = json_array();
    for (int i = 1; i <= count; i++)
        json_array_append_new(
            runs, json_pack("{s:i, s:s, s:s, s:s, s:[s], s:i, s:f, s:i, s:i, s:f, s:f, s:f, s:f}",
                            "run", i, "status", "done", "model", "smallnet", "data", "glyphs",
                            "devices", i % 2 ? "cpu:0" : "cpu:1", "batch", 32 << i % 5, "lr",
                            0.1 * (1 + i % 3), "epochs", 5, "epochs_done", 5, "test_acc",
                            0.8 + i * 0.0005, "s_per_epoch", 10.0 - i % 7, "samples_per_s",
                            1000.0 + i, "started_at", 1763650000.0 + 60 * i));
    ui_connected(&replay->ui);
    ui_answer(&replay->ui, REQUEST_RUNS, runs, NULL);
    json_decref(runs);
}

static void play(struct replay *replay, int scene)
{
    replay_begin(replay);
    if (strcmp(scenes[scene].name, "chart-quadrant") == 0)
        replay->ui.preferences.canvas = CANVAS_QUADRANT;
    if (scenes[scene].recording && strcmp(scenes[scene].recording, "300") == 0)
        make_up_runs(replay, 300);
    else if (scenes[scene].recording)
        replay_recording(replay, scenes[scene].recording, 0);
    replay_keys(replay, scenes[scene].keys);
    if (scenes[scene].link == LINK_LOST)
        ui_disconnected(&replay->ui, LINK_LOST,
                        "the engine is gone. If it ended, its runs are interrupted and can be "
                        "resumed. Press e to start another");
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

START_TEST(scene_looks_as_before)
{
    static const char *const charsets[] = {"ascii", "utf8"};
    struct replay replay;
    play(&replay, _i);
    for (int utf8 = 0; utf8 < 2; utf8++) {
        struct text text = TEXT_INIT;
        draw_all(&replay, utf8, &text);
        char *name = format("%s.%s.txt", scenes[_i].name, charsets[utf8]);
        compare_golden(name, text_cstr(&text));
        free(name);
        text_free(&text);
    }
    replay_end(&replay);
}
END_TEST

/* How far apart the widths are up to NARROW columns, and beyond; and in how many ways messages are
 * damaged, which is what sanitizers are for. */
#ifdef __SANITIZE_ADDRESS__
enum { STEP = 17, WIDE_STEP = 53, DAMAGES = 100 };
#else
enum { STEP = 11, WIDE_STEP = 34, DAMAGES = 50 };
#endif
enum { NARROW = 90 };

static void draw_widths(struct replay *replay, int rows, int from, int to, int step)
{
    for (int columns = from; columns <= to; columns += step)
        free(replay_screen(replay, rows, columns, (rows + columns) % 2));
}

/* Each height of each scene begins at another width: together they have every width. */
START_TEST(scene_fits_every_size)
{
    struct replay replay;
    play(&replay, _i);
    for (int rows = 1; rows <= 60; rows += rows < 20 ? 1 : 7) {
        draw_widths(&replay, rows, 1 + (_i + 3 * rows) % STEP, NARROW, STEP);
        draw_widths(&replay, rows, NARROW + 1 + (7 * _i + 5 * rows) % WIDE_STEP, 200, WIDE_STEP);
    }
    replay_end(&replay);
}
END_TEST

/* A small generator: the same keys and damage on every machine. */
static unsigned next_random(unsigned *seed)
{
    *seed = *seed * 1103515245u + 12345u;
    return *seed >> 16;
}

/* Characters to type, and all keys of the table of actions but those that leave. */
static int list_keys(int *keys, int most)
{
    static const char characters[] = "0123456789./azAZ =>-";
    size_t entries;
    const struct action_entry *table = actions_table(&entries);
    int count = 0;
    for (size_t i = 0; i < strlen(characters); i++)
        keys[count++] = characters[i];
    for (size_t i = 0; i < entries; i++)
        for (int j = 0; j < ACTION_KEYS && table[i].key[j] != 0; j++) {
            if (table[i].action == ACTION_QUIT)
                continue;
            ck_assert_int_lt(count, most);
            keys[count++] = table[i].key[j];
        }
    return count;
}

static void press_random_keys(struct replay *replay, int count, unsigned *seed)
{
    int keys[300], known = list_keys(keys, 300);
    while (count-- > 0) {
        replay_key(replay, keys[next_random(seed) % (unsigned)known]);
        /* The palette can leave, too. */
        replay->ui.quit = false;
    }
}

START_TEST(damaged_messages_do_no_harm)
{
    static const char *const recordings[] = {"idle", "train-1",   "train-2", "train-8", "finished",
                                             "runs", "confusion", "grid",    "schedule"};
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

/* 10,000 of them, begun in each view again and again. */
START_TEST(random_keys_do_no_harm)
{
    static const char *const recordings[] = {"train-2", "train-8", "runs", "sweep", "grid"};
    unsigned seed = 4711u + (unsigned)_i;
    struct replay replay;
    replay_begin(&replay);
    replay_recording(&replay, recordings[_i], 0);
    for (int i = 0; i < 200; i++) {
        replay_view(&replay, (enum view_id)(i % VIEW_COUNT));
        for (int j = 0; j < 5; j++) {
            press_random_keys(&replay, 10, &seed);
            free(replay_screen(&replay, 1 + (int)(next_random(&seed) % 60),
                               1 + (int)(next_random(&seed) % 200), j % 2));
        }
    }
    replay_end(&replay);
}
END_TEST

int main(void)
{
    setenv("TZ", "UTC0", 1); /* the log has the time of day */
    Suite *suite = suite_create("views");
    TCase *tests = tcase_create("views");
    int count = (int)(sizeof scenes / sizeof scenes[0]);
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, scene_looks_as_before, 0, count);
    tcase_add_loop_test(tests, scene_fits_every_size, 0, count);
    tcase_add_loop_test(tests, damaged_messages_do_no_harm, 0, DAMAGES);
    tcase_add_loop_test(tests, random_keys_do_no_harm, 0, 5);
    suite_add_tcase(suite, tests);
    return run_suites(suite, NULL);
}
