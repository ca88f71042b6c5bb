/* SPDX-License-Identifier: MIT */
#include "engine/board/board.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "engine/board/event_file.h"

/* Points of a whole run, besides those at the ends of epochs. */
#define POINTS 1000
/* Settings of a run, many more than there are. */
#define SETTINGS 128
/* Runs of one number in a folder, from engines that keep nothing. */
#define NAMESAKES 10000

struct board {
    struct event_file file;
    char *folder;
    bool failed; /* and reported it */
    long every;  /* steps that are summed up */
    /* Of the steps since the last point. */
    long steps;
    double rows, loss, correct, seconds, lr;
    json_int_t step;
    double wall_time;
};

static char *folder_name(const char *directory, long run, long namesake)
{
    return namesake == 1 ? text_format("%s/run-%ld", directory, run)
                         : text_format("%s/run-%ld.%ld", directory, run, namesake);
}

/* The first that is not there yet, or with `resumes` the last that is. */
static bool make_folder(const char *directory, long run, bool resumes, char **folder,
                        struct error *err)
{
    char *last = NULL;
    for (long namesake = 1; namesake <= NAMESAKES; namesake++) {
        char *name = folder_name(directory, run, namesake);
        if (!name) {
            free(last);
            return error_memory(err, directory);
        }
        struct stat info;
        bool exists = stat(name, &info) == 0;
        if (!exists && last && resumes) {
            free(name);
            *folder = last;
            return true;
        }
        if (!exists && mkdir(name, 0777) == 0) {
            free(last);
            *folder = name;
            return true;
        }
        if (!exists && errno != EEXIST) {
            error_errno(err, "%s: cannot be made", name);
            free(name);
            free(last);
            return false;
        }
        free(last);
        last = name;
    }
    free(last);
    return error_set(err, ERROR_FAILED, "%s: holds %d runs of number %ld: name another folder",
                     directory, NAMESAKES, run);
}

bool board_open(struct board **out, const char *directory, long run, bool resumes, double wall_time,
                struct error *err)
{
    struct board *board = calloc(1, sizeof *board);
    if (!board)
        return error_memory(err, "event file");
    board->file = (struct event_file)EVENT_FILE_INIT;
    board->every = 1;
    board->lr = NAN;
    if (!make_directories(directory, 0777, err) ||
        !make_folder(directory, run, resumes, &board->folder, err) ||
        !event_file_open(&board->file, board->folder, wall_time, err)) {
        free(board->folder);
        free(board);
        return false;
    }
    *out = board;
    return true;
}

void board_put_settings(struct board *board, const json_t *settings, double wall_time)
{
    struct event_setting list[SETTINGS];
    size_t count = 0;
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)settings, key, value)
    {
        bool word = json_is_string(value), truth = json_is_boolean(value);
        if (count == SETTINGS || !(word || truth || json_is_number(value)))
            continue;
        list[count++] = (struct event_setting){.name = key,
                                               .word = word ? json_string_value(value)
                                                       : json_is_true(value) ? "yes"
                                                       : truth               ? "no"
                                                                             : NULL,
                                               .number = json_number_value(value)};
    }
    event_file_put_settings(&board->file, wall_time, list, count);
}

static double ratio(double a, double b)
{
    return b > 0 ? a / b : NAN;
}

/* What the steps since the last point come to, at the last of them. */
static void put_point(struct board *board)
{
    const struct event_scalar scalars[] = {{"train/loss", ratio(board->loss, board->rows)},
                                           {"train/accuracy", ratio(board->correct, board->rows)},
                                           {"learning_rate", board->lr},
                                           {"samples_per_s", ratio(board->rows, board->seconds)}};
    if (board->steps > 0)
        event_file_put(&board->file, board->wall_time, board->step, scalars,
                       sizeof scalars / sizeof *scalars);
    board->steps = 0;
    board->rows = board->loss = board->correct = board->seconds = 0;
}

static void take_step(struct board *board, const json_t *event, double wall_time)
{
    double rows = member_number(event, "rows");
    board->steps++;
    board->rows += rows;
    board->loss += member_number(event, "loss") * rows;
    board->correct += member_number(event, "correct");
    board->seconds += member_number(event, "seconds");
    board->lr = member_number(event, "lr");
    board->step = json_integer_value(json_object_get(event, "step"));
    board->wall_time = wall_time;
    if (board->steps >= board->every)
        put_point(board);
}

static void put_kept_point(struct board *board, const json_t *event, double wall_time)
{
    const struct event_scalar scalars[] = {
        {"train/loss", member_number(event, "train_loss")},
        {"train/accuracy", member_number(event, "train_acc")},
        {"learning_rate", member_number(event, "lr")},
        {"samples_per_s", member_number(event, "samples_per_s")}};
    event_file_put(&board->file, wall_time, json_integer_value(json_object_get(event, "step")),
                   scalars, sizeof scalars / sizeof *scalars);
}

static void put_epoch(struct board *board, const json_t *event, double wall_time)
{
    const struct event_scalar scalars[] = {{"test/loss", member_number(event, "test_loss")},
                                           {"test/accuracy", member_number(event, "test_acc")},
                                           {"validation/loss", member_number(event, "val_loss")},
                                           {"validation/accuracy", member_number(event, "val_acc")},
                                           {"gradient_norm", member_number(event, "grad_norm")},
                                           {"noise_scale", member_number(event, "noise_scale")},
                                           {"energy_j", member_number(event, "energy_j")}};
    put_point(board);
    event_file_put(&board->file, wall_time, json_integer_value(json_object_get(event, "step")),
                   scalars, sizeof scalars / sizeof *scalars);
    event_file_flush(&board->file);
}

/* Of a run that kept its test rows for the end. */
static void put_test(struct board *board, const json_t *event, double wall_time)
{
    const struct event_scalar scalars[] = {{"test/loss", member_number(event, "test_loss")},
                                           {"test/accuracy", member_number(event, "test_acc")}};
    if (json_object_get(event, "tested"))
        event_file_put(&board->file, wall_time, json_integer_value(json_object_get(event, "steps")),
                       scalars, sizeof scalars / sizeof *scalars);
}

static bool say_failure(struct board *board, struct error *err)
{
    const struct error *failure = &board->file.failure;
    if (failure->kind == ERROR_NONE || board->failed)
        return true;
    board->failed = true;
    return error_set(err, failure->kind, "%s: %s", board->folder, failure->text);
}

bool board_take(struct board *board, const json_t *event, double wall_time, struct error *err)
{
    const char *name = json_string_value(json_object_get(event, "event"));
    if (!name)
        return true;
    if (strcmp(name, "run") == 0) {
        long steps = (long)json_integer_value(json_object_get(event, "total_steps"));
        board->every = steps > POINTS ? steps / POINTS : 1;
    } else if (strcmp(name, "step") == 0) {
        take_step(board, event, wall_time);
    } else if (strcmp(name, "point") == 0) {
        put_kept_point(board, event, wall_time);
    } else if (strcmp(name, "epoch") == 0) {
        put_epoch(board, event, wall_time);
    } else if (strcmp(name, "end") == 0) {
        put_point(board);
        put_test(board, event, wall_time);
        event_file_flush(&board->file);
    }
    return say_failure(board, err);
}

bool board_close(struct board *board, struct error *err)
{
    if (!board)
        return true;
    event_file_close(&board->file);
    bool ok = say_failure(board, err);
    free(board->folder);
    free(board);
    return ok;
}
