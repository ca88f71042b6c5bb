/* SPDX-License-Identifier: MIT */
#include "ui/session/runs.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ui/session/ui.h"

bool ui_is_marked(const struct ui *ui, long run)
{
    for (int i = 0; i < ui->mark_count; i++)
        if (ui->marked[i] == run)
            return true;
    return false;
}

void ui_toggle_mark(struct ui *ui, long run)
{
    bool was = ui_is_marked(ui, run);
    int kept = 0;
    for (int i = 0; i < ui->mark_count; i++)
        if (ui->marked[i] != run)
            ui->marked[kept++] = ui->marked[i];
    if (!was && kept < UI_MARKS)
        ui->marked[kept++] = run;
    ui->mark_count = kept;
    /* Of runs that are alike a marked one is compared with. */
    ui->state.runs_version++;
}

int ui_marks_drawn(const struct ui *ui)
{
    return ui->mark_count < UI_MARKS_DRAWN ? ui->mark_count : UI_MARKS_DRAWN;
}

static int rising(const void *a, const void *b)
{
    const long *first = a, *second = b;
    return (*first > *second) - (*first < *second);
}

struct run_group ui_runs_chosen(const struct ui *ui)
{
    struct run_group group = {.count = 0};
    for (int i = 0; ui->view == VIEW_RUNS && i < ui->mark_count; i++)
        group.run[group.count++] = ui->marked[i];
    if (group.count == 0 && state_run(&ui->state, ui->selected_run))
        group.run[group.count++] = ui->selected_run;
    qsort(group.run, (size_t)group.count, sizeof *group.run, rising);
    return group;
}

bool run_group_has(const struct run_group *group, long run)
{
    for (int i = 0; i < group->count; i++)
        if (group->run[i] == run)
            return true;
    return false;
}

void run_group_text(const struct run_group *group, const char *sign, char *buffer, size_t size)
{
    enum { MORE = 16 }; /* of " and 2000 more" */
    size_t used = 0;
    buffer[0] = '\0';
    for (int i = 0; i < group->count && used < size; i++) {
        char next[32];
        size_t length =
            (size_t)snprintf(next, sizeof next, "%s%s%ld", i > 0 ? ", " : "", sign, group->run[i]);
        if (used + length + (i + 1 < group->count ? MORE : 1) > size) {
            snprintf(buffer + used, size - used, " and %d more", group->count - i);
            return;
        }
        memcpy(buffer + used, next, length + 1);
        used += length;
    }
}

json_t *run_group_json(const struct run_group *group)
{
    json_t *runs = json_array();
    for (int i = 0; i < group->count; i++)
        json_array_append_new(runs, json_integer(group->run[i]));
    return json_pack("{s:o}", "runs", runs);
}

/* The place of the running run among all, oldest first; INT_MAX: none is running, so that no other
 * one gives way to it. */
static int place_of_live(const struct ui *ui)
{
    const struct state_run *live = state_run(&ui->state, ui->state.live.run);
    return live ? (int)(live - ui->state.runs) : INT_MAX;
}

const struct state_run *ui_run_line(const struct ui *ui, int line)
{
    const int live = place_of_live(ui), count = ui->state.run_count;
    if (line < 0 || line >= count)
        return NULL;
    if (live == INT_MAX)
        return &ui->state.runs[count - 1 - line];
    if (line == 0)
        return &ui->state.runs[live];
    return &ui->state.runs[count - line - (count - line <= live)];
}

int ui_line_of_run(const struct ui *ui, long number)
{
    const struct state_run *run = state_run(&ui->state, number);
    const int live = place_of_live(ui), at = run ? (int)(run - ui->state.runs) : -1;
    if (!run || at == live)
        return run ? 0 : -1;
    return ui->state.run_count - 1 - at + (live != INT_MAX && at > live);
}

void ui_select_any_run(struct ui *ui)
{
    if (ui->selected_run == 0 && ui->state.run_count > 0)
        ui->selected_run = ui_run_line(ui, 0)->run;
}

long ui_run_in_question(const struct ui *ui)
{
    const struct state_run *selected = state_run(&ui->state, ui->selected_run);
    bool of_runs = ui->view == VIEW_RUNS || ui->view == VIEW_RUN || ui->view == VIEW_COMPARE;
    bool in_focus = of_runs || (ui->view == VIEW_DASHBOARD && ui->focus == PANEL_RUNS);
    if (in_focus && selected && !run_has_ended(selected))
        return selected->run;
    return of_runs && selected ? 0 : ui->state.live.run;
}

void run_export_end(struct run_export *exported)
{
    for (int i = 0; i < UI_MARKS; i++) {
        json_decref(exported->shown[i]);
        exported->shown[i] = NULL;
    }
    exported->path[0] = '\0';
}
