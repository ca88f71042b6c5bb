/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "spec/json.h"
#include "spec/set.h"
#include "spec/spec.h"
#include "spec/text.h"
#include "tests/suites.h"

static struct spec spec;
static struct error err;

static void setup(void)
{
    spec_init(&spec);
    err = (struct error)ERROR_INIT;
}

static void teardown(void)
{
    spec_free(&spec);
}

static const struct {
    const char *key, *value, *canonical; /* canonical NULL: refused */
} settings[] = {
    {"batch", "512", "512"},
    {"batch", "0", NULL},
    {"batch", "12x", NULL},
    {"batch", " 12", NULL},
    {"batch", "99999999999999999999", NULL},
    {"lr", "0.2", "0.2"},
    {"lr", "1e-3", "0.001"},
    {"lr", "nan", NULL},
    {"lr", "-1", NULL},
    {"lr", "inf", NULL},
    {"momentum", "0.9", "0.9"},
    {"momentum", "1.5", NULL},
    {"weight_decay", "0.0005", "0.0005"},
    {"seed", "9223372036854775807", "9223372036854775807"},
    {"seed", "-1", NULL},
    {"cpu-threads", "4", "4"},
    {"cpu-threads", "0", "0"},
    {"cpu-threads", "2,1,12", "2,1,12"},
    {"cpu-threads", "2,", NULL},
    {"cpu-threads", ",2", NULL},
    {"cpu-threads", "2,0", NULL},
    {"cpu-threads", "2,1025", NULL},
    {"cpu-threads", "2,10000000001", NULL},
    {"cpu-threads", "1025", NULL},
    {"split", "balanced", "balanced"},
    {"split", "weighted:2,1.5,0", "weighted:2,1.5,0"},
    {"split", "weighted", NULL},
    {"split", "weighted:", NULL},
    {"split", "weighted:1,,2", NULL},
    {"split", "weighted:0,0", NULL},
    {"split", "weighted:1,x", NULL},
    {"split", "halves", NULL},
    {"sync", "reduce-broadcast", "reduce-broadcast"},
    {"sync", "ring", NULL},
    {"sync-bn", "on", "yes"},
    {"sync_bn", "maybe", NULL},
    {"dtype", "bf16", "bf16"},
    {"init", "normal:0.05", "normal:0.05"},
    {"init", "normal", "normal:0.01"},
    {"init", "default", "default"},
    {"init", "/a/b.safetensors", "/a/b.safetensors"},
    {"init", "xavier", NULL},
    {"order", "sequential", "sequential"},
    {"augment", "flip-crop", "flip-crop"},
    {"augment", "rotate", NULL},
    {"checkpoint-every", "3", "3"},
    {"checkpoint-every", "0", "off"},
    {"checkpoint-every", "0.5m", "0.5m"},
    {"checkpoint-every", "off", "off"},
    {"checkpoint-every", "m", NULL},
    {"checkpoint-every", "-1", NULL},
    {"checkpoint-every", "10s", NULL},
    {"checkpoint-every", "nanm", NULL},
    {"deterministic", "true", "yes"},
    {"deterministic", "mostly", NULL},
    {"devices", "cuda:0,cuda:2-3", "cuda:0,cuda:2-3"},
    {"devices", "2,3", "cuda:2-3"},
    {"devices", "cpu:0-7", "cpu:0-7"},
    {"devices", "cpu:1,cpu:0,cpu:0", "cpu:1,cpu:0,cpu:0"},
    {"devices", "all", "all"},
    {"devices", "", "default"},
    {"devices", "gpus:2", "gpus:2"},
    {"devices", "gpus:0", NULL},
    {"devices", "cpu:", NULL},
    {"devices", "cpu:3-1", NULL},
    {"devices", "cpu:0,", NULL},
    {"devices", "cpu:0;1", NULL},
    {"devices", "cpu:-1", NULL},
    {"devices", "cpu:99999999999", NULL},
    {"devices", "cpu:0-64", NULL},
    {"model", "resnet18", "resnet18"},
    {"model", "", ""},
    {"max-steps", "10", "10"},
    {"no-such", "1", NULL},
};

START_TEST(setting_text)
{
    bool ok = spec_set(&spec, settings[_i].key, settings[_i].value, &err);
    if (!settings[_i].canonical) {
        ck_assert_msg(!ok, "%s=%s was taken", settings[_i].key, settings[_i].value);
        ck_assert_int_eq(err.kind, ERROR_USAGE);
        ck_assert_int_gt(strlen(err.text), 10);
        return;
    }
    ck_assert_msg(ok, "%s=%s: %s", settings[_i].key, settings[_i].value, err.text);
    char *text = spec_get(&spec, settings[_i].key, &err);
    ck_assert_ptr_nonnull(text);
    ck_assert_str_eq(text, settings[_i].canonical);
    free(text);
}
END_TEST

START_TEST(refused_value_changes_nothing)
{
    ck_assert(spec_set(&spec, "split", "weighted:1,2", &err));
    ck_assert(!spec_set(&spec, "split", "weighted:1,x", &err));
    ck_assert_int_eq(spec.weight_count, 2);
    ck_assert(spec_set(&spec, "devices", "cpu:0-1", &err));
    ck_assert(!spec_set(&spec, "devices", "cpu:0-1,?", &err));
    ck_assert_int_eq(spec.devices.count, 2);
}
END_TEST

