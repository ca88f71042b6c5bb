/* SPDX-License-Identifier: MIT */
#include "ui/actions/grid.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "experiment/plan.h"
#include "spec/values.h"
#include "ui/session/grid.h"

/* What was typed, taken apart in place: "batch=128,256 lr=0.05,0.1 repeats=3". */
struct typed {
    char text[sizeof((struct editor *)0)->text];
    struct study_request request;
};

static bool take_setting(struct study_request *request, const char *word, const char *values,
                         struct error *err)
{
    int count = request->settings[0].key ? request->settings[1].key ? 2 : 1 : 0;
    const char *key = form_key(word);
    if (!key)
        return error_set(err, ERROR_USAGE,
                         "'%.40s' is no setting: type a name of the form, or an option's, such as "
                         "weight-decay",
                         word);
    if (strcmp(key, "seed") == 0)
        return error_set(err, ERROR_USAGE,
                         "seed=%.40s: type repeats=3 for 3 seeds, from the form's on", values);
    if (!spec_has_lists(key))
        return error_set(err, ERROR_USAGE,
                         "%s=%.60s: %s has one value in a sweep, that of the form", word, values,
                         key);
    if (!spec_is_list(key, values))
        return error_set(err, ERROR_USAGE, "%s=%.60s: type several values with commas between",
                         word, values);
    for (int i = 0; i < count; i++)
        if (strcmp(request->settings[i].key, key) == 0)
            return error_set(err, ERROR_USAGE, "%s is there twice: type all its values in one list",
                             key);
    if (count == STUDY_VARIED)
        return error_set(err, ERROR_USAGE, "at most %d settings can have several values",
                         STUDY_VARIED);
    request->settings[count] = (struct study_setting){key, values};
    return true;
}

static bool take_repeats(struct study_request *request, const char *text, struct error *err)
{
    long repeats;
    if (!parse_long(text, 1, GRID_RUNS, &repeats))
        return error_set(err, ERROR_USAGE, "repeats=%.40s: a whole number from 1 to %d", text,
                         GRID_RUNS);
    request->repeats = (int)repeats;
    return true;
}

static bool take_words(struct typed *typed, struct error *err)
{
    char *rest = NULL;
    for (char *word = strtok_r(typed->text, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        char *value = strchr(word, '=');
        if (!value)
            return error_set(err, ERROR_USAGE, "'%.40s': type SETTING=VALUE,VALUE", word);
        *value++ = '\0';
        if (!(strcmp(word, "repeats") == 0 ? take_repeats(&typed->request, value, err)
                                           : take_setting(&typed->request, word, value, err)))
            return false;
    }
    return typed->request.settings[0].key ||
           error_set(err, ERROR_USAGE,
                     "no setting has several values: type them as batch=128,256 lr=0.05,0.1");
}

static bool plan(struct ui *ui, const char *text, struct error *err)
{
    struct study *study = &ui->compare.grid;
    struct typed typed = {.request = {.spec = &ui->form.spec,
                                      .repeats = 1,
                                      .cores = comparison_cores(ui),
                                      .target_acc = ui->compare.target_acc,
                                      .only_given = true}};
    snprintf(typed.text, sizeof typed.text, "%s", text);
    if (!take_words(&typed, err) || !study_plan(study, &typed.request, err))
        return false;
    return study->entry_count <= GRID_RUNS ||
           error_set(err, ERROR_USAGE,
                     "%d runs: the workbench submits at most %d, dpartui compare more",
                     study->entry_count, GRID_RUNS);
}

/* The engine gives the first run the next number; no study of the command has an id like this. */
static void answer_grid(struct ui *ui, enum action answer)
{
    const struct state *state = &ui->state;
    long last = state->run_count > 0 ? state->runs[state->run_count - 1].run : 0;
    (void)answer;
    snprintf(ui->compare.grid.id, sizeof ui->compare.grid.id, "w%ld", last + 1);
    ui->compare.taken = 0;
    ui->compare.submitting = grid_submit_next(ui);
}

static void decline_grid(struct ui *ui)
{
    study_free(&ui->compare.grid);
}

static const struct question grid_question = {
    .answers = {ACTION_YES},
    .answer = answer_grid,
    .declined = decline_grid,
    .moot = true,
};

static bool accept_values(struct ui *ui, const char *text)
{
    const struct study *study = &ui->compare.grid;
    const struct spec *spec = &ui->form.spec;
    struct error err = ERROR_INIT;
    struct figure title;
    study_free(&ui->compare.grid);
    if (!plan(ui, text, &err)) {
        study_free(&ui->compare.grid);
        return ui_say(ui, true, "%s", err.text);
    }
    char *devices =
        spec->devices.choice == DEVICES_DEFAULT ? NULL : device_list_text(&spec->devices);
    ui_ask(ui, &grid_question, 0, "Train %s on %s, %d variant%s of %s, %d run%s each: %d run%s?",
           spec->model ? spec->model : "the default network",
           devices ? devices : "the default devices", study->variant_count,
           plural(study->variant_count), study_title(study, &title), study->repeats,
           plural(study->repeats), study->entry_count, plural(study->entry_count));
    free(devices);
    return true;
}

static const struct prompt values_prompt = {
    .label = "Values ",
    .hint = "as batch=128,256 lr=0.05,0.1 repeats=3",
    .accept = accept_values,
};

void grid_ask(struct ui *ui)
{
    ui_prompt(ui, &values_prompt, 0, "");
}

bool grid_submit_next(struct ui *ui)
{
    const struct study *study = &ui->compare.grid;
    const struct study_entry *entry = &study->entries[ui->compare.taken];
    struct error err = ERROR_INIT;
    char note[200];
    json_t *params = study_entry_spec(study, entry);
    study_entry_note(study, entry, note, sizeof note);
    if (!params || json_object_set_new(params, "note", json_string(note)) != 0) {
        json_decref(params);
        error_memory(&err, "a run");
        return ui_say(ui, true, "%s", err.text);
    }
    return ui_request(ui, REQUEST_SWEEP, params);
}
