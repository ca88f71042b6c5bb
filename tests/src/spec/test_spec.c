/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "spec/fields.h"
#include "spec/fill.h"
#include "spec/json.h"
#include "spec/names.h"
#include "spec/origin.h"
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
    {"lr-schedule", "multistep:3,6:0.2", "multistep:3,6:0.2"},
    {"lr_schedule", "sine", NULL},
    {"warmup", "0.5", "0.5"},
    {"warmup", "-1", NULL},
    {"optimizer", "adamw", "adamw"},
    {"optimizer", "lion", NULL},
    {"beta1", "0.5", "0.5"},
    {"beta2", "0.9999", "0.9999"},
    {"beta2", "-0.1", NULL},
    {"eps", "1e-5", "1e-05"},
    {"eps", "2", NULL},
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
    {"strategy", "pipeline", "pipeline"},
    {"strategy", "tensor", "tensor"},
    {"strategy", "mixed", "mixed"},
    {"strategy", "sideways", NULL},
    {"memory-limit", "200M", "200M"},
    {"memory-limit", "1.5G", "1536M"},
    {"memory-limit", "101MiB", "101M"},
    {"memory-limit", "1.5GiB", "1536M"},
    {"memory-limit", "975 KiB", "975K"},
    {"memory-limit", "1.0 MiB", "1M"},
    {"memory-limit", "975 000", NULL},
    {"memory-limit", "1000", "1000"},
    {"memory-limit", "0", "0"},
    {"memory-limit", "M", NULL},
    {"memory-limit", "0.3", NULL},
    {"memory-limit", "1.5", NULL},
    {"memory-limit", "0x10M", NULL},
    {"memory-limit", "1000.00000000000000000000000000000000000000000000000foo", NULL},
    {"memory-limit", "-1M", NULL},
    {"memory-limit", "1e15T", NULL},
    {"memory-limit", "200MB", NULL},
    {"memory-limit", "MiB", NULL},
    {"memory-limit", "200iB", NULL},
    {"micro-batches", "8", "8"},
    {"micro_batches", "0", "0"},
    {"micro-batches", "-1", NULL},
    {"micro-batches", "65537", NULL},
    {"stages", "conv1,resnet_block2.1", "conv1,resnet_block2.1"},
    {"stages", "", ""},
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
    {"init", "uniform:0.5", "uniform:0.5"},
    {"init", "uniform", NULL},
    {"init", "uniform:", NULL},
    {"init", "normal:-1", NULL},
    {"init", "xavier-uniform", "xavier-uniform"},
    {"init", "xavier-normal", "xavier-normal"},
    {"init", "kaiming-uniform", "kaiming-uniform"},
    {"init", "kaiming-normal", "kaiming-normal"},
    {"init", "kaiming-normal:1", NULL},
    {"init", "/a/b.safetensors", "/a/b.safetensors"},
    {"init", "xavier", NULL},
    {"order", "sequential", "sequential"},
    {"recipe", "none", "none"},
    {"recipe", "tutorial", NULL},
    {"augment", "flip-crop", "flip-crop"},
    {"augment", "rotate", NULL},
    {"no-decay", "norm-bias", "norm-bias"},
    {"no-decay", "bias", NULL},
    {"ema", "0.999", "0.999"},
    {"ema", "-0.1", NULL},
    {"ema", "1.1", NULL},
    {"clip-norm", "1.5", "1.5"},
    {"clip-norm", "-1", NULL},
    {"clip-norm", "nan", NULL},
    {"label_smoothing", "0.1", "0.1"},
    {"label-smoothing", "1.1", NULL},
    {"noise-every", "20", "20"},
    {"noise-every", "-1", NULL},
    {"image-size", "32", "32"},
    {"image-size", "64x48", "64x48"},
    {"image-size", "48x48", "48"},
    {"image-size", "own", "own"},
    {"image-size", "0", NULL},
    {"image-size", "32x", NULL},
    {"image-size", "x32", NULL},
    {"image-size", "32x4097", NULL},
    {"image-size", "1000000032", NULL},
    {"image-colour", "grey", "grey"},
    {"image-colour", "3", NULL},
    {"test-share", "0.25", "0.25"},
    {"test-share", "0", NULL},
    {"test-share", "1", NULL},
    {"skip-broken", "on", "yes"},
    {"validation", "0.1", "0.1"},
    {"validation", "0", "0"},
    {"validation", "1", NULL},
    {"validation", "-0.1", NULL},
    {"patience", "3", "3"},
    {"patience", "-1", NULL},
    {"patience", "2.5", NULL},
    {"stop-at-acc", "0.93", "0.93"},
    {"stop-at-acc", "1.01", NULL},
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
    {"devices", "free:2", "free:2"},
    {"devices", "free:2=cuda:1,cuda:3", "free:2=cuda:1,cuda:3"},
    {"devices", "free:0", NULL},
    {"devices", "free:all", NULL},
    {"devices", "free:", NULL},
    {"devices", "free:2=cuda:1", NULL},
    {"devices", "free:1=cpu:0", NULL},
    {"devices", "free:1=h1/cuda:0", NULL},
    {"devices", "free:2,cuda:0", NULL},
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
        {"lr-schedule", "multistep:1,2.5:0.3"},
        {"warmup", "0.25"},
        {"optimizer", "rmsprop"},
        {"momentum", "0.9"},
        {"beta1", "0.5"},
        {"beta2", "0.25"},
        {"eps", "0.001"},
        {"weight-decay", "1e-4"},
        {"epochs", "3"},
        {"seed", "123456789012345"},
        {"strategy", "pipeline"},
        {"micro-batches", "8"},
        {"stages", "conv2"},
        {"memory-limit", "200M"},
        {"split", "weighted:3,1"},
        {"sync", "central"},
        {"sync-bn", "yes"},
        {"init", "normal:0.1"},
        {"order", "sequential"},
        {"recipe", "none"},
        {"max-steps", "7"},
        {"save", "/tmp/x"},
        {"log", "/tmp/log.jsonl"},
        {"tensorboard", "/tmp/board"},
        {"notify", "bell"},
        {"train-rows", "1000"},
        {"cpu-threads", "2,1"},
        {"augment", "crop"},
        {"label-smoothing", "0.05"},
        {"no-decay", "norm-bias"},
        {"clip-norm", "0.5"},
        {"ema", "0.99"},
        {"deterministic", "yes"},
        {"checkpoint-every", "7m"},
        {"image-size", "64x48"},
        {"image-colour", "colour"},
        {"test-share", "0.1"},
        {"skip-broken", "yes"},
        {"validation", "0.125"},
        {"patience", "4"},
        {"stop-at-acc", "0.75"},
        {"save-best", "/tmp/best"},
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

