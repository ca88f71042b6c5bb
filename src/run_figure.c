/* SPDX-License-Identifier: MIT */
#include "run_figure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "format.h"

static const struct run_figure figures[] = {
    {"test_acc", "Test accuracy", false, false, 1},
    {"test_loss", "Test loss", false, true, INFINITY},
    {"train_acc", "Training accuracy", true, false, 1},
    {"train_loss", "Training loss", true, true, INFINITY},
    {"lr", "Learning rate", true, false, INFINITY},
    {"samples_per_s", "Samples per second", true, false, INFINITY},
    {"seconds", "Seconds per epoch", false, false, INFINITY},
};
enum { FIGURES = sizeof figures / sizeof *figures };

const struct run_figure *run_figure(size_t index)
{
    return index < FIGURES ? &figures[index] : NULL;
}

const struct run_figure *run_figure_find(const char *name, struct error *err)
{
    const char *names[FIGURES];
    for (size_t i = 0; i < FIGURES; i++) {
        names[i] = figures[i].name;
        if (strcmp(name, names[i]) == 0)
            return &figures[i];
    }
    const char *near = nearest_name(name, names, FIGURES);
    if (near)
        error_set(err, ERROR_USAGE, "there is no figure '%.40s': did you mean '%s'?", name, near);
    else
        error_set(err, ERROR_USAGE,
                  "there is no figure '%.40s': it is test_acc, test_loss, train_acc, train_loss, "
                  "lr, samples_per_s or seconds",
                  name);
    return NULL;
}

bool run_figure_curve(const struct run_figure *figure, const json_t *run,
                      struct chart_point **points, int *count, struct error *err)
{
    const json_t *events = json_object_get(run, "points");
    if (!figure->between || json_array_size(events) == 0)
        events = json_object_get(run, "epochs");
    size_t size = json_array_size(events);
    *count = 0;
    *points = calloc(size ? size : 1, sizeof **points);
    if (!*points)
        return error_memory(err, "curve");
    for (size_t i = 0; i < size; i++) {
        const json_t *event = json_array_get(events, i);
        double x = member_number(event, "epoch");
        if (isfinite(x))
            (*points)[(*count)++] = (struct chart_point){x, member_number(event, figure->name)};
    }
    return true;
}
