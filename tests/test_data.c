/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "engine/data/data.h"
#include "tests/support.h"

/* Small IDX sets: 20 and 10 rows of 4x3, pixel i of row r is r + i, the label r % 10. */
enum { TRAIN = 20, TEST = 10, HEIGHT = 4, WIDTH = 3, PIXELS = HEIGHT * WIDTH };

static const char *const idx_names[4] = {"train-images-idx3-ubyte", "train-labels-idx1-ubyte",
                                         "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"};

static char *folder; /* the check's own, empty */
static struct error err;
static struct data data;

static void setup(void)
{
    folder = temporary_folder();
    err = (struct error)ERROR_INIT;
    data = (struct data){0};
    setenv("XDG_DATA_HOME", folder, 1);
    unsetenv("DPARTUI_DATA_DIR");
}

static void teardown(void)
{
    data_close(&data);
    remove_tree(folder);
}

static void put_number(uint8_t *to, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        to[i] = (uint8_t)(value >> (24 - 8 * i));
}

/* The bytes of file `index` of idx_names; returns their number. At most 16 + 20 * 12. */
static size_t idx_bytes(int index, uint8_t *to)
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

/* gzip `length` bytes into `to` (of 4096 bytes); returns the packed length. */
static size_t pack(const uint8_t *bytes, size_t length, uint8_t *to)
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

static void put_idx(const char *dir, bool packed)
{
    for (int i = 0; i < 4; i++) {
        uint8_t bytes[512], gzip[4096];
        size_t length = idx_bytes(i, bytes);
        char *name = format("%s%s", idx_names[i], packed ? ".gz" : "");
        if (packed)
            put_file(dir, name, gzip, pack(bytes, length, gzip));
        else
            put_file(dir, name, bytes, length);
        free(name);
    }
}

static void check_idx_rows(const struct dataset *set, int rows)
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

static void open_or_fail(const char *name, const char *data_dir)
{
    data_close(&data);
    ck_assert_msg(data_open(name, data_dir, 1, &data, &err), "%s", err.text);
}

/* data_open and data_describe both refuse, in one line that holds `words`. */
static void check_refused(const char *name, const char *data_dir, const char *words)
{
    ck_assert_msg(!data_open(name, data_dir, 1, &data, &err), "%s was opened", name);
    ck_assert_msg(strstr(err.text, words) != NULL, "'%s' lacks '%s'", err.text, words);
    ck_assert_ptr_null(strchr(err.text, '\n'));
    ck_assert_ptr_null(data.name);
    ck_assert_ptr_null(data.train.labels);
}

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
    size_t first = pack(bytes, 100, gzip);
    size_t second = pack(bytes + 100, length - 100, gzip + first);
    put_file(folder, "train-images-idx3-ubyte.gz", gzip, first + second);
    open_or_fail(folder, NULL);
    check_idx_rows(&data.train, TRAIN);
}
END_TEST

START_TEST(describe_agrees_with_open)
{
    put_idx(folder, true);
    const char *const names[] = {folder, "glyphs", "random:7x5", NULL};
    for (int i = 0; i < 4; i++) {
        struct dataset shape;
        char *resolved = NULL;
        ck_assert_msg(data_describe(names[i], NULL, &shape, &resolved, &err), "%s", err.text);
        open_or_fail(names[i], NULL);
        ck_assert_str_eq(resolved, data.name);
        ck_assert_int_eq(shape.rows, data.train.rows);
        ck_assert_int_eq(shape.channels, data.train.channels);
        ck_assert_int_eq(shape.height, data.train.height);
        ck_assert_int_eq(shape.width, data.train.width);
        ck_assert_int_eq(shape.classes, data.train.classes);
        ck_assert_ptr_null(shape.pixels);
        ck_assert_ptr_null(shape.labels);
        free(resolved);
    }
}
END_TEST

