/* SPDX-License-Identifier: MIT */
#include "base/paths.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"

/* The XDG rule: a variable counts only when it holds an absolute path. */
static char *xdg_directory(const char *variable, const char *below_home, struct error *err)
{
    const char *value = getenv(variable);
    char *path = NULL;
    if (value && value[0] == '/') {
        path = path_join(value, "dpartui");
    } else {
        const char *home = getenv("HOME");
        if (!home || home[0] != '/') {
            error_set(err, ERROR_FAILED, "neither %s nor HOME names a directory: set one",
                      variable);
            return NULL;
        }
        path = text_format("%s/%s/dpartui", home, below_home);
    }
    if (!path)
        error_memory(err, variable);
    return path;
}

char *paths_data_home(struct error *err)
{
    return xdg_directory("XDG_DATA_HOME", ".local/share", err);
}

char *paths_config_home(struct error *err)
{
    return xdg_directory("XDG_CONFIG_HOME", ".config", err);
}

char *paths_state_home(struct error *err)
{
    return xdg_directory("XDG_STATE_HOME", ".local/state", err);
}

char *paths_cache_home(struct error *err)
{
    return xdg_directory("XDG_CACHE_HOME", ".cache", err);
}

static bool private_directory(const char *path, struct error *err)
{
    struct stat info;
    if (mkdir(path, 0700) != 0 && errno != EEXIST)
        return error_errno(err, "%s: cannot make the engine's private directory", path);
    if (lstat(path, &info) != 0)
        return error_errno(err, "%s: cannot stat", path);
    if (!S_ISDIR(info.st_mode))
        return error_set(err, ERROR_FAILED, "%s: not a directory: remove it", path);
    if (info.st_uid != geteuid())
        return error_set(err, ERROR_FAILED,
                         "%s: belongs to another user: set XDG_RUNTIME_DIR to a directory of yours",
                         path);
    if (info.st_mode & 077)
        return error_set(err, ERROR_FAILED, "%s: open to other users: chmod 700 it", path);
    return true;
}

char *paths_runtime_dir(struct error *err)
{
    const char *base = getenv("XDG_RUNTIME_DIR");
    struct stat info;
    char *path;
    if (base && base[0] == '/' && stat(base, &info) == 0 && S_ISDIR(info.st_mode))
        path = path_join(base, "dpartui");
    else
        path = text_format("/tmp/dpartui-%lu", (unsigned long)geteuid());
    if (!path) {
        error_memory(err, "runtime directory");
        return NULL;
    }
    if (!private_directory(path, err)) {
        free(path);
        return NULL;
    }
    return path;
}

/* "DIR/NAME" for the directory of the running program; NULL when that is not known. */
static char *beside_program(const char *name)
{
    char self[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length <= 0)
        return NULL;
    self[length] = '\0';
    char *slash = strrchr(self, '/');
    if (!slash)
        return NULL;
    *slash = '\0';
    return path_join(self, name);
}

bool paths_is_model_file(const char *name)
{
    size_t length = strlen(name);
    return strchr(name, '/') || (length > 5 && strcmp(name + length - 5, ".conf") == 0);
}

/* A directory in a string of its own, which is freed. */
static bool visit_and_free(char *directory, bool (*visit)(const char *, void *), void *context)
{
    bool end = directory && visit(directory, context);
    free(directory);
    return end;
}

void paths_visit_models(bool (*visit)(const char *directory, void *context), void *context)
{
    const char *list = getenv("DPARTUI_MODEL_PATH");
    while (list && *list) {
        size_t span = strcspn(list, ":");
        if (span && visit_and_free(strndup(list, span), visit, context))
            return;
        list += span + (list[span] == ':');
    }
    struct error ignored = ERROR_INIT;
    char *config = paths_config_home(&ignored);
    bool end = config && visit_and_free(path_join(config, "models"), visit, context);
    free(config);
    if (end || visit(DPARTUI_PKGDATADIR "/models", context))
        return;
    /* A program run from the folder of its source, not installed, has its models there. */
    char *source = beside_program("etc/models");
    if (source && access(source, X_OK) == 0)
        visit(source, context);
    free(source);
}

struct model_search {
    const char *name;
    char *found;
    struct text searched;
};

static bool model_in(const char *directory, void *context)
{
    struct model_search *search = context;
    char *path = text_format("%s/%s.conf", directory, search->name);
    if (path && access(path, R_OK) == 0) {
        search->found = path;
        return true;
    }
    free(path);
    text_printf(&search->searched, "%s%s", search->searched.length ? ", " : "", directory);
    return false;
}

char *paths_find_model(const char *name, struct error *err)
{
    if (paths_is_model_file(name)) {
        char *copy = strdup(name);
        if (!copy)
            error_memory(err, name);
        return copy;
    }
    struct model_search search = {.name = name, .searched = TEXT_INIT};
    paths_visit_models(model_in, &search);
    if (!search.found) {
        const char *places = text_cstr(&search.searched);
        error_set(err, ERROR_USAGE, "no model '%s': %s.conf is in none of %s", name, name,
                  places ? places : "the model directories");
    }
    text_free(&search.searched);
    return search.found;
}

char *paths_sibling_program(const char *name, struct error *err)
{
    char *path = beside_program(name);
    if (path && access(path, X_OK) == 0)
        return path;
    free(path);
    path = strdup(name);
    if (!path)
        error_memory(err, name);
    return path;
}
