/* SPDX-License-Identifier: MIT */
#include "engine/data/pictures/list.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/file.h"
#include "base/text.h"
#include "engine/data/pictures/crew.h"
#include "engine/data/pictures/rows.h"

/* FNV-1a, by G. Fowler, L. C. Noll and K.-P. Vo. */
uint64_t picture_digest(uint64_t digest, const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    for (size_t i = 0; i < size; i++)
        digest = (digest ^ at[i]) * UINT64_C(0x100000001b3);
    return digest;
}

void picture_list_free(struct picture_list *list)
{
    for (int i = 0; i < list->class_count; i++)
        free(list->classes[i]);
    for (size_t i = 0; i < list->count; i++)
        free(list->files[i].name);
    free(list->classes);
    free(list->files);
    free(list->dir);
    *list = (struct picture_list){0};
}

/* The entries of a folder that are not hidden. NULL after the last: errno says whether that was its
 * end. */
static const struct dirent *next_entry(DIR *stream)
{
    const struct dirent *entry;
    do {
        errno = 0;
        entry = readdir(stream);
    } while (entry && entry->d_name[0] == '.');
    return entry;
}

/* Is it a folder, or a link to one? What cannot be looked at is none. */
static bool entry_is_folder(DIR *stream, const struct dirent *entry)
{
    struct stat info;
    if (entry->d_type != DT_LNK && entry->d_type != DT_UNKNOWN)
        return entry->d_type == DT_DIR;
    return fstatat(dirfd(stream), entry->d_name, &info, 0) == 0 && S_ISDIR(info.st_mode);
}

static bool is_folder(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool add_class(struct picture_list *list, const char *root, const char *name,
                      struct error *err)
{
    if (list->class_count == PICTURES_MOST_CLASSES)
        return error_set(err, ERROR_FAILED, "%s: more than %d folders, one for each class", root,
                         PICTURES_MOST_CLASSES);
    if (text_has_controls(name))
        return error_set(err, ERROR_FAILED, "%s/%s: a control character in a class name", root,
                         name);
    list->classes[list->class_count] = strdup(name);
    return list->classes[list->class_count++] || error_memory(err, root);
}

/* The folders in `root`, sorted, as the list's classes. */
static bool read_classes(struct picture_list *list, const char *root, struct error *err)
{
    DIR *stream = opendir(root);
    const struct dirent *entry;
    bool ok = true;
    if (!stream)
        return error_errno(err, "%s: cannot read the folder", root);
    list->classes = calloc(PICTURES_MOST_CLASSES + 1, sizeof *list->classes);
    if (!list->classes)
        ok = error_memory(err, root);
    while (ok && (entry = next_entry(stream)))
        if (entry_is_folder(stream, entry))
            ok = add_class(list, root, entry->d_name, err);
    if (ok && errno)
        ok = error_errno(err, "%s: cannot read the folder", root);
    closedir(stream);
    if (!ok)
        return false;
    qsort(list->classes, (size_t)list->class_count, sizeof *list->classes, compare_names);
    if (list->class_count == 0)
        return error_set(err, ERROR_USAGE, "%s: no folders in it, one for the pictures of a class",
                         root);
    return list->class_count > 1 ||
           error_set(err, ERROR_USAGE, "%s: one class alone, %s: two are the least", root,
                     list->classes[0]);
}

static bool is_picture_name(const char *name)
{
    static const char *const endings[] = {".png", ".jpg", ".jpeg"};
    size_t length = strlen(name);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t tail = strlen(endings[i]);
        if (length > tail && strcasecmp(name + length - tail, endings[i]) == 0)
            return true;
    }
    return false;
}

static bool add_file(struct picture_list *list, const struct picture_file *like, const char *part,
                     const char *class, const char *name, struct error *err)
{
    struct picture_file *files =
        array_grow(list->files, (int)list->count, &list->capacity, sizeof *files);
    if (!files)
        return error_memory(err, list->dir);
    list->files = files;
    struct picture_file *file = &files[list->count];
    *file = *like;
    file->name = text_format("%s%s/%s", part, class, name);
    if (!file->name)
        return error_memory(err, list->dir);
    file->key = rows_key(class, name);
    list->count++;
    return true;
}

