/* SPDX-License-Identifier: MIT */
#include "tests/src/settings/saved_fixture.h"

#include <check.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "settings/keys.h"
#include "tests/support.h"

char *folder, *own_file, *saved_file;
struct settings settings;
struct saved_settings saved;
struct error err;

/* Only the tests say what the variables of the keys hold. */
static void forget_environment(void)
{
    for (size_t i = 0; settings_key(i) != NULL; i++) {
        char *variable = format("DPARTUI_%s", strchr(settings_key(i), '.') + 1);
        for (char *c = variable; *c != '\0'; c++)
            *c = (char)toupper((unsigned char)*c);
        unsetenv(variable);
        free(variable);
    }
    unsetenv("NO_COLOR");
}

void saved_setup(void)
{
    folder = temporary_folder();
    ck_assert_int_eq(chdir(folder), 0);
    setenv("XDG_CONFIG_HOME", folder, 1);
    forget_environment();
    own_file = format("%s/dpartui/dpartui.conf", folder);
    saved_file = format("%s/dpartui/settings.conf", folder);
    char *config = format("%s/dpartui", folder);
    ck_assert_int_eq(mkdir(config, 0700), 0);
    free(config);
    err = (struct error)ERROR_INIT;
}

void saved_teardown(void)
{
    ck_assert_int_eq(chdir("/"), 0);
    remove_tree(folder);
    free(own_file);
    free(saved_file);
}

void put_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_ne(fputs(text, file), EOF);
    ck_assert_int_eq(fclose(file), 0);
}

void saved_begin(void)
{
    ck_assert_msg(settings_load(&settings, &err), "%s", err.text);
    ck_assert_msg(saved_settings_open(&saved, &settings, &err), "%s", err.text);
}

void saved_end(void)
{
    saved_settings_close(&saved);
    settings_free(&settings);
}

static size_t place(const char *name)
{
    size_t i = 0;
    while (settings_key(i) != NULL && strcmp(settings_key(i), name) != 0)
        i++;
    ck_assert_msg(settings_key(i) != NULL, "no key %s", name);
    return i;
}

struct setting saved_look(const char *name)
{
    struct setting setting;
    ck_assert(saved.source.at(saved.source.context, place(name), &setting));
    ck_assert_str_eq(setting.name, name);
    return setting;
}

bool saved_set(const char *name, const char *value)
{
    return saved.source.set(saved.source.context, place(name), value, &err);
}

void saved_reset(const char *name)
{
    ck_assert(saved.source.reset(saved.source.context, place(name), &err));
}

bool saved_save(void)
{
    return saved.source.save(saved.source.context, &err);
}

void saved_expect(const char *name, const char *value, enum setting_origin source, bool unsaved)
{
    struct setting setting = saved_look(name);
    ck_assert_str_eq(setting.value, value);
    ck_assert_msg(setting.source == source, "%s comes from %d", name, (int)setting.source);
    ck_assert_msg(setting.unsaved == unsaved, "%s unsaved: %d", name, setting.unsaved);
}
