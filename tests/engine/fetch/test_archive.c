/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <dirent.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/file.h"
#include "base/text.h"
#include "engine/fetch/set.h"
#include "tests/suites.h"
#include "tests/support.h"

/* A set that is one archive of a folder "box" with a.bin (700 bytes) and b.bin (1024 bytes). */

static char *root, *home, *from;
static struct text tar; /* the archive being written */
static struct fetch_set set;
static struct error err;
static char content[2048], sum[65];

static void setup(void)
{
    root = temporary_folder();
    home = format("%s/home", root);
    from = format("file://%s/mirror", root);
    err = (struct error)ERROR_INIT;
    for (size_t i = 0; i < sizeof content; i++)
        content[i] = (char)(i * 7 + 1);
    set = (struct fetch_set){
        .name = "boxed",
        .base = "file:///nowhere/",
        .file_count = 1,
        .files = {{"box.tar.gz", 0, sum}},
        .folder = "box",
        .member_count = 2,
        .members = {{"a.bin", 700, NULL}, {"b.bin", 1024, NULL}},
    };
}

static void teardown(void)
{
    text_free(&tar);
    free(home);
    free(from);
    remove_tree(root);
}

/* One member as ustar has it; the fields that a check wants to be wrong are changed after it. */
struct member {
    char name[101], type;
    long size;         /* of the contents that follow */
    const char *field; /* NULL or what to write ... */
    size_t at;         /* ... at this place of the header */
    bool wrong_sum;    /* the checksum is of another header */
};

static void add_member(const struct member *m)
{
    char header[512] = {0}, zeros[512] = {0};
    unsigned checksum = 0;
    memcpy(header, m->name, strnlen(m->name, 100));
    memcpy(header + 100, "0000644", 8);
    memcpy(header + 108, "0000000", 8);
    memcpy(header + 116, "0000000", 8);
    snprintf(header + 124, 12, "%011lo", m->size);
    memcpy(header + 136, "00000000000", 12);
    memset(header + 148, ' ', 8);
    header[156] = m->type;
    memcpy(header + 257,
           "ustar\0"
           "00",
           8);
    if (m->field)
        memcpy(header + m->at, m->field, strlen(m->field));
    for (int i = 0; i < 512; i++)
        checksum += (unsigned char)header[i];
    snprintf(header + 148, 8, "%06o", checksum + m->wrong_sum);
    text_append(&tar, header, 512);
    if (m->size > 0 && m->size <= (long)sizeof content) {
        text_append(&tar, content, (size_t)m->size);
        text_append(&tar, zeros, (size_t)(-m->size & 511));
    }
}

static void add(const char *name, char type, long size)
{
    struct member m = {.type = type, .size = size};
    strcpy(m.name, name);
    add_member(&m);
}

static void add_good(void)
{
    add("box/", '5', 0);
    add("box/a.bin", '0', 700);
    add("box/b.bin", '\0', 1024);
    add("box/readme.html", '0', 10);
}

static void add_end(void)
{
    static const char zeros[1024];
    text_append(&tar, zeros, sizeof zeros);
}

/* Pack the archive into the mirror and make the table fit it: the archive is what is on trial. */
static void put_archive(void)
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned length;
    char *path = format("%s/mirror/box.tar.gz", root), *data;
    size_t size;
    ck_assert_ptr_nonnull(text_cstr(&tar));
    put_file(root, "mirror/box.tar.gz", "", 0);
    gzFile file = gzopen(path, "wb");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(gzwrite(file, tar.data, (unsigned)tar.length), (int)tar.length);
    ck_assert_int_eq(gzclose(file), Z_OK);
    ck_assert_msg(file_read(path, 1 << 24, &data, &size, &err), "%s", err.text);
    set.files[0].size = (int64_t)size;
    ck_assert_int_eq(EVP_Digest(data, size, digest, &length, EVP_sha256(), NULL), 1);
    for (unsigned i = 0; i < length; i++)
        snprintf(sum + 2 * (size_t)i, 3, "%02x", digest[i]);
    free(data);
    free(path);
}

static bool fetch(void)
{
    return fetch_set(&set, home, from, &fetch_patience_default, NULL, NULL, &err);
}

