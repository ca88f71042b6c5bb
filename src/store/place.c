/* SPDX-License-Identifier: MIT */
#include "store/place.h"

#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/paths.h"

char *store_default_path(struct error *err)
{
    return path_below(paths_data_home(err), "runs.db", err);
}

/* Nobody else may put files in the place of ours. */
static bool check_folder(const char *folder, struct error *err)
{
    struct stat info;
    if (stat(folder, &info) != 0)
        return error_errno(err, "%s: cannot stat", folder);
    if (info.st_uid != geteuid() && info.st_uid != 0)
        return error_set(err, ERROR_FAILED,
                         "%s: belongs to another user: name a folder of yours by XDG_DATA_HOME",
                         folder);
    if ((info.st_mode & S_IWOTH) && !(info.st_mode & S_ISVTX))
        return error_set(err, ERROR_FAILED, "%s: all users may write here: chmod o-w it", folder);
    return true;
}

/* The folder of `path`, made when missing, by its real path; a new string. */
static char *real_folder(const char *path, struct error *err)
{
    char *copy = strdup(path), *real = NULL;
    if (!copy) {
        error_memory(err, path);
        return NULL;
    }
    const char *folder = dirname(copy);
    if (make_directories(folder, 0700, err) && !(real = realpath(folder, NULL)))
        error_errno(err, "%s: cannot be found", folder);
    free(copy);
    return real;
}

bool store_settle_path(char **path, struct error *err)
{
    struct stat info;
    char *folder = real_folder(*path, err), *settled = NULL;
    if (folder && check_folder(folder, err)) {
        const char *slash = strrchr(*path, '/');
        settled = path_join(folder, slash ? slash + 1 : *path);
        if (!settled)
            error_memory(err, *path);
    }
    free(folder);
    if (!settled)
        return false;
    free(*path);
    *path = settled;
    if (lstat(settled, &info) != 0)
        return true;
    if (S_ISDIR(info.st_mode))
        return error_set(err, ERROR_FAILED, "%s: is a directory: move it away", settled);
    return !S_ISLNK(info.st_mode) ||
           error_set(
               err, ERROR_FAILED,
               "%s: is a symbolic link: put the file itself here, or make its folder the link",
               settled);
}
