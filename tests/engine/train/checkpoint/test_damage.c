/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <endian.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "engine/model/file.h"
#include "engine/train/checkpoint/checkpoint.h"
#include "tests/suites.h"
#include "tests/support.h"

/* Bits that change on a disk: each is found, by the tensor's name, and the run has an older one. */

/* Two BatchNorm counters, so that there are tensors of both types. */
static const char model[] =
    "default_input = [ 1, 8, 8 ]; default_classes = 3; layers = ( { type = \"conv\"; channels = 2;"
    " kernel = 3; }, \"batchnorm\", \"relu\", \"flatten\","
    " { type = \"linear\"; outputs = \"classes\"; } );\n";

static const char *const names[] = {"step-00000200.safetensors",
                                    "step-00000200.momentum.safetensors"};

static char *folder, *checkpoints;
static struct net *net;

#define must(CALL) ck_assert_msg(CALL, "%s", err.text)

static const struct state_arrays momentum_arrays = {1, {"momentum_buffer"}};

static void write_one(long steps, const struct checkpoint_kept *kept)
{
    struct error err = ERROR_INIT;
    struct checkpoint c;
    must(checkpoint_create(net, &momentum_arrays, &c, &err));
    weights_init(net, &c.weights, INIT_NORMAL, 0.01, (uint64_t)steps);
    for (size_t i = 0; i < net->value_count; i++)
        c.state[i] = (float)(i + 1) / 3;
    c.place.steps = steps;
    c.place.rows = 10 * steps;
    c.place.lr = 0.1;
    c.place.batch = c.place.train_rows = 10;
    must(checkpoint_write(net, checkpoints, &c, kept, &err));
    checkpoint_free(&c);
}

/* Checkpoints of 100 and 200 steps, both whole. */
static void setup(void)
{
    struct error err = ERROR_INIT;
    folder = temporary_folder();
    checkpoints = format("%s/checkpoints/12", folder);
    put_file(folder, "small.conf", model, sizeof model - 1);
    char *path = path_join(folder, "small.conf");
    must(net_load_default(path, &net, &err));
    free(path);
    write_one(100, &(struct checkpoint_kept){-1, -1});
    write_one(200, &(struct checkpoint_kept){100, -1});
}

static void teardown(void)
{
    net_free(net);
    free(checkpoints);
    remove_tree(folder);
}

struct bytes {
    char *path, *data;
    size_t length;
};

static struct bytes take(const char *name)
{
    struct error err = ERROR_INIT;
    struct bytes bytes = {.path = path_join(checkpoints, name)};
    must(file_read(bytes.path, 1 << 24, &bytes.data, &bytes.length, &err));
    return bytes;
}

static void give_back(struct bytes *bytes)
{
    free(bytes->data);
    free(bytes->path);
}

static size_t header_length(const struct bytes *bytes)
{
    uint64_t length;
    memcpy(&length, bytes->data, sizeof length);
    return (size_t)le64toh(length);
}

/* The file of 200 steps is found to be damaged, in words that have `what`, and `older` is used. */
static void check_caught_with(const struct bytes *bytes, const char *what, long older)
{
    struct error err = ERROR_INIT, damage, verified = ERROR_INIT, read = ERROR_INIT;
    struct checkpoint c;
    long steps;
    ck_assert_msg(!checkpoint_verify(bytes->path, &verified), "%s is not found", what);
    ck_assert_msg(strstr(verified.text, bytes->path) != NULL, "%s", verified.text);
    ck_assert_msg(strstr(verified.text, what) != NULL, "%s, not %s", verified.text, what);
    must(checkpoint_create(net, &momentum_arrays, &c, &err));
    ck_assert(!checkpoint_read(net, checkpoints, 200, &c, &read));
    checkpoint_free(&c);
    must(checkpoint_find_whole(checkpoints, &steps, &damage, &err));
    ck_assert_int_eq(steps, older);
    ck_assert_str_eq(damage.text, verified.text);
}

static void check_caught(const struct bytes *bytes, const char *what)
{
    check_caught_with(bytes, what, 100);
}

static void put(const struct bytes *bytes, size_t length)
{
    put_file(checkpoints, strrchr(bytes->path, '/') + 1, bytes->data, length);
}

START_TEST(whole_ones_are_found_whole)
{
    struct error err = ERROR_INIT, damage;
    long steps;
    must(checkpoint_find_whole(checkpoints, &steps, &damage, &err));
    ck_assert_int_eq(steps, 200);
    ck_assert_int_eq(damage.kind, ERROR_NONE);
    for (int i = 0; i < 2; i++) {
        char *path = path_join(checkpoints, names[i]);
        must(checkpoint_verify(path, &err));
        free(path);
    }
}
END_TEST

