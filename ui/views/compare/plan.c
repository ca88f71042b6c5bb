/* SPDX-License-Identifier: MIT */
#include "ui/views/compare/plan.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/figure.h"
#include "base/text.h"
#include "ui/session/ui.h"

/* What the sweep that is asked about would train, with both kinds of scaling. */

enum { WIDTH = 72 };

/* So many parts of a mini-batch lie on different devices; all stages of a pipeline see its rows. */
static double shards(const struct spec *spec)
{
    if (strategy_divides_rows(spec->strategy))
        return spec->devices.count;
    return spec->strategy == STRATEGY_PIPELINE ? (double)spec->replicas : 1;
}

/* Batch, lr and where there is room rows a device of one kind; "-" with the reason in `why`. */
static void describe(const struct sweep *plan, enum scaling scaling, int which, bool brief,
                     char *buffer, size_t size, struct error *why)
{
    struct sweep sweep = *plan; /* borrows the spec */
    struct figure batch = {"-"}, lr = {"-"}, rows = {"-"};
    struct spec spec;
    sweep.scaling = scaling;
    if (sweep_spec(&sweep, which, &spec, why)) {
        figure_whole(&batch, (double)spec.batch);
        figure_digits(&lr, spec.lr, 4);
        figure_whole(&rows, ceil((double)spec.batch / shards(&spec)));
        spec_free(&spec);
    }
    if (brief)
        snprintf(buffer, size, "%7s %7s", batch.text, lr.text);
    else
        snprintf(buffer, size, "%8s %8s %8s", batch.text, lr.text, rows.text);
}

int compare_plan_rows(const struct ui *ui)
{
    return ui->compare.sweep.count + 4;
}

static void draw_run(const struct sweep *sweep, int which, struct surface *surface,
                     struct rect area, int y, struct error *why)
{
    struct device_list first = sweep->spec.devices;
    bool brief = area.w < WIDTH;
    char strong[128], weak[128];
    first.count = sweep->devices[which];
    char *names = device_list_text(&first);
    describe(sweep, SCALING_STRONG, which, brief, strong, sizeof strong, why);
    describe(sweep, SCALING_WEAK, which, brief, weak, sizeof weak, why);
    int width = brief ? 6 : 14;
    surface_format(surface, y, area.x, area.w < 3 ? area.w : 3, STYLE_NORMAL, "%3d",
                   sweep->devices[which]);
    if (area.w > 4 + width)
        surface_text(surface, y, area.x + 4, width, STYLE_NORMAL, names ? names : "-");
    surface_format(surface, y, area.x + 4 + width, area.w - 4 - width, STYLE_NORMAL, "%s  %s",
                   strong, weak);
    free(names);
}

static bool leaves_devices_idle(const struct sweep *sweep)
{
    return strategy_divides_rows(sweep->spec.strategy) &&
           sweep->spec.batch < sweep->devices[sweep->count - 1];
}

/* What a reader ought to know beforehand. */
static void remark(const struct ui *ui, const struct error *why, char *buffer, size_t size)
{
    const struct sweep *sweep = &ui->compare.sweep;
    if (why->text[0] != '\0')
        snprintf(buffer, size, "%s", why->text);
    else if (leaves_devices_idle(sweep))
        snprintf(buffer, size,
                 "A batch of %ld leaves devices without rows: most of %d would only wait.",
                 sweep->spec.batch, sweep->devices[sweep->count - 1]);
    else if (sweep->spec.devices.id[0].kind == DEVICE_CPU && ui->form.spec.cpu_threads == 0 &&
             ui->form.spec.thread_count == 0)
        snprintf(buffer, size,
                 "CPU devices divide the cores: each gets %d thread%s in every run, so that only "
                 "their number differs.",
                 sweep->spec.cpu_threads, plural(sweep->spec.cpu_threads));
    else if (lr_begins_highest(&sweep->spec.schedule))
        snprintf(buffer, size,
                 "The runs wait for each other; all else is as in the form, with the same seed. "
                 "For the larger lr of weak scaling try a warmup of 1 epoch.");
    else
        snprintf(buffer, size,
                 "The runs wait for each other; all else is as in the form, with "
                 "the same seed.");
}

void compare_plan_draw(const struct ui *ui, struct surface *surface, struct rect area)
{
    const struct sweep *sweep = &ui->compare.sweep;
    struct error why = ERROR_INIT;
    int y = area.y, end = area.y + area.h;
    char text[256];
    area.w = area.w < WIDTH ? area.w : WIDTH;
    bool brief = area.w < WIDTH;
    if (y < end)
        surface_format(surface, y++, area.x, area.w, STYLE_STRONG,
                       brief ? "%-10s%15s  %15s" : "%-18s%26s  %26s", "The sweep",
                       "f: strong scaling", brief ? "g: weak" : "g: weak scaling");
    if (y < end && brief)
        surface_format(surface, y++, area.x, area.w, STYLE_LABEL, "%-10s%7s %7s  %7s %7s",
                       "devices", "batch", "lr", "batch", "lr");
    else if (y < end)
        surface_format(surface, y++, area.x, area.w, STYLE_LABEL, "%-18s%8s %8s %8s  %8s %8s %8s",
                       "devices", "batch", "lr", "of each", "batch", "lr", "of each");
    for (int i = 0; i < sweep->count; i++)
        if (y < end)
            draw_run(sweep, i, surface, area, y++, &why);
    remark(ui, &why, text, sizeof text);
    if (y < end)
        surface_paragraph(
            surface, (struct rect){y, area.x, end - y, area.w},
            why.text[0] != '\0' || leaves_devices_idle(sweep) ? STYLE_WARNING : STYLE_LABEL, text);
}
