/* SPDX-License-Identifier: MIT */
#include "ui/actions/chosen/export.h"

#include <stdio.h>

#include "base/figure.h"
#include "base/json.h"
#include "base/text.h"

static bool accept(struct ui *ui, const char *path)
{
    struct run_export *exported = &ui->exported;
    if (!prompt_new_file(ui, path, sizeof exported->path))
        return false;
    run_export_end(exported);
    exported->runs = ui->chosen;
    snprintf(exported->path, sizeof exported->path, "%s", path);
    for (int i = 0; i < exported->runs.count; i++)
        if (!ui_request_run(ui, REQUEST_EXPORT, exported->runs.run[i])) {
            run_export_end(exported);
            break;
        }
    return true;
}

static const struct prompt export_prompt = {
    .label = "Write the epochs to: ",
    .hint = "CSV, as of dpartui export",
    .accept = accept,
};

void export_ask(struct ui *ui)
{
    char name[40] = "runs.csv";
    ui->chosen = ui_runs_chosen(ui);
    if (ui->chosen.count == 1)
        snprintf(name, sizeof name, "run-%ld.csv", ui->chosen.run[0]);
    ui_prompt(ui, &export_prompt, 0, name);
}

/* Of the answers, which are thinned where a run is long: how many of how many epochs. */
static void count_epochs(const struct run_export *exported, double *kept, double *of)
{
    *kept = *of = 0;
    for (int i = 0; i < exported->runs.count; i++) {
        const json_t *thinned = json_object_get(exported->shown[i], "thinned");
        double all = (double)json_array_size(json_object_get(exported->shown[i], "epochs"));
        *kept += all;
        *of += thinned ? member_number(thinned, "of") : all;
    }
}

static void write_file(struct ui *ui)
{
    struct run_export *exported = &ui->exported;
    struct error err = ERROR_INIT;
    struct figure figure[2];
    int count = exported->runs.count;
    double kept, of;
    count_epochs(exported, &kept, &of);
    if (!exported->write(exported->path, exported->shown, count, &err)) {
        ui_log_local(ui, LOG_ERROR, "the runs were not exported: %s", err.text);
        ui_say(ui, true, "%s", err.text);
    } else if (kept < of) {
        ui_say(ui, false, "%s of %s epochs are in %s: 'dpartui export' writes all",
               figure_whole(&figure[0], kept), figure_whole(&figure[1], of), exported->path);
    } else {
        ui_say(ui, false, "the epochs of %d run%s are in %s", count, plural(count), exported->path);
    }
    run_export_end(exported);
}

/* Points are the most of it, and not written. */
static json_t *copy_without_points(const json_t *result)
{
    json_t *copy = json_copy((json_t *)result);
    json_object_del(copy, "points");
    return copy;
}

void export_answered(struct ui *ui, const json_t *result, const struct error *failure)
{
    struct run_export *exported = &ui->exported;
    long run = (long)json_integer_value(json_object_get(result, "run"));
    int missing = 0;
    if (exported->path[0] == '\0')
        return;
    if (!result) {
        ui_say(ui, true, "%s is not written: %s", exported->path, failure->text);
        run_export_end(exported);
        return;
    }
    for (int i = 0; i < exported->runs.count; i++) {
        if (!exported->shown[i] && exported->runs.run[i] == run)
            exported->shown[i] = copy_without_points(result);
        missing += !exported->shown[i];
    }
    if (missing == 0)
        write_file(ui);
}