/* The first, a middle and the last bit of each tensor of weights and momentum. */
START_TEST(a_bit_of_a_tensor)
{
    struct bytes bytes = take(names[_i]);
    size_t start = 8 + header_length(&bytes);
    json_t *header = json_loadb(bytes.data + 8, start - 8, 0, NULL), *entry;
    const char *name;
    int tensors = 0;
    json_object_foreach(header, name, entry)
    {
        const json_t *offsets = json_object_get(entry, "data_offsets");
        if (!offsets)
            continue;
        size_t first = start + (size_t)json_integer_value(json_array_get(offsets, 0));
        size_t last = start + (size_t)json_integer_value(json_array_get(offsets, 1)) - 1;
        const size_t at[] = {first, (first + last) / 2, last};
        const char bits[] = {1, 16, (char)128};
        char *quoted = format("'%s'", name);
        for (int i = 0; i < 3; i++) {
            bytes.data[at[i]] ^= bits[i];
            put(&bytes, bytes.length);
            check_caught(&bytes, quoted);
            bytes.data[at[i]] ^= bits[i];
        }
        free(quoted);
        tensors++;
    }
    ck_assert_int_eq(tensors, _i == 0 ? 9 : 6);
    json_decref(header);
    give_back(&bytes);
}
END_TEST

/* Each byte of the length and of the header, its padding, too; another bit in each. */
START_TEST(a_bit_of_the_header)
{
    struct error err = ERROR_INIT;
    struct bytes bytes = take(names[_i]);
    int fd = open(bytes.path, O_WRONLY);
    for (size_t at = 0; at < 8 + header_length(&bytes); at++) {
        char changed = bytes.data[at] ^ (char)(1 << at * 5 % 8);
        ck_assert_int_eq(pwrite(fd, &changed, 1, (off_t)at), 1);
        ck_assert_msg(!checkpoint_verify(bytes.path, &err), "byte %zu", at);
        ck_assert_int_eq(pwrite(fd, &bytes.data[at], 1, (off_t)at), 1);
    }
    must(checkpoint_verify(bytes.path, &err));
    close(fd);
    give_back(&bytes);
}
END_TEST

/* As good JSON as before. */
START_TEST(a_number_of_the_place)
{
    struct bytes bytes = take(names[0]);
    char *found = memmem(bytes.data, bytes.length, "\\\"steps\\\":200", 13);
    ck_assert_ptr_nonnull(found);
    found[12] = '1';
    put(&bytes, bytes.length);
    check_caught(&bytes, "its header is damaged");
    give_back(&bytes);
}
END_TEST

START_TEST(a_file_that_was_cut_short)
{
    struct bytes bytes = take(names[_i]);
    const size_t lengths[] = {0, 7, 8, 100, 8 + header_length(&bytes), bytes.length - 1};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        put(&bytes, lengths[i]);
        check_caught(&bytes, "safetensors");
    }
    give_back(&bytes);
}
END_TEST

START_TEST(a_file_that_is_gone)
{
    struct error err = ERROR_INIT, damage;
    long steps;
    char *path = path_join(checkpoints, names[1]);
    ck_assert_int_eq(unlink(path), 0);
    must(checkpoint_find_whole(checkpoints, &steps, &damage, &err));
    ck_assert_int_eq(steps, 100);
    ck_assert_msg(strstr(damage.text, path) != NULL, "%s", damage.text);
    free(path);
}
END_TEST

/* Whatever brought it there: the state beside it is of other weights. */
START_TEST(weights_of_another_step)
{
    struct error err = ERROR_INIT, damage;
    long steps;
    struct bytes older = take("step-00000100.safetensors");
    put_file(checkpoints, names[0], older.data, older.length);
    must(checkpoint_find_whole(checkpoints, &steps, &damage, &err));
    ck_assert_int_eq(steps, 100);
    ck_assert_msg(strstr(damage.text, ": is the checkpoint of step 100"), "%s", damage.text);
    give_back(&older);
}
END_TEST

