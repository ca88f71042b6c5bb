/* SPDX-License-Identifier: MIT */
#include "engine/device/cuda/libraries/loader.h"

#include <dlfcn.h>
#include <glob.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* The search for one library. */
struct search {
    const struct library_request *request;
    void *table;
    bool found;      /* some file, good or not */
    char fault[400]; /* what is wrong with the first one */
};

static bool fill_table(const struct library_request *request, void *library, void *table,
                       const char **missing)
{
    for (size_t i = 0; i < request->symbol_count; i++) {
        void *found = dlsym(library, request->symbols[i]);
        if (!found) {
            *missing = request->symbols[i];
            return false;
        }
        /* POSIX: an object pointer from dlsym is the function's address. */
        memcpy((char *)table + i * sizeof found, &found, sizeof found);
    }
    return true;
}

__attribute__((format(printf, 2, 3))) static bool reject(struct search *search, const char *format,
                                                         ...)
{
    va_list arguments;
    if (search->found)
        return false;
    search->found = true;
    va_start(arguments, format);
    vsnprintf(search->fault, sizeof search->fault, format, arguments);
    va_end(arguments);
    return false;
}

/* Not there, as opposed to there and not to be opened, or lacking its own library. */
static bool is_absent(const char *said, const char *path)
{
    return !said || (strstr(said, "No such file") && strncmp(said, path, strlen(path)) == 0);
}

static bool try_file(struct search *search, const char *path)
{
    const struct library_request *request = search->request;
    const char *missing = NULL;
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        const char *said = dlerror();
        return !is_absent(said, path) && reject(search, "%s cannot be opened: %s", path, said);
    }
    if (!fill_table(request, library, search->table, &missing)) {
        dlclose(library);
        return reject(search, "%s has no function %s", path, missing);
    }
    int version = request->version_of(search->table);
    if (version / 10000 == request->version / 10000 && version >= request->version)
        return true;
    dlclose(library);
    return reject(search, "%s is of version %d.%d", path, version / 10000, version / 100 % 100);
}

/* FOLDER is .../nvidia/PACKAGE/lib: look into the other packages. */
static bool try_packages(struct search *search)
{
    const struct library_request *request = search->request;
    char pattern[PATH_MAX];
    const char *nvidia = strstr(request->folder, "/nvidia/");
    glob_t files;
    bool opened = false;
    if (!nvidia)
        return false;
    int parents = (int)(nvidia - request->folder) + (int)strlen("/nvidia");
    int length =
        snprintf(pattern, sizeof pattern, "%.*s/*/lib/%s", parents, request->folder, request->file);
    if (length < 0 || (size_t)length >= sizeof pattern || glob(pattern, 0, NULL, &files) != 0)
        return false;
    for (size_t i = 0; i < files.gl_pathc && !opened; i++)
        opened = try_file(search, files.gl_pathv[i]);
    globfree(&files);
    return opened;
}

static bool try_folder(struct search *search)
{
    char path[PATH_MAX];
    const struct library_request *request = search->request;
    int length = snprintf(path, sizeof path, "%s/%s", request->folder, request->file);
    return *request->folder && length > 0 && (size_t)length < sizeof path && try_file(search, path);
}

bool library_open(const struct library_request *request, void *table, struct error *err)
{
    struct search search = {.request = request, .table = table};
    int major = request->version / 10000, minor = request->version / 100 % 100;
    if (try_file(&search, request->file) || try_folder(&search) || try_packages(&search))
        return true;
    memset(table, 0, request->symbol_count * sizeof(void *));
    if (search.found)
        return error_set(err, ERROR_FAILED,
                         "%s; install %s %d.%d or a later %d.x, or name its folder in "
                         "LD_LIBRARY_PATH when the engine starts",
                         search.fault, request->name, major, minor, major);
    return error_set(err, ERROR_FAILED,
                     "%s was not found by the loader%s%s; install %s %d.%d or a later %d.x, or "
                     "name its folder in LD_LIBRARY_PATH when the engine starts",
                     request->file, *request->folder ? " nor in " : "", request->folder,
                     request->name, major, minor, major);
}

bool library_open_once(struct library_once *once, const struct library_request *request,
                       void *table, struct error *err)
{
    pthread_mutex_lock(&once->lock);
    once->is_open = once->is_open || library_open(request, table, err);
    bool ok = once->is_open;
    pthread_mutex_unlock(&once->lock);
    return ok;
}
