/* SPDX-License-Identifier: MIT */
#include "engine/data/find.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/paths.h"
#include "base/text.h"
#include "engine/data/cifar.h"
#include "engine/data/classes.h"
#include "engine/data/data.h"
#include "engine/data/idx.h"
#include "engine/data/npz.h"
#include "engine/data/pictures/list.h"

static const char *const fashion_classes[] = {"t-shirt", "trouser",   "pullover", "dress",
                                              "coat",    "sandal",    "shirt",    "sneaker",
                                              "bag",     "ankle boot"};
static const char *const cifar_classes[] = {"airplane", "automobile", "bird",  "cat",  "deer",
                                            "dog",      "frog",       "horse", "ship", "truck"};
static const char *const digit_classes[] = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};

static const char *const glyph_classes[] = {"A", "E", "F", "H", "K", "N", "T", "X", "Y", "Z"};

/* The sets that have a name and lie in files: where below a data directory, in this order. */
static const struct known_set {
    const char *name;
    enum source_kind kind;
    const char *folders[4];
    const char *const *classes;
} known_sets[] = {
    /* "": a data directory that is itself the folder with the four files */
    {"fashion-mnist", SOURCE_IDX, {"fashion-mnist", ""}, fashion_classes},
    {"mnist", SOURCE_IDX, {"mnist"}, digit_classes},
    {"cifar10",
     SOURCE_CIFAR,
     {"cifar10/cifar-10-batches-bin", "cifar10", "cifar-10-batches-bin"},
     cifar_classes},
};

void found_free(struct found *found)
{
    free(found->name);
    free(found->dir);
    free((void *)found->classes);
    *found = (struct found){0};
}

char *data_directory(const char *data_dir, struct error *err)
{
    const char *chosen = data_dir && *data_dir ? data_dir : getenv("DPARTUI_DATA_DIR");
    if (chosen && *chosen)
        return error_if_null(strdup(chosen), err, "data directory");
    return path_below(paths_data_home(err), "data", err);
}

static bool kind_present(enum source_kind kind, const char *dir)
{
    return kind == SOURCE_IDX ? idx_present(dir) : cifar_present(dir);
}

static bool kind_any(enum source_kind kind, const char *dir)
{
    return kind == SOURCE_IDX ? idx_any(dir) : cifar_any(dir);
}

/*
 * The first folder of a known set below `root` that holds all its files, else the first that holds
 * some of them (opening it will say which are missing), else NULL. False: out of memory.
 */
static bool search_root(const struct known_set *set, const char *root, char **complete,
                        char **partial, struct error *err)
{
    for (int i = 0; set->folders[i]; i++) {
        char *dir = *set->folders[i] ? path_join(root, set->folders[i]) : strdup(root);
        if (!dir)
            return error_memory(err, root);
        if (kind_present(set->kind, dir)) {
            *complete = dir;
            return true;
        }
        if (!*partial && kind_any(set->kind, dir))
            *partial = dir;
        else
            free(dir);
    }
    return true;
}

/* *dir: the folder of a known set, or NULL with the directories that were searched in `searched`.*/
static bool search_known(const struct known_set *set, const char *data_dir, char **dir,
                         struct text *searched, struct error *err)
{
    struct error no_home = ERROR_INIT;
    char *roots[2] = {data_directory(data_dir, err), NULL}, *partial = NULL;
    if (!roots[0])
        return false;
    /* The data home comes second; where HOME is unset the first directory is all there is. */
    char *home = paths_data_home(&no_home);
    roots[1] = home ? path_join(home, "data") : NULL;
    *dir = NULL;
    bool ok = true;
    for (int i = 0; i < 2 && ok && !*dir && roots[i]; i++) {
        if (i && strcmp(roots[0], roots[1]) == 0)
            break;
        ok = search_root(set, roots[i], dir, &partial, err);
        text_printf(searched, "%s%s", i ? " or " : "", roots[i]);
    }
    if (ok && !*dir) {
        *dir = partial;
        partial = NULL;
    }
    free(partial);
    free(home);
    free(roots[0]);
    free(roots[1]);
    return ok;
}

