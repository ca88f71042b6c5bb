/* SPDX-License-Identifier: MIT */
#include "ui/control/palette.h"

#include <string.h>

#include "ui/control/control.h"
#include "ui/keys/walk.h"

/* What else actions are looked for by. */
static const struct {
    enum action action;
    const char *words;
} also_called[] = {
    {ACTION_START, "train submit run"},
    {ACTION_STOP, "cancel abort kill end"},
    {ACTION_PAUSE, "unpause suspend wait"},
    {ACTION_RETUNE, "lr"},
    {ACTION_EPOCHS, "longer shorter"},
    {ACTION_MARK, "overlay plot"},
    {ACTION_DETAILS, "show"},
    {ACTION_COPY, "load settings repeat"},
    {ACTION_RESUME, "continue checkpoint restart"},
    {ACTION_NOTE, "comment"},
    {ACTION_TAGS, "label"},
    {ACTION_FILTER, "search find grep"},
    {ACTION_DELETE, "remove"},
    {ACTION_SWEEP, "scaling grid study"},
    {ACTION_X_AXIS, "time"},
    {ACTION_LOG_SCALE, "logarithm semilog"},
    {ACTION_SMOOTHING, "average ema"},
    {ACTION_LR, "lr rate"},
    {ACTION_ENERGY, "joules power watt"},
    {ACTION_SAMPLES_PER_J, "energy efficiency"},
    {ACTION_VIEW_RUNS, "history list"},
    {ACTION_VIEW_SETTINGS, "colour color theme palette mouse charset configuration preferences"},
    {ACTION_VIEW_COLUMNS, "hide fields"},
    {ACTION_SCREENSHOT, "export screenshot save"},
    {ACTION_MOUSE, "select copy click"},
    {ACTION_HELP, "keys manual shortcuts legend"},
    {ACTION_QUIT, "exit"},
};

/* Is it the beginning of such a word? */
static bool is_called(enum action action, const char *typed)
{
    for (size_t i = 0; i < sizeof also_called / sizeof also_called[0]; i++) {
        const char *words = also_called[i].words, *word;
        if (also_called[i].action == action && typed[0] != '\0' &&
            (word = strcasestr(words, typed)) && (word == words || word[-1] == ' '))
            return true;
    }
    return false;
}

/* How well an entry answers to what was typed: 0 not at all, 3 by the beginning of its name. */
static int rating(const struct action_entry *entry, const char *typed)
{
    const char *word = strcasestr(entry->name, typed);
    if (!word && is_called(entry->action, typed))
        return 2;
    if (!word)
        return strcasestr(entry->description, typed) || strcasestr(entry->label, typed) ? 1 : 0;
    return word == entry->name ? 3 : 2;
}

/* Only what is worth typing a name for: not the keys that walk through lines or answer. */
static bool is_command(const struct ui *ui, const struct action_entry *entry)
{
    return !action_walks(entry->action) && entry->action != ACTION_PALETTE &&
           (entry->contexts & ui_view_contexts(ui, ui->view)) && ui_can_below(ui, entry->action);
}

int palette_find(const struct ui *ui, size_t found[ACTION_ENTRIES])
{
    size_t count;
    const struct action_entry *table = actions_table(&count);
    int matches = 0;
    for (int wanted = 3; wanted > 0; wanted--)
        for (size_t i = 0; i < count; i++)
            if (rating(&table[i], ui->editor.text) == wanted && is_command(ui, &table[i]))
                found[matches++] = i;
    return matches;
}

static bool accept(struct ui *ui, const char *text)
{
    size_t found[ACTION_ENTRIES], count;
    const struct action_entry *table = actions_table(&count);
    int matches = palette_find(ui, found);
    if (ui->choice >= matches)
        return ui_say(ui, true, "no action is called '%.40s' here", text);
    overlay_close(ui);
    ui_act(ui, table[found[ui->choice]].action);
    return true;
}

static void changed(struct ui *ui, const char *text)
{
    (void)text;
    ui->choice = 0;
}

static const struct prompt palette_prompt = {
    .label = "Do: ",
    .accept = accept,
    .changed = changed,
    .palette = true,
};

void palette_open(struct ui *ui)
{
    ui_prompt(ui, &palette_prompt, 0, "");
    ui->choice = 0;
}

void palette_act(struct ui *ui, enum action action)
{
    size_t found[ACTION_ENTRIES];
    int matches = palette_find(ui, found);
    ui->choice += action == ACTION_CHOOSE_UP ? -1 : 1;
    if (ui->choice >= matches)
        ui->choice = matches - 1;
    if (ui->choice < 0)
        ui->choice = 0;
}

void palette_pick(struct ui *ui, int line)
{
    ui->choice = line;
}
