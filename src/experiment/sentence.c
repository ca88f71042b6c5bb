/* SPDX-License-Identifier: MIT */
#include "experiment/sentence.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/figure.h"

/* Above this efficiency no cause is named. */
#define WELL_SCALED 0.9
/* A second cause is named when it takes at least this part of what the first takes. */
#define WORTH_NAMING 0.4
/* What is lost by a cause, as a part of the time, before it is named at all. */
#define NOTICEABLE 0.03

enum cause { CAUSE_CORES, CAUSE_SYNC, CAUSE_WAIT, CAUSE_INPUT, CAUSE_SLOWER, CAUSES };

struct loss {
    double share; /* of the time on the most devices */
    char words[240];
};

static double or_zero(double value)
{
    return isfinite(value) ? value : 0;
}

static int percent(double share)
{
    return (int)lround(100 * fmax(-1e4, fmin(share, 1e4)));
}

/* Devices compute their rows slower than the base's did: by how much of the time. */
static void describe_slower(const struct outcome *outcome, const struct outcome *base, int cores,
                            struct loss *losses)
{
    double slower = 1 - outcome->device_rate / base->device_rate;
    double computing = 1 - or_zero(outcome->sync_share) - or_zero(outcome->wait_share);
    bool crowded = cores > 0 && outcome->threads > cores;
    struct figure figures[2];
    const char *now = figure_count(&figures[0], outcome->device_rate);
    const char *before = figure_count(&figures[1], base->device_rate);
    struct loss *loss = &losses[crowded ? CAUSE_CORES : CAUSE_SLOWER];
    loss->share = or_zero(slower) * computing;
    if (crowded)
        snprintf(loss->words, sizeof loss->words,
                 "devices that share cores (%d threads of %d CPU devices on %d core%s: each device "
                 "computes %s samples/s, not %s)",
                 outcome->threads, outcome->cpus, cores, cores == 1 ? "" : "s", now, before);
    else if (outcome->rows < 0.99 * base->rows)
        snprintf(loss->words, sizeof loss->words,
                 "small batches per device (%.0f rows, not %.0f: each device computes %s "
                 "samples/s, not %s)",
                 outcome->rows, base->rows, now, before);
    else
        snprintf(loss->words, sizeof loss->words,
                 "shared memory, caches or power (each device computes %s samples/s, not %s, of "
                 "as many rows)",
                 now, before);
}

static void describe_losses(const struct outcome *outcome, const struct outcome *base, int cores,
                            struct loss losses[CAUSES])
{
    double before = or_zero(base->wait_share), wait = or_zero(outcome->wait_share);
    double input = fmax(0, or_zero(outcome->input_share - before));
    int all_reduce = percent(or_zero(outcome->sync_share));
    memset(losses, 0, CAUSES * sizeof *losses);
    describe_slower(outcome, base, cores, losses);
    losses[CAUSE_SYNC].share = or_zero(outcome->sync_share) - or_zero(base->sync_share);
    snprintf(losses[CAUSE_SYNC].words, sizeof losses[CAUSE_SYNC].words,
             "all-reduce (%d%% of the devices' time)", all_reduce);
    losses[CAUSE_WAIT].share = wait - before - input;
    snprintf(losses[CAUSE_WAIT].words, sizeof losses[CAUSE_WAIT].words,
             "devices that wait for each other (%d%% of their time: unequal shares or speeds, or "
             "other work on the cores)",
             percent(wait - or_zero(outcome->input_share)));
    losses[CAUSE_INPUT].share = input;
    snprintf(losses[CAUSE_INPUT].words, sizeof losses[CAUSE_INPUT].words,
             "input (work between steps takes %d%% of the time of one device, %d%% of that of %d)",
             percent(before), percent(or_zero(outcome->input_share)), outcome->devices);
}

static int largest(const struct loss losses[CAUSES], int but)
{
    int most = -1;
    for (int i = 0; i < CAUSES; i++)
        if (i != but && losses[i].share >= NOTICEABLE &&
            (most < 0 || losses[i].share > losses[most].share))
            most = i;
    return most;
}

static bool overlap(const struct spread *a, const struct spread *b)
{
    return a->low <= b->high && b->low <= a->high;
}

/* Append; true: there is room for more. */
__attribute__((format(printf, 4, 5))) static bool append(char *buffer, size_t size, size_t *used,
                                                         const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(buffer + *used, size - *used, format, arguments);
    va_end(arguments);
    *used += length > 0 ? (size_t)length : 0;
    return *used < size;
}

static bool append_accuracy(const struct outcome *outcome, const struct outcome *base, char *buffer,
                            size_t size, size_t *used)
{
    if (isfinite(outcome->accuracy_change))
        return append(buffer, size, used, ", test accuracy %+.3f", outcome->accuracy_change);
    if (outcome->epochs != base->epochs && isfinite(outcome->epochs) && isfinite(base->epochs))
        return append(buffer, size, used, " (after %.0f epoch%s, not %.0f)", outcome->epochs,
                      outcome->epochs == 1 ? "" : "s", base->epochs);
    return true;
}

