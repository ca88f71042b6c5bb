/* SPDX-License-Identifier: MIT */
#include "ui/panels/chart_advice.h"

#include <math.h>
#include <stdio.h>

#include "events/strategy.h"
#include "ui/panels/run_curves.h"

static bool is_of_energy(enum metric metric)
{
    return metric == METRIC_ENERGY || metric == METRIC_SAMPLES_PER_J;
}

/* Epochs have ended, and none has measured it (docs/protocol.md). */
static void say_no_noise(const struct state_run *run, char *buffer, size_t size)
{
    if (*strategy_worth_telling(run->strategy) != '\0')
        snprintf(buffer, size, "run %ld has no noise scale: with strategy %s it is not measured",
                 run->run, run->strategy);
    else if (run->device_count > 1)
        snprintf(buffer, size, "run %ld has no noise scale yet: no epoch has measured one",
                 run->run);
    else
        snprintf(buffer, size,
                 "run %ld has no noise scale; one device alone measures it with noise-every",
                 run->run);
}

/* Has it values of the metric, other than in the epochs that were zoomed to? */
static bool is_out_of_sight(const struct ui *ui, const struct state_run *run, enum metric metric)
{
    const struct curve curve = curve_of(run, metric);
    return ui->chart.from < ui->chart.to && isfinite(curve_last(&curve));
}

/* Of a run whose curve is known. */
static void say_no_value(const struct ui *ui, const struct state_run *run, enum metric metric,
                         char *buffer, size_t size)
{
    if (is_out_of_sight(ui, run, metric))
        snprintf(buffer, size, "run %ld: nothing is in sight; 0 shows all epochs", run->run);
    else if (metric == METRIC_NOISE)
        say_no_noise(run, buffer, size);
    else if (is_of_energy(metric))
        snprintf(buffer, size,
                 "run %ld: its energy was not measured; the details of its devices say what cannot "
                 "be read, and why",
                 run->run);
    else if (ui->preferences.x_axis != X_EPOCHS)
        snprintf(buffer, size, "run %ld: its %s are not known; v chooses another x axis", run->run,
                 ui->preferences.x_axis == X_STEPS ? "steps" : "seconds");
    else if (run_curves_are_logarithmic(ui, metric))
        snprintf(buffer, size, "run %ld: no value above 0 is known", run->run);
    else
        snprintf(buffer, size, "run %ld: nothing is known of this", run->run);
}

void chart_advice(const struct ui *ui, const struct state_run *front, enum metric metric,
                  char *buffer, size_t size)
{
    if (ui->link == LINK_STARTING)
        snprintf(buffer, size, "Starting the engine");
    else if (!ui->state.known)
        buffer[0] = '\0';
    else if (!front)
        snprintf(buffer, size, "Choose devices with Space, then press s to start a run");
    else if (front->epochs_done > 0 && front->point_count == 0)
        snprintf(buffer, size, "run %ld: reading its curve", front->run);
    else if (front->point_count > 0)
        say_no_value(ui, front, metric, buffer, size);
    else if (run_has_ended(front))
        snprintf(buffer, size, "run %ld: nothing is known of this", front->run);
    else if (metric_look(metric)->fine)
        snprintf(buffer, size, "run %ld: the first point comes after a few steps", front->run);
    else
        snprintf(buffer, size, "run %ld: the first point comes after epoch 1", front->run);
}