START_TEST(named_data_are_found)
{
    static const char *const places[] = {"fashion-mnist", "."};
    char *home = format("%s/dpartui/data/fashion-mnist", folder);
    for (int i = 0; i < 2; i++) {
        char *root = format("%s/root%d", folder, i), *dir = format("%s/%s", root, places[i]);
        put_idx(dir, true);
        open_or_fail("fashion-mnist", root);
        ck_assert_str_eq(data.class_names[9], "ankle boot");
        ck_assert_int_eq(strncmp(data.source, root, strlen(root)), 0);
        setenv("DPARTUI_DATA_DIR", root, 1);
        open_or_fail("fashion-mnist", NULL);
        open_or_fail(NULL, NULL);
        ck_assert_str_eq(data.name, "fashion-mnist");
        unsetenv("DPARTUI_DATA_DIR");
        free(root);
        free(dir);
    }
    open_or_fail(NULL, NULL);
    ck_assert_str_eq(data.name, "glyphs");
    put_idx(home, false);
    open_or_fail(NULL, NULL);
    ck_assert_str_eq(data.source, home);
    /* Behind a data directory that lacks it, the data home is looked into. */
    open_or_fail("fashion-mnist", "/nowhere");
    ck_assert_str_eq(data.source, home);
    free(home);
}
END_TEST

START_TEST(missing_data_say_where_and_how)
{
    char *home = format("/nowhere or %s/dpartui/data", folder);
    check_refused("mnist", "/nowhere", home);
    check_refused("mnist", "/nowhere", "dpartui fetch mnist");
    ck_assert_int_eq(err.kind, ERROR_USAGE);
    check_refused("cifar10", NULL, "dpartui fetch cifar10");
    check_refused("fashion", NULL, "no data set 'fashion'");
    check_refused(folder, NULL, "holds neither IDX files");
    check_refused("/dev/null", NULL, "not a folder");
    free(home);
}
END_TEST

START_TEST(a_folder_may_name_its_classes)
{
    uint8_t labels[8 + TRAIN];
    size_t length = idx_bytes(1, labels);
    put_idx(folder, false);
    labels[8 + 3] = 11;
    put_file(folder, idx_names[1], labels, length);
    check_refused(folder, NULL, "label 11 in row 3, but labels are 0 to 9");
    put_file(folder, "classes.txt", "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\r\nl m", 26);
    open_or_fail(folder, NULL);
    ck_assert_int_eq(data.train.classes, 12);
    ck_assert_int_eq(data.test.classes, 12);
    ck_assert_str_eq(data.class_names[10], "k");
    ck_assert_str_eq(data.class_names[11], "l m");
}
END_TEST

START_TEST(bad_class_names_are_refused)
{
    char many[2 * 257];
    for (int i = 0; i < 257; i++)
        memcpy(many + 2 * (size_t)i, "a\n", 2);
    put_idx(folder, false);
    put_file(folder, "classes.txt", "one\n", 4);
    check_refused(folder, NULL, "1 class names");
    put_file(folder, "classes.txt", "one\n\ntwo\n", 9);
    check_refused(folder, NULL, "classes.txt:2: a class name has 1 to 64 bytes, not 0");
    put_file(folder, "classes.txt", "one\ntw\033o\n", 9);
    check_refused(folder, NULL, "classes.txt:2: a control character");
    put_file(folder, "classes.txt", many, sizeof many);
    check_refused(folder, NULL, "more than 256 classes");
    put_file(folder, "classes.txt", NULL, 1 << 20);
    check_refused(folder, NULL, "classes.txt");
}
END_TEST

/* What is done to one file of a good folder, and what the refusal must say. */
enum edit {
    CUT,    /* to `at` bytes */
    NUMBER, /* big-endian `value` at `at` */
    BYTE,   /* `value` at `at` */
    APPEND, /* `value` bytes */
    PACKED_CUT /* as the ones above, after packing */,
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
    {0, APPEND, 0, 1, {"train-images-idx3-ubyte", "trailing bytes behind the 240"}},
    {3, APPEND, 0, 5, {"t10k-labels-idx1-ubyte", "trailing bytes behind the 10"}},
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
    {0, PACKED_APPEND, 0, 3, {"train-images-idx3-ubyte.gz", "trailing bytes behind the gzip"}},
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
    size_t length = idx_bytes(bad->file, bytes), packed = pack(bytes, length, gzip);
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
    free(path);
}
END_TEST