static bool find_known(const struct known_set *set, const char *data_dir, struct found *found,
                       struct error *err)
{
    struct text searched = TEXT_INIT;
    bool ok = search_known(set, data_dir, &found->dir, &searched, err);
    if (ok && !found->dir) {
        const char *places = text_cstr(&searched);
        ok = error_set(err, ERROR_USAGE,
                       "no %s in %s: run `dpartui fetch %s`, or use --data glyphs, which needs no "
                       "files",
                       set->name, places ? places : "the data directories", set->name);
    }
    text_free(&searched);
    if (!ok)
        return false;
    found->kind = set->kind;
    found->class_count = 10;
    found->name = strdup(set->name);
    if (!found->name)
        return error_memory(err, set->name);
    found->classes = classes_copy(set->classes, 10, err);
    return found->classes != NULL;
}

static bool find_made(const char *name, enum source_kind kind, struct found *found,
                      struct error *err)
{
    found->kind = kind;
    found->name = strdup(name);
    if (!found->name)
        return error_memory(err, name);
    if (kind == SOURCE_GLYPHS)
        found->classes = classes_copy(glyph_classes, 10, err);
    return kind != SOURCE_GLYPHS || found->classes;
}

/* A new string: the folder itself, or the one that CIFAR-10's archive made in it. NULL: no memory.
 */
static char *inner_folder(const char *name)
{
    char *inner = path_join(name, "cifar-10-batches-bin");
    if (!inner || (!idx_any(name) && !cifar_any(name) && cifar_any(inner)))
        return inner;
    free(inner);
    return strdup(name);
}

/* A file or folder of the user's own. */
static bool find_own(const char *name, struct found *found, struct error *err)
{
    struct stat info;
    if (stat(name, &info) != 0 && errno == ENOENT)
        return error_set(err, ERROR_USAGE,
                         "no data set '%s': not fashion-mnist, mnist, cifar10, glyphs or "
                         "random:ROWSxCOLUMNS, and no folder or .npz file of that name",
                         name);
    if (stat(name, &info) != 0)
        return error_errno(err, "%s: cannot stat", name);
    const bool archive = !S_ISDIR(info.st_mode) && text_ends_in(name, ".npz");
    if (!S_ISDIR(info.st_mode) && !archive)
        return error_set(err, ERROR_USAGE,
                         "%s: not a folder: --data takes the folder that holds the files, or one "
                         ".npz file",
                         name);
    found->dir = archive ? strdup(name) : inner_folder(name);
    found->name = strdup(name);
    if (!found->dir || !found->name)
        return error_memory(err, name);
    found->class_count = 10;
    found->kind = SOURCE_NPZ;
    if (archive)
        return true;
    if (idx_any(found->dir)) {
        found->kind = SOURCE_IDX;
        const char *const *names;
        int count = found->class_count;
        bool ok = classes_read(found->dir, &names, &count, err);
        found->classes = names;
        found->class_count = count;
        return ok;
    }
    if (cifar_any(found->dir)) {
        found->kind = SOURCE_CIFAR;
        found->classes = classes_copy(cifar_classes, 10, err);
        return found->classes != NULL;
    }
    found->kind = SOURCE_PICTURES;
    return picture_list_any(name) ||
           error_set(err, ERROR_USAGE,
                     "%s: holds neither IDX files (train-images-idx3-ubyte...) nor CIFAR-10 binary "
                     "files (data_batch_1.bin...) nor folders of pictures (train/CLASS/1.png...)",
                     name);
}

/* NULL: fashion-mnist where all of it is present, else glyphs. */
static bool find_default(const char *data_dir, struct found *found, struct error *err)
{
    struct text searched = TEXT_INIT;
    struct error ignored = ERROR_INIT;
    char *dir = NULL;
    bool present = search_known(&known_sets[0], data_dir, &dir, &searched, &ignored) && dir &&
                   idx_present(dir);
    text_free(&searched);
    free(dir);
    return present ? find_known(&known_sets[0], data_dir, found, err)
                   : find_made("glyphs", SOURCE_GLYPHS, found, err);
}

bool data_find(const char *name, const char *data_dir, struct found *found, struct error *err)
{
    *found = (struct found){0};
    if (!name)
        return find_default(data_dir, found, err);
    if (strcmp(name, "glyphs") == 0)
        return find_made(name, SOURCE_GLYPHS, found, err);
    if (strncmp(name, "random:", strlen("random:")) == 0)
        return find_made(name, SOURCE_RANDOM, found, err);
    for (size_t i = 0; i < sizeof known_sets / sizeof *known_sets; i++)
        if (strcmp(name, known_sets[i].name) == 0)
            return find_known(&known_sets[i], data_dir, found, err);
    return find_own(name, found, err);
}