static void check_file(const char *name, size_t size)
{
    char *path = format("%s/boxed/box/%s", home, name), *data = NULL;
    size_t length = 0;
    ck_assert_msg(file_read(path, sizeof content, &data, &length, &err), "%s", err.text);
    ck_assert_uint_eq(length, size);
    ck_assert_mem_eq(data, content, size);
    free(data);
    free(path);
}

static int entries(const char *folder)
{
    char *path = format("%s/%s", root, folder);
    DIR *stream = opendir(path);
    int count = -2; /* . and .. */
    ck_assert_msg(stream != NULL, "cannot open %s", path);
    while (readdir(stream))
        count++;
    closedir(stream);
    free(path);
    return count;
}

static void check_installed(void)
{
    check_file("a.bin", 700);
    check_file("b.bin", 1024);
    check_file("readme.html", 10);
    ck_assert_int_eq(entries("home/boxed"), 1); /* no archive, no temporary folder */
}

START_TEST(a_good_archive)
{
    add_good();
    if (_i)
        add_end();
    else /* one block of zeros is an end as well */
        text_append(&tar, (char[512]){0}, 512);
    put_archive();
    ck_assert_msg(fetch(), "%s", err.text);
    check_installed();
    /* And not again: the mirror is gone. */
    free(from);
    from = format("file:///nowhere");
    ck_assert_msg(fetch(), "%s", err.text);
}
END_TEST

START_TEST(an_incomplete_folder_is_completed)
{
    add_good();
    add_end();
    put_archive();
    put_file(home, "boxed/box/a.bin", content, 699);
    put_file(home, "boxed/box/own", content, 5);
    put_file(home, "boxed/.unpack/left-over", content, 5);
    ck_assert_msg(fetch(), "%s", err.text);
    check_installed();
    check_file("own", 5);
    ck_assert_int_eq(entries("home/boxed/box"), 4);
}
END_TEST

/* Members that come between good ones; none may be let out of the folder. */
static const struct hostile {
    struct member member;
    const char *words;
} hostiles[] = {
    {{.name = "/tmp/evil", .type = '0', .size = 5}, "/tmp/evil is not a file in box/"},
    {{.name = "../evil", .type = '0', .size = 5}, "../evil is not a file in box/"},
    {{.name = "box/../evil", .type = '0', .size = 5}, "is not a file in box/"},
    {{.name = "box/..", .type = '0', .size = 5}, "is not a file in box/"},
    {{.name = "box/.", .type = '5', .size = 0}, "is not a file in box/"},
    {{.name = "box//evil", .type = '0', .size = 5}, "is not a file in box/"},
    {{.name = "box/sub/evil", .type = '0', .size = 5}, "is not a file in box/"},
    {{.name = "boxes/evil", .type = '0', .size = 5}, "is not a file in box/"},
    {{.name = "box", .type = '0', .size = 5}, "is not a file in box/"},
    {{.name = "evil", .type = '0', .size = 5}, "is not a file in box/"},
    {{.name = "", .type = '0', .size = 5}, "is not a file in box/"},
    {{.name = "box/e\033[2Jvil", .type = '0', .size = 5}, "box/e\\033[2Jvil is not a file"},
    {{.name = "box/evil", .type = '0', .size = 5, .field = "/etc", .at = 345}, "is not a file in"},
    {{.name = "box/evil", .type = '1', .size = 0, .field = "/etc/passwd", .at = 157},
     "box/evil is not a plain file"},
    {{.name = "box/evil", .type = '2', .size = 0, .field = "/etc", .at = 157},
     "box/evil is not a plain file"},
    {{.name = "box/evil", .type = '3', .size = 0}, "is not a plain file"},
    {{.name = "box/evil", .type = '4', .size = 0}, "is not a plain file"},
    {{.name = "box/evil", .type = '5', .size = 0}, "is not a plain file"},
    {{.name = "box/evil", .type = '6', .size = 0}, "is not a plain file"},
    {{.name = "box/", .type = '0', .size = 5}, "is not a plain file"},
    {{.name = "box/", .type = '2', .size = 0, .field = "/tmp", .at = 157}, "is not a plain file"},
    {{.name = "box/evil", .type = 'S', .size = 5}, "is not a plain file"},
    {{.name = "box/evil", .type = 'x', .size = 20}, "is not a plain file"},
    {{.name = "././@LongLink", .type = 'L', .size = 20}, "is not a file in box/"},
    {{.name = "box/a.bin", .type = '0', .size = 5}, "a.bin is there twice"},
    {{.name = "box/evil", .type = '0', .size = (64 << 20) + 1}, "more than 67108864"},
    {{.name = "box/evil", .type = '0', .size = 5, .field = "77777777777", .at = 124},
     "8589934591 bytes, more than 67108864"},
    {{.name = "box/evil", .type = '0', .size = 5, .field = "\200\0\0\0\0\0\0\0\0\0\0\5", .at = 124},
     "no readable size"},
    {{.name = "box/evil", .type = '0', .size = 5, .field = "-0000000001", .at = 124},
     "no readable size"},
    {{.name = "box/evil", .type = '0', .size = 5, .field = "           ", .at = 124},
     "no readable size"},
    {{.name = "box/evil", .type = '0', .size = 5, .wrong_sum = true}, "not a tar archive"},
    {{.name = "box/evil", .type = '0', .size = 1 << 20}, "the archive is cut off"},
};

