/* SPDX-License-Identifier: MIT */
#include "experiment/sentence.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/figure.h"
#include "base/text.h"
#include "experiment/loss.h"
#include "spec/names.h"

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
    struct figure figure;
    const char *change = figure_accuracy_change(&figure, outcome->accuracy_change);
    const char *rows = outcome->validated ? "validation" : "test";
    if (strcmp(change, "0.000") == 0)
        return append(buffer, size, used, ", the same %s accuracy", rows);
    if (isfinite(outcome->accuracy_change))
        return append(buffer, size, used, ", %s accuracy %s", rows, change);
    if (outcome->epochs != base->epochs && isfinite(outcome->epochs) && isfinite(base->epochs))
        return append(buffer, size, used, " (after %.0f epoch%s, not %.0f)", outcome->epochs,
                      plural(outcome->epochs), base->epochs);
    return true;
}

/* Where this is not named as what limits them. */
static bool append_crowd(const struct outcome *outcome, int cores, char *buffer, size_t size,
                         size_t *used)
{
    return !loss_is_crowded(outcome, cores) ||
           append(buffer, size, used, "; the devices share cores: %d threads on %d core%s",
                  outcome->threads, cores, plural(cores));
}

/* Less is what everybody hopes for, and a few percent are within what the counters tell. */
#define MORE_ENERGY 1.05

/* Where more devices take more energy. */
static bool append_energy(const struct outcome *outcome, const struct outcome *base, char *buffer,
                          size_t size, size_t *used)
{
    const double per_epoch = outcome->energy_j.median / base->energy_j.median;
    const double to_target = outcome->target_j.median / base->target_j.median;
    if (outcome->devices < base->devices || !isfinite(per_epoch) ||
        !(fmax(per_epoch, to_target) >= MORE_ENERGY))
        return true;
    return append(buffer, size, used, "; %d devices use %.2f times the energy per epoch",
                  outcome->devices, per_epoch) &&
           (!isfinite(to_target) ||
            append(buffer, size, used, ", and %.2f times to the same accuracy", to_target));
}

/*
 * What the network costs, and with which link the efficiency would be WELL_SCALED. Sums over hosts
 * are under way for a share n of the time, of which devices wait for a share e, the rest is hidden
 * behind their work. With a link of v times the speed they would wait for n / v - (n - e).
 */
static bool append_network(const struct outcome *outcome, char *buffer, size_t size, size_t *used)
{
    const double n = outcome->network_share, e = fmin(outcome->sync_share, n);
    const double efficiency = outcome->efficiency;
    struct figure now, wanted;
    if (!isfinite(n + e) || !(n > 0))
        return true;
    if (!append(buffer, size, used,
                "; the network is busy for %d%% of the time, %d%% hidden behind computing",
                loss_percent(n), loss_percent(n - e)))
        return false;
    if (efficiency >= WELL_SCALED)
        return true;
    /* What may be waited for, as a share of the present time. */
    const double allowed = efficiency / WELL_SCALED - (1 - e);
    if (!(allowed > 0))
        return append(buffer, size, used, ", and no faster link alone makes it %d%% efficient",
                      loss_percent(WELL_SCALED));
    return append(buffer, size, used, "; with a link of %s/s, not %s/s, it would be %d%% efficient",
                  figure_bytes(&wanted, outcome->network_speed * n / (allowed + n - e)),
                  figure_bytes(&now, outcome->network_speed), loss_percent(WELL_SCALED));
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
                outcome->devices, many ? "s" : "", loss_of_what(outcome->strategy),
                many ? "are" : "is", outcome->speed_up, base->devices,
                loss_percent(outcome->efficiency)) ||
        !append_accuracy(outcome, base, buffer, size, &used) ||
        !append_energy(outcome, base, buffer, size, &used))
        return buffer;
    if (outcome->efficiency >= WELL_SCALED) {
        if (append(buffer, size, &used, "; nothing limits the scaling so far") &&
            append_crowd(outcome, cores, buffer, size, &used))
            append_network(outcome, buffer, size, &used);
        return buffer;
    }
    losses_of_devices(outcome, base, cores, losses);
    int first, second;
    losses_largest(losses, &first, &second);
    bool room =
        first < 0
            ? append(buffer, size, &used, "; the times of the devices do not say what limits it")
            : append(buffer, size, &used, "; limited by %s%s%s", losses[first].words,
                     second >= 0 ? ", and by " : "", second >= 0 ? losses[second].words : "");
    room = room &&
           (first == CAUSE_CORES || second == CAUSE_CORES ||
            append_crowd(outcome, cores, buffer, size, &used)) &&
           append_network(outcome, buffer, size, &used);
    if (room && overlap(&base->samples_per_s, &outcome->samples_per_s))
        append(buffer, size, &used,
               "; the ranges of both speeds overlap, so the difference may be chance");
    return buffer;
}

