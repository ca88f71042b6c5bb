/* SPDX-License-Identifier: MIT */
#include "tests/engine/data/data_fixture.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "tests/support.h"

const char *const idx_names[4] = {"train-images-idx3-ubyte", "train-labels-idx1-ubyte",
                                  "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"};

char *folder;
struct error err;
struct data data;

void data_setup(void)
{
    folder = temporary_folder();
    err = (struct error)ERROR_INIT;
    data = (struct data){0};
    setenv("XDG_DATA_HOME", folder, 1);
    unsetenv("DPARTUI_DATA_DIR");
}

void data_teardown(void)
{
    data_close(&data);
    remove_tree(folder);
}

void put_number(uint8_t *to, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        to[i] = (uint8_t)(value >> (24 - 8 * i));
}

size_t idx_bytes(int index, uint8_t *to)
{
    uint32_t rows = index < 2 ? TRAIN : TEST;
    bool images = index % 2 == 0;
    size_t at = images ? 16 : 8;
    put_number(to, images ? 0x803 : 0x801);
    put_number(to + 4, rows);
    if (images) {
        put_number(to + 8, HEIGHT);
        put_number(to + 12, WIDTH);
    }
    for (uint32_t r = 0; r < rows; r++)
        for (uint32_t i = 0; i < (images ? PIXELS : 1); i++)
            to[at++] = (uint8_t)(images ? r + i : r % 10);
    return at;
}

size_t pack_gzip(const uint8_t *bytes, size_t length, uint8_t *to)
{
    z_stream s = {0};
    ck_assert_int_eq(deflateInit2(&s, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    s.next_in = (Bytef *)bytes;
    s.avail_in = (unsigned)length;
    s.next_out = to;
    s.avail_out = 4096;
    ck_assert_int_eq(deflate(&s, Z_FINISH), Z_STREAM_END);
    size_t packed = s.total_out;
    deflateEnd(&s);
    return packed;
}

void put_idx(const char *dir, bool packed)
{
    for (int i = 0; i < 4; i++) {
        uint8_t bytes[512], gzip[4096];
        size_t length = idx_bytes(i, bytes);
        char *name = format("%s%s", idx_names[i], packed ? ".gz" : "");
        if (packed)
            put_file(dir, name, gzip, pack_gzip(bytes, length, gzip));
        else
            put_file(dir, name, bytes, length);
        free(name);
    }
}

void check_idx_rows(const struct dataset *set, int rows)
{
    ck_assert_int_eq(set->rows, rows);
    ck_assert_int_eq(set->channels, 1);
    ck_assert_int_eq(set->height, HEIGHT);
    ck_assert_int_eq(set->width, WIDTH);
    ck_assert_ptr_null(set->numbers);
    for (int r = 0; r < rows; r++) {
        ck_assert_int_eq(set->labels[r], r % 10);
        for (int i = 0; i < PIXELS; i++)
            ck_assert_int_eq(set->pixels[r * PIXELS + i], r + i);
    }
}

void open_or_fail(const char *name, const char *data_dir)
{
    const struct data_request request = {.name = name, .data_dir = data_dir, .seed = 1};
    data_close(&data);
    ck_assert_msg(data_open(&request, &data, &err), "%s", err.text);
}

void check_refused(const char *name, const char *data_dir, const char *words)
{
    const struct data_request request = {.name = name, .data_dir = data_dir, .seed = 1};
    ck_assert_msg(!data_open(&request, &data, &err), "%s was opened", name);
    ck_assert_msg(strstr(err.text, words) != NULL, "'%s' lacks '%s'", err.text, words);
    ck_assert_ptr_null(strchr(err.text, '\n'));
    ck_assert_ptr_null(data.name);
    ck_assert_ptr_null(data.train.labels);
}