static bool take_entry(struct picture_list *list, DIR *stream, const struct dirent *entry,
                       const struct picture_file *like, const char *part, struct error *err)
{
    if (!is_picture_name(entry->d_name)) {
        list->others++;
        return true;
    }
    if (entry_is_folder(stream, entry))
        return true;
    return list->count < PICTURES_MOST
               ? add_file(list, like, part, list->classes[like->label], entry->d_name, err)
               : error_set(err, ERROR_FAILED, "%s: more than %d pictures", list->dir,
                           PICTURES_MOST);
}

/* A folder of rows for one purpose; "": the folder itself. */
struct folder {
    const char *name; /* "train/" */
    enum picture_part part;
};

/* The pictures of one class in one folder. */
static bool read_class(struct picture_list *list, const struct folder *folder, int label,
                       struct error *err)
{
    const struct picture_file like = {.label = (uint8_t)label, .part = (uint8_t)folder->part};
    const size_t before = list->count;
    char *path = text_format("%s/%s%s", list->dir, folder->name, list->classes[label]);
    DIR *stream = path ? opendir(path) : NULL;
    bool ok = path ? stream || error_errno(err, "%s: cannot read the folder", path)
                   : error_memory(err, list->dir);
    const struct dirent *entry;
    while (ok && (entry = next_entry(stream)))
        ok = take_entry(list, stream, entry, &like, folder->name, err);
    if (ok && errno)
        ok = error_errno(err, "%s: cannot read the folder", path);
    if (ok && list->count == before)
        ok = error_set(err, ERROR_USAGE, "%s: no pictures in it: .png, .jpg or .jpeg", path);
    if (stream)
        closedir(stream);
    free(path);
    return ok;
}

/* Does the folder, "test/", have the classes that train/ has? */
static bool same_classes(const struct picture_list *list, const char *folder, struct error *err)
{
    struct picture_list other = {0};
    const int length = (int)strlen(folder) - 1;
    char *path = path_join(list->dir, folder);
    bool ok = path ? read_classes(&other, path, err) : error_memory(err, list->dir);
    for (int i = 0; ok && i < list->class_count; i++) {
        int order = i < other.class_count ? strcmp(list->classes[i], other.classes[i]) : -1;
        if (order != 0)
            ok = error_set(err, ERROR_USAGE,
                           "%s: class %s is in %.*s, but not in %.*s: both need the same folders",
                           list->dir, order < 0 ? list->classes[i] : other.classes[i],
                           order < 0 ? 5 : length, order < 0 ? "train" : folder,
                           order < 0 ? length : 5, order < 0 ? folder : "train");
    }
    if (ok && other.class_count > list->class_count)
        ok = error_set(err, ERROR_USAGE,
                       "%s: class %s is in %.*s, but not in train: both need the same folders",
                       list->dir, other.classes[list->class_count], length, folder);
    picture_list_free(&other);
    free(path);
    return ok;
}

static bool read_files(struct picture_list *list, const struct folder *folder, struct error *err)
{
    for (int label = 0; label < list->class_count; label++)
        if (!read_class(list, folder, label, err))
            return false;
    return true;
}

/* Is the folder there? False with *err filled: out of memory. */
static bool find_folder(const struct picture_list *list, const struct folder *folder, bool *there,
                        struct error *err)
{
    char *path = path_join(list->dir, folder->name);
    *there = path && is_folder(path);
    free(path);
    return path || error_memory(err, list->dir);
}

enum { FOLDERS = 4 };
static const struct folder folders[FOLDERS] = {{"train/", PICTURE_TRAIN},
                                               {"validation/", PICTURE_VALIDATION},
                                               {"val/", PICTURE_VALIDATION},
                                               {"test/", PICTURE_TEST}};

