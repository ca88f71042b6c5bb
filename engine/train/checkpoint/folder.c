/* SPDX-License-Identifier: MIT */
#include "engine/train/checkpoint/folder.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/paths.h"
#include "base/text.h"

#define WEIGHTS_SUFFIX ".safetensors"
/* Its name is that of SGD's state. */
#define STATE_SUFFIX ".momentum.safetensors"

char *checkpoint_default_folder(struct error *err)
{
    char *home = paths_data_home(err);
    char *folder = home ? path_join(home, "checkpoints") : NULL;
    if (home && !folder)
        error_memory(err, "checkpoints");
    free(home);
    return folder;
}

char *checkpoint_path(const char *folder, long steps)
{
    return text_format("%s/step-%08ld" WEIGHTS_SUFFIX, folder, steps);
}

char *checkpoint_state_path(const char *folder, long steps)
{
    return text_format("%s/step-%08ld" STATE_SUFFIX, folder, steps);
}

/* Is this the suffix of a file that file_writer_open is writing: .PID-TIME? */
static bool is_temporary(const char *rest)
{
    size_t first = *rest == '.' ? strspn(rest + 1, "0123456789abcdef") : 0;
    const char *second = rest + 1 + first;
    return first > 0 && *second == '-' && second[1] != '\0' &&
           second[1 + strspn(second + 1, "0123456789abcdef")] == '\0';
}

/* A file of ours: its steps, whether it holds weights; temporary ones are what a writer left. */
struct found {
    long steps;
    bool weights, temporary;
};

static bool look_at(const char *name, struct found *found)
{
    char *end;
    if (strncmp(name, "step-", 5) != 0)
        return false;
    errno = 0;
    found->steps = strtol(name + 5, &end, 10);
    if (errno != 0 || end == name + 5 || found->steps < 0)
        return false;
    bool is_state = strncmp(end, STATE_SUFFIX, strlen(STATE_SUFFIX)) == 0;
    const char *suffix = is_state ? STATE_SUFFIX : WEIGHTS_SUFFIX;
    if (strncmp(end, suffix, strlen(suffix)) != 0)
        return false;
    found->weights = !is_state;
    found->temporary = is_temporary(end + strlen(suffix));
    return found->temporary || end[strlen(suffix)] == '\0';
}

/* Call `visit` for each file of ours in the folder; a missing folder has none. */
static bool visit(const char *folder,
                  bool (*look)(const char *folder, const char *name, const struct found *found,
                               void *context, struct error *err),
                  void *context, struct error *err)
{
    struct found found;
    DIR *directory = opendir(folder);
    if (!directory)
        return errno == ENOENT || error_errno(err, "%s: cannot be read", folder);
    bool ok = true;
    for (const struct dirent *entry; ok && (entry = readdir(directory));)
        if (look_at(entry->d_name, &found))
            ok = look(folder, entry->d_name, &found, context, err);
    closedir(directory);
    return ok;
}

struct steps {
    long *list;
    size_t count;
};

static bool add_steps(const char *folder, const char *name, const struct found *found,
                      void *context, struct error *err)
{
    struct steps *steps = context;
    (void)name;
    if (!found->weights || found->temporary)
        return true;
    long *more = realloc(steps->list, (steps->count + 1) * sizeof *more);
    if (!more)
        return error_memory(err, folder);
    more[steps->count++] = found->steps;
    steps->list = more;
    return true;
}

bool checkpoint_list(const char *folder, long **steps, size_t *count, struct error *err)
{
    struct steps all = {NULL, 0};
    if (!visit(folder, add_steps, &all, err)) {
        free(all.list);
        return false;
    }
    *steps = all.list;
    *count = all.count;
    return true;
}

bool checkpoint_find_before(const char *folder, long before, long *steps, struct error *err)
{
    long *all;
    size_t count;
    *steps = -1;
    if (!checkpoint_list(folder, &all, &count, err))
        return false;
    for (size_t i = 0; i < count; i++)
        if (all[i] < before && all[i] > *steps)
            *steps = all[i];
    free(all);
    return *steps >= 0 || error_set(err, ERROR_ABSENT, "%s: there is no checkpoint", folder);
}

bool checkpoint_find(const char *folder, long *steps, struct error *err)
{
    return checkpoint_find_before(folder, LONG_MAX, steps, err);
}

struct measured {
    long *count;
    double *bytes;
};

static bool measure(const char *folder, const char *name, const struct found *found, void *context,
                    struct error *err)
{
    const struct measured *measured = context;
    struct stat info;
    char *path = path_join(folder, name);
    if (!path)
        return error_memory(err, folder);
    /* One that is removed meanwhile takes no bytes. */
    if (stat(path, &info) == 0) {
        *measured->count += found->weights && !found->temporary;
        *measured->bytes += (double)info.st_size;
    }
    free(path);
    return true;
}

bool checkpoint_measure(const char *folder, long *count, double *bytes, struct error *err)
{
    struct measured measured = {count, bytes};
    return visit(folder, measure, &measured, err);
}

static bool remove_file(const char *folder, const char *name, struct error *err)
{
    char *path = path_join(folder, name);
    if (!path)
        return error_memory(err, folder);
    bool ok =
        unlink(path) == 0 || errno == ENOENT || error_errno(err, "%s: cannot be removed", path);
    free(path);
    return ok;
}

struct keeping {
    long newest;
    const struct checkpoint_kept *kept;
};

static bool remove_older(const char *folder, const char *name, const struct found *found,
                         void *context, struct error *err)
{
    const struct keeping *keep = context;
    bool resumed = keep->kept->previous >= 0;
    /* A run that was stopped where it was resumed: there is still one before it to be kept. */
    bool again = keep->kept->previous == keep->newest;
    bool stays = again || found->steps == keep->newest ||
                 (resumed && found->steps > keep->newest) || found->steps == keep->kept->previous ||
                 found->steps == keep->kept->best;
    return (stays && !found->temporary) || remove_file(folder, name, err);
}

bool checkpoint_remove_older(const char *folder, long newest, const struct checkpoint_kept *kept,
                             struct error *err)
{
    struct keeping keep = {newest, kept};
    return visit(folder, remove_older, &keep, err);
}

static bool remove_temporary(const char *folder, const char *name, const struct found *found,
                             void *context, struct error *err)
{
    (void)context;
    return !found->temporary || remove_file(folder, name, err);
}

static void tidy_run(const char *folder, const char *name)
{
    struct error ignored = ERROR_INIT;
    char *path = path_join(folder, name);
    if (path)
        visit(path, remove_temporary, NULL, &ignored);
    free(path);
}

bool checkpoint_tidy(const char *folder, long *run, struct error *err)
{
    DIR *directory = opendir(folder);
    if (!directory)
        return errno == ENOENT || error_errno(err, "%s: cannot be read", folder);
    for (const struct dirent *entry; (entry = readdir(directory));) {
        long number;
        if (!parse_long(entry->d_name, 1, LONG_MAX / 2, &number))
            continue;
        *run = number > *run ? number : *run;
        tidy_run(folder, entry->d_name);
    }
    closedir(directory);
    return true;
}

static bool remove_any(const char *folder, const char *name, const struct found *found,
                       void *context, struct error *err)
{
    (void)found;
    (void)context;
    return remove_file(folder, name, err);
}

bool checkpoint_remove_all(const char *folder, struct error *err)
{
    if (!visit(folder, remove_any, NULL, err))
        return false;
    return rmdir(folder) == 0 || errno == ENOENT || errno == ENOTEMPTY ||
           error_errno(err, "%s: cannot be removed", folder);
}
