/* SPDX-License-Identifier: MIT */
#include "ui/frame/header.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/figure.h"

enum { BAR_LEAST = 8, BAR_MOST = 40, GAP = 2, PARTS = 16, PART_TEXT = 96 };

/* Pieces of the line, never more than PARTS; the ones with the highest `drop` go when the line is
 * too short. */
struct part {
    char text[PART_TEXT];
    enum style style;
    int drop;
    bool bar; /* the progress bar stands before the text */
};

struct line {
    struct part parts[PARTS];
    int count;
};

static struct part *add(struct line *line, enum style style, int drop)
{
    struct part *part = &line->parts[line->count++];
    *part = (struct part){.style = style, .drop = drop};
    return part;
}

static int part_width(const struct part *part)
{
    return text_columns(part->text) + (part->bar ? BAR_LEAST + 1 : 0);
}

static int line_width(const struct line *line)
{
    int width = -GAP;
    for (int i = 0; i < line->count; i++)
        width += part_width(&line->parts[i]) + GAP;
    return width;
}

static void fit(struct line *line, int width)
{
    while (line->count > 1 && line_width(line) > width) {
        int worst = 0;
        for (int i = 1; i < line->count; i++)
            if (line->parts[i].drop > line->parts[worst].drop)
                worst = i;
        for (int i = worst; i + 1 < line->count; i++)
            line->parts[i] = line->parts[i + 1];
        line->count--;
    }
}

/* "3/10", or "3" when the whole is not known. */
static void of(char *buffer, size_t size, const char *what, double part, double whole)
{
    struct figure a, b;
    if (isfinite(whole))
        snprintf(buffer, size, "%s %s/%s", what, figure_whole(&a, part), figure_whole(&b, whole));
    else
        snprintf(buffer, size, "%s %s", what, figure_whole(&a, part));
}

/* A run that prepares for longer says for how long. */
static const double TELLING_S = 2;

/*
 * What the run does now, at least as wide as its last step is: what follows it stays where it is,
 * so that it need not be sent again.
 */
static void what_it_does(const struct state_live *live, char *buffer, size_t size)
{
    struct figure elapsed;
    char last[PART_TEXT];
    of(last, sizeof last, "step", live->steps_per_epoch, live->steps_per_epoch);
    if (live->to_read > 0)
        of(buffer, size, "picture", live->read, live->to_read);
    else if (strcmp(live->phase, "prepare") == 0 && live->elapsed_s >= TELLING_S)
        snprintf(buffer, size, "%s %s", live->phase, figure_duration(&elapsed, live->elapsed_s));
    else if (live->phase[0] != '\0' && live->phase[0] != 't')
        snprintf(buffer, size, "%s", live->phase);
    else
        of(buffer, size, "step", live->epoch_step, live->steps_per_epoch);
    size_t length = strlen(buffer);
    if (isfinite(live->steps_per_epoch) && length < strlen(last))
        snprintf(buffer + length, size - length, "%*s", (int)(strlen(last) - length), "");
}

static double progress(const struct state_live *live)
{
    if (live->to_read > 0)
        return live->read / live->to_read;
    return live->total_steps > 0 ? live->step / live->total_steps : NAN;
}

static void add_run(const struct ui *ui, struct line *line)
{
    const struct state_live *live = &ui->state.live;
    struct part *part = add(line, STYLE_STRONG, 0);
    struct figure figure;
    snprintf(part->text, sizeof part->text, "run %ld", live->run);
    part = add(line, STYLE_NORMAL, 5);
    snprintf(part->text, sizeof part->text, "%s", live->model);
    if (live->data[0] != '\0') {
        part = add(line, STYLE_NORMAL, 9);
        snprintf(part->text, sizeof part->text, "%s", live->data);
    }
    part = add(line, STYLE_NORMAL, 3);
    of(part->text, sizeof part->text, "epoch", live->epoch, live->epochs);
    part = add(line, STYLE_NORMAL, 6);
    what_it_does(live, part->text, sizeof part->text);
    if (live->scheduled) {
        part = add(line, STYLE_NORMAL, 8);
        snprintf(part->text, sizeof part->text, "lr %s", figure_digits(&figure, live->lr, 3));
    }
    part = add(line, STYLE_NORMAL, 4);
    part->bar = true;
    snprintf(part->text, sizeof part->text, "%4s", figure_percent(&figure, progress(live)));
    if (live->status == RUN_PAUSED) {
        part = add(line, STYLE_WARNING, 1);
        snprintf(part->text, sizeof part->text, "paused");
    }
    if (live->stop_after_epoch || live->stopping) {
        part = add(line, STYLE_WARNING, 1);
        snprintf(part->text, sizeof part->text, "%s",
                 live->stopping ? "stopping" : "stops after epoch");
    } else if (live->status != RUN_PAUSED && isfinite(live->eta_s)) {
        part = add(line, STYLE_NORMAL, 2);
        snprintf(part->text, sizeof part->text, "%s left", figure_duration(&figure, live->eta_s));
    }
}