/* Without train/ a folder called val/ is a class like others, one called test/ a mistake. */
static bool read_one_level(struct picture_list *list, struct error *err)
{
    const struct folder all = {"", PICTURE_TRAIN};
    return list->own_test ? error_set(err, ERROR_USAGE, "%s: has test/, but no train/", list->dir)
                          : read_classes(list, list->dir, err) && read_files(list, &all, err);
}

/* What it holds, part by part. */
static bool read_folder(struct picture_list *list, const char *train, struct error *err)
{
    bool there[FOLDERS];
    for (int i = 0; i < FOLDERS; i++)
        if (!find_folder(list, &folders[i], &there[i], err))
            return false;
    list->own_test = there[3];
    if (!there[0])
        return read_one_level(list, err);
    if (there[1] && there[2])
        return error_set(err, ERROR_USAGE,
                         "%s: has validation/ and val/: remove or rename one of them", list->dir);
    if (!read_classes(list, train, err))
        return false;
    for (int i = 0; i < FOLDERS; i++)
        if (there[i] && ((i > 0 && !same_classes(list, folders[i].name, err)) ||
                         !read_files(list, &folders[i], err)))
            return false;
    return true;
}

/* Files are looked at many at a time, on all processors: of what a start with decoded pictures
 * takes this is the most. */
enum { LOOKED_AT = 512 };

struct looking {
    const struct picture_list *list;
    int dir;
};

static bool look_at_files(void *context, struct picture_reader *reader, long item,
                          struct error *err)
{
    const struct looking *looking = context;
    const struct picture_list *list = looking->list;
    const size_t begin = (size_t)item * LOOKED_AT, rest = list->count - begin;
    (void)reader;
    for (size_t i = begin; i < begin + (rest < LOOKED_AT ? rest : LOOKED_AT); i++) {
        struct picture_file *file = &list->files[i];
        struct stat info;
        if (fstatat(looking->dir, file->name, &info, 0) != 0)
            return error_errno(err, "%s/%s: cannot stat", list->dir, file->name);
        file->size = info.st_size;
        file->time_ns = (int64_t)info.st_mtim.tv_sec * 1000000000 + info.st_mtim.tv_nsec;
    }
    return true;
}

/* Sizes and times. */
static bool look_at_all(const struct picture_list *list, struct error *err)
{
    struct looking looking = {list, open(list->dir, O_PATH | O_DIRECTORY | O_CLOEXEC)};
    const struct crew_work work = {(long)((list->count + LOOKED_AT - 1) / LOOKED_AT), look_at_files,
                                   &looking};
    bool ok = looking.dir >= 0 ? crew_run(&work, NULL, err)
                               : error_errno(err, "%s: cannot read the folder", list->dir);
    if (looking.dir >= 0)
        close(looking.dir);
    return ok;
}

static void digest_files(struct picture_list *list)
{
    list->digest = PICTURE_DIGEST;
    for (size_t i = 0; i < list->count; i++) {
        const struct picture_file *file = &list->files[i];
        const int64_t numbers[] = {file->size, file->time_ns};
        unsigned char bytes[sizeof numbers];
        memcpy(bytes, numbers, sizeof bytes); /* which clang's analyzer takes for unset otherwise */
        list->digest = picture_digest(list->digest, file->name, strlen(file->name) + 1);
        list->digest = picture_digest(list->digest, bytes, sizeof bytes);
    }
}

bool picture_list_any(const char *dir)
{
    DIR *stream = opendir(dir);
    const struct dirent *entry;
    bool any = false;
    while (stream && !any && (entry = next_entry(stream)))
        any = entry_is_folder(stream, entry);
    if (stream)
        closedir(stream);
    return any;
}

bool picture_list_read(const char *dir, double test_share, struct picture_list *out,
                       struct error *err)
{
    char *train = path_join(dir, "train");
    *out = (struct picture_list){.dir = strdup(dir)};
    bool ok = (train && out->dir) || error_memory(err, dir);
    ok = ok && read_folder(out, train, err) && look_at_all(out, err);
    free(train);
    if (ok) {
        rows_arrange(out, test_share);
        digest_files(out);
    } else {
        picture_list_free(out);
    }
    return ok;
}
