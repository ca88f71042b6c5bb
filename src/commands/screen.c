/* SPDX-License-Identifier: MIT */
#include <langinfo.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "cli/options.h"
#include "cli/run_spec.h"
#include "commands/list.h"
#include "settings/saved.h"
#include "ui/app/snapshot.h"
#include "ui/draw/preferences.h"
#include "ui/session/ui.h"

static bool take_size(const char *value, struct snapshot_options *options, struct error *err)
{
    int columns, rows, end = 0;
    if (!value)
        return true;
    if (sscanf(value, "%4dx%4d%n", &columns, &rows, &end) != 2 || value[end] || columns < 1 ||
        rows < 1)
        return error_set(err, ERROR_USAGE, "--size '%.40s' is not like 80x24 (columns x rows)",
                         value);
    options->columns = columns;
    options->rows = rows;
    return true;
}

static bool take_view(const char *value, struct snapshot_options *options, struct error *err)
{
    struct text names = TEXT_INIT;
    options->view = value ? view_of_name(value) : VIEW_DASHBOARD;
    if (options->view != VIEW_COUNT)
        return true;
    for (int i = 0; i < VIEW_COUNT; i++)
        text_printf(&names, "%s%s", i > 0 ? ", " : "", view_name((enum view_id)i));
    const char *list = text_cstr(&names);
    error_set(err, ERROR_USAGE, "--view '%.40s' is not one of %s", value,
              list ? list : "the views");
    text_free(&names);
    return false;
}

static bool take_colours(const char *value, struct snapshot_options *options, struct error *err)
{
    long colours = 256;
    if (value && (!parse_long(value, 0, 256, &colours) ||
                  (colours != 0 && colours != 8 && colours != 16 && colours != 256)))
        return error_set(err, ERROR_USAGE, "--colours '%.40s' is not one of 0, 8, 16, 256", value);
    options->colours = (int)colours;
    return true;
}

static bool take_until(const char *value, struct snapshot_options *options, struct error *err)
{
    options->until = INFINITY;
    if (value && !options->replay)
        return error_set(err, ERROR_USAGE, "--at is a second of a session: it needs --replay FILE");
    if (value && !parse_double(value, 0, 1e9, &options->until))
        return error_set(err, ERROR_USAGE, "--at '%.40s' is not a number of seconds", value);
    return true;
}

static bool is_utf8(const struct preferences *preferences)
{
    return preferences->charset == CHARSET_UTF8 ||
           (preferences->charset == CHARSET_AUTO && strcmp(nl_langinfo(CODESET), "UTF-8") == 0);
}

/* Frees the text. */
static bool put(const char *path, struct text *text, struct error *err)
{
    if (path)
        return file_write(path, text, err);
    bool ok = text_cstr(text) ? fwrite(text->data, 1, text->length, stdout) == text->length ||
                                    error_errno(err, "cannot write the screen")
                              : error_memory(err, "the screen");
    text_free(text);
    return ok;
}

/* A workbench as it would start, whose settings can be looked at. */
static bool begin(struct ui *ui, struct saved_settings *saved, const struct settings *settings,
                  struct error *err)
{
    if (!saved_settings_open(saved, settings, err) || !ui_init(ui, &settings->spec, err)) {
        saved_settings_close(saved);
        return false;
    }
    saved->source.save = NULL;
    ui->settings_source = &saved->source;
    ui->preferences = settings->preferences;
    ui->keymap = settings->keys;
    return true;
}

static bool run(struct invocation *invocation, struct error *err)
{
    struct saved_settings saved;
    struct snapshot_options options = {
        .rows = 24,
        .columns = 80,
        .keys = invocation_value(invocation, "keys"),
        .replay = invocation_value(invocation, "replay"),
        .ansi = invocation_has(invocation, "ansi"),
    };
    struct text text = TEXT_INIT;
    struct ui *ui = calloc(1, sizeof *ui);
    if (!ui)
        return error_memory(err, "the screen");
    bool ok = take_size(invocation_value(invocation, "size"), &options, err) &&
              take_view(invocation_value(invocation, "view"), &options, err) &&
              take_colours(invocation_value(invocation, "colours"), &options, err) &&
              take_until(invocation_value(invocation, "at"), &options, err) &&
              run_preferences_take(invocation, err) &&
              begin(ui, &saved, &invocation->settings, err);
    if (ok) {
        options.utf8 = is_utf8(&ui->preferences);
        ok = snapshot_draw(ui, &options, &text, err) &&
             put(invocation_value(invocation, "output"), &text, err);
        ui_free(ui);
        saved_settings_close(&saved);
    }
    text_free(&text);
    free(ui);
    return ok;
}

static const struct option options[] = {
    {"size", OPTION_VALUE, "COLUMNSxROWS", "of the screen; default 80x24"},
    {"view", OPTION_VALUE, "VIEW", "dashboard, runs, run, compare, log, settings, and others"},
    {"keys", OPTION_VALUE, "KEYS", "pressed before, such as '<Tab>3'"},
    {"replay", OPTION_VALUE, "FILE", "of a recorded session instead of the engine's state"},
    {"at", OPTION_VALUE, "SECONDS", "of that session; default: its end"},
    {"ansi", OPTION_FLAG, NULL, "with the terminal's codes for colours"},
    {"colours", OPTION_VALUE, "N", "how many: 256, 16, 8, or 0 for none"},
    OPTIONS_SCREEN,
    {"output", OPTION_VALUE, "FILE", "write to this file"},
    OPTIONS_END,
};

const struct command command_screen = {
    .name = "screen",
    .place = PLACE_THERE,
    .summary = "Write the workbench's screen as text",
    .details = "It only looks: nothing is asked of the engine that would change anything.",
    .options = options,
    .run = run,
};