static bool append_difference(const struct outcome *slow, const struct outcome *fast, char *buffer,
                              size_t size, size_t *used)
{
    struct loss losses[CAUSES] = {{.share = 0}};
    if (isfinite(slow->sync_share + slow->wait_share + fast->sync_share + fast->wait_share))
        losses_of_strategy(slow, fast, losses);
    int first, second;
    losses_largest(losses, &first, &second);
    if (first < 0)
        return append(buffer, size, used, "; the times of the devices do not say why");
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
    /* On as many devices the base may be one of them. Each may have a base of its own, too. */
    const double alone = base->samples_per_s.median;
    if (alone > 0 && base->devices < fast->devices) {
        snprintf(times[0], sizeof times[0], ", %.2f times %d device%s",
                 fast->samples_per_s.median / alone, base->devices, plural(base->devices));
        snprintf(times[1], sizeof times[1], " (%.2f)", slow->samples_per_s.median / alone);
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
                loss_percent(1 - sync - wait)) ||
        ((strategy_divides_rows(outcome->strategy) || loss_percent(sync) > 0) &&
         !append(buffer, size, &used, ", %d%% all-reduce", loss_percent(sync))))
        return buffer;
    if (isfinite(input) && !append(buffer, size, &used, ", %d%% input", loss_percent(input)))
        return buffer;
    if (outcome->devices != 1)
        append(buffer, size, &used, ", %d%% waiting", loss_percent(wait - loss_or_zero(input)));
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
        row->outcome.test_acc.count, plural(row->outcome.test_acc.count));
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

static int by_speed(const void *left, const void *right)
{
    const struct outcome *a = *(const struct outcome *const *)left;
    const struct outcome *b = *(const struct outcome *const *)right;
    return (a->samples_per_s.median < b->samples_per_s.median) -
           (a->samples_per_s.median > b->samples_per_s.median);
}

/* A sentence for each strategy but the fastest, which they are compared with. */
static void describe_strategies(const struct study_table *table, const struct outcome *base,
                                char *buffer, size_t size)
{
    const struct outcome *list[STRATEGIES];
    int count = 0;
    for (int i = 0; i < STRATEGIES; i++)
        if ((list[count] = with_strategy(table, (enum strategy)i)))
            count++;
    qsort(list, (size_t)count, sizeof *list, by_speed);
    for (int i = 1; i < count; i++) {
        const size_t used = strlen(buffer);
        const bool room = i == 1 || used + 3 < size;
        if (room && i > 1)
            strcpy(buffer + used, ". ");
        if (room)
            sentence_of_strategies(list[0], list[i], base, buffer + strlen(buffer),
                                   size - strlen(buffer));
    }
}

static void describe_devices(const struct study_table *table, char *buffer, size_t size)
{
    const struct outcome *base = &table->rows[table->base].outcome;
    if (table->study->strategies)
        describe_strategies(table, base, buffer, size);
    if (buffer[0] == '\0')
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

const char *sentence_of_resume(const struct measure *measure, char *buffer, size_t size)
{
    buffer[0] = '\0';
    if (measure->measured_from > 0)
        snprintf(
            buffer, size,
            "Epochs before %.0f do not count as speed: the run was resumed on other devices or "
            "with settings that change how long a step takes",
            measure->measured_from);
    return buffer;
}
