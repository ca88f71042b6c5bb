/* SPDX-License-Identifier: MIT */
#include "settings/saved.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "settings/keys.h"

static bool same(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

/* Put a copy of `value`, which may be NULL, into *slot. */
static bool put_copy(char **slot, const char *value, struct error *err)
{
    char *copy = value ? strdup(value) : NULL;
    if (value && !copy)
        return error_memory(err, "settings");
    free(*slot);
    *slot = copy;
    return true;
}

static bool at(void *context, size_t index, struct setting *setting)
{
    const struct saved_settings *saved = context;
    if (index >= SETTINGS_KEYS)
        return false;
    const char *own = saved->entry[index].own, *above = saved->entry[index].above;
    *setting = (struct setting){
        .name = settings_keys[index].name,
        .member = strchr(settings_keys[index].name, '.') + 1,
        .value = own ? own : saved->entry[index].below,
        .source = own ? SOURCE_SAVED : saved->entry[index].below_source,
        .unsaved = !same(own, saved->entry[index].saved),
    };
    if (above) {
        setting->overridden = saved->entry[index].above_source == SOURCE_COMMAND_LINE
                                  ? "the command line"
                                  : settings_keys[index].variable;
        if (!saved->entry[index].touched) {
            setting->value = above;
            setting->source = saved->entry[index].above_source;
        }
    }
    return true;
}

static void drop_own(struct saved_settings *saved, size_t index)
{
    free(saved->entry[index].own);
    saved->entry[index].own = NULL;
}

static bool set(void *context, size_t index, const char *value, struct error *err)
{
    struct saved_settings *saved = context;
    const struct settings_key *key = &settings_keys[index];
    long number;
    if (!settings_key_set(index, &saved->spec, &saved->preferences, value, err))
        return false;
    char *text = settings_key_text(index, &saved->spec, &saved->preferences, err);
    if (!text)
        return false;
    /* Seeds may be larger than any number in a file. */
    if (key->kind == VALUE_WHOLE && !parse_long(text, 0, LONG_MAX, &number)) {
        free(text);
        return error_set(err, ERROR_USAGE, "%s: a file holds numbers up to %ld", key->name,
                         LONG_MAX);
    }
    free(saved->entry[index].own);
    saved->entry[index].own = text;
    saved->entry[index].touched = true;
    /* There and back again is no change. */
    if (!saved->entry[index].saved && same(text, saved->entry[index].below))
        drop_own(saved, index);
    return true;
}

static bool reset(void *context, size_t index, struct error *err)
{
    struct saved_settings *saved = context;
    (void)err;
    drop_own(saved, index);
    saved->entry[index].touched = true;
    return true;
}

static bool is_whole(const char *value)
{
    return value[strspn(value, "0123456789")] == '\0';
}

/* In quotes, as libconfig reads it. */
static void put_string(struct text *out, const char *value)
{
    text_puts(out, "\"");
    for (; *value; value++) {
        if (*value == '"' || *value == '\\')
            text_printf(out, "\\%c", *value);
        else if ((unsigned char)*value < ' ' || *value == 0x7f)
            text_printf(out, "\\x%02x", (unsigned char)*value);
        else
            text_append(out, value, 1);
    }
    text_puts(out, "\"");
}

static void put_value(struct text *out, enum value_kind kind, const char *value)
{
    switch (kind) {
    case VALUE_TEXT:
    case VALUE_FILE:
    case VALUE_WORDS:
        put_string(out, value);
        break;
    case VALUE_COUNTS:
        if (is_whole(value))
            text_puts(out, value);
        else
            put_string(out, value);
        break;
    case VALUE_WHOLE:
    case VALUE_NUMBER:
        text_printf(out, "%s%s", value,
                    is_whole(value) && strtol(value, NULL, 10) > INT_MAX ? "L" : "");
        break;
    case VALUE_BOOL:
        text_puts(out, strcmp(value, "yes") == 0 ? "true" : "false");
        break;
    }
}

static void put_group(const struct saved_settings *saved, const char *group, struct text *out)
{
    size_t length = strlen(group);
    text_printf(out, "%s = {\n", group);
    for (size_t i = 0; i < SETTINGS_KEYS; i++) {
        const char *name = settings_keys[i].name, *own = saved->entry[i].own;
        if (!own || strncmp(name, group, length) != 0 || name[length] != '.')
            continue;
        text_printf(out, "    %s = ", name + length + 1);
        put_value(out, settings_keys[i].kind, own);
        text_puts(out, ";\n");
    }
    text_puts(out, "};\n");
}

static bool write_file(const struct saved_settings *saved, struct error *err)
{
    struct text out = TEXT_INIT;
    text_puts(&out, "# settings.conf - written by the settings page of dpartui's workbench, which "
                    "writes it again\n# each time. What it says wins over dpartui.conf next to it, "
                    "but not over the environment and\n# the command line; dpartui.conf(5). It may "
                    "be removed.\n\n");
    put_group(saved, "screen", &out);
    text_puts(&out, "\n");
    put_group(saved, "train", &out);
    return file_write(saved->path, &out, err);
}

/* Another workbench may have saved meanwhile: what was not changed here stays as it is there. */
static bool take_changes_of_others(struct saved_settings *saved, struct error *err)
{
    struct settings now;
    settings_init(&now);
    bool ok = settings_read_saved(&now, saved->path, err);
    for (size_t i = 0; ok && i < SETTINGS_KEYS; i++) {
        if (same(saved->entry[i].own, saved->entry[i].saved))
            ok = put_copy(&saved->entry[i].own, now.trace[i].saved, err);
        ok = ok && put_copy(&saved->entry[i].saved, now.trace[i].saved, err);
    }
    settings_free(&now);
    return ok;
}

static bool make_folder_of(const char *path, struct error *err)
{
    char *folder = strndup(path, (size_t)(strrchr(path, '/') - path));
    bool ok = folder ? make_directories(folder, 0700, err) : error_memory(err, "settings");
    free(folder);
    return ok;
}

static bool save(void *context, struct error *err)
{
    struct saved_settings *saved = context;
    if (!saved->path)
        return error_set(err, ERROR_FAILED,
                         "there is no home to save them in: set HOME or XDG_CONFIG_HOME");
    if (!make_folder_of(saved->path, err) || !take_changes_of_others(saved, err) ||
        !write_file(saved, err))
        return false;
    for (size_t i = 0; i < SETTINGS_KEYS; i++)
        if (!put_copy(&saved->entry[i].saved, saved->entry[i].own, err))
            return false;
    return true;
}

bool saved_settings_open(struct saved_settings *saved, const struct settings *settings,
                         struct error *err)
{
    *saved = (struct saved_settings){.source = {saved, NULL, at, set, reset, save}};
    spec_init(&saved->spec);
    preferences_init(&saved->preferences);
    for (size_t i = 0; i < SETTINGS_KEYS; i++) {
        const char *in_file = settings->trace[i].saved, *below = settings->trace[i].below;
        char *now = settings_key_text(i, &settings->spec, &settings->preferences, err);
        if (!now)
            return false;
        saved->entry[i].below_source = settings->trace[i].below_source;
        saved->entry[i].above_source = settings->trace[i].source;
        bool above = settings->trace[i].source > SOURCE_SAVED;
        bool ok = put_copy(&saved->entry[i].saved, in_file, err) &&
                  put_copy(&saved->entry[i].own, in_file, err) &&
                  put_copy(&saved->entry[i].below, below ? below : now, err) &&
                  put_copy(&saved->entry[i].above, above ? now : NULL, err);
        free(now);
        if (!ok)
            return false;
    }
    if (!settings_saved_path(&saved->path, err))
        return false;
    saved->source.file = saved->path ? saved->path : "settings.conf";
    return true;
}

void saved_settings_close(struct saved_settings *saved)
{
    for (size_t i = 0; i < SETTINGS_KEYS; i++) {
        free(saved->entry[i].below);
        free(saved->entry[i].saved);
        free(saved->entry[i].own);
        free(saved->entry[i].above);
    }
    free(saved->path);
    spec_free(&saved->spec);
}
