/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/figure.h"
#include "experiment/figures.h"

/* Above this efficiency nothing worth a word is lost. */
#define WELL_SCALED 0.9
/* A second cause is named when it takes at least this part of what the first takes. */
#define WORTH_NAMING 0.4
/* What is lost by a cause, as a part of the time, before it is named at all. */
#define NOTICEABLE 0.03

enum cause { CAUSE_CORES, CAUSE_SYNC, CAUSE_WAIT, CAUSE_DATA, CAUSE_SLOWER, CAUSES };

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
    return (int)lround(100 * share);
}

/* Devices compute their rows slower than the base's did: by how much of the time. */
static void describe_slower(const struct study_table *table, const struct study_row *base,
                            const struct study_row *last, struct loss *losses)
{
    const struct study_variant *variant = last->variant;
    double slower = 1 - last->device_rate / base->device_rate;
    double computing = 1 - or_zero(last->sync_share) - or_zero(last->wait_share);
    bool crowded = variant->threads > table->study->cores;
    struct figure figures[2];
    const char *now = figure_count(&figures[0], last->device_rate);
    const char *before = figure_count(&figures[1], base->device_rate);
    struct loss *loss = &losses[crowded ? CAUSE_CORES : CAUSE_SLOWER];
    loss->share = or_zero(slower) * computing;
    if (crowded)
        snprintf(loss->words, sizeof loss->words,
                 "devices share cores (%d threads of %d CPU devices on %d core%s: each device "
                 "computes %s samples/s, not %s)",
                 variant->threads, variant->cpus, table->study->cores,
                 table->study->cores == 1 ? "" : "s", now, before);
    else if (last->rows < 0.99 * base->rows)
        snprintf(loss->words, sizeof loss->words,
                 "the batch is small for each device (%.0f rows, not %.0f: each device computes "
                 "%s samples/s, not %s)",
                 last->rows, base->rows, now, before);
    else
        snprintf(loss->words, sizeof loss->words,
                 "devices slow each other down (with as many rows each computes %s samples/s, "
                 "not %s: they share memory, caches or power)",
                 now, before);
}

static void describe_losses(const struct study_table *table, const struct study_row *base,
                            const struct study_row *last, struct loss losses[CAUSES])
{
    double before = or_zero(base->wait_share), grown = or_zero(last->wait_share) - before;
    /* What a single device waits for can only be data. Where that takes as long on more devices
       it is the serial part of Amdahl's law: its share grows with the speed-up. */
    double data = base->variant->devices == 1 ? before * (last->speed_up - 1) : 0;
    data = fmax(0, fmin(data, grown));
    memset(losses, 0, CAUSES * sizeof *losses);
    describe_slower(table, base, last, losses);
    losses[CAUSE_SYNC].share = or_zero(last->sync_share) - or_zero(base->sync_share);
    snprintf(losses[CAUSE_SYNC].words, sizeof losses[CAUSE_SYNC].words,
             "communication (%d%% of the devices' time goes into summing gradients)",
             percent(or_zero(last->sync_share)));
    losses[CAUSE_WAIT].share = grown - data;
    snprintf(losses[CAUSE_WAIT].words, sizeof losses[CAUSE_WAIT].words,
             "devices wait for each other (%d%% of their time: unequal shares or speeds, or other "
             "work on the cores)",
             percent(or_zero(last->wait_share)));
    losses[CAUSE_DATA].share = data;
    snprintf(losses[CAUSE_DATA].words, sizeof losses[CAUSE_DATA].words,
             "data (work between steps takes %d%% of the time of one device, %d%% of that of %d)",
             percent(before), percent(or_zero(last->wait_share)), last->variant->devices);
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

static bool overlap(const struct study_spread *a, const struct study_spread *b)
{
    return a->low <= b->high && b->low <= a->high;
}

static void describe_devices(const struct study_table *table, char *buffer, size_t size)
{
    const struct study_row *base = &table->rows[table->base], *last = &table->rows[table->last];
    struct loss losses[CAUSES];
    size_t used =
        (size_t)snprintf(buffer, size, "%d device%s %s %.2f times as fast as %d, %d%% efficient",
                         last->variant->devices, last->variant->devices > 1 ? "s" : "",
                         last->variant->devices > 1 ? "are" : "is", last->speed_up,
                         base->variant->devices, percent(last->efficiency));
    if (used >= size)
        return;
    if (last->efficiency >= WELL_SCALED) {
        snprintf(buffer + used, size - used, ": nothing limits the scaling so far");
        return;
    }
    describe_losses(table, base, last, losses);
    int first = largest(losses, -1), second = first < 0 ? -1 : largest(losses, first);
    if (second >= 0 && losses[second].share < WORTH_NAMING * losses[first].share)
        second = -1;
    if (first < 0)
        used += (size_t)snprintf(buffer + used, size - used,
                                 "; the times of the devices do not say what limits it");
    else
        used += (size_t)snprintf(buffer + used, size - used, "; what limits it: %s%s%s",
                                 losses[first].words, second >= 0 ? ", and " : "",
                                 second >= 0 ? losses[second].words : "");
    if (used < size && overlap(&base->samples_per_s, &last->samples_per_s))
        snprintf(buffer + used, size - used,
                 "; the ranges of both speeds overlap, so the difference may be chance");
}

static void describe_values(const struct study_table *table, char *buffer, size_t size)
{
    int fastest = -1, best = -1, second = -1;
    for (int i = 0; i < table->count; i++) {
        const struct study_row *row = &table->rows[i];
        if (row->samples_per_s.count > 0 &&
            (fastest < 0 || row->samples_per_s.median > table->rows[fastest].samples_per_s.median))
            fastest = i;
        if (row->test_acc.count > 0 &&
            (best < 0 || row->test_acc.mean > table->rows[best].test_acc.mean))
            best = i;
    }
    for (int i = 0; i < table->count; i++)
        if (i != best && table->rows[i].test_acc.count > 0 &&
            (second < 0 || table->rows[i].test_acc.mean > table->rows[second].test_acc.mean))
            second = i;
    if (fastest < 0)
        return;
    const struct study_row *row = &table->rows[fastest];
    struct figure rate;
    size_t used =
        (size_t)snprintf(buffer, size, "%s is the fastest: %s samples/s", row->variant->label,
                         figure_count(&rate, row->samples_per_s.median));
    if (best < 0 || used >= size)
        return;
    row = &table->rows[best];
    used += (size_t)snprintf(buffer + used, size - used,
                             "; %s is the most accurate: %.3f in the mean of %d seed%s",
                             best == fastest ? "it" : row->variant->label, row->test_acc.mean,
                             row->test_acc.count, row->test_acc.count > 1 ? "s" : "");
    if (used < size && second >= 0 &&
        (row->test_acc.count < 2 || overlap(&row->test_acc, &table->rows[second].test_acc)))
        snprintf(buffer + used, size - used, "%s",
                 row->test_acc.count < 2 ? ", and one seed says little"
                                         : ", though its range overlaps with the next best");
}

const char *study_sentence(const struct study_table *table, char *buffer, size_t size)
{
    buffer[0] = '\0';
    if (table->study->kind != STUDY_DEVICES)
        describe_values(table, buffer, size);
    else if (table->base >= 0 && table->last != table->base &&
             table->rows[table->last].variant->devices > table->rows[table->base].variant->devices)
        describe_devices(table, buffer, size);
    return buffer;
}
