/* SPDX-License-Identifier: MIT */
#include "ui/control/form_check.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/json.h"
#include "spec/json.h"
#include "ui/state/read.h"

/* What the engine says of the form while it is filled in. One question at a time: when the form has
 * changed meanwhile, the answer is followed by the next one. */

/* A file that is missing or wrong may be another one a moment later. */
#define PROBLEM_SECONDS 3

static unsigned long digest(const json_t *spec)
{
    char *text = json_to_text(spec, JSON_COMPACT | JSON_SORT_KEYS);
    unsigned long hash = 5381; /* D. J. Bernstein's */
    for (const char *c = text; c && *c != '\0'; c++)
        hash = hash * 33 ^ (unsigned char)*c;
    free(text);
    return hash != 0 ? hash : 1;
}

void form_want_check(struct ui *ui)
{
    struct error ignored = ERROR_INIT;
    /* Nobody answers a recorded session. */
    if (ui->link != LINK_UP || !ui->requester.send || ui->check.asked)
        return;
    json_t *spec = spec_given_to_json(&ui->form.spec);
    unsigned long of = digest(spec);
    if (!spec || of == ui->check.of) {
        json_decref(spec);
        return;
    }
    ui->check.of = of;
    ui->check.asked = ui->requester.send(ui->requester.context, REQUEST_CHECK, spec, &ignored);
}

void form_check_problem(struct ui *ui)
{
    const struct form_check *check = &ui->check;
    if (check->problem[0] != '\0' && !check->asked && clock_seconds() >= check->again)
        ui->check.of = 0;
}

static void take_filled(struct ui *ui, const json_t *result)
{
    struct error err = ERROR_INIT;
    struct spec resolved;
    spec_init(&resolved);
    if (!spec_from_json(&resolved, result, &err) || !form_take_filled(&ui->form, &resolved, &err))
        ui_say(ui, true, "%s", err.text);
    spec_free(&resolved);
}

void form_checked(struct ui *ui, const json_t *result, const struct error *failure)
{
    struct form_check *check = &ui->check;
    *check = (struct form_check){.of = check->of};
    if (result) {
        double rows = read_amount(result, "train_rows");
        read_text(result, "model", check->model, sizeof check->model);
        read_text(result, "data", check->data, sizeof check->data);
        check->train_rows = rows > 0 && rows < 1e15 ? (long)rows : 0;
        take_filled(ui, result);
    } else if (failure->kind == ERROR_USAGE) {
        snprintf(check->problem, sizeof check->problem, "%s", failure->text);
        check->again = clock_seconds() + PROBLEM_SECONDS;
    }
    form_want_check(ui);
}
