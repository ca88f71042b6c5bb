/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/engine/data/data_fixture.h"
#include "tests/suites.h"
#include "tests/support.h"

START_TEST(idx_files_plain_and_packed)
{
    put_idx(folder, _i);
    open_or_fail(folder, NULL);
    check_idx_rows(&data.train, TRAIN);
    check_idx_rows(&data.test, TEST);
    ck_assert_int_eq(data.train.classes, 10);
    ck_assert_str_eq(data.name, folder);
    ck_assert_str_eq(data.source, folder);
    ck_assert_ptr_null(data.class_names);
}
END_TEST

START_TEST(a_gzip_file_may_have_several_members)
{
    uint8_t bytes[512], gzip[8192];
    size_t length = idx_bytes(0, bytes);
    put_idx(folder, false);
    char *plain = format("%s/%s", folder, idx_names[0]);
    ck_assert_int_eq(unlink(plain), 0);
    free(plain);
    size_t first = pack_gzip(bytes, 100, gzip);
    size_t second = pack_gzip(bytes + 100, length - 100, gzip + first);
    put_file(folder, "train-images-idx3-ubyte.gz", gzip, first + second);
    open_or_fail(folder, NULL);
    check_idx_rows(&data.train, TRAIN);
}
END_TEST

/* What is done to one file of a good folder, and what the refusal must say. */
enum edit {
    CUT,        /* to `at` bytes */
    NUMBER,     /* big-endian `value` at `at` */
    BYTE,       /* `value` at `at` */
    APPEND,     /* `value` bytes */
    PACKED_CUT, /* as the ones above, after packing */
    PACKED_BYTE,
    PACKED_APPEND,
    REMOVE,
    FOLDER,
    PIPE,
    LOOP, /* a link to itself: what cannot be opened, even by root */
};

static const struct bad_file {
    int file;
    enum edit edit;
    size_t at;
    uint32_t value;
    const char *words[2];
} bad_files[] = {
    {0, CUT, 0, 0, {"train-images-idx3-ubyte", "0 bytes, but an IDX header has 16"}},
    {0, CUT, 15, 0, {"train-images-idx3-ubyte", "15 bytes, but an IDX header has 16"}},
    {1, CUT, 7, 0, {"train-labels-idx1-ubyte", "7 bytes, but an IDX header has 8"}},
    {0, CUT, 16, 0, {"train-images-idx3-ubyte", "cut off"}},
    {2, CUT, 135, 0, {"t10k-images-idx3-ubyte", "cut off"}},
    {3, CUT, 17, 0, {"t10k-labels-idx1-ubyte", "cut off"}},
    {0, APPEND, 0, 1, {"train-images-idx3-ubyte", "trailing bytes after the 240"}},
    {3, APPEND, 0, 5, {"t10k-labels-idx1-ubyte", "trailing bytes after the 10"}},
    {0, NUMBER, 0, 0x801, {"begins with 0x00000801", "begin with 0x00000803"}},
    {1, NUMBER, 0, 0x803, {"IDX labels", "begin with 0x00000801"}},
    {2, NUMBER, 0, 0xdeadbeef, {"t10k-images-idx3-ubyte", "begins with 0xdeadbeef"}},
    {0, NUMBER, 4, 19, {"20 labels", "has 19 images"}},
    {1, NUMBER, 4, 21, {"train-labels-idx1-ubyte", "cut off"}},
    {0, NUMBER, 4, 0, {"train-images-idx3-ubyte", "0 rows, not 1 to"}},
    {0, NUMBER, 4, 0xffffffff, {"train-images-idx3-ubyte", "4294967295 rows, not 1 to"}},
    {0, NUMBER, 8, 0, {"train-images-idx3-ubyte", "0 pixels of height"}},
    {0, NUMBER, 12, 0x7fffffff, {"train-images-idx3-ubyte", "2147483647 pixels of width"}},
    {0, NUMBER, 8, 4096, {"cut off", "promises 245760 bytes"}},
    {0, NUMBER, 4, 10000000, {"cut off", "promises 120000000 bytes"}},
    {2, NUMBER, 8, 3, {"t10k-images-idx3-ubyte", "trailing bytes"}},
    {1, BYTE, 8 + 17, 10, {"train-labels-idx1-ubyte", "label 10 in row 17"}},
    {3, BYTE, 8, 255, {"t10k-labels-idx1-ubyte", "label 255 in row 0"}},
    {0, PACKED_CUT, 2, 0, {"train-images-idx3-ubyte.gz", "cut off"}},
    {0, PACKED_CUT, 60, 0, {"train-images-idx3-ubyte.gz", "cut off"}},
    {1, PACKED_CUT, 30, 0, {"train-labels-idx1-ubyte.gz", "cut off"}},
    {0, PACKED_BYTE, 2, 99, {"train-images-idx3-ubyte.gz", "damaged gzip data"}},
    {0, PACKED_BYTE, 30, 0xff, {"train-images-idx3-ubyte.gz", "damaged gzip data"}},
    {0, PACKED_APPEND, 0, 3, {"train-images-idx3-ubyte.gz", "trailing bytes after the gzip"}},
    {1, REMOVE, 0, 0, {"neither train-labels-idx1-ubyte", "train-labels-idx1-ubyte.gz is there"}},
    {0, FOLDER, 0, 0, {"train-images-idx3-ubyte", "a directory, not a regular file"}},
    {3, FOLDER, 0, 0, {"t10k-labels-idx1-ubyte", "a directory, not a regular file"}},
    {2, PIPE, 0, 0, {"t10k-images-idx3-ubyte", "a special file"}},
    {2, LOOP, 0, 0, {"t10k-images-idx3-ubyte", "cannot open"}},
};

