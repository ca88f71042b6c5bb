/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "settings/file.h"
#include "settings/keys.h"
#include "settings/settings.h"
#include "spec/json.h"
#include "spec/set.h"
#include "spec/text.h"
#include "tests/suites.h"

/* This program is compiled with the system's configuration directory set to "etc". */
#define SYSTEM_FILE "etc/dpartui.conf"
#define USER_FILE   "user/dpartui/dpartui.conf"

static char directory[PATH_MAX], source[PATH_MAX];
static struct settings settings;
static struct error err;

static void setup(void)
{
    const char *top = getenv("top_srcdir");
    ck_assert_ptr_nonnull(realpath(top ? top : ".", source));
    const char *temporary = getenv("TMPDIR");
    snprintf(directory, sizeof directory, "%s/dpartui-settings.XXXXXX",
             temporary ? temporary : "/tmp");
    ck_assert_ptr_nonnull(mkdtemp(directory));
    ck_assert_int_eq(chdir(directory), 0);
    ck_assert(make_directories("etc", 0700, &err));
    ck_assert(make_directories("user/dpartui", 0700, &err));
    char *user = path_join(directory, "user");
    ck_assert_ptr_nonnull(user);
    setenv("XDG_CONFIG_HOME", user, 1);
    free(user);
    for (size_t i = 0; settings_key(i); i++) {
        char name[64] = "DPARTUI_";
        const char *key = strchr(settings_key(i), '.') + 1;
        size_t length = strlen(name);
        for (; *key; key++)
            name[length++] = *key == '_' ? '_' : (char)(*key - 'a' + 'A');
        name[length] = '\0';
        unsetenv(name);
    }
    unsetenv("NO_COLOR");
    err = (struct error)ERROR_INIT;
    settings_init(&settings);
}

static void teardown(void)
{
    settings_free(&settings);
    unlink(SYSTEM_FILE);
    unlink(USER_FILE);
    unlink("test.conf");
    ck_assert_int_eq(rmdir("etc"), 0);
    ck_assert_int_eq(rmdir("user/dpartui"), 0);
    ck_assert_int_eq(rmdir("user"), 0);
    ck_assert_int_eq(chdir("/"), 0);
    ck_assert_int_eq(rmdir(directory), 0);
}

static void write_bytes(const char *path, const char *bytes, size_t length)
{
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(bytes, 1, length, file), length);
    ck_assert_int_eq(fclose(file), 0);
}

static void write_text(const char *path, const char *text)
{
    write_bytes(path, text, strlen(text));
}

static void expect(const char *key, const char *value)
{
    char *got = spec_get(&settings.spec, key, &err);
    ck_assert_ptr_nonnull(got);
    ck_assert_str_eq(got, value);
    free(got);
}

START_TEST(nothing_there_gives_the_built_in_values)
{
    struct spec plain;
    spec_init(&plain);
    ck_assert_msg(settings_load(&settings, &err), "%s", err.text);
    json_t *got = spec_to_json(&settings.spec), *want = spec_to_json(&plain);
    ck_assert(json_equal(got, want));
    json_decref(got);
    json_decref(want);
    ck_assert_int_eq(settings.preferences.charset, CHARSET_AUTO);
    ck_assert(settings.preferences.colour);
    spec_free(&plain);
}
END_TEST

START_TEST(later_sources_win)
{
    write_text(SYSTEM_FILE, "train = { batch = 10; lr = 0.5; epochs = 3; momentum = 0.9; };\n"
                            "screen = { charset = \"ascii\"; };\n");
    write_text(USER_FILE, "train: { batch: 20, lr: 0.25 }\nscreen: { charset: \"utf8\" }\n");
    setenv("DPARTUI_BATCH", "30", 1);
    setenv("DPARTUI_EPOCHS", "", 1);
    ck_assert_msg(settings_load(&settings, &err), "%s", err.text);
    expect("batch", "30");
    expect("lr", "0.25");
    expect("epochs", "3");
    expect("momentum", "0.9");
    ck_assert_int_eq(settings.preferences.charset, CHARSET_UTF8);
    settings_free(&settings);
    setenv("DPARTUI_CHARSET", "ascii", 1);
    ck_assert_msg(settings_load(&settings, &err), "%s", err.text);
    ck_assert_int_eq(settings.preferences.charset, CHARSET_ASCII);
}
END_TEST