START_TEST(none_is_whole)
{
    struct error err = ERROR_INIT, damage;
    long steps;
    put_file(checkpoints, "step-00000100.safetensors", "", 0);
    put_file(checkpoints, "step-00000200.safetensors", "", 0);
    ck_assert(!checkpoint_find_whole(checkpoints, &steps, &damage, &err));
    ck_assert_int_eq(err.kind, ERROR_FAILED);
    ck_assert_msg(strstr(err.text, "no checkpoint is whole") != NULL, "%s", err.text);
    ck_assert_msg(strstr(err.text, names[0]) != NULL, "%s", err.text);
    err = (struct error)ERROR_INIT;
    must(checkpoint_remove_all(checkpoints, &err));
    ck_assert(!checkpoint_find_whole(checkpoints, &steps, &damage, &err));
    ck_assert_int_eq(err.kind, ERROR_ABSENT);
}
END_TEST

/* As programs wrote it that knew no checksums. */
static void strip(const char *name)
{
    struct bytes bytes = take(name);
    size_t length = header_length(&bytes);
    json_t *header = json_loadb(bytes.data + 8, length, 0, NULL), *value;
    json_t *metadata = json_object_get(header, "__metadata__");
    const char *key;
    void *next;
    int removed = 0;
    json_object_foreach_safe(metadata, next, key, value)
    {
        if (strncmp(key, "crc32", 5) == 0)
            removed += json_object_del(metadata, key) == 0;
    }
    ck_assert_int_gt(removed, 2);
    char *text = json_to_text(header, JSON_COMPACT);
    ck_assert_uint_le(strlen(text), length);
    memset(bytes.data + 8, ' ', length);
    memcpy(bytes.data + 8, text, strlen(text));
    put(&bytes, bytes.length);
    free(text);
    json_decref(header);
    give_back(&bytes);
}

START_TEST(files_without_checksums_are_read)
{
    struct error err = ERROR_INIT, damage;
    struct checkpoint c;
    long steps;
    strip(names[0]);
    strip(names[1]);
    must(checkpoint_find_whole(checkpoints, &steps, &damage, &err));
    ck_assert_int_eq(steps, 200);
    must(checkpoint_create(net, &momentum_arrays, &c, &err));
    must(checkpoint_read(net, checkpoints, 200, &c, &err));
    ck_assert(c.state[0] == 1.0F / 3);
    checkpoint_free(&c);
}
END_TEST

static void check_there(const char *present)
{
    for (long steps = 100; steps <= 500; steps += 100) {
        char *path = checkpoint_path(checkpoints, steps), *momentum;
        momentum = checkpoint_state_path(checkpoints, steps);
        bool wanted = strchr(present, (int)('0' + steps / 100)) != NULL;
        ck_assert_msg((access(path, F_OK) == 0) == wanted, "%s, of %s", path, present);
        ck_assert_msg((access(momentum, F_OK) == 0) == wanted, "%s, of %s", momentum, present);
        free(momentum);
        free(path);
    }
}

/* Resumed from 100: what is damaged stays until the run has replaced or passed it. */
START_TEST(the_damaged_one_stays_in_its_place)
{
    struct bytes bytes = take(names[0]);
    bytes.data[bytes.length - 1] ^= 1;
    put(&bytes, bytes.length);
    write_one(150, &(struct checkpoint_kept){100, -1});
    check_caught_with(&bytes, "damaged", 150);
    write_one(200, &(struct checkpoint_kept){150, -1});
    check_there("2");
    give_back(&bytes);
}
END_TEST

START_TEST(the_newest_two_and_the_best_are_kept)
{
    check_there("12");
    write_one(300, &(struct checkpoint_kept){200, 100});
    check_there("123");
    write_one(400, &(struct checkpoint_kept){300, 100});
    check_there("134");
    write_one(400, &(struct checkpoint_kept){400, 100});
    check_there("134");
    write_one(500, &(struct checkpoint_kept){400, 500});
    check_there("45");
    /* Another run's, which begins: nothing of the one before stays. */
    write_one(100, &(struct checkpoint_kept){-1, -1});
    check_there("1");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("damaged checkpoints");
    TCase *tests = tcase_create("damage");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, whole_ones_are_found_whole);
    tcase_add_loop_test(tests, a_bit_of_a_tensor, 0, 2);
    tcase_add_loop_test(tests, a_bit_of_the_header, 0, 2);
    tcase_add_test(tests, a_number_of_the_place);
    tcase_add_loop_test(tests, a_file_that_was_cut_short, 0, 2);
    tcase_add_test(tests, a_file_that_is_gone);
    tcase_add_test(tests, weights_of_another_step);
    tcase_add_test(tests, none_is_whole);
    tcase_add_test(tests, files_without_checksums_are_read);
    tcase_add_test(tests, the_damaged_one_stays_in_its_place);
    tcase_add_test(tests, the_newest_two_and_the_best_are_kept);
    suite_add_tcase(suite, tests);
    return run_suites(suite, NULL);
}
