/* SPDX-License-Identifier: MIT */
#include "base/paths.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"

static const struct place {
    const char *variable, *below_home, *holds;
} data_home = {"XDG_DATA_HOME", ".local/share", "runs, checkpoints and data sets"},
  config_home = {"XDG_CONFIG_HOME", ".config", "settings and models"},
  state_home = {"XDG_STATE_HOME", ".local/state", "the engine's log"},
  cache_home = {"XDG_CACHE_HOME", ".cache", "the autotune cache"};

/* The XDG rule: a variable counts only when it holds an absolute path. */
static const char *absolute(const char *variable)
{
    const char *value = getenv(variable);
    return value && value[0] == '/' ? value : NULL;
}

static char *xdg_directory(const struct place *place, struct error *err)
{
    const char *value = absolute(place->variable), *home = absolute("HOME");
    if (!value && !home) {
        error_set(err, ERROR_FAILED, "neither %s nor HOME is an absolute path: set one",
                  place->variable);
        return NULL;
    }
    char *path =
        value ? path_join(value, "dpartui") : text_format("%s/%s/dpartui", home, place->below_home);
    return error_if_null(path, err, place->variable);
}

char *paths_data_home(struct error *err)
{
    return xdg_directory(&data_home, err);
}

char *paths_config_home(struct error *err)
{
    return xdg_directory(&config_home, err);
}

char *paths_state_home(struct error *err)
{
    return xdg_directory(&state_home, err);
}

char *paths_cache_home(struct error *err)
{
    return xdg_directory(&cache_home, err);
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

/* *ignored: XDG_RUNTIME_DIR names something else. NULL: memory ran out. */
static char *runtime_dir(bool *ignored)
{
    const char *base = absolute("XDG_RUNTIME_DIR"), *value = getenv("XDG_RUNTIME_DIR");
    struct stat info;
    *ignored = false;
    if (base && stat(base, &info) == 0 && S_ISDIR(info.st_mode))
        return path_join(base, "dpartui");
    *ignored = value && *value;
    return text_format("/tmp/dpartui-%lu", (unsigned long)geteuid());
}

char *paths_runtime_dir(struct error *err)
{
    bool ignored;
    char *path = runtime_dir(&ignored);
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

/* Without a home the places that depend on it are missing; that of data is a separate error. */
static void note_home(struct text *note)
{
    static const struct place *const places[] = {&config_home, &cache_home, &state_home};
    const char *home = getenv("HOME"), *separator = " ";
    if (absolute("HOME") || !absolute(data_home.variable))
        return;
    struct text missing = TEXT_INIT;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (!absolute(places[i]->variable)) {
            text_printf(&missing, "%s%s", separator, places[i]->holds);
            separator = ", ";
        }
    if (missing.length)
        text_printf(note, "HOME%s%.200s%s is not an absolute path: there is no place for%s",
                    home ? " '" : "", home ? home : "", home ? "'" : "", text_cstr(&missing));
    text_free(&missing);
}

static void note_place(struct text *note, const struct place *place)
{
    const char *value = getenv(place->variable);
    if (!value || !*value || value[0] == '/')
        return;
    text_printf(note, "%s%s '%.200s' is not an absolute path and is ignored",
                note->length ? "; " : "", place->variable, value);
    if (absolute("HOME"))
        text_printf(note, ": %s are in %s/%s/dpartui", place->holds, getenv("HOME"),
                    place->below_home);
}

char *paths_ignored(void)
{
    static const struct place *const places[] = {&data_home, &config_home, &state_home,
                                                 &cache_home};
    struct text note = TEXT_INIT;
    bool ignored;
    char *runtime = runtime_dir(&ignored);
    note_home(&note);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        note_place(&note, places[i]);
    if (runtime && ignored)
        text_printf(&note,
                    "%sXDG_RUNTIME_DIR '%.200s' is not an absolute path of a folder and is "
                    "ignored: the engine's socket is in %s",
                    note.length ? "; " : "", getenv("XDG_RUNTIME_DIR"), runtime);
    char *copy = note.length && text_cstr(&note) ? strdup(text_cstr(&note)) : NULL;
    text_free(&note);
    free(runtime);
    return copy;
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
    return strchr(name, '/') || text_ends_in(name, ".conf");
}

/* A directory in a new string, which is freed. */
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
    struct text others;   /* ", lenet, linear": what there is instead */
    struct text searched; /* directories */
};

/* Two directories may have one of the same name. */
static void add_other(struct text *others, const char *file)
{
    char *name = text_format(", %.*s", (int)(strlen(file) - strlen(".conf")), file);
    const char *before = text_cstr(others), *at = name && before ? strstr(before, name) : NULL;
    while (at && at[strlen(name)] != ',' && at[strlen(name)] != '\0')
        at = strstr(at + 1, name);
    if (name && !at)
        text_puts(others, name);
    free(name);
}

static void add_others(struct text *others, const char *directory)
{
    struct dirent **entries;
    int count = scandir(directory, &entries, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        if (text_ends_in(entries[i]->d_name, ".conf"))
            add_other(others, entries[i]->d_name);
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
}

static bool model_in(const char *directory, void *context)
{
    struct model_search *search = context;
    char *path = text_format("%s/%s.conf", directory, search->name);
    if (path && access(path, R_OK) == 0) {
        search->found = path;
        return true;
    }
    free(path);
    add_others(&search->others, directory);
    text_printf(&search->searched, "%s%s", search->searched.length ? ", " : "", directory);
    return false;
}

char *paths_find_model(const char *name, struct error *err)
{
    if (paths_is_model_file(name))
        return error_if_null(strdup(name), err, name);
    struct model_search search = {.name = name, .others = TEXT_INIT, .searched = TEXT_INIT};
    paths_visit_models(model_in, &search);
    const char *others = text_cstr(&search.others), *places = text_cstr(&search.searched);
    if (!search.found && others && others[0] != '\0')
        error_set(err, ERROR_USAGE, "no model '%s'; there are: %s", name, others + 2);
    else if (!search.found)
        error_set(err, ERROR_USAGE, "no model '%s', nor any other in %s", name,
                  places ? places : "the model directories");
    text_free(&search.others);
    text_free(&search.searched);
    return search.found;
}

char *paths_sibling_program(const char *name, struct error *err)
{
    char *path = beside_program(name);
    if (path && access(path, X_OK) == 0)
        return path;
    free(path);
    return error_if_null(strdup(name), err, name);
}

char *paths_own_file(const char *name, struct error *err)
{
    char *path = beside_program(name);
    if (path && access(path, R_OK) == 0)
        return path;
    free(path);
    return error_if_null(path_join(DPARTUI_PKGLIBDIR, name), err, name);
}