const char *sentence_of_devices(const struct outcome *outcome, const struct outcome *base,
                                int cores, char *buffer, size_t size)
{
    struct loss losses[CAUSES];
    size_t used = 0;
    bool many = outcome->devices != 1;
    buffer[0] = '\0';
    if (!isfinite(outcome->speed_up) || outcome->devices == base->devices ||
        !append(buffer, size, &used, "%d device%s %s %.2f times as fast as %d, %d%% efficient",
                outcome->devices, many ? "s" : "", many ? "are" : "is", outcome->speed_up,
                base->devices, percent(outcome->efficiency)) ||
        !append_accuracy(outcome, base, buffer, size, &used))
        return buffer;
    if (outcome->efficiency >= WELL_SCALED) {
        append(buffer, size, &used, "; nothing limits the scaling so far");
        return buffer;
    }
    describe_losses(outcome, base, cores, losses);
    int first = largest(losses, -1), second = first < 0 ? -1 : largest(losses, first);
    if (second >= 0 && losses[second].share < WORTH_NAMING * losses[first].share)
        second = -1;
    bool room =
        first < 0
            ? append(buffer, size, &used, "; the times of the devices do not say what limits it")
            : append(buffer, size, &used, "; limited by %s%s%s", losses[first].words,
                     second >= 0 ? ", and by " : "", second >= 0 ? losses[second].words : "");
    if (room && overlap(&base->samples_per_s, &outcome->samples_per_s))
        append(buffer, size, &used,
               "; the ranges of both speeds overlap, so the difference may be chance");
    return buffer;
}

const char *sentence_of_shares(const struct outcome *outcome, char *buffer, size_t size)
{
    double sync = outcome->sync_share, wait = outcome->wait_share, input = outcome->input_share;
    size_t used = 0;
    buffer[0] = '\0';
    if (!isfinite(sync) || !isfinite(wait) ||
        !append(buffer, size, &used, "Of the devices' time: %d%% compute, %d%% all-reduce",
                percent(1 - sync - wait), percent(sync)))
        return buffer;
    if (isfinite(input) && !append(buffer, size, &used, ", %d%% input", percent(input)))
        return buffer;
    if (outcome->devices != 1)
        append(buffer, size, &used, ", %d%% waiting", percent(wait - or_zero(input)));
    return buffer;
}

static void describe_values(const struct study_table *table, char *buffer, size_t size)
{
    int fastest = -1, best = -1, second = -1;
    for (int i = 0; i < table->count; i++) {
        const struct study_row *row = &table->rows[i];
        if (row->outcome.samples_per_s.count > 0 &&
            (fastest < 0 ||
             row->outcome.samples_per_s.median > table->rows[fastest].outcome.samples_per_s.median))
            fastest = i;
        if (row->outcome.test_acc.count > 0 &&
            (best < 0 || row->outcome.test_acc.mean > table->rows[best].outcome.test_acc.mean))
            best = i;
    }
    for (int i = 0; i < table->count; i++)
        if (i != best && table->rows[i].outcome.test_acc.count > 0 &&
            (second < 0 ||
             table->rows[i].outcome.test_acc.mean > table->rows[second].outcome.test_acc.mean))
            second = i;
    if (fastest < 0)
        return;
    const struct study_row *row = &table->rows[fastest];
    struct figure rate;
    size_t used =
        (size_t)snprintf(buffer, size, "%s is the fastest: %s samples/s", row->variant->label,
                         figure_count(&rate, row->outcome.samples_per_s.median));
    if (best < 0 || used >= size)
        return;
    row = &table->rows[best];
    used += (size_t)snprintf(
        buffer + used, size - used, "; %s is the most accurate: %.3f in the mean of %d seed%s",
        best == fastest ? "it" : row->variant->label, row->outcome.test_acc.mean,
        row->outcome.test_acc.count, row->outcome.test_acc.count > 1 ? "s" : "");
    if (used < size && second >= 0 &&
        (row->outcome.test_acc.count < 2 ||
         overlap(&row->outcome.test_acc, &table->rows[second].outcome.test_acc)))
        snprintf(buffer + used, size - used, "%s",
                 row->outcome.test_acc.count < 2
                     ? ", and one seed says little"
                     : ", though its range overlaps with the next best");
}

const char *sentence_of_study(const struct study_table *table, char *buffer, size_t size)
{
    buffer[0] = '\0';
    if (table->study->kind != STUDY_DEVICES)
        describe_values(table, buffer, size);
    else if (table->base >= 0)
        sentence_of_devices(&table->rows[table->last].outcome, &table->rows[table->base].outcome,
                            table->study->cores, buffer, size);
    return buffer;
}
