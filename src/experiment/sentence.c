/* SPDX-License-Identifier: MIT */
#include "experiment/sentence.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/figure.h"
#include "spec/names.h"

/* Above this efficiency no cause is named. */
#define WELL_SCALED 0.9
/* A second cause is named when it takes at least this part of what the first takes. */
#define WORTH_NAMING 0.4
/* What is lost by a cause, as a part of the time, before it is named at all. */
#define NOTICEABLE 0.03

static const char waits_of_pipeline[] = "the pipeline fills and empties, unequal stages";

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

/* Devices times seconds for a row, and what they are spent on. */
struct cost {
    double whole, compute, sync, wait;
};

static struct cost cost_of(const struct outcome *outcome)
{
    double whole = outcome->devices / outcome->samples_per_s.median;
    struct cost cost = {.whole = whole,
                        .sync = whole * or_zero(outcome->sync_share),
                        .wait = whole * or_zero(outcome->wait_share)};
    cost.compute = whole - cost.sync - cost.wait;
    return cost;
}

/* Each stage computes other layers than the base did, so all of them together are compared. */
static void describe_slower_stages(const struct outcome *outcome, const struct outcome *base,
                                   int cores, struct loss *losses)
{
    struct cost now = cost_of(outcome), before = cost_of(base);
    bool crowded = cores > 0 && outcome->threads > cores;
    struct loss *loss = &losses[crowded ? CAUSE_CORES : CAUSE_SLOWER];
    loss->share = or_zero((now.compute - before.compute) / now.whole);
    if (crowded)
        snprintf(loss->words, sizeof loss->words,
                 "devices that share cores (%d threads of %d CPU devices on %d core%s)",
                 outcome->threads, outcome->cpus, cores, cores == 1 ? "" : "s");
    else
        snprintf(loss->words, sizeof loss->words,
                 "small micro-batches, shared memory or caches (the stages together compute %.2f "
                 "times as long for as many rows)",
                 now.compute / before.compute);
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
    bool stages = outcome->strategy == STRATEGY_PIPELINE;
    memset(losses, 0, CAUSES * sizeof *losses);
    (stages ? describe_slower_stages : describe_slower)(outcome, base, cores, losses);
    losses[CAUSE_SYNC].share = or_zero(outcome->sync_share) - or_zero(base->sync_share);
    snprintf(losses[CAUSE_SYNC].words, sizeof losses[CAUSE_SYNC].words,
             "all-reduce (%d%% of the devices' time)", all_reduce);
    losses[CAUSE_WAIT].share = wait - before - input;
    snprintf(losses[CAUSE_WAIT].words, sizeof losses[CAUSE_WAIT].words,
             "devices that wait for each other (%d%% of their time: %s, or other work on the "
             "cores)",
             percent(wait - or_zero(outcome->input_share)),
             stages ? waits_of_pipeline : "unequal shares or speeds");
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
        !append(buffer, size, &used, "%d device%s%s %s %.2f times as fast as %d, %d%% efficient",
                outcome->devices, many ? "s" : "",
                outcome->strategy == STRATEGY_PIPELINE ? " as a pipeline" : "", many ? "are" : "is",
                outcome->speed_up, base->devices, percent(outcome->efficiency)) ||
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

/* Why one is slower than a faster one, by what takes more of its devices' time for a row. */
static void describe_difference(const struct outcome *slow, const struct outcome *fast,
                                struct loss losses[CAUSES])
{
    struct cost more = cost_of(slow), less = cost_of(fast);
    const char *name = strategy_name(slow->strategy), *other = strategy_name(fast->strategy);
    bool stages = slow->strategy == STRATEGY_PIPELINE;
    losses[CAUSE_SYNC].share = (more.sync - less.sync) / more.whole;
    snprintf(losses[CAUSE_SYNC].words, sizeof losses[CAUSE_SYNC].words,
             "%s's devices all-reduce %d%% of their time, %s's %d%%", name,
             percent(or_zero(slow->sync_share)), other, percent(or_zero(fast->sync_share)));
    losses[CAUSE_WAIT].share = (more.wait - less.wait) / more.whole;
    snprintf(losses[CAUSE_WAIT].words, sizeof losses[CAUSE_WAIT].words,
             "%s's devices wait %d%% of their time (%s), %s's %d%%", name,
             percent(or_zero(slow->wait_share)),
             stages ? waits_of_pipeline : "unequal shares or speeds", other,
             percent(or_zero(fast->wait_share)));
    losses[CAUSE_SLOWER].share = (more.compute - less.compute) / more.whole;
    snprintf(losses[CAUSE_SLOWER].words, sizeof losses[CAUSE_SLOWER].words,
             "%s's devices compute %.2f times as long for as many rows (%s)", name,
             more.compute / less.compute, stages ? "small micro-batches" : "small shards");
}

static bool append_difference(const struct outcome *slow, const struct outcome *fast, char *buffer,
                              size_t size, size_t *used)
{
    struct loss losses[CAUSES] = {{.share = 0}};
    if (isfinite(slow->sync_share + slow->wait_share + fast->sync_share + fast->wait_share))
        describe_difference(slow, fast, losses);
    int first = largest(losses, -1), second = first < 0 ? -1 : largest(losses, first);
    if (first < 0)
        return append(buffer, size, used, "; the times of the devices do not say why");
    if (second >= 0 && losses[second].share < WORTH_NAMING * losses[first].share)
        second = -1;
    return append(buffer, size, used, "; %s%s%s", losses[first].words, second >= 0 ? ", and " : "",
                  second >= 0 ? losses[second].words : "");
}

/* Memory and traffic, each of the faster one first. */
static bool append_needs(const struct outcome *fast, const struct outcome *slow, char *buffer,
                         size_t size, size_t *used)
{
    struct figure figures[2];
    const char *name = strategy_name(fast->strategy), *other = strategy_name(slow->strategy);
    if (!isfinite(fast->memory) || !isfinite(slow->memory))
        return true;
    return append(buffer, size, used,
                  "; the device that needs most memory needs %s with %s, %s with %s",
                  figure_bytes(&figures[0], fast->memory), name,
                  figure_bytes(&figures[1], slow->memory), other) &&
           append(buffer, size, used, "; a step sends %s MB with %s, %s MB with %s",
                  figure_count(&figures[0], fast->step_bytes / 1e6), name,
                  figure_count(&figures[1], slow->step_bytes / 1e6), other);
}

const char *sentence_of_strategies(const struct outcome *one, const struct outcome *other,
                                   const struct outcome *base, char *buffer, size_t size)
{
    bool first = one->samples_per_s.median >= other->samples_per_s.median;
    const struct outcome *fast = first ? one : other, *slow = first ? other : one;
    struct figure rates[2];
    char times[2][60] = {"", ""};
    size_t used = 0;
    buffer[0] = '\0';
    if (!(slow->samples_per_s.median > 0) || !(fast->samples_per_s.median > 0))
        return buffer;
    if (isfinite(fast->speed_up) && isfinite(slow->speed_up)) {
        snprintf(times[0], sizeof times[0], ", %.2f times %d device%s", fast->speed_up,
                 base->devices, base->devices == 1 ? "" : "s");
        snprintf(times[1], sizeof times[1], " (%.2f)", slow->speed_up);
    }
    bool room =
        append(buffer, size, &used,
               "On %d devices %s is %.2f times as fast as %s: %s samples/s%s, not %s%s",
               fast->devices, strategy_name(fast->strategy),
               fast->samples_per_s.median / slow->samples_per_s.median,
               strategy_name(slow->strategy), figure_count(&rates[0], fast->samples_per_s.median),
               times[0], figure_count(&rates[1], slow->samples_per_s.median), times[1]) &&
        append_difference(slow, fast, buffer, size, &used) &&
        append_needs(fast, slow, buffer, size, &used);
    if (room && overlap(&fast->samples_per_s, &slow->samples_per_s))
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
        !append(buffer, size, &used, "Of the devices' time: %d%% compute",
                percent(1 - sync - wait)) ||
        (outcome->strategy == STRATEGY_DATA &&
         !append(buffer, size, &used, ", %d%% all-reduce", percent(sync))))
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

/* The last row on as many devices that has that strategy and a speed; NULL: none. */
static const struct outcome *with_strategy(const struct study_table *table, enum strategy strategy)
{
    const struct outcome *found = NULL;
    for (int i = 0; i < table->count; i++) {
        const struct outcome *outcome = &table->rows[i].outcome;
        if (outcome->devices == table->rows[table->last].outcome.devices &&
            outcome->strategy == strategy && outcome->samples_per_s.count > 0)
            found = outcome;
    }
    return found;
}

static void describe_devices(const struct study_table *table, char *buffer, size_t size)
{
    const struct outcome *base = &table->rows[table->base].outcome;
    const struct outcome *data = with_strategy(table, STRATEGY_DATA);
    const struct outcome *pipeline = with_strategy(table, STRATEGY_PIPELINE);
    if (table->study->strategies && data && pipeline)
        sentence_of_strategies(data, pipeline, base, buffer, size);
    else
        sentence_of_devices(&table->rows[table->last].outcome, base, table->study->cores, buffer,
                            size);
}

const char *sentence_of_study(const struct study_table *table, char *buffer, size_t size)
{
    buffer[0] = '\0';
    if (table->study->kind != STUDY_DEVICES)
        describe_values(table, buffer, size);
    else if (table->base >= 0)
        describe_devices(table, buffer, size);
    return buffer;
}