/* What the engine is sent, and what it keeps: with where its values come from. */
START_TEST(json_of_origins)
{
    struct spec again;
    ck_assert(spec_set(&spec, "lr", "0.2", &err) && spec_set(&spec, "batch", "256", &err));
    ck_assert(spec_set(&spec, "model", "lenet", &err) && spec_set(&spec, "model", "", &err));
    ck_assert(!spec_set(&spec, "epochs", "many", &err));
    spec.momentum = 0.9;
    spec_set_origin(&spec, spec_find_field("momentum"), ORIGIN_RECIPE);
    json_t *json = spec_given_to_json(&spec);
    json_t *want = json_pack("{s:f, s:i}", "lr", 0.2, "batch", 256);
    ck_assert_ptr_nonnull(want);
    ck_assert(json_equal(json, want));
    json_decref(json);
    json_decref(want);
    spec.resolved = true;
    json = spec_to_json(&spec);
    want = json_pack("{s:s, s:s, s:s}", "batch", "given", "lr", "given", "momentum", "recipe");
    ck_assert(json_equal(json_object_get(json, "origins"), want));
    ck_assert_msg(spec_from_json(&again, json, &err), "%s", err.text);
    ck_assert(again.resolved);
    ck_assert_mem_eq(again.origin, spec.origin, sizeof spec.origin);
    json_decref(json);
    json_decref(want);
    spec_free(&again);
}
END_TEST

/* A run's spec as a form's: what the engine chose is kept, what the recipe says stays open. */
START_TEST(reopened)
{
    spec.resolved = true;
    spec.cpu_threads = 3;
    spec.momentum = 0.9;
    spec_set_origin(&spec, spec_find_field("momentum"), ORIGIN_RECIPE);
    ck_assert(spec_set(&spec, "seed", "5", &err) && spec_reopen(&spec, &err));
    ck_assert(!spec.resolved);
    json_t *json = spec_given_to_json(&spec);
    json_t *want = json_pack("{s:i, s:i}", "cpu_threads", 3, "seed", 5);
    ck_assert(json_equal(json, want));
    json_decref(json);
    json_decref(want);
}
END_TEST