static void check_refused(const char *words)
{
    put_archive();
    ck_assert(!fetch());
    ck_assert_msg(strstr(err.text, words) != NULL, "'%s' lacks '%s'", err.text, words);
    ck_assert_ptr_null(strchr(err.text, '\n'));
    ck_assert_ptr_null(strchr(err.text, '\033'));
    /* Nothing but the archive is left, and nothing came into being outside. */
    ck_assert_int_eq(entries("home/boxed"), 1);
    ck_assert_int_eq(entries("home"), 1);
    ck_assert_int_eq(entries("."), 2);
}

START_TEST(hostile_members_are_refused)
{
    add("box/", '5', 0);
    add("box/a.bin", '0', 700);
    add_member(&hostiles[_i].member);
    if (hostiles[_i].member.size <= (long)sizeof content) {
        add("box/b.bin", '0', 1024);
        add_end();
    }
    check_refused(hostiles[_i].words);
}
END_TEST

START_TEST(cut_archives_are_refused)
{
    add_good();
    size_t whole = tar.length;
    for (size_t length = 0; length <= whole; length += 256) {
        tar.length = length;
        check_refused("the archive is cut off");
        remove_tree(format("%s/home", root));
    }
}
END_TEST

START_TEST(wrong_contents_are_refused)
{
    add("box/a.bin", '0', 700);
    add_end();
    check_refused("the archive has no b.bin of the right size");
    text_free(&tar);
    add("box/a.bin", '0', 701);
    add("box/b.bin", '0', 1024);
    add_end();
    check_refused("the archive has no a.bin of the right size");
    text_free(&tar);
    for (int i = 0; i < 65; i++) {
        char name[32];
        snprintf(name, sizeof name, "box/%d", i);
        add(name, '0', 0);
    }
    add_end();
    check_refused("more than 64 members");
    text_free(&tar);
    for (int i = 0; i < 100; i++)
        text_puts(&tar, "This is a page of a captive portal and no archive. ");
    check_refused("not a tar archive");
}
END_TEST

static bool cancel_unpacking(void *context, const struct fetch_progress *p)
{
    (void)context;
    return strcmp(p->phase, "unpack") != 0;
}

START_TEST(unpacking_can_be_cancelled)
{
    add_good();
    add_end();
    put_archive();
    ck_assert(!fetch_set(&set, home, from, &fetch_patience_default, cancel_unpacking, NULL, &err));
    ck_assert_int_eq(err.kind, ERROR_CANCELLED);
    ck_assert_int_eq(entries("home/boxed"), 1);
    ck_assert_msg(fetch(), "%s", err.text);
    check_installed();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("archive");
    TCase *tcase = tcase_create("archive");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, a_good_archive, 0, 2);
    tcase_add_test(tcase, an_incomplete_folder_is_completed);
    tcase_add_loop_test(tcase, hostile_members_are_refused, 0, sizeof hostiles / sizeof *hostiles);
    tcase_add_test(tcase, cut_archives_are_refused);
    tcase_add_test(tcase, wrong_contents_are_refused);
    tcase_add_test(tcase, unpacking_can_be_cancelled);
    suite_add_tcase(suite, tcase);
    return run_suites(suite, NULL);
}
