/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/figure.h"
#include "ui/views/views.h"

/* A line for each host: what it has, and what its engine trains. */

enum { HOST, STATE, DEVICES, LOAD, RUN, STATUS, PROGRESS, ACCURACY, COLUMNS };
enum { SIGN = 2 }; /* columns before the lines, for a mark */

static const struct list_column columns[COLUMNS] = {
    [HOST] = {"Host", 10, 30, false, 0},     [STATE] = {"engine", 9, 0, false, 0},
    [DEVICES] = {"devices", 7, 0, false, 3}, [LOAD] = {"load", 5, 0, true, 2},
    [RUN] = {"run", 11, 24, false, 0},       [STATUS] = {"status", 8, 0, false, 5},
    [PROGRESS] = {"epoch", 9, 12, true, 4},  [ACCURACY] = {"accuracy", 8, 0, true, 1},
};

static const char *name_of(const struct host *host)
{
    return host->name[0] != '\0' ? host->name : "this machine";
}

/* "8 GPU" or, where there are none, "2 CPU". */
static void devices_text(const struct state *engine, char *text, size_t size)
{
    int cpus = 0, gpus = 0;
    for (int i = 0; i < engine->device_count; i++)
        *(engine->devices[i].id.kind == DEVICE_CUDA ? &gpus : &cpus) += 1;
    text[0] = '\0';
    if (gpus + cpus > 0)
        snprintf(text, size, "%d %s", gpus > 0 ? gpus : cpus, gpus > 0 ? "GPU" : "CPU");
}

static void progress_text(const struct state *engine, const struct state_run *run, char *text,
                          size_t size)
{
    const struct state_live *live = &engine->live;
    const bool lives = run->run == live->run;
    struct figure done, all;
    snprintf(text, size, "%s/%s", figure_whole(&done, lives ? live->epoch : run->epochs_done),
             figure_whole(&all, lives ? live->epochs : run->epochs));
}

static void draw_run(struct surface *surface, struct rect row, const struct column_place *places,
                     const struct host *host)
{
    const struct state_run *run = host_run(host);
    char text[100];
    struct figure figure;
    if (!run)
        return;
    snprintf(text, sizeof text, "%ld %s", run->run, run->model);
    list_cell(surface, row, row.y, &columns[RUN], &places[RUN], STYLE_NORMAL, text);
    list_cell(surface, row, row.y, &columns[STATUS], &places[STATUS],
              run->status == RUN_FAILED ? STYLE_BAD : STYLE_NORMAL, run_status_name(run->status));
    progress_text(&host->engine, run, text, sizeof text);
    list_cell(surface, row, row.y, &columns[PROGRESS], &places[PROGRESS], STYLE_NORMAL, text);
    list_cell(surface, row, row.y, &columns[ACCURACY], &places[ACCURACY], STYLE_NORMAL,
              figure_fixed(&figure, isfinite(run->val_acc) ? run->val_acc : run->test_acc, 3));
}

static void draw_engine(struct surface *surface, struct rect row, const struct column_place *places,
                        const struct host *host)
{
    const struct state *engine = &host->engine;
    char text[40];
    struct figure figure;
    const bool trains = engine->live.run != 0;
    list_cell(surface, row, row.y, &columns[STATE], &places[STATE],
              trains ? STYLE_GOOD : STYLE_NORMAL, trains ? "training" : "idle");
    devices_text(engine, text, sizeof text);
    list_cell(surface, row, row.y, &columns[DEVICES], &places[DEVICES], STYLE_NORMAL, text);
    list_cell(surface, row, row.y, &columns[LOAD], &places[LOAD], STYLE_NORMAL,
              figure_percent(&figure, host_load(host)));
    draw_run(surface, row, places, host);
}

static void draw_host(const struct ui *ui, struct surface *surface, struct rect row, int line,
                      const struct column_place *places)
{
    static const char *const states[] = {
        [HOST_UNKNOWN] = "asking", [HOST_NO_ENGINE] = "no engine", [HOST_DOWN] = "down"};
    const struct host *host = &ui->hosts.host[line];
    surface_mark_line(surface, row.y, row.x, row.w, line);
    if (line == ui->hosts.current)
        surface_put(surface, row.y, row.x - SIGN, '*', STYLE_STRONG);
    list_cell(surface, row, row.y, &columns[HOST], &places[HOST], STYLE_STRONG, name_of(host));
    if (host->state == HOST_UP) {
        draw_engine(surface, row, places, host);
    } else {
        /* Why takes the place of all that is not known. */
        const int x = row.x + places[DEVICES].x, end = row.x + row.w;
        const int from = places[DEVICES].w > 0 ? x : row.x + places[RUN].x;
        list_cell(surface, row, row.y, &columns[STATE], &places[STATE],
                  host->state == HOST_DOWN ? STYLE_BAD : STYLE_LABEL, states[host->state]);
        surface_text(surface, row.y, from, end - from, STYLE_LABEL, host->why);
    }
    if (line == ui->line)
        surface_restyle(surface, row.y, row.x, row.w, STYLE_CURSOR);
}

static bool draw(const struct ui *ui, struct surface *surface, struct rect area, struct error *err)
{
    struct column_place places[COLUMNS];
    struct rect rows = {area.y, area.x + SIGN, area.h, area.w - SIGN};
    const int visible = area.h - 1, count = ui->hosts.count;
    (void)err;
    if (rows.w <= 0 || visible <= 0)
        return true;
    columns_place(columns, COLUMNS, rows.w, places);
    for (int i = 0; i < COLUMNS; i++)
        list_cell(surface, rows, rows.y, &columns[i], &places[i],
                  i == HOST ? STYLE_STRONG : STYLE_LABEL, columns[i].title);
    const int first = list_scroll(ui->line, count, visible);
    for (int i = first; i < count && i < first + visible; i++)
        draw_host(ui, surface, (struct rect){area.y + 1 + i - first, rows.x, 1, rows.w}, i, places);
    if (count <= 1 && visible > 2)
        surface_paragraph(surface, (struct rect){area.y + 3, rows.x, visible - 2, rows.w},
                          STYLE_LABEL,
                          "No other hosts are configured: hosts = ( \"user@gpu1\", \"gpu2\" ); in "
                          "dpartui.conf lists them here.");
    return true;
}

static void hint(const struct ui *ui, char *buffer, size_t size)
{
    buffer[0] = '\0';
    if (ui->line >= ui->hosts.count)
        return;
    const struct host *host = &ui->hosts.host[ui->line];
    if (host->state != HOST_UP && host->why[0] != '\0')
        snprintf(buffer, size, "%s: %s", name_of(host), host->why);
    else if (ui->line == ui->hosts.current)
        snprintf(buffer, size, "%s: the other pages are about this one", name_of(host));
    else
        snprintf(buffer, size, "%s: Enter opens it", name_of(host));
}

const struct view view_hosts = {draw, hint};
