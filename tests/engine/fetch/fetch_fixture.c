/* SPDX-License-Identifier: MIT */
#include "tests/engine/fetch/fetch_fixture.h"

#include <check.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "tests/support.h"

char *root, *mirror, *home, *address;
char *content[2];
struct fetch_set set;
struct http_server server;
struct fetch_patience patience;
struct error err;
struct seen seen;

static char sums[2][65];

static void sha256(const char *data, size_t length, char *hex)
{
    unsigned char sum[EVP_MAX_MD_SIZE];
    unsigned size;
    ck_assert_int_eq(EVP_Digest(data, length, sum, &size, EVP_sha256(), NULL), 1);
    for (unsigned i = 0; i < size; i++)
        snprintf(hex + 2 * (size_t)i, 3, "%02x", sum[i]);
}

bool report(void *context, const struct fetch_progress *p)
{
    size_t length = strlen(seen.phases);
    ck_assert_ptr_eq(context, &seen);
    ck_assert_int_ge(p->index, 0);
    ck_assert_int_lt(p->index, p->count);
    ck_assert_str_eq(p->file, set.files[p->index].name);
    ck_assert_int_ge(p->done, 0);
    ck_assert_int_le(p->done, p->total);
    ck_assert_double_ge(p->bytes_per_s, 0);
    if ((!length || seen.phases[length - 1] != p->phase[0]) && length + 1 < sizeof seen.phases)
        seen.phases[length] = p->phase[0];
    seen.done = p->done;
    return ++seen.count != seen.cancel_at;
}

void fetch_setup(void)
{
    static const char *const names[] = {"long.gz", "short.gz"};
    static const size_t sizes[] = {LONG, SHORT};
    /* The server is here: no proxy of the user's may come in between. */
    setenv("no_proxy", "127.0.0.1", 1);
    root = temporary_folder();
    mirror = format("%s/mirror", root);
    home = format("%s/home", root);
    err = (struct error)ERROR_INIT;
    memset(&seen, 0, sizeof seen);
    set = (struct fetch_set){.name = "things", .base = "http://127.0.0.1:9/", .file_count = 2};
    for (int i = 0; i < 2; i++) {
        content[i] = malloc(sizes[i]);
        ck_assert_ptr_nonnull(content[i]);
        for (size_t b = 0; b < sizes[i]; b++)
            content[i][b] = (char)((b * 2654435761u) >> (11 + i));
        sha256(content[i], sizes[i], sums[i]);
        set.files[i] = (struct fetch_file){names[i], (int64_t)sizes[i], sums[i]};
        put_file(mirror, names[i], content[i], sizes[i]);
    }
    memset(&server, 0, sizeof server);
    server.folder = mirror;
    patience =
        (struct fetch_patience){.attempts = 3, .pause_s = 0.02, .connect_s = 5, .stall_s = 10};
}

void start(void)
{
    http_server_start(&server);
    address = format("http://127.0.0.1:%d/", server.port);
}

void fetch_teardown(void)
{
    if (address)
        http_server_stop(&server);
    for (int i = 0; i < 2; i++)
        free(content[i]);
    free(mirror);
    free(home);
    free(address);
    address = NULL;
    remove_tree(root);
}

bool fetch(const char *from)
{
    return fetch_set(&set, home, from, &patience, report, &seen, &err);
}

void check_fetched(const char *from)
{
    bool ok = fetch(from);
    ck_assert_msg(ok, "%s", err.text);
}

void check_refused(const char *from, const char *words)
{
    ck_assert_msg(!fetch(from), "fetched");
    ck_assert_msg(strstr(err.text, words) != NULL, "'%s' lacks '%s'", err.text, words);
    ck_assert_ptr_null(strchr(err.text, '\n'));
}

long size_of(const char *name)
{
    struct stat info;
    char *path = format("%s/things/%s", home, name);
    long size = lstat(path, &info) == 0 ? (long)info.st_size : -1;
    free(path);
    return size;
}

void check_installed(void)
{
    for (int i = 0; i < 2; i++) {
        char *path = format("%s/things/%s", home, set.files[i].name), *data = NULL;
        char *part = format("%s.part", set.files[i].name);
        size_t length = 0;
        ck_assert_msg(file_read(path, LONG, &data, &length, &err), "%s", err.text);
        ck_assert_uint_eq(length, (size_t)set.files[i].size);
        ck_assert_mem_eq(data, content[i], length);
        ck_assert_int_eq(size_of(part), -1);
        free(data);
        free(path);
        free(part);
    }
}

void put_part(const char *data, size_t length)
{
    put_file(home, "things/long.gz.part", data, length);
}