static void put_bad(const struct bad_file *bad, const char *path)
{
    const char *name = strrchr(path, '/') + 1;
    uint8_t bytes[4096] = {0}, gzip[4096] = {0};
    size_t length = idx_bytes(bad->file, bytes), packed = pack_gzip(bytes, length, gzip);
    ck_assert_int_eq(unlink(path), 0);
    switch (bad->edit) {
    case CUT:
        put_file(folder, name, bytes, bad->at);
        return;
    case APPEND:
        put_file(folder, name, bytes, length + bad->value);
        return;
    case NUMBER:
        put_number(bytes + bad->at, bad->value);
        put_file(folder, name, bytes, length);
        return;
    case BYTE:
        bytes[bad->at] = (uint8_t)bad->value;
        put_file(folder, name, bytes, length);
        return;
    case REMOVE:
        return;
    case FOLDER:
        ck_assert_int_eq(mkdir(path, 0777), 0);
        return;
    case PIPE:
        ck_assert_int_eq(mkfifo(path, 0666), 0);
        return;
    case LOOP:
        ck_assert_int_eq(symlink(name, path), 0);
        return;
    case PACKED_CUT:
        packed = bad->at;
        break;
    case PACKED_BYTE:
        gzip[bad->at] = (uint8_t)bad->value;
        break;
    case PACKED_APPEND:
        packed += bad->value;
        break;
    }
    char *packed_name = format("%s.gz", name);
    put_file(folder, packed_name, gzip, packed);
    free(packed_name);
}

START_TEST(bad_idx_files_are_refused)
{
    const struct bad_file *bad = &bad_files[_i];
    char *path = format("%s/%s", folder, idx_names[bad->file]);
    put_idx(folder, false);
    put_bad(bad, path);
    for (int i = 0; i < 2; i++)
        check_refused(folder, NULL, bad->words[i]);
    /* What the header or the lack of the file tells is noticed without reading the rows. */
    bool header = bad->edit == NUMBER || bad->edit == REMOVE || bad->edit >= FOLDER;
    const struct data_request request = {.name = folder};
    bool body = bad->words[1] && strstr(bad->words[1], "trailing");
    struct dataset shape;
    char *resolved = NULL;
    if (header && !body) {
        ck_assert(!data_describe(&request, &shape, NULL, &resolved, &err));
        ck_assert_ptr_nonnull(strstr(err.text, bad->words[0]));
    }
    free(path);
}
END_TEST

START_TEST(every_cut_and_every_flipped_bit_of_a_packed_file_is_noticed)
{
    uint8_t bytes[512], gzip[4096];
    size_t length = pack_gzip(bytes, idx_bytes(0, bytes), gzip), harmless = 0;
    const struct data_request request = {.name = folder};
    put_idx(folder, true);
    for (size_t cut = 0; cut < length; cut++) {
        put_file(folder, "train-images-idx3-ubyte.gz", gzip, cut);
        check_refused(folder, NULL, "train-images-idx3-ubyte.gz");
    }
    for (size_t bit = 0; bit < 8 * length; bit++) {
        gzip[bit / 8] ^= (uint8_t)(1 << bit % 8);
        put_file(folder, "train-images-idx3-ubyte.gz", gzip, length);
        if (data_open(&request, &data, &err)) {
            check_idx_rows(&data.train, TRAIN);
            data_close(&data);
            harmless++;
        }
        gzip[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    /* Time stamp, system and level in the header, and up to seven bits after the last block. */
    ck_assert_uint_le(harmless, 6 * 8 + 1 + 7);
}
END_TEST

START_TEST(parts_of_different_shape_are_refused)
{
    uint8_t bytes[512];
    size_t length = idx_bytes(2, bytes);
    put_number(bytes + 8, WIDTH);
    put_number(bytes + 12, HEIGHT);
    put_idx(folder, false);
    put_file(folder, idx_names[2], bytes, length);
    check_refused(folder, NULL, "pictures of 4x3, t10k-images-idx3-ubyte of 3x4");
}
END_TEST

START_TEST(a_packed_file_that_promises_gigabytes_is_refused)
{
    /* 10^7 rows of 20x21: below the limit of values, far above what the file can hold. */
    uint8_t bytes[512], gzip[4096];
    size_t length = idx_bytes(0, bytes);
    put_idx(folder, true);
    put_number(bytes + 4, 10000000);
    put_number(bytes + 8, 20);
    put_number(bytes + 12, 21);
    put_file(folder, "train-images-idx3-ubyte.gz", gzip, pack_gzip(bytes, length, gzip));
    check_refused(folder, NULL, "more than the file can hold");
    put_number(bytes + 8, 4096);
    put_file(folder, "train-images-idx3-ubyte.gz", gzip, pack_gzip(bytes, length, gzip));
    check_refused(folder, NULL, "the header promises 860160000000 bytes, more than");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("idx");
    TCase *tcase = tcase_create("idx");
    tcase_add_checked_fixture(tcase, data_setup, data_teardown);
    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, idx_files_plain_and_packed, 0, 2);
    tcase_add_test(tcase, a_gzip_file_may_have_several_members);
    tcase_add_loop_test(tcase, bad_idx_files_are_refused, 0, sizeof bad_files / sizeof *bad_files);
    tcase_add_test(tcase, every_cut_and_every_flipped_bit_of_a_packed_file_is_noticed);
    tcase_add_test(tcase, parts_of_different_shape_are_refused);
    tcase_add_test(tcase, a_packed_file_that_promises_gigabytes_is_refused);
    suite_add_tcase(suite, tcase);
    return run_suites(suite, NULL);
}
