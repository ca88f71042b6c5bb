/* SPDX-License-Identifier: MIT */
#include "ui/actions/settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "spec/origin.h"
#include "spec/text.h"
#include "ui/form/field.h"
#include "ui/keys/walk.h"
#include "ui/session/settings.h"

/* What the keys do on the settings page. */

/* How many settings settings.conf does not hold as they are now. */
static int count_unsaved(const struct ui *ui)
{
    struct setting setting;
    int unsaved = 0;
    for (int i = 0; settings_look(ui, i, &setting); i++)
        unsaved += setting.unsaved;
    return unsaved;
}

bool settings_can_save(const struct ui *ui)
{
    return count_unsaved(ui) > 0 && ui->settings_source->save;
}

/* What was changed in `line` shows at once. */
static void apply(struct ui *ui, int line)
{
    struct error ignored = ERROR_INIT;
    struct setting setting;
    if (settings_look(ui, line, &setting) && settings_of_screen(&setting))
        preferences_set(&ui->preferences, setting.member, setting.value, &ignored);
}

static bool change(struct ui *ui, int line, const char *value)
{
    struct error err = ERROR_INIT;
    if (!ui->settings_source->set(ui->settings_source->context, (size_t)line, value, &err))
        return ui_say(ui, true, "%s", err.text);
    apply(ui, line);
    return true;
}

static bool accept(struct ui *ui, const char *text)
{
    return change(ui, ui->line, text);
}

static const struct prompt prompt = {.accept = accept};

static void step(struct ui *ui, int direction)
{
    struct setting setting;
    char next[64];
    if (settings_look(ui, ui->line, &setting) &&
        field_next(field_find(setting.member), setting.value, direction, next, sizeof next))
        change(ui, ui->line, next);
}

static bool reset(struct ui *ui, int line)
{
    struct error err = ERROR_INIT;
    if (!ui->settings_source->reset(ui->settings_source->context, (size_t)line, &err))
        return ui_say(ui, true, "%s", err.text);
    apply(ui, line);
    return true;
}

bool settings_change(struct ui *ui, const char *member, const char *value)
{
    struct error err = ERROR_INIT;
    struct setting setting;
    for (int i = 0; settings_look(ui, i, &setting); i++)
        if (settings_of_screen(&setting) && strcmp(setting.member, member) == 0)
            return value ? change(ui, i, value) : reset(ui, i);
    /* Nothing keeps settings here. */
    return preferences_set(&ui->preferences, member, value ? value : "default", &err) ||
           ui_say(ui, true, "%s", err.text);
}

bool settings_save(struct ui *ui)
{
    struct error err = ERROR_INIT;
    if (ui->settings_source->save(ui->settings_source->context, &err))
        return ui_say(ui, false, "saved in %s", ui->settings_source->file);
    ui_log_local(ui, LOG_ERROR, "settings were not saved: %s", err.text);
    return ui_say(ui, true, "not saved: %s", err.text);
}

/* A value that nobody gave; with another network it would be another. */
static bool is_of_recipe(const struct spec *spec, const char *member)
{
    const struct spec_field *field = spec_find_field(member);
    enum spec_origin origin = field ? spec_origin(spec, field) : ORIGIN_DEFAULT;
    return origin == ORIGIN_RECIPE || origin == ORIGIN_OPTIMIZER;
}

/* What the form has now becomes what it begins with. */
static void take_form(struct ui *ui)
{
    struct error err = ERROR_INIT;
    struct setting setting;
    int taken = 0;
    for (int i = 0; settings_look(ui, i, &setting); i++) {
        if (settings_of_screen(&setting) || is_of_recipe(&ui->form.spec, setting.member))
            continue;
        char *value = spec_get(&ui->form.spec, setting.member, &err);
        if (!value) {
            ui_say(ui, true, "%s", err.text);
            return;
        }
        bool differs = strcmp(value, setting.value) != 0;
        bool ok = !differs || change(ui, i, value);
        taken += differs;
        free(value);
        if (!ok)
            return;
    }
    if (taken > 0)
        ui_say(ui, false, "%d of the form's values taken over; w saves them", taken);
    else
        ui_say(ui, false, "the form has these values already");
}

/* The screen may have been changed elsewhere, such as how load is shown. */
void settings_opened(struct ui *ui)
{
    struct error ignored = ERROR_INIT;
    struct setting setting;
    for (int i = 0; settings_look(ui, i, &setting); i++) {
        const char *now = preferences_get(&ui->preferences, setting.member);
        if (settings_of_screen(&setting) && now && strcmp(now, setting.value) != 0)
            ui->settings_source->set(ui->settings_source->context, (size_t)i, now, &ignored);
    }
}

void settings_left(struct ui *ui)
{
    int unsaved = count_unsaved(ui);
    char page[KEY_NAME_SIZE], save[KEY_NAME_SIZE];
    /* Help comes back, and the page of settings shows them. */
    if (unsaved > 0 && ui->view != VIEW_HELP && ui->view != VIEW_SETTINGS)
        ui_say(ui, false, "%d setting%s not saved: press %s, then %s", unsaved, plural_are(unsaved),
               keymap_first(&ui->keymap, ACTION_VIEW_SETTINGS, page),
               keymap_first(&ui->keymap, ACTION_SAVE, save));
}

bool settings_can(const struct ui *ui, enum action action)
{
    struct setting setting;
    bool there = settings_look(ui, ui->line, &setting);
    switch (action) {
    case ACTION_EDIT:
    case ACTION_RESET:
    case ACTION_FROM_FORM:
        return there;
    case ACTION_MORE:
    case ACTION_LESS:
        return there && field_find(setting.member)->step != STEP_NOT;
    case ACTION_SAVE:
        return settings_can_save(ui);
    default:
        return true;
    }
}

bool settings_act(struct ui *ui, enum action action)
{
    struct setting setting;
    if (action_walks(action)) {
        ui->line = list_move(ui->line, settings_count(ui), ui_page_lines(ui), action);
        return true;
    }
    switch (action) {
    case ACTION_EDIT:
        if (settings_look(ui, ui->line, &setting))
            ui_prompt(ui, &prompt, 0, setting.value);
        return true;
    case ACTION_MORE:
    case ACTION_LESS:
        step(ui, action == ACTION_MORE ? 1 : -1);
        return true;
    case ACTION_RESET:
        reset(ui, ui->line);
        return true;
    case ACTION_FROM_FORM:
        take_form(ui);
        return true;
    case ACTION_SAVE:
        settings_save(ui);
        return true;
    default:
        return false;
    }
}

static void answer_leave(struct ui *ui, enum action action)
{
    ui->quit = action == ACTION_YES || settings_save(ui);
}

static const struct question leave_question = {
    .answers = {ACTION_SAVE_FIRST, ACTION_YES},
    .answer = answer_leave,
};

void ui_leave(struct ui *ui)
{
    settings_opened(ui);
    int unsaved = count_unsaved(ui);
    if (!settings_can_save(ui) || ui->question == &leave_question)
        ui->quit = true;
    else
        ui_ask(ui, &leave_question, 0,
               "%d setting%s not saved: save first (s), or leave without (y)?", unsaved,
               plural_are(unsaved));
}