START_TEST(hosts_are_beside_the_groups)
{
    write_text(SYSTEM_FILE, "hosts = ( \"old\" ); ssh = \"ssh -4\";\n");
    write_text(USER_FILE, "hosts = ( \"me@gpu1\", \"gpu2\" );\n");
    ck_assert_msg(settings_load(&settings, &err), "%s", err.text);
    ck_assert_str_eq(settings.ssh, "ssh -4");
    ck_assert_str_eq(settings.hosts[0], "me@gpu1");
    ck_assert_str_eq(settings.hosts[1], "gpu2");
    ck_assert_ptr_null(settings.hosts[2]);
}
END_TEST

START_TEST(hosts_that_are_wrong_are_named)
{
    static const char *const wrong[][2] = {{"hosts = \"gpu1\";", "hosts: wants a list"},
                                           {"hosts = ( 7 );", "hosts: wants names in quotes"},
                                           {"hosts = ( \"-v\" );", "hosts: host '-v'"},
                                           {"ssh = 7;", "ssh: wants a command"},
                                           {"ssh = \" \";", "ssh: wants a command"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        err = (struct error)ERROR_INIT;
        write_text(USER_FILE, wrong[i][0]);
        ck_assert(!settings_load(&settings, &err));
        ck_assert_int_eq(err.kind, ERROR_USAGE);
        ck_assert_msg(strstr(err.text, wrong[i][1]), "%s", err.text);
        ck_assert_msg(strstr(err.text, "dpartui.conf:1"), "%s", err.text);
    }
}
END_TEST

START_TEST(every_key_is_taken)
{
    setenv("HOME", "/home/somebody", 1);
    write_text("test.conf", "train = {\n"
                            "  model = \"~/nets/a.conf\"; data = \"random:100x5\";\n"
                            "  data_dir = \"/srv/data\"; devices = \"cpu:0-2\"; cpu_threads = 2;\n"
                            "  batch = 64; lr = 1; momentum = 0.5; weight_decay = 1e-4;\n"
                            "  lr_schedule = \"multistep:3,5:0.2\"; warmup = 1;\n"
                            "  optimizer = \"adam\"; beta1 = 0.5; beta2 = 0.75; eps = 1e-6;\n"
                            "  no_decay = \"norm-bias\"; clip_norm = 2; ema = 0.99;\n"
                            "  epochs = 7; seed = 9223372036854775807L;\n"
                            "  split = \"weighted:1,2,3\"; sync = \"central\"; sync_bn = true;\n"
                            "  dtype = \"f32\"; init = \"~/w.safetensors\";\n"
                            "  recipe = \"none\";\n"
                            "  order = \"sequential\"; augment = \"flip\"; label_smoothing = 0.1;\n"
                            "  checkpoint_every = \"5m\"; deterministic = true;\n"
                            "};\n"
                            "screen = { charset = \"ascii\"; colour = false; mouse = true;\n"
                            "  palette = \"colour-blind\"; background = \"light\";\n"
                            "  canvas = \"quadrant\"; load = \"number\";\n"
                            "  columns = [\"run\", \"acc\", \"note\"]; };\n");
    ck_assert_msg(settings_take_file(&settings, "test.conf", SOURCE_USER, &err), "%s", err.text);
    expect("model", "/home/somebody/nets/a.conf");
    expect("data", "random:100x5");
    expect("data-dir", "/srv/data");
    expect("devices", "cpu:0-2");
    expect("cpu-threads", "2");
    expect("batch", "64");
    expect("lr", "1");
    expect("lr-schedule", "multistep:3,5:0.2");
    expect("warmup", "1");
    expect("momentum", "0.5");
    expect("weight-decay", "0.0001");
    expect("optimizer", "adam");
    expect("beta1", "0.5");
    expect("beta2", "0.75");
    expect("eps", "1e-06");
    expect("no-decay", "norm-bias");
    expect("clip-norm", "2");
    expect("ema", "0.99");
    expect("epochs", "7");
    expect("seed", "9223372036854775807");
    expect("split", "weighted:1,2,3");
    expect("sync", "central");
    expect("sync-bn", "yes");
    expect("dtype", "f32");
    expect("init", "/home/somebody/w.safetensors");
    expect("recipe", "none");
    expect("order", "sequential");
    expect("augment", "flip");
    expect("label-smoothing", "0.1");
    expect("checkpoint-every", "5m");
    expect("deterministic", "yes");
    ck_assert_int_eq(settings.preferences.charset, CHARSET_ASCII);
    ck_assert(!settings.preferences.colour);
    ck_assert_int_eq(settings.preferences.palette, PALETTE_COLOUR_BLIND);
    ck_assert_int_eq(settings.preferences.background, BACKGROUND_LIGHT);
    ck_assert_int_eq(settings.preferences.canvas, CANVAS_QUADRANT);
    ck_assert_int_eq(settings.preferences.load, LOAD_NUMBER);
    ck_assert(settings.preferences.mouse);
    ck_assert_str_eq(run_columns_text(&settings.preferences.columns), "run,acc,note");
}
END_TEST

/* Values and the words that the one-line error must hold, after "test.conf:". */
static const struct {
    const char *text, *says;
} refused[] = {
    {"train = { batch = 0; };", "1: train.batch: batch '0'"},
    {"train = {\n\n  batch = -5;\n};", "3: train.batch: batch '-5'"},
    {"train = { batch = 12.5; };", "1: train.batch: wants a whole number"},
    {"train = { batch = \"12\"; };", "1: train.batch: wants a whole number"},
    {"train = { batch = [12]; };", "1: train.batch: wants a whole number"},
    {"train = { batch = { a = 1; }; };", "1: train.batch: wants a whole number"},
    {"train = { lr = \"0.1\"; };", "1: train.lr: wants a number"},
    {"train = { lr = true; };", "1: train.lr: wants a number"},
    {"train = { lr = 1e999; };", "1: train.lr: lr 'inf'"},
    {"train = { sync_bn = 1; };", "1: train.sync_bn: wants true or false"},
    {"train = { model = 18; };", "1: train.model: wants text in quotes"},
    {"train = { devices = \"gpu:0\"; };", "1: train.devices: "},
    {"train = { split = \"halves\"; };", "1: train.split: split 'halves' is none of"},
    {"train = { sync = \"gossip\"; };", "1: train.sync: sync 'gossip' is none of"},
    {"train = { init = \"zero\"; };", "1: train.init: "},
    {"train = {\n  bacth = 12;\n};", "2: train.bacth: unknown key"},
    {"train = { charset = \"ascii\"; };", "1: train.charset: unknown key"},
    {"train = { save = \"/tmp/x\"; };", "1: train.save: unknown key"},
    {"\nscreen = { charset = \"latin1\"; };", "2: screen.charset: charset 'latin1' is none of"},
    {"screen = { palette = \"pink\"; };", "1: screen.palette: palette 'pink' is none of default, "
                                          "colour-blind"},
    {"screen = { columns = [\"run\", \"speed\"]; };",
     "1: screen.columns: columns: 'speed' is neither 'default' alone nor one of run,"},
    {"screen = { columns = [1, 2]; };", "1: screen.columns: wants words in quotes"},
    {"screen = { columns = 7; };", "1: screen.columns: wants an array of words in quotes"},
    {"screen = { mouse = \"yes\"; };", "1: screen.mouse: wants true or false"},
    {"screen = { colour = \"no\"; };", "1: screen.colour: wants true or false"},
    {"keys = { begin = \"b\"; };", "1: keys.begin: there is no action 'begin'"},
    {"keys = {\n  start = \"Hyper-x\"; };", "2: keys.start: 'Hyper-x' is no key"},
    {"keys = { start = \"1 2 3 4\"; };", "1: keys.start: an action has at most 3 keys"},
    {"keys = { start = 5; };", "1: keys.start: wants text in quotes"},
    {"keys = { accept = \"a\"; };", "1: keys.accept: 'a' is text where 'accept' works"},
    {"keys = { start = \"x\"; };", "1: keys: the key x means both 'start' and 'stop'"},
    {"keys = { leave = \"\"; };", "1: keys: 'leave' needs a key"},
    {"engine = {\n nice = 20; };", "2: engine.nice: nice '20' must be a whole number from 0 to 19"},
    {"engine = { cpus = \"0-\"; };", "1: engine.cpus: cpus '0-' must be how many"},
    {"trian = { };", "1: trian: unknown group"},
    {"train = 5;", "1: train: wants a group"},
    {"batch = 5;", "1: batch: unknown group"},
    {"train = { batch = 1; batch = 2; };", "1: duplicate setting name"},
    {"train = { batch = 1;", "1: syntax error"},
    {"train = {\n  batch = ;\n};", "2: syntax error"},
    {"train = {\n  model = \"x", "2: this string has no end"},
    {"train = { model = \"x\\\"", "1: this string has no end"},
    {"\n/* no end", "2: this comment has no end"},
    {"@include \"/etc/passwd\"\n", "1: @include is not allowed"},
    {"# first\n \t@include \"other.conf\"\n", "2: @include is not allowed"},
    {"train = { batch = 4294967297; };", "1: number too large: 4294967297"},
    {"train = {\n  seed = 2147483648; };", "2: number too large: 2147483648"},
    {"train = { seed = 9223372036854775808L; };", "1: number too large: 9223372036854775808L"},
    {"train = { batch = 0x100000001; };", "1: number too large: 0x100000001"},
    {"train = { seed = 99999999999999999999999; };", "1: number too large: 999999"},
    {"\x7f\x45\x4c\x46", "1: syntax error"},
};

/* Like what is refused, but right. */
static const char *const accepted[] = {
    "# @include \"/etc/passwd\"\n// 99999999999999999999\n/* \" */\n",
    "train = { model = \"99999999999999999999\"; data = \"@include\"; };",
    "train = { model = \"a \\\" b\"; lr = 0.00000000001; momentum = 1E-12; };",
    "train = { seed = 5000000000L; batch = 0x10; lr = +1; };",
    "train : { batch = 2147483L; }",
    "",
};

START_TEST(a_right_file_is_taken)
{
    write_text("test.conf", accepted[_i]);
    ck_assert_msg(settings_take_file(&settings, "test.conf", SOURCE_USER, &err), "%s: %s",
                  accepted[_i], err.text);
}
END_TEST

START_TEST(a_wrong_file_is_refused)
{
    write_text("test.conf", refused[_i].text);
    bool taken = settings_take_file(&settings, "test.conf", SOURCE_USER, &err);
    char *says = text_format("test.conf:%s", refused[_i].says);
    ck_assert_ptr_nonnull(says);
    ck_assert_msg(!taken, "taken: %s", refused[_i].text);
    ck_assert_int_eq(err.kind, ERROR_USAGE);
    ck_assert_msg(strncmp(err.text, says, strlen(says)) == 0, "'%s' does not begin with '%s'",
                  err.text, says);
    ck_assert_ptr_null(strchr(err.text, '\n'));
    free(says);
}
END_TEST

START_TEST(a_hostile_file_is_refused)
{
    static const char nul[] = "train = { };\0trian = { };";
    write_bytes("test.conf", nul, sizeof nul - 1);
    ck_assert(!settings_take_file(&settings, "test.conf", SOURCE_USER, &err));
    ck_assert_ptr_nonnull(strstr(err.text, "zero byte"));
    write_text("test.conf", "");
    ck_assert_int_eq(truncate("test.conf", (1 << 20) + 1), 0);
    ck_assert(!settings_take_file(&settings, "test.conf", SOURCE_USER, &err));
    ck_assert_ptr_nonnull(strstr(err.text, "1048577 bytes"));
    ck_assert(!settings_take_file(&settings, "etc", SOURCE_USER, &err));
    ck_assert_ptr_nonnull(strstr(err.text, "not a regular file"));
    ck_assert(!settings_take_file(&settings, "missing.conf", SOURCE_USER, &err));
    ck_assert_ptr_nonnull(strstr(err.text, "missing.conf"));
    struct text lines = TEXT_INIT;
    while (lines.length < 70000)
        text_puts(&lines, "\n");
    write_text("test.conf", text_cstr(&lines));
    text_free(&lines);
    ck_assert(!settings_take_file(&settings, "test.conf", SOURCE_USER, &err));
    ck_assert_ptr_nonnull(strstr(err.text, "lines"));
    /* Groups and lists nested as deep as the limit of the size allows. */
    static const char *const nests[] = {"a={", "a=(", "((((((((", "{{{{{{{{"};
    for (size_t i = 0; i < sizeof nests / sizeof nests[0]; i++) {
        struct text deep = TEXT_INIT;
        while (deep.length < (1 << 20) - 16)
            text_puts(&deep, deep.length ? nests[i] : "a=(");
        write_text("test.conf", text_cstr(&deep));
        text_free(&deep);
        ck_assert(!settings_take_file(&settings, "test.conf", SOURCE_USER, &err));
        ck_assert_int_eq(err.kind, ERROR_USAGE);
    }
}
END_TEST

/* Every truncation of the sample with its keys in force, and every byte of it damaged. */
START_TEST(damaged_files_never_crash)
{
    char *path = path_join(source, "etc/dpartui.conf"), *data;
    size_t length;
    ck_assert(file_read(path, 1 << 20, &data, &length, &err));
    free(path);
    static const char damage[] = {'\0', '"', '{', '}', '\n', '\\', '@', (char)0xff};
    for (size_t i = 0; i + 4 < length; i++)
        if (strncmp(data + i, "    # ", 6) == 0 && strchr(data + i, '=') &&
            strchr(data + i, '=') < strchr(data + i, '\n'))
            data[i + 4] = ' ';
    for (size_t at = 0; at < length; at += 7) {
        write_bytes("test.conf", data, at);
        settings_take_file(&settings, "test.conf", SOURCE_USER, &err);
        char saved = data[at];
        data[at] = damage[at / 7 % sizeof damage];
        write_bytes("test.conf", data, length);
        if (!settings_take_file(&settings, "test.conf", SOURCE_USER, &err))
            ck_assert_ptr_nonnull(strstr(err.text, "test.conf"));
        data[at] = saved;
    }
    free(data);
}
END_TEST

START_TEST(environment_errors_name_the_variable)
{
    setenv("DPARTUI_LR", "fast", 1);
    ck_assert(!settings_load(&settings, &err));
    ck_assert_int_eq(err.kind, ERROR_USAGE);
    ck_assert_ptr_nonnull(strstr(err.text, "DPARTUI_LR: lr 'fast'"));
    unsetenv("DPARTUI_LR");
    setenv("DPARTUI_CHARSET", "latin1", 1);
    ck_assert(!settings_load(&settings, &err));
    ck_assert_ptr_nonnull(strstr(err.text, "DPARTUI_CHARSET: charset 'latin1'"));
    unsetenv("DPARTUI_CHARSET");
}
END_TEST

START_TEST(a_wrong_file_of_the_user_fails_the_whole)
{
    write_text(USER_FILE, "train = { batch = -1; };\n");
    ck_assert(!settings_load(&settings, &err));
    ck_assert_int_eq(err.kind, ERROR_USAGE);
    ck_assert_ptr_nonnull(strstr(err.text, USER_FILE ":1: train.batch"));
    unsetenv("XDG_CONFIG_HOME");
    unsetenv("HOME");
    ck_assert_msg(settings_load(&settings, &err), "%s", err.text);
    expect("batch", "256");
}
END_TEST

START_TEST(no_color_takes_the_colours)
{
    setenv("NO_COLOR", "1", 1);
    ck_assert(settings_load(&settings, &err));
    ck_assert(!settings.preferences.colour);
    settings_free(&settings);
    setenv("NO_COLOR", "", 1);
    ck_assert(settings_load(&settings, &err));
    ck_assert(settings.preferences.colour);
}
END_TEST

/* The sample holds every key, commented out; its values, once in force, are the built-in ones. */
START_TEST(the_sample_documents_every_key)
{
    char *path = path_join(source, "etc/dpartui.conf"), *data;
    size_t length;
    ck_assert_msg(settings_take_file(&settings, path, SOURCE_USER, &err), "%s", err.text);
    ck_assert(file_read(path, 1 << 20, &data, &length, &err));
    free(path);
    char *live = malloc(length + 1);
    ck_assert_ptr_nonnull(live);
    memcpy(live, data, length + 1);
    for (size_t i = 0; settings_key(i); i++) {
        char *line = text_format("\n    # %s = ", strchr(settings_key(i), '.') + 1);
        const char *found = strstr(data, line);
        ck_assert_msg(found, "etc/dpartui.conf lacks %s", settings_key(i));
        live[found - data + 5] = ' ';
        free(line);
    }
    write_text("test.conf", live);
    ck_assert_msg(settings_take_file(&settings, "test.conf", SOURCE_USER, &err), "%s", err.text);
    struct spec plain;
    spec_init(&plain);
    static const char *const chosen[] = {"model", "data",     "data-dir",
                                         "hosts", "launcher", "notify"};
    for (size_t i = 0; i < sizeof chosen / sizeof chosen[0]; i++)
        ck_assert(spec_set(&settings.spec, chosen[i], "", &err));
    json_t *got = spec_to_json(&settings.spec), *want = spec_to_json(&plain);
    ck_assert(json_equal(got, want));
    json_decref(got);
    json_decref(want);
    spec_free(&plain);
    free(live);
    free(data);
}
END_TEST

START_TEST(the_manual_has_every_key)
{
    char *path = path_join(source, "man/dpartui.conf.5"), *data;
    size_t length;
    ck_assert_msg(file_read(path, 1 << 20, &data, &length, &err), "%s", err.text);
    free(path);
    for (size_t i = 0; settings_key(i); i++) {
        char *item = text_format("\n.It Ic %s\n", strchr(settings_key(i), '.') + 1);
        ck_assert_msg(strstr(data, item), "dpartui.conf.5 lacks %s", settings_key(i));
        free(item);
    }
    free(data);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("settings");
    TCase *tcase = tcase_create("settings");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, nothing_there_gives_the_built_in_values);
    tcase_add_test(tcase, later_sources_win);
    tcase_add_test(tcase, hosts_are_beside_the_groups);
    tcase_add_test(tcase, hosts_that_are_wrong_are_named);
    tcase_add_test(tcase, every_key_is_taken);
    tcase_add_loop_test(tcase, a_wrong_file_is_refused, 0, sizeof refused / sizeof refused[0]);
    tcase_add_loop_test(tcase, a_right_file_is_taken, 0, sizeof accepted / sizeof accepted[0]);
    tcase_add_test(tcase, a_hostile_file_is_refused);
    tcase_add_test(tcase, damaged_files_never_crash);
    tcase_add_test(tcase, environment_errors_name_the_variable);
    tcase_add_test(tcase, a_wrong_file_of_the_user_fails_the_whole);
    tcase_add_test(tcase, no_color_takes_the_colours);
    tcase_add_test(tcase, the_sample_documents_every_key);
    tcase_add_test(tcase, the_manual_has_every_key);
    suite_add_tcase(suite, tcase);
    return run_suites(suite, NULL);
}
