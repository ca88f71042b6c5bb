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

bool checkpoint_mark_deleted(const char *folder, struct error *err)
{
    char *marked = text_format("%s" MARK, folder);
    if (!marked)
        return error_memory(err, folder);
    bool ok = rename(folder, marked) == 0 || errno == ENOENT;
    /* Of an earlier deletion, after which the run began again. */
    if (!ok && (errno == ENOTEMPTY || errno == EEXIST))
        ok = checkpoint_remove_all(marked, err) && rename(folder, marked) == 0;
    ok = ok || err->kind != ERROR_NONE ||
         error_errno(err, "%s: cannot be renamed to %s", folder, marked);
    free(marked);
    return ok;
}

bool checkpoint_remove_marked(const char *folder, struct error *err)
{
    char *marked = text_format("%s" MARK, folder);
    bool ok = marked ? checkpoint_remove_all(marked, err) : error_memory(err, folder);
    free(marked);
    return ok;
}

static bool give_back(const char *folder, struct error *err)
{
    char *marked = text_format("%s" MARK, folder);
    bool ok = marked ? rename(marked, folder) == 0 ||
                           error_errno(err, "%s: cannot be renamed to %s", marked, folder)
                     : error_memory(err, folder);
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