/* A recipe's learning rate is of no use with another optimizer than its own. */
START_TEST(recipes_of_other_optimizers)
{
    struct spec recipe;
    spec_init(&recipe);
    ck_assert(spec_set(&recipe, "lr", "0.05", &err) && spec_set(&recipe, "epochs", "7", &err));
    ck_assert(spec_set(&spec, "optimizer", "adam", &err) && spec_fill(&spec, &recipe, &err));
    ck_assert_int_eq(spec_origin(&spec, spec_find_field("lr")), ORIGIN_DEFAULT);
    ck_assert_int_eq(spec.epochs, 7);
    ck_assert(spec_set(&recipe, "optimizer", "adam", &err) && spec_fill(&spec, &recipe, &err));
    ck_assert_double_eq(spec.lr, 0.05);
    spec_free(&recipe);
}
END_TEST

/* What is given stays, whatever the recipe says; without it there is none. */
START_TEST(filled_by_a_recipe)
{
    struct spec recipe, form;
    spec_init(&recipe);
    spec_init(&form);
    ck_assert(spec_set(&recipe, "lr", "0.05", &err) && spec_set(&recipe, "batch", "64", &err) &&
              spec_set(&recipe, "init", "default", &err));
    ck_assert(spec_set(&spec, "batch", "32", &err) && spec_fill(&spec, &recipe, &err));
    ck_assert_double_eq(spec.lr, 0.05);
    ck_assert_int_eq(spec.batch, 32);
    ck_assert_int_eq(spec.init, INIT_PYTORCH);
    ck_assert_int_eq(spec_origin(&spec, spec_find_field("lr")), ORIGIN_RECIPE);
    ck_assert_int_eq(spec_origin(&spec, spec_find_field("batch")), ORIGIN_GIVEN);
    ck_assert_int_eq(spec_origin(&spec, spec_find_field("epochs")), ORIGIN_DEFAULT);
    /* As the form takes it over, and forgets it with the next network. */
    ck_assert(spec_set(&form, "init", "normal:0.5", &err) && spec_set(&spec, "seed", "9", &err));
    ck_assert(spec_take_filled(&form, &spec, &err));
    ck_assert_double_eq(form.lr, 0.05);
    ck_assert_int_eq(form.batch, 32);
    ck_assert_int_eq(form.init, INIT_NORMAL);
    ck_assert_uint_eq(form.seed, 1);
    ck_assert_int_eq(spec_origin(&form, spec_find_field("lr")), ORIGIN_RECIPE);
    ck_assert(spec_unset(&form, "init", &err) && spec_unset(&spec, "lr", &err) &&
              spec_take_filled(&form, &spec, &err));
    ck_assert_double_eq(form.lr, 0.1);
    ck_assert_int_eq(form.init, INIT_PYTORCH);
    ck_assert_int_eq(spec_origin(&form, spec_find_field("lr")), ORIGIN_DEFAULT);
    spec_free(&recipe);
    spec_free(&form);
}
END_TEST