START_TEST(every_cut_and_every_flipped_bit_of_a_packed_file_is_noticed)
{
    uint8_t bytes[512], gzip[4096];
    size_t length = pack(bytes, idx_bytes(0, bytes), gzip), harmless = 0;
    put_idx(folder, true);
    for (size_t cut = 0; cut < length; cut++) {
        put_file(folder, "train-images-idx3-ubyte.gz", gzip, cut);
        check_refused(folder, NULL, "train-images-idx3-ubyte.gz");
    }
    for (size_t bit = 0; bit < 8 * length; bit++) {
        gzip[bit / 8] ^= (uint8_t)(1 << bit % 8);
        put_file(folder, "train-images-idx3-ubyte.gz", gzip, length);
        if (data_open(folder, NULL, 1, &data, &err)) {
            check_idx_rows(&data.train, TRAIN);
            data_close(&data);
            harmless++;
        }
        gzip[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    /* Time stamp, system and level in the header, and up to seven bits behind the last block. */
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
    put_file(folder, "train-images-idx3-ubyte.gz", gzip, pack(bytes, length, gzip));
    check_refused(folder, NULL, "more than the file can hold");
    put_number(bytes + 8, 4096);
    put_file(folder, "train-images-idx3-ubyte.gz", gzip, pack(bytes, length, gzip));
    check_refused(folder, NULL, "the header promises 860160000000 bytes, more than");
}
END_TEST

/* Six CIFAR-10 files of two records each: label and pixels made from file and record. */
enum { RECORD = 3073 };

static void put_cifar(const char *dir, int file, int records, int first_label)
{
    uint8_t bytes[3 * RECORD];
    for (int r = 0; r < records; r++) {
        bytes[r * RECORD] = (uint8_t)(r ? (file + r) % 10 : first_label);
        for (int i = 1; i < RECORD; i++)
            bytes[r * RECORD + i] = (uint8_t)(file * 31 + r * 7 + i);
    }
    char *name = file < 6 ? format("data_batch_%d.bin", file) : format("test_batch.bin");
    put_file(dir, name, bytes, (size_t)records * RECORD);
    free(name);
}

static void put_all_cifar(const char *dir)
{
    for (int file = 1; file <= 6; file++)
        put_cifar(dir, file, 2, file);
}

START_TEST(cifar_files)
{
    static const char *const places[] = {"cifar10/cifar-10-batches-bin", "cifar10",
                                         "cifar-10-batches-bin"};
    char *dir = format("%s/%s", folder, places[_i]);
    put_all_cifar(dir);
    for (int way = 0; way < 2; way++) {
        if (way)
            open_or_fail(_i == 2 ? folder : dir, NULL);
        else
            open_or_fail("cifar10", folder);
        ck_assert_str_eq(data.source, dir);
        ck_assert_int_eq(data.train.rows, 10);
        ck_assert_int_eq(data.test.rows, 2);
        ck_assert_int_eq(data.train.channels, 3);
        ck_assert_int_eq(data.train.height, 32);
        ck_assert_int_eq(data.test.width, 32);
        ck_assert_str_eq(data.class_names[6], "frog");
        for (int row = 0; row < 10; row++) {
            int file = row / 2 + 1, r = row % 2;
            ck_assert_int_eq(data.train.labels[row], file + r);
            for (int i = 1; i < RECORD; i++)
                ck_assert_int_eq(data.train.pixels[row * 3072 + i - 1],
                                 (file * 31 + r * 7 + i) & 255);
        }
        ck_assert_int_eq(data.test.labels[0], 6);
        ck_assert_int_eq(data.test.pixels[0], (6 * 31 + 1) & 255);
    }
    free(dir);
}
END_TEST

START_TEST(bad_cifar_files_are_refused)
{
    put_all_cifar(folder);
    put_cifar(folder, 3, 2, 10);
    check_refused(folder, NULL, "data_batch_3.bin: label 10 in record 0");
    put_cifar(folder, 3, 1, 3);
    check_refused(folder, NULL, "data_batch_3.bin: 1 records, but data_batch_1.bin has 2");
    put_cifar(folder, 3, 2, 3);
    put_file(folder, "test_batch.bin", NULL, RECORD + 1);
    check_refused(folder, NULL, "test_batch.bin: 3074 bytes, not a whole number");
    put_file(folder, "test_batch.bin", NULL, 0);
    check_refused(folder, NULL, "test_batch.bin: 0 bytes, not a whole number");
    put_file(folder, "test_batch.bin", NULL, (size_t)RECORD * 2000000); /* a sparse file */
    check_refused(folder, NULL, "test_batch.bin: 2000000 records, more than");
    char *path = format("%s/test_batch.bin", folder);
    ck_assert_int_eq(unlink(path), 0);
    check_refused(folder, NULL, "test_batch.bin: cannot stat");
    ck_assert_int_eq(mkdir(path, 0777), 0);
    check_refused(folder, NULL, "test_batch.bin: not a regular file");
    free(path);
}
END_TEST

START_TEST(random_vectors_can_be_learned)
{
    open_or_fail("random:2000x6", NULL);
    ck_assert_int_eq(data.train.rows, 2000);
    ck_assert_int_eq(data.test.rows, 2000);
    ck_assert_int_eq(data.train.channels, 6);
    ck_assert_int_eq(data.train.classes, 2);
    ck_assert_ptr_null(data.train.pixels);
    double sum = 0, squares = 0, rule[6] = {0};
    for (int r = 0; r < 2000; r++) {
        for (int i = 0; i < 6; i++) {
            double x = data.train.numbers[6 * r + i];
            sum += x;
            squares += x * x;
            rule[i] += data.train.labels[r] ? x : -x;
        }
    }
    /* 12,000 numbers of N(0,1): five standard errors. */
    ck_assert_double_le(fabs(sum / 12000), 5 / sqrt(12000));
    ck_assert_double_le(fabs(squares / 12000 - 1), 5 * sqrt(2 / 12000.));
    /* The difference of the classes' means is the hidden rule's direction. */
    int right = 0, ones = 0;
    for (int r = 0; r < 2000; r++) {
        double score = 0;
        for (int i = 0; i < 6; i++)
            score += rule[i] * data.test.numbers[6 * r + i];
        right += (score > 0) == data.test.labels[r];
        ones += data.test.labels[r];
    }
    ck_assert_int_ge(right, 1700);
    ck_assert_int_lt(right, 1980); /* the noise is there, too */
    ck_assert_int_ge(ones, 800);
    ck_assert_int_le(ones, 1200);
}
END_TEST

START_TEST(random_vectors_are_bounded)
{
    static const char *const bad[] = {
        "random:",      "random:5",          "random:0x5",
        "random:5x0",   "random:-1x5",       "random:5x-1",
        "random:5x5x5", "random: 5x5",       "random:5x 5",
        "random:1e3x5", "random:20000000x1", "random:1x2000000",
        "random:x",     "random:axb",        "random:+5x5",
        "random:5x5 ",  "random:5X5",        "random:9999999999999999999999x1",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        check_refused(bad[i], NULL, "random:ROWSxCOLUMNS");
    check_refused("random:10000000x1000000", NULL, "more than 100000000 numbers");
    ck_assert_int_eq(err.kind, ERROR_USAGE);
    open_or_fail("random:1x1", NULL);
    ck_assert_int_eq(data.train.rows, 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("data");
    TCase *files = tcase_create("files"), *made = tcase_create("made");
    tcase_add_checked_fixture(files, setup, teardown);
    tcase_set_timeout(files, 60);
    tcase_add_loop_test(files, idx_files_plain_and_packed, 0, 2);
    tcase_add_test(files, a_gzip_file_may_have_several_members);
    tcase_add_test(files, describe_agrees_with_open);
    tcase_add_test(files, named_data_are_found);
    tcase_add_test(files, missing_data_say_where_and_how);
    tcase_add_test(files, a_folder_may_name_its_classes);
    tcase_add_test(files, bad_class_names_are_refused);
    tcase_add_loop_test(files, bad_idx_files_are_refused, 0, sizeof bad_files / sizeof *bad_files);
    tcase_add_test(files, every_cut_and_every_flipped_bit_of_a_packed_file_is_noticed);
    tcase_add_test(files, parts_of_different_shape_are_refused);
    tcase_add_test(files, a_packed_file_that_promises_gigabytes_is_refused);
    tcase_add_loop_test(files, cifar_files, 0, 3);
    tcase_add_test(files, bad_cifar_files_are_refused);
    tcase_add_checked_fixture(made, setup, teardown);
    tcase_add_test(made, random_vectors_can_be_learned);
    tcase_add_test(made, random_vectors_are_bounded);
    suite_add_tcase(suite, files);
    suite_add_tcase(suite, made);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? 1 : 0;
}
