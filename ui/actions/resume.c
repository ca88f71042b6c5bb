/* SPDX-License-Identifier: MIT */
#include "ui/actions/resume.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/figure.h"
#include "base/text.h"

/* Resuming a run that has ended from its newest checkpoint. */

static const char separators[] = " ,";

/* "10", or "10 on cpu:0-1": the devices, "" for those it had; false: it is neither. */
static bool read_target(const char *text, long *epochs, const char **devices)
{
    char number[24];
    size_t length = strcspn(text, separators);
    snprintf(number, sizeof number, "%.*s", (int)length, text);
    text += length;
    text += strspn(text, separators);
    if (strncmp(text, "on ", 3) == 0)
        text += 3;
    *devices = text + strspn(text, separators);
    return length < sizeof number && parse_long(number, 1, SPEC_MAX_EPOCHS, epochs);
}

static bool accept_target(struct ui *ui, const char *text)
{
    const struct state_run *run = state_run(&ui->state, ui->asked_run);
    struct device_list list;
    struct error err = ERROR_INIT;
    const char *devices;
    long epochs;
    if (!read_target(text, &epochs, &devices))
        return ui_say(ui, true, "wants a whole number from 1 to %d, such as 20 or 20 on cpu:0-1",
                      SPEC_MAX_EPOCHS);
    if (*devices != '\0' && !device_list_parse(devices, &list, &err))
        return ui_say(ui, true, "%s", err.text);
    if (run && run->status == RUN_DONE && (double)epochs <= run->epochs_done)
        return ui_say(ui, true, "it has done %.0f: give it more", run->epochs_done);
    json_t *params =
        json_pack("{s:I, s:I}", "resume", (json_int_t)ui->asked_run, "epochs", (json_int_t)epochs);
    if (*devices != '\0')
        json_object_set_new(params, "devices", json_string(devices));
    return ui_request(ui, REQUEST_RESUME, params);
}

static const struct prompt resume_prompt = {
    .label = "Resume run %ld; epochs in all: ",
    .hint = "10 on cpu:0-1: on other devices",
    .accept = accept_target,
};

/* A run that is done can only train more epochs: suggest as many again. */
void resume_ask(struct ui *ui)
{
    const struct state_run *run = state_run(&ui->state, ui->selected_run);
    double epochs = run->status == RUN_DONE ? 2 * run->epochs : run->epochs;
    struct figure figure;
    ui_prompt(ui, &resume_prompt, run->run, isfinite(epochs) ? figure_whole(&figure, epochs) : "");
    ui_request(ui, REQUEST_CHECKPOINTS, json_pack("{s:[I]}", "runs", (json_int_t)run->run));
}

/* One that ended before its first checkpoint starts again from its beginning. */
void resume_measured(struct ui *ui, const json_t *result)
{
    const json_t *runs = json_object_get(result, "runs");
    const long asked = (long)json_integer_value(json_array_get(runs, 0));
    const struct state_run *run = state_run(&ui->state, ui->asked_run);
    if (ui->prompt != &resume_prompt || !run || json_array_size(runs) != 1 || asked != run->run ||
        json_integer_value(json_object_get(result, "count")) > 0 ||
        (run->status != RUN_DONE && run->epochs_done <= 1))
        return;
    overlay_close(ui);
    ui_say(ui, true, "run %ld left no checkpoint to resume from", run->run);
}