START_TEST(json_from_outside)
{
    static const char *const bad[] = {
        "[]",
        "{\"batch\":[1]}",
        "{\"origins\":[1]}",
        "{\"origins\":{\"lr\":\"nowhere\"}}",
        "{\"origins\":{\"no_such\":\"given\"}}",
        "{\"batch\":\"many\"}",
        "{\"batch\":1.5}",
        "{\"nonsense\":1}",
        "{\"model\":{}}",
        "{\"model\":7}",
        "{\"save\":true}",
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
    ck_assert(spec_set(&spec, "save", "", &err));
    char command[4098];
    memset(command, 'x', 4097);
    command[4097] = '\0';
    ck_assert(spec_set(&spec, "notify", command, &err) && !spec_validate(&spec, &err));
    ck_assert_ptr_nonnull(strstr(err.text, "notify must have at most 4096 bytes"));
    ck_assert(spec_set(&spec, "notify", command + 1, &err) && spec_validate(&spec, &err));
    ck_assert(spec_set(&spec, "lr-schedule", "range", &err) && spec_validate(&spec, &err));
    ck_assert(spec_set(&spec, "patience", "3", &err) && !spec_validate(&spec, &err));
    ck_assert_ptr_nonnull(strstr(err.text, "patience: the range test"));
    ck_assert(spec_set(&spec, "patience", "0", &err) && spec_set(&spec, "validation", "0.1", &err));
    ck_assert(!spec_validate(&spec, &err));
    ck_assert(spec_set(&spec, "lr-schedule", "constant", &err) && spec_validate(&spec, &err));
    ck_assert(spec_set(&spec, "warmup", "10.5", &err));
    /* A recipe may have more epochs than the program's default. */
    ck_assert(spec_validate(&spec, &err));
    spec.resolved = true;
    ck_assert(!spec_validate(&spec, &err));
    ck_assert_ptr_nonnull(strstr(err.text, "warmup 10.5 is longer than the run of 10 epochs"));
}
END_TEST

/* What is offered is what is taken. */
START_TEST(fixed_words)
{
    static const struct {
        const char *key;
        size_t count;
    } keys[] = {{"strategy", 4},      {"split", 5},      {"sync", 3},    {"dtype", 4},
                {"order", 2},         {"init", 7},       {"sync-bn", 2}, {"augment", 4},
                {"deterministic", 2}, {"lr-schedule", 8}};
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

/* Also what a store has of runs from before there were pipelines. */
START_TEST(strategies)
{
    struct spec older;
    ck_assert_int_eq(spec.strategy, STRATEGY_DATA);
    json_t *json = spec_to_json(&spec);
    ck_assert_str_eq(json_string_value(json_object_get(json, "strategy")), "data");
    ck_assert(json_is_null(json_object_get(json, "stages")));
    json_decref(json);
    json = json_pack("{s:i, s:s}", "batch", 64, "split", "even");
    ck_assert_ptr_nonnull(json);
    ck_assert_msg(spec_from_json(&older, json, &err), "%s", err.text);
    json_decref(json);
    ck_assert_int_eq(older.strategy, STRATEGY_DATA);
    ck_assert_int_eq(older.micro_batches, 0);
    ck_assert_ptr_null(older.stages);
    spec_free(&older);
    ck_assert(spec_set(&spec, "stages", "conv1", &err));
    ck_assert(spec_set(&spec, "strategy", "pipeline", &err));
    ck_assert_str_eq(strategy_name(spec.strategy), "pipeline");
    ck_assert(spec_set(&spec, "stages", "", &err));
    ck_assert_ptr_null(spec.stages);
    ck_assert_int_eq(spec_origin(&spec, spec_find_field("stages")), ORIGIN_DEFAULT);
}
END_TEST

/* Each micro-batch has statistics of its own. */
START_TEST(sync_bn_in_a_pipeline)
{
    ck_assert(spec_set(&spec, "sync-bn", "yes", &err) && spec_validate(&spec, &err));
    ck_assert(spec_set(&spec, "strategy", "pipeline", &err));
    ck_assert(!spec_validate(&spec, &err));
    ck_assert_int_eq(err.kind, ERROR_USAGE);
    ck_assert_str_eq(err.text,
                     "sync-bn: statistics of the whole mini-batch are not known while its "
                     "micro-batches go through a pipeline: leave sync-bn out, or set "
                     "micro-batches 1");
    ck_assert(spec_set(&spec, "micro-batches", "2", &err) && !spec_validate(&spec, &err));
    ck_assert(spec_set(&spec, "micro-batches", "1", &err) && spec_validate(&spec, &err));
    ck_assert(spec_set(&spec, "micro-batches", "0", &err) && !spec_validate(&spec, &err));
    ck_assert(spec_set(&spec, "sync-bn", "no", &err) && spec_validate(&spec, &err));
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
    ck_assert(spec_set(&spec, "stages", "conv1", &err) && spec_copy(&copy, &spec, &err));
    ck_assert(spec_set(&spec, "stages", "conv2", &err));
    ck_assert_str_eq(copy.stages, "conv1");
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
    tcase_add_test(tcase, json_of_origins);
    tcase_add_test(tcase, reopened);
    tcase_add_test(tcase, recipes_of_other_optimizers);
    tcase_add_test(tcase, filled_by_a_recipe);
    tcase_add_test(tcase, json_from_outside);
    tcase_add_test(tcase, combinations);
    tcase_add_test(tcase, fixed_words);
    tcase_add_test(tcase, strategies);
    tcase_add_test(tcase, sync_bn_in_a_pipeline);
    tcase_add_test(tcase, copies_are_apart);
    suite_add_tcase(suite, tcase);
    return run_suites(suite, NULL);
}
