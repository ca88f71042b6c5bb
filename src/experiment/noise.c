/* SPDX-License-Identifier: MIT */
#include "experiment/noise.h"

#include <math.h>
#include <stdio.h>

#include "base/figure.h"
#include "base/text.h"
#include "spec/names.h"

double noise_waste(double noise, double batch)
{
    return batch / (batch + noise);
}

double noise_epochs(double noise, double batch, double other)
{
    return (other + noise) / (batch + noise);
}

double noise_lr(double noise, double lr, double batch, double other)
{
    return lr * (1 + noise / batch) / (1 + noise / other);
}

/* Two digits are more than is known of it. */
static double rounded(double rows)
{
    const double unit = pow(10, fmax(0, floor(log10(rows)) - 1));
    return unit * round(rows / unit);
}

const char *noise_sentence(double noise, double batch, char *buffer, size_t size)
{
    struct figure scale, rows;
    buffer[0] = '\0';
    if (!(noise > 0) || !(batch > 0))
        return buffer;
    figure_whole(&scale, rounded(noise));
    snprintf(buffer, size,
             "Noise scale %s: batches up to about %s row%s use their rows well; %s wastes %.0f%% "
             "of each row",
             scale.text, scale.text, plural(rounded(noise)), figure_whole(&rows, batch),
             100 * noise_waste(noise, batch));
    return buffer;
}

/* That of the base, else of the smallest batch that has one. */
static double common_noise(const struct noise_choice *choices, int count, int base)
{
    const struct noise_choice *found = NULL;
    if (base >= 0 && choices[base].outcome->noise > 0)
        return choices[base].outcome->noise;
    for (int i = 0; i < count; i++)
        if (choices[i].outcome->noise > 0 && (!found || choices[i].batch < found->batch))
            found = &choices[i];
    return found ? found->outcome->noise : NAN;
}

double noise_of_study(const struct study_table *table)
{
    struct noise_choice choices[STUDY_VARIANTS];
    for (int i = 0; i < table->count; i++)
        choices[i] =
            (struct noise_choice){&table->rows[i].outcome, (double)table->rows[i].variant->batch};
    return common_noise(choices, table->count, table->base);
}

double noise_of_series(const struct series *series)
{
    struct noise_choice choices[SERIES_ROWS];
    for (int i = 0; i < series->count; i++)
        choices[i] = (struct noise_choice){&series->rows[i].outcome, series->rows[i].run.batch};
    return common_noise(choices, series->count, series->base);
}

struct noise_reach noise_reach(double noise, const struct noise_choice *choice,
                               const struct noise_choice *base)
{
    const struct spread *speed = &choice->outcome->samples_per_s;
    const struct spread *of_base = &base->outcome->samples_per_s;
    const double faster = speed->median / of_base->median;
    const double epochs = noise_epochs(noise, base->batch, choice->batch);
    return (struct noise_reach){.faster = faster,
                                .epochs = epochs,
                                .sooner = faster / epochs,
                                .low = speed->low / of_base->high / epochs,
                                .high = speed->high / of_base->low / epochs};
}

struct noise_reach study_reach(const struct study_table *table, int row)
{
    const struct study_row *own = &table->rows[row];
    if (table->base < 0 ||
        (table->study->kind != STUDY_DEVICES && !study_varies_batch(table->study)))
        return (struct noise_reach){NAN, NAN, NAN, NAN, NAN};
    const struct study_row *base = &table->rows[table->base];
    return noise_reach(noise_of_study(table),
                       &(struct noise_choice){&own->outcome, (double)own->variant->batch},
                       &(struct noise_choice){&base->outcome, (double)base->variant->batch});
}

const char *noise_reach_sentence(const struct noise_reach *reach, const struct noise_choice *choice,
                                 double target_acc, char *buffer, size_t size)
{
    const int devices = choice->outcome->devices;
    struct figure batch;
    const enum strategy strategy = choice->outcome->strategy;
    char target[40] = "the same accuracy", many[60] = "", range[48] = "";
    buffer[0] = '\0';
    if (!isfinite(reach->sooner))
        return buffer;
    if (isfinite(target_acc))
        snprintf(target, sizeof target, "%g", target_acc);
    if (devices > 0)
        snprintf(many, sizeof many, "%d device%s, %s%s", devices, plural(devices),
                 strategy != STRATEGY_DATA ? strategy_name(strategy) : "",
                 strategy != STRATEGY_DATA ? ", " : "");
    if (reach->high - reach->low >= 0.05)
        snprintf(range, sizeof range, " (%.1f-%.1f)", reach->low, reach->high);
    snprintf(buffer, size,
             "%sbatch %s: %.1f times as fast per epoch, %.1f times the epochs: %.1f times as fast "
             "to %s%s",
             many, figure_whole(&batch, choice->batch), reach->faster, reach->epochs, reach->sooner,
             target, range);
    return buffer;
}
