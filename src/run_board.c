/* SPDX-License-Identifier: MIT */
#include "run_board.h"

#include <math.h>

#include "engine/board/board.h"
#include "format.h"

/*
 * Events are kept without the time they happened at: epochs follow each other from the run's start
 * on, and points lie evenly within theirs.
 */
struct clockwork {
    double begin, length; /* of the epoch that goes on */
};

static double seconds_of(const json_t *epoch)
{
    double train = member_number(epoch, "seconds"), test = member_number(epoch, "eval_s");
    return (isfinite(train) ? train : 0) + (isfinite(test) ? test : 0);
}

/* The points up to the end of epoch `end`. */
static bool take_points(struct board *board, const json_t *points, size_t *next, double end,
                        const struct clockwork *time, struct error *err)
{
    bool ok = true;
    for (; ok && *next < json_array_size(points); ++*next) {
        const json_t *point = json_array_get(points, *next);
        double at = member_number(point, "epoch");
        if (at > end)
            break;
        double part = isfinite(at) && isfinite(end) ? fmax(0, at - (end - 1)) : 0;
        ok = board_take(board, point, time->begin + part * time->length, err);
    }
    return ok;
}

bool run_board_write(const json_t *run, const char *directory, struct error *err)
{
    const json_t *epochs = json_object_get(run, "epochs"), *points = json_object_get(run, "points");
    double started = member_number(run, "started_at");
    struct clockwork time = {.begin = isfinite(started) ? started : 0};
    struct board *board;
    size_t next = 0, count = json_array_size(epochs);
    long number = (long)json_integer_value(json_object_get(run, "run"));
    bool ok = board_open(&board, directory, number, false, time.begin, err);
    if (!ok)
        return false;
    for (size_t i = 0; ok && i < count; i++) {
        const json_t *epoch = json_array_get(epochs, i);
        time.length = seconds_of(epoch);
        ok = take_points(board, points, &next, member_number(epoch, "epoch"), &time, err) &&
             board_take(board, epoch, time.begin + time.length, err);
        time.begin += time.length;
    }
    time.length = 0;
    ok = ok && take_points(board, points, &next, INFINITY, &time, err);
    return board_close(board, err) && ok;
}
