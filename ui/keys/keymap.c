/* SPDX-License-Identifier: MIT */
#include "ui/keys/keymap.h"

#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "ui/keys/actions.h"

void keymap_init(struct keymap *keymap)
{
    size_t count;
    const struct action_entry *table = actions_table(&count);
    memset(keymap, 0, sizeof *keymap);
    for (size_t i = 0; i < count && i < ACTION_ENTRIES; i++)
        memcpy(keymap->key[i], table[i].key, sizeof keymap->key[i]);
}

/* Why a key can mean nothing but what it means to the terminal; NULL: it can. */
static const char *taken(int key, const struct action_entry *entry)
{
    switch (key) {
    case KEYCODE_CTRL_C:
        return entry->action == ACTION_QUIT ? NULL : "Ctrl-C leaves the workbench";
    case KEYCODE_CTRL_Z:
        return "Ctrl-Z suspends the workbench";
    case KEYCODE_CTRL_H:
        return "Ctrl-H is Backspace on many terminals";
    case KEYCODE_CTRL_M:
        return "Ctrl-M is Enter";
    default:
        return NULL;
    }
}

static bool parse_keys(const char *text, const struct action_entry *entry, int keys[ACTION_KEYS],
                       struct error *err)
{
    int count = 0;
    memset(keys, 0, ACTION_KEYS * sizeof *keys);
    for (text += strspn(text, " "); *text != '\0'; text += strspn(text, " ")) {
        size_t length = strcspn(text, " ");
        int key = key_of_name(text, length);
        if (key == KEYCODE_NONE || key == KEYCODE_BACKSPACE)
            return error_set(err, ERROR_USAGE,
                             "'%.*s' is no key: a character, or Space, Enter, Esc, Tab, F1 to F12, "
                             "Ctrl-L and the like",
                             (int)(length < 40 ? length : 40), text);
        const char *why = taken(key, entry);
        if (why)
            return error_set(err, ERROR_USAGE, "%s: take another key", why);
        if (count == ACTION_KEYS)
            return error_set(err, ERROR_USAGE, "an action has at most %d keys", ACTION_KEYS);
        if ((entry->contexts & CONTEXT_PROMPT) && key >= ' ' && key <= 0x10ffff)
            return error_set(err, ERROR_USAGE,
                             "'%.*s' is text where '%s' works: take Enter, Esc, an F key or Ctrl",
                             (int)length, text, entry->name);
        keys[count++] = key;
        text += length;
    }
    return true;
}

/* Actions in configurations of earlier versions. */
static const char *present_name(const char *name)
{
    static const char *const renamed[][2] = {
        {"go-on", "resume"},
        {"carry-on", "cancel-stop"},
        {"fixed", "strong-scaling"},
        {"grow", "weak-scaling"},
    };
    for (size_t i = 0; i < sizeof renamed / sizeof renamed[0]; i++)
        if (strcmp(name, renamed[i][0]) == 0)
            return renamed[i][1];
    return name;
}

static bool refuse_name(const struct action_entry *table, size_t count, const char *name,
                        struct error *err)
{
    const char *names[ACTION_ENTRIES];
    for (size_t i = 0; i < count; i++)
        names[i] = table[i].name;
    const char *near = nearest_name(name, names, count);
    return error_set(err, ERROR_USAGE, "there is no action '%.60s'%s%s%s (the help page names all)",
                     name, near ? ": did you mean '" : "", near ? near : "", near ? "'?" : "");
}

bool keymap_bind(struct keymap *keymap, const char *name, const char *keys, struct error *err)
{
    size_t count;
    const struct action_entry *table = actions_table(&count);
    name = present_name(name);
    for (size_t i = 0; i < count; i++)
        if (strcmp(table[i].name, name) == 0)
            return parse_keys(keys, &table[i], keymap->key[i], err);
    return refuse_name(table, count, name, err);
}

static bool has_key(const int *keys, int key)
{
    for (int i = 0; i < ACTION_KEYS; i++)
        if (keys[i] == key && key != 0)
            return true;
    return false;
}

/* A key of both entries in a context of both. */
static bool collide(const struct keymap *keymap, const struct action_entry *table, size_t a,
                    size_t b, struct error *err)
{
    char name[KEY_NAME_SIZE];
    if ((table[a].contexts & table[b].contexts) == 0)
        return false;
    for (int i = 0; i < ACTION_KEYS; i++)
        if (has_key(keymap->key[b], keymap->key[a][i]))
            return !error_set(err, ERROR_USAGE, "the key %s means both '%s' and '%s'",
                              key_text(keymap->key[a][i], name), table[a].name, table[b].name);
    return false;
}

bool keymap_check(const struct keymap *keymap, struct error *err)
{
    size_t count;
    const struct action_entry *table = actions_table(&count);
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < i; j++)
            if (collide(keymap, table, j, i, err))
                return false;
        bool needed = table[i].action == ACTION_NO || table[i].action == ACTION_BACK ||
                      table[i].action == ACTION_ACCEPT || table[i].action == ACTION_YES ||
                      strcmp(table[i].name, "leave") == 0;
        if (needed && keymap->key[i][0] == 0)
            return error_set(err, ERROR_USAGE, "'%s' needs a key", table[i].name);
    }
    return true;
}

enum action keymap_action(const struct keymap *keymap, unsigned contexts, int key)
{
    size_t count;
    const struct action_entry *table = actions_table(&count);
    for (size_t i = 0; i < count; i++)
        if ((table[i].contexts & contexts) && has_key(keymap->key[i], key))
            return table[i].action;
    return ACTION_NONE;
}

const char *keymap_text(const struct keymap *keymap, size_t entry, char *buffer)
{
    char name[KEY_NAME_SIZE];
    int length = 0;
    buffer[0] = '\0';
    for (int i = 0; i < ACTION_KEYS && keymap->key[entry][i] != 0; i++)
        length += snprintf(buffer + length, (size_t)(KEYMAP_TEXT_SIZE - length), "%s%s",
                           i > 0 ? " " : "", key_text(keymap->key[entry][i], name));
    return buffer;
}

const char *keymap_first(const struct keymap *keymap, enum action action, char *buffer)
{
    size_t count;
    const struct action_entry *table = actions_table(&count);
    buffer[0] = '\0';
    for (size_t i = 0; i < count; i++)
        if (table[i].action == action && keymap->key[i][0] != 0)
            return key_text(keymap->key[i][0], buffer);
    return buffer;
}
