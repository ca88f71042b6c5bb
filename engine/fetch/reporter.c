/* SPDX-License-Identifier: MIT */
#include "engine/fetch/reporter.h"

#include "base/clock.h"

static bool tell(struct fetch_reporter *reporter, struct error *err)
{
    if (reporter->report && !reporter->report(reporter->context, &reporter->progress))
        return error_set(err, ERROR_CANCELLED, "%s: fetching was cancelled",
                         reporter->progress.file);
    return true;
}

bool reporter_begin(struct fetch_reporter *reporter, const char *phase, int64_t done, int64_t total,
                    struct error *err)
{
    reporter->progress.phase = phase;
    reporter->progress.done = done;
    reporter->progress.total = total;
    reporter->progress.bytes_per_s = 0;
    reporter->last_done = done;
    reporter->last_time = clock_seconds();
    return tell(reporter, err);
}

bool reporter_update(struct fetch_reporter *reporter, int64_t done, struct error *err)
{
    struct fetch_progress *progress = &reporter->progress;
    double now = clock_seconds(), passed = now - reporter->last_time;
    /* An archive may hold more than was counted on. */
    progress->done = done < progress->total ? done : progress->total;
    /* The end of a phase is always reported, so that a bar ends full. */
    bool end = progress->done == progress->total && reporter->last_done < progress->total;
    if (passed < reporter->each_s && !end)
        return true;
    if (passed > 0 && done >= reporter->last_done) {
        double rate = (double)(done - reporter->last_done) / passed;
        /* Smoothed over the last ten reports or so; a fresh phase begins with its first rate. */
        progress->bytes_per_s =
            progress->bytes_per_s > 0 ? 0.9 * progress->bytes_per_s + 0.1 * rate : rate;
    }
    reporter->last_time = now;
    reporter->last_done = done;
    return tell(reporter, err);
}
