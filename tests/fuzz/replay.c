/* SPDX-License-Identifier: MIT */
/*
 * Stands in for libFuzzer in the test suite: runs a target on every file of its corpus and on
 * simple changes of each, which are the same in every run.
 *
 *     fuzz_NAME [FILE]...     without files: those of $top_srcdir/tests/fuzz/corpus/NAME
 */
#include <dirent.h>
#include <stdbool.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "tests/fuzz/fuzz.h"

#define CHANGES    400 /* of all files together */
#define FILE_LIMIT ((size_t)1 << 20)

struct input {
    char *name, *data;
    size_t size;
};

struct corpus {
    struct input *inputs;
    size_t count;
    uint64_t state; /* of the generator */
};

/* Marsaglia's xorshift64: the changes need no better one. */
static size_t below(struct corpus *corpus, size_t bound)
{
    uint64_t x = corpus->state;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    corpus->state = x;
    return bound ? (size_t)(x % bound) : 0;
}

static void add_file(struct corpus *corpus, const char *path)
{
    struct error err = ERROR_INIT;
    struct input *input;
    corpus->inputs = realloc(corpus->inputs, (corpus->count + 1) * sizeof *corpus->inputs);
    FUZZ_CHECK(corpus->inputs);
    input = &corpus->inputs[corpus->count++];
    input->name = strdup(path);
    if (!file_read(path, FILE_LIMIT, &input->data, &input->size, &err)) {
        fprintf(stderr, "%s\n", err.text);
        exit(1);
    }
}

/* The files in the order of their names. */
static void add_folder(struct corpus *corpus, const char *folder)
{
    struct dirent **entries;
    int count = scandir(folder, &entries, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        if (entries[i]->d_name[0] != '.') {
            char *path = path_join(folder, entries[i]->d_name);
            add_file(corpus, path);
            free(path);
        }
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
}

/* A block of exactly `size` bytes, so that a sanitizer sees the first one after it. */
static void run(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size ? size : 1);
    FUZZ_CHECK(copy);
    memcpy(copy, data, size);
    LLVMFuzzerTestOneInput(copy, size);
    free(copy);
}

static size_t cut(struct corpus *corpus, uint8_t *data, size_t size)
{
    (void)data;
    return below(corpus, size);
}

static size_t flip(struct corpus *corpus, uint8_t *data, size_t size)
{
    for (size_t left = 1 + below(corpus, 4); size && left; left--)
        data[below(corpus, size)] ^= (uint8_t)(1u << below(corpus, 8));
    return size;
}

/* Numbers that tend to be forgotten: 0, 0x7f, 0x80, 0xff; also as words. */
static size_t extreme(struct corpus *corpus, uint8_t *data, size_t size)
{
    static const uint8_t values[] = {0, 0x7f, 0x80, 0xff, '0', '9', '"', '\n'};
    size_t length = (size_t)1 << below(corpus, 4), at = below(corpus, size);
    uint8_t value = values[below(corpus, sizeof values)];
    for (size_t i = at; i < size && i < at + length; i++)
        data[i] = value;
    return size;
}

/* A chunk once more, after itself; `data` has room for twice the size. */
static size_t repeat(struct corpus *corpus, uint8_t *data, size_t size)
{
    size_t at = below(corpus, size), length = below(corpus, size - at + 1);
    memmove(data + at + length, data + at, size - at);
    return size + length;
}

/* The end of another file after the beginning of this one. */
static size_t splice(struct corpus *corpus, uint8_t *data, size_t size)
{
    const struct input *other = &corpus->inputs[below(corpus, corpus->count)];
    size_t at = below(corpus, size), from = below(corpus, other->size);
    size_t length = other->size - from;
    if (length > 2 * size - at)
        length = 2 * size - at;
    memcpy(data + at, other->data + from, length);
    return at + length;
}

static void run_changes(struct corpus *corpus, const struct input *input)
{
    static size_t (*const changes[])(struct corpus *, uint8_t *, size_t) = {cut, flip, extreme,
                                                                            repeat, splice};
    uint8_t *data = malloc(2 * input->size + 1);
    FUZZ_CHECK(data);
    for (size_t i = 0; i < CHANGES / corpus->count; i++) {
        memcpy(data, input->data, input->size);
        run(data, changes[i % (sizeof changes / sizeof *changes)](corpus, data, input->size));
    }
    free(data);
}

int main(int argc, char **argv)
{
    struct corpus corpus = {.state = 88172645463325252u};
    const char *slash = strrchr(argv[0], '/'), *name = slash ? slash + 1 : argv[0];
    const char *top = getenv("top_srcdir");
    if (strncmp(name, "fuzz_", 5) == 0)
        name += 5;
    char *folder = text_format("%s/tests/fuzz/corpus/%s", top ? top : ".", name);
    for (int i = 1; i < argc; i++)
        add_file(&corpus, argv[i]);
    if (argc < 2)
        add_folder(&corpus, folder);
    for (size_t i = 0; i < corpus.count; i++) {
        const struct input *input = &corpus.inputs[i];
        run((const uint8_t *)input->data, input->size);
        if (argc < 2)
            run_changes(&corpus, input);
    }
    printf("%s: %zu files%s\n", name, corpus.count, argc < 2 ? ", each also changed" : "");
    bool empty = corpus.count == 0;
    if (empty)
        fprintf(stderr, "%s: no files there\n", folder);
    for (size_t i = 0; i < corpus.count; i++) {
        free(corpus.inputs[i].name);
        free(corpus.inputs[i].data);
    }
    free(corpus.inputs);
    free(folder);
    return empty;
}