/* Devices that failed under a run are nothing to look for in a list. */
static void add_lost(const struct ui *ui, struct line *line)
{
    const struct state_device *first = NULL;
    char name[DEVICE_NAME];
    int lost = 0;
    for (int i = 0; i < ui->state.device_count; i++) {
        if (!ui->state.devices[i].lost)
            continue;
        first = first ? first : &ui->state.devices[i];
        lost++;
    }
    if (!first)
        return;
    struct part *part = add(line, STYLE_BAD, 1);
    if (lost == 1)
        snprintf(part->text, sizeof part->text, "%s %s", device_id_text(first->id, name),
                 first->available ? "failed" : "lost");
    else
        snprintf(part->text, sizeof part->text, "%d devices lost", lost);
}

static void add_link(const struct ui *ui, struct line *line)
{
    static const char *const troubles[] = {[LINK_LOST] = "engine lost, trying to reach it",
                                           [LINK_NO_ENGINE] = "no engine",
                                           [LINK_UP] = "engine silent"};
    struct part *part;
    if (ui->link == LINK_LOST && ui->down_since[0] != '\0') {
        part = add(line, STYLE_BAD, 0);
        snprintf(part->text, sizeof part->text, "line down since %s", ui->down_since);
        return;
    }
    if (ui->link == LINK_STARTING) {
        part = add(line, STYLE_NORMAL, 10);
        snprintf(part->text, sizeof part->text, "%s",
                 ui->host[0] != '\0' ? "connecting" : "starting the engine");
    } else if (ui->link != LINK_UP || ui->silent) {
        part = add(line, STYLE_BAD, 0);
        snprintf(part->text, sizeof part->text, "%s",
                 ui->link == LINK_LOST && ui->stopped ? "engine stopped" : troubles[ui->link]);
    } else {
        part = add(line, STYLE_LABEL, 10);
        if (!ui->state.known)
            snprintf(part->text, sizeof part->text, "connected");
        else
            snprintf(part->text, sizeof part->text, "engine %ld%s", ui->state.pid,
                     ui->state.live.run != 0 ? "" : " idle");
    }
    if (ui->state.queued > 0) {
        part = add(line, STYLE_LABEL, 7);
        snprintf(part->text, sizeof part->text, "%d queued", ui->state.queued);
    }
}

bool header_draw(const struct ui *ui, struct surface *surface, struct rect area, struct error *err)
{
    struct line line = {.count = 0};
    const char *title = view_title(ui->view);
    struct part *part = add(&line, STYLE_STRONG, 8);
    int x = area.x;
    (void)err;
    snprintf(part->text, sizeof part->text, "dpartui");
    if (ui->host[0] != '\0') {
        part = add(&line, STYLE_FOCUS, 1);
        snprintf(part->text, sizeof part->text, "%s", ui->host);
    }
    if (title) {
        part = add(&line, STYLE_FOCUS, 1);
        snprintf(part->text, sizeof part->text, "%s", title);
    }
    if (ui->link == LINK_UP && ui->state.live.run != 0)
        add_run(ui, &line);
    if (ui->link == LINK_UP)
        add_lost(ui, &line);
    if (ui->link == LINK_UP && ui->state.store_trouble && ui->view != VIEW_LOG)
        snprintf(add(&line, STYLE_BAD, 1)->text, PART_TEXT, "run store: see the log");
    add_link(ui, &line);
    fit(&line, area.w);
    int spare = area.w - line_width(&line);
    for (int i = 0; i < line.count; i++) {
        part = &line.parts[i];
        if (part->bar) {
            int width = BAR_LEAST + (spare > BAR_MOST - BAR_LEAST ? BAR_MOST - BAR_LEAST : spare);
            surface_bar(surface, area.y, x, width, progress(&ui->state.live));
            x += width + 1;
        }
        x += surface_text(surface, area.y, x, area.x + area.w - x, part->style, part->text) + GAP;
    }
    return true;
}
