/* SPDX-License-Identifier: MIT */
#include "cli/run_spec.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/paths.h"
#include "base/text.h"
#include "cli/hosts.h"
#include "spec/origin.h"

char *run_spec_absolute_path(const char *path, const struct remote *remote, struct error *err)
{
    char directory[PATH_MAX];
    if (path[0] == '\0' || path[0] == '/')
        return error_if_null(strdup(path), err, path);
    if (remote->host) {
        error_set(err, ERROR_USAGE,
                  "'%s': with --host files are those of %s: give the whole path, from / on", path,
                  remote->host);
        return NULL;
    }
    if (getcwd(directory, sizeof directory))
        return error_if_null(path_join(directory, path), err, path);
    error_errno(err, "%s: cannot find the working directory", path);
    return NULL;
}

static bool make_absolute(char **path, const struct remote *remote, struct error *err)
{
    if (!*path || (*path)[0] == '/')
        return true;
    char *absolute = run_spec_absolute_path(*path, remote, err);
    if (!absolute)
        return false;
    free(*path);
    *path = absolute;
    return true;
}

/* A folder or file rather than the name of a data set. */
static bool is_data_path(const char *name, const struct remote *remote)
{
    struct stat info;
    for (const struct data_name *known = data_names; known->name; known++)
        if (strcmp(name, known->name) == 0)
            return false;
    return strchr(name, '/') || (!remote->host && stat(name, &info) == 0);
}

bool run_spec_make_absolute(struct spec *spec, const struct remote *remote, struct error *err)
{
    if (spec->model && paths_is_model_file(spec->model) &&
        !make_absolute(&spec->model, remote, err))
        return false;
    if (spec->data && is_data_path(spec->data, remote) && !make_absolute(&spec->data, remote, err))
        return false;
    return make_absolute(&spec->data_dir, remote, err) &&
           make_absolute(&spec->init_file, remote, err) &&
           make_absolute(&spec->save, remote, err) && make_absolute(&spec->log, remote, err) &&
           make_absolute(&spec->tensorboard, remote, err) &&
           make_absolute(&spec->save_best, remote, err);
}

/* Two options that say the same thing in different ways. */
static bool check_exclusive(const struct invocation *invocation, struct error *err)
{
    static const char *const pairs[][2] = {{"devices", "gpus"}, {"hosts", "hosts-file"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (invocation_value(invocation, pairs[i][0]) && invocation_value(invocation, pairs[i][1]))
            return error_set(err, ERROR_USAGE, "--%s and --%s exclude each other", pairs[i][0],
                             pairs[i][1]);
    return true;
}

bool run_spec_finish(struct invocation *invocation, struct error *err)
{
    struct spec *spec = &invocation->settings.spec;
    const char *gpus = invocation_value(invocation, "gpus");
    if (!check_exclusive(invocation, err))
        return false;
    if (gpus) {
        long count;
        if (!parse_long(gpus, 1, SPEC_MAX_DEVICES, &count))
            return error_set(err, ERROR_USAGE, "--gpus '%s' must be a whole number from 1 to %d",
                             gpus, SPEC_MAX_DEVICES);
        spec->devices = (struct device_list){.choice = DEVICES_FIRST_GPUS, .count = (int)count};
        spec_give(spec, "devices");
    }
    return hosts_take(invocation, err) && run_spec_make_absolute(spec, &invocation->remote, err) &&
           spec_validate(spec, err);
}

bool run_preferences_take(struct invocation *invocation, struct error *err)
{
    const struct option *options = invocation->command->options;
    struct settings *settings = &invocation->settings;
    for (size_t i = 0; options[i].name; i++) {
        const char *name = options[i].name, *value = invocation->values[i];
        if (!value)
            continue;
        if (strcmp(name, "mono") == 0) {
            name = "colour";
            value = "no";
        } else if (strcmp(name, "gpus") == 0) {
            name = "devices";
        }
        if (preferences_words(name) && !preferences_set(&settings->preferences, name, value, err))
            return error_prefix(err, "--%s", options[i].name);
        settings_on_command_line(settings, name);
    }
    return true;
}