START_TEST(json_round_trip)
{
    static const char *const values[][2] = {
        {"model", "lenet"},
        {"data", "glyphs"},
        {"devices", "cpu:0-1"},
        {"batch", "96"},
        {"lr", "0.017"},
        {"momentum", "0.9"},
        {"weight-decay", "1e-4"},
        {"epochs", "3"},
        {"seed", "123456789012345"},
        {"split", "weighted:3,1"},
        {"sync", "central"},
        {"sync-bn", "yes"},
        {"init", "normal:0.1"},
        {"order", "sequential"},
        {"max-steps", "7"},
        {"save", "/tmp/x"},
        {"log", "/tmp/log.jsonl"},
        {"tensorboard", "/tmp/board"},
        {"train-rows", "1000"},
        {"cpu-threads", "2,1"},
        {"augment", "crop"},
        {"deterministic", "yes"},
        {"checkpoint-every", "7m"},
    };
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        ck_assert_msg(spec_set(&spec, values[i][0], values[i][1], &err), "%s", err.text);
    json_t *json = spec_to_json(&spec);
    struct spec again;
    ck_assert_msg(spec_from_json(&again, json, &err), "%s", err.text);
    json_t *json_again = spec_to_json(&again);
    ck_assert(json_equal(json, json_again));
    ck_assert_int_eq(again.weight_count, 2);
    ck_assert_int_eq(again.thread_count, 2);
    ck_assert_str_eq(again.save, "/tmp/x");
    json_decref(json);
    json_decref(json_again);
    spec_free(&again);
}
END_TEST

START_TEST(json_from_outside)
{
    static const char *const bad[] = {
        "[]",
        "{\"batch\":[1]}",
        "{\"batch\":\"many\"}",
        "{\"batch\":1.5}",
        "{\"nonsense\":1}",
        "{\"model\":{}}",
        "{\"devices\":\"gpu\"}",
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        json_t *json = json_loads(bad[i], 0, NULL);
        struct spec read;
        ck_assert_msg(!spec_from_json(&read, json, &err), "%s was taken", bad[i]);
        ck_assert_int_eq(err.kind, ERROR_USAGE);
        json_decref(json);
    }
}
END_TEST

START_TEST(combinations)
{
    ck_assert(spec_validate(&spec, &err));
    ck_assert(spec_set(&spec, "split", "weighted:1,2,3", &err));
    ck_assert(spec_set(&spec, "devices", "cpu:0-1", &err));
    ck_assert(!spec_validate(&spec, &err));
    ck_assert_ptr_nonnull(strstr(err.text, "3 weights for 2 devices"));
    ck_assert(spec_set(&spec, "devices", "cpu:0-2", &err));
    ck_assert(spec_validate(&spec, &err));
    ck_assert(spec_set(&spec, "cpu-threads", "2,1", &err));
    ck_assert(!spec_validate(&spec, &err));
    ck_assert_ptr_nonnull(strstr(err.text, "2 numbers for 3 CPU devices"));
    ck_assert(spec_set(&spec, "cpu-threads", "2,1,1", &err));
    ck_assert(spec_validate(&spec, &err));
    ck_assert(spec_set(&spec, "cpu-threads", "2", &err));
    ck_assert(spec_validate(&spec, &err));
    ck_assert(spec_set(&spec, "save", "relative.safetensors", &err));
    ck_assert(!spec_validate(&spec, &err));
    ck_assert_ptr_nonnull(strstr(err.text, "absolute"));
}
END_TEST

/* What is offered is what is taken. */
START_TEST(fixed_words)
{
    static const struct {
        const char *key;
        size_t count;
    } keys[] = {{"split", 5}, {"sync", 3},    {"dtype", 4},   {"order", 2},
                {"init", 2},  {"sync-bn", 2}, {"augment", 4}, {"deterministic", 2}};
    for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++) {
        size_t i = 0;
        for (const char *word; (word = spec_word(keys[k].key, i)); i++) {
            char value[40];
            snprintf(value, sizeof value, "%s%s", word, strchr(word, ':') ? "1" : "");
            ck_assert_msg(spec_set(&spec, keys[k].key, value, &err), "%s", err.text);
        }
        ck_assert_uint_eq(i, keys[k].count);
        ck_assert_ptr_null(spec_word(keys[k].key, i + 1));
    }
    ck_assert_ptr_null(spec_word("batch", 0));
    ck_assert_ptr_null(spec_word("nothing", 0));
}
END_TEST

START_TEST(copies_are_apart)
{
    struct spec copy;
    ck_assert(spec_set(&spec, "model", "lenet", &err));
    ck_assert(spec_copy(&copy, &spec, &err));
    ck_assert(spec_set(&spec, "model", "linear", &err));
    ck_assert_str_eq(copy.model, "lenet");
    spec_free(&copy);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("spec");
    TCase *tcase = tcase_create("spec");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_loop_test(tcase, setting_text, 0, sizeof settings / sizeof settings[0]);
    tcase_add_test(tcase, refused_value_changes_nothing);
    tcase_add_test(tcase, json_round_trip);
    tcase_add_test(tcase, json_from_outside);
    tcase_add_test(tcase, combinations);
    tcase_add_test(tcase, fixed_words);
    tcase_add_test(tcase, copies_are_apart);
    suite_add_tcase(suite, tcase);
    return run_suites(suite, NULL);
}
