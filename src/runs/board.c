/* SPDX-License-Identifier: MIT */
#include "runs/board.h"

#include <math.h>

#include "base/json.h"
#include "engine/board/board.h"

/*
 * Events are kept without the time they happened at: epochs follow each other from the run's start
 * on, and points lie evenly within theirs.
 */
struct clockwork {
    double begin, length; /* of the current epoch */
};

static double seconds_of(const json_t *epoch)
{
    double train = member_number(epoch, "seconds"), test = member_number(epoch, "eval_s");
    return (isfinite(train) ? train : 0) + (isfinite(test) ? test : 0);
}

/* The points up to the end of epoch `end`, from the current row on. */
static bool take_points(struct board *board, struct run_rows *points, double end,
                        const struct clockwork *time, struct error *err)
{
    while (points->row) {
        double at = member_number(points->row, "epoch");
        if (at > end)
            break;
        double part = isfinite(at) && isfinite(end) ? fmax(0, at - (end - 1)) : 0;
        if (!board_take(board, points->row, time->begin + part * time->length, err))
            return false;
        run_rows_next(points);
    }
    return true;
}

static bool take_rows(struct board *board, struct run_rows *epochs, struct run_rows *points,
                      struct clockwork *time, struct error *err)
{
    bool ok = true;
    run_rows_next(points);
    while (ok && run_rows_next(epochs)) {
        time->length = seconds_of(epochs->row);
        ok = take_points(board, points, member_number(epochs->row, "epoch"), time, err) &&
             board_take(board, epochs->row, time->begin + time->length, err);
        time->begin += time->length;
    }
    time->length = 0;
    return ok && take_points(board, points, INFINITY, time, err);
}

bool run_board_write(const struct run_view *view, const char *directory, struct error *err)
{
    double started = member_number(view->head, "started_at");
    struct clockwork time = {.begin = isfinite(started) ? started : 0};
    struct board *board;
    struct run_rows epochs, points;
    long number = (long)json_integer_value(json_object_get(view->head, "run"));
    if (!board_open(&board, directory, number, false, time.begin, err))
        return false;
    board_put_settings(board, json_object_get(view->head, "spec"), time.begin);
    run_rows_open(&epochs, view, STORE_EPOCHS);
    run_rows_open(&points, view, STORE_POINTS);
    bool ok = take_rows(board, &epochs, &points, &time, err);
    ok = run_rows_close(&points, err) && ok;
    ok = run_rows_close(&epochs, err) && ok;
    return board_close(board, err) && ok;
}
