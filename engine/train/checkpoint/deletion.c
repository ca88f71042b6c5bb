/* SPDX-License-Identifier: MIT */
#include "engine/train/checkpoint/deletion.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "engine/train/checkpoint/folder.h"

#define MARK ".deleted"

/* Name of the marked folder, to be freed; NULL: memory ran out. */
static char *marked_name(const char *folder, struct error *err)
{
    char *marked = text_format("%s" MARK, folder);
    if (!marked)
        error_memory(err, folder);
    return marked;
}

static bool rename_folder(const char *from, const char *to, struct error *err)
{
    return rename(from, to) == 0 || error_errno(err, "%s: cannot be renamed to %s", from, to);
}

bool checkpoint_mark_deleted(const char *folder, struct error *err)
{
    char *marked = marked_name(folder, err);
    bool ok = marked && (rename(folder, marked) == 0 || errno == ENOENT);
    /* Else one is there of an earlier deletion, after which the run began again. */
    if (marked && !ok)
        ok = checkpoint_remove_all(marked, err) && rename_folder(folder, marked, err);
    free(marked);
    return ok;
}

bool checkpoint_remove_marked(const char *folder, struct error *err)
{
    char *marked = marked_name(folder, err);
    bool ok = marked && checkpoint_remove_all(marked, err);
    free(marked);
    return ok;
}

static bool give_back(const char *folder, struct error *err)
{
    char *marked = marked_name(folder, err);
    bool ok = marked && rename_folder(marked, folder, err);
    free(marked);
    return ok;
}

/* Of which run a marked folder is; 0: it is something else. */
static long run_of(const char *name)
{
    char number[32];
    long run;
    const int length = (int)strcspn(name, ".");
    snprintf(number, sizeof number, "%.*s", length, name);
    return strcmp(name + length, MARK) == 0 && number[0] != '0' &&
                   parse_long(number, 1, LONG_MAX / 2, &run)
               ? run
               : 0;
}

bool checkpoint_settle_deletions(const char *folder, bool (*has)(void *context, long run),
                                 void *context, struct error *err)
{
    DIR *directory = opendir(folder);
    if (!directory)
        return errno == ENOENT || error_errno(err, "%s: cannot be read", folder);
    bool ok = true;
    for (const struct dirent *entry; (entry = readdir(directory));) {
        const long run = run_of(entry->d_name);
        char *path = run > 0 ? text_format("%s/%ld", folder, run) : NULL;
        struct error *where = ok ? err : &(struct error)ERROR_INIT;
        if (path)
            ok &=
                has(context, run) ? give_back(path, where) : checkpoint_remove_marked(path, where);
        free(path);
    }
    closedir(directory);
    return ok;
}
