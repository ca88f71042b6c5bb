/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "spec/hosts.h"
#include "spec/json.h"
#include "spec/set.h"
#include "spec/spec.h"
#include "tests/suites.h"
#include "tests/support.h"

/* The hosts of a run: as text, in a file, in the names of devices and in a spec. */

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

static void set(const char *key, const char *value)
{
    ck_assert_msg(spec_set(&spec, key, value, &err), "%s", err.text);
}

static void check_hosts(const struct host_list *list, const char *expected)
{
    char *text = host_list_text(list);
    ck_assert_str_eq(text, expected);
    free(text);
}

static void check_refused(bool ok, const char *words)
{
    ck_assert(!ok);
    ck_assert_int_eq(err.kind, ERROR_USAGE);
    ck_assert_msg(strstr(err.text, words), "%s", err.text);
}

/* 63 letters are the longest name. */
#define LETTERS "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijk"

START_TEST(launchers)
{
    static const char *const good[] = {"mpirun", "srun", "srun:17", "start %p",
                                       "a -n %n %h %H 100%% %p"};
    static const struct {
        const char *launcher, *words;
    } bad[] = {{"mpirun -n 2", "%p, the program to start on each host, is missing"},
               {"mpirun %q %p", "after % only n, h, H, p and % have a meaning"},
               {"start %%p", "%p, the program to start on each host, is missing"},
               {"mpirun %p %", "after % only n, h, H, p and % have a meaning"}};
    set("hosts", "h1,h2");
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        set("launcher", good[i]);
        ck_assert_msg(spec_validate(&spec, &err), "%s", err.text);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        set("launcher", bad[i].launcher);
        check_refused(spec_validate(&spec, &err), bad[i].words);
    }
}
END_TEST

START_TEST(lists_of_names)
{
    static const char *const lists[] = {"h1", "h1,h2", "node-7.cluster.example,10.0.0.2,a_b",
                                        LETTERS};
    struct host_list list;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        ck_assert_msg(host_list_parse(lists[i], &list, &err), "%s", err.text);
        check_hosts(&list, lists[i]);
    }
}
END_TEST

static const struct {
    const char *list, *words;
} wrong_lists[] = {
    {"", "'' is no name of a host"},
    {"h1,", "'' is no name of a host"},
    {",h1", "'' is no name of a host"},
    {"h1,,h2", "'' is no name of a host"},
    {"h1, h2", "' h2' is no name of a host"},
    {"-o", "'-o' is no name of a host"},
    {"h1;reboot", "'h1;reboot' is no name of a host"},
    {"h1/h2", "'h1/h2' is no name of a host"},
    {LETTERS "l", "at most 63 of them"},
    {"h1,h2,h1", "h1 is named twice"},
};

START_TEST(wrong_lists_are_refused)
{
    struct host_list list;
    check_refused(host_list_parse(wrong_lists[_i].list, &list, &err), wrong_lists[_i].words);
}
END_TEST

START_TEST(a_spec_refuses_wrong_hosts)
{
    set("devices", "cpu:0");
    set("hosts", "h1,h1");
    check_refused(spec_validate(&spec, &err), "h1 is named twice");
}
END_TEST

START_TEST(there_are_as_many_as_devices)
{
    struct host_list list;
    char *most = strdup("h0");
    for (int i = 1; i < SPEC_MAX_HOSTS; i++) {
        char *more = format("%s,h%d", most, i);
        free(most);
        most = more;
    }
    char *many = format("%s,last", most);
    ck_assert_msg(host_list_parse(most, &list, &err), "%s", err.text);
    ck_assert_int_eq(list.count, SPEC_MAX_HOSTS);
    check_refused(host_list_parse(many, &list, &err), "more than 64 hosts");
    free(many);
    free(most);
}
END_TEST

static bool read_file(const char *text, struct host_list *list)
{
    char *folder = temporary_folder(), *path = format("%s/hosts", folder);
    put_file(folder, "hosts", text, strlen(text));
    const bool ok = host_list_read(path, list, &err);
    free(path);
    remove_tree(folder);
    return ok;
}

START_TEST(hosts_files)
{
    struct host_list list;
    ck_assert_msg(
        read_file("# the cluster\n\n  h1 slots=2\nh2:4 # slow\r\n\th3\nh1 slots=2\nh4", &list),
        "%s", err.text);
    check_hosts(&list, "h1,h2,h3,h4");
}
END_TEST

START_TEST(wrong_hosts_files_are_refused)
{
    struct host_list list;
    check_refused(read_file("h1\nh2\n\n$(h3)\n", &list), "/hosts:4: '$(h3)' is no name of a host");
    check_refused(read_file("# nobody\n", &list), "names no hosts");
    ck_assert(!host_list_read("/nonexistent/hosts", &list, &err));
    ck_assert_msg(strstr(err.text, "/nonexistent/hosts"), "%s", err.text);
}
END_TEST

static const struct {
    const char *devices, *canonical, *hosts;
} named[] = {
    {"h1/cpu:0-1,h2/cpu:0", "h1/cpu:0-1,h2/cpu:0", "h1,h2"},
    {"h1/cpu:0,h1/cpu:1,h1/cuda:0,h2/1,h2/2", "h1/cpu:0-1,h1/cuda:0,h2/cuda:1-2", "h1,h2"},
    {"b/cpu:0,a/cpu:1", "b/cpu:0,a/cpu:1", "b,a"},
    {"h1/cpu:0,h2/cpu:1", "h1/cpu:0,h2/cpu:1", "h1,h2"},
    {LETTERS "/cuda:9999", LETTERS "/cuda:9999", LETTERS},
};

START_TEST(devices_name_their_hosts)
{
    struct host_list hosts;
    set("devices", named[_i].devices);
    char *text = device_list_text(&spec.devices);
    ck_assert_str_eq(text, named[_i].canonical);
    ck_assert(spec_has_hosts(&spec) && device_list_names_hosts(&spec.devices));
    ck_assert_msg(spec_validate(&spec, &err) && spec_hosts(&spec, &hosts, &err), "%s", err.text);
    check_hosts(&hosts, named[_i].hosts);
    /* They are not spread over anything. */
    ck_assert_msg(spec_spread_devices(&spec, &err), "%s", err.text);
    char *again = device_list_text(&spec.devices);
    ck_assert_str_eq(again, text);
    free(again);
    free(text);
}
END_TEST

START_TEST(json_keeps_hosts)
{
    struct spec again;
    set("devices", "h2/cpu:0-1,h1/cuda:3");
    set("hosts", "h1,h2");
    set("host-limit", "7.5");
    json_t *json = spec_to_json(&spec);
    ck_assert_msg(spec_from_json(&again, json, &err), "%s", err.text);
    ck_assert_str_eq(again.hosts, "h1,h2");
    ck_assert(again.host_limit == 7.5);
    ck_assert_int_eq(again.devices.count, 3);
    for (int i = 0; i < 3; i++)
        ck_assert(device_id_same(again.devices.id[i], spec.devices.id[i]));
    json_decref(json);
    spec_free(&again);
}
END_TEST

static const struct {
    const char *devices, *hosts, *words; /* hosts NULL: none */
} wrong[] = {
    {"h1/cpu:0,cpu:1", NULL, "name a host for each of them, or for none of them"},
    {"cpu:1,h1/cpu:0", NULL, "name a host for each of them, or for none of them"},
    {"h1/cpu:0,h2/cpu:0,h1/cpu:1", NULL, "list those of h1 one after the other"},
    {"h1/cpu:0,h2/cpu:0", "h1", "h2 is none of the hosts"},
    {"h1/cpu:0", "h1,h2", "no device of h2 is listed"},
};

START_TEST(wrong_devices_are_refused)
{
    set("devices", wrong[_i].devices);
    if (wrong[_i].hosts)
        set("hosts", wrong[_i].hosts);
    check_refused(spec_validate(&spec, &err), wrong[_i].words);
}
END_TEST

START_TEST(no_host_no_device)
{
    static const char *const lists[] = {"/cpu:0",      "h1/",       "h1/cpu:",         "-h/cpu:0",
                                        "h1/h2/cpu:0", "h 1/cpu:0", LETTERS "l/cpu:0", "h1/all"};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        check_refused(spec_set(&spec, "devices", lists[i], &err), "names no devices");
}
END_TEST

START_TEST(devices_are_spread_over_hosts)
{
    set("devices", "cpu:0-1,cuda:3");
    set("hosts", "b,a");
    ck_assert_msg(spec_spread_devices(&spec, &err), "%s", err.text);
    char *text = device_list_text(&spec.devices);
    ck_assert_str_eq(text, "b/cpu:0-1,b/cuda:3,a/cpu:0-1,a/cuda:3");
    free(text);
}
END_TEST

START_TEST(too_many_are_not_spread)
{
    set("devices", "cpu:0-21");
    set("hosts", "a,b,c");
    check_refused(spec_spread_devices(&spec, &err),
                  "22 devices on each of 3 hosts are more than 64");
    ck_assert_int_eq(spec.devices.count, 22);
}
END_TEST

static const struct {
    const char *devices, *hosts, *to, *wanted;
} moves[] = {
    {"a/cpu:0,b/cpu:0", "a,b", "c,a,d", "cpu:0"},
    {"a/cpu:0-1,a/cuda:3,b/cpu:0-1,b/cuda:3", NULL, "c", "cpu:0-1,cuda:3"},
    {"cuda:0-1", "a,b", "c", "cuda:0-1"},
    /* They need not be alike where they stay. */
    {"a/cpu:0-1,b/cpu:0", "a,b", "b,a", "a/cpu:0-1,b/cpu:0"},
};

START_TEST(a_spec_moves_to_other_hosts)
{
    set("devices", moves[_i].devices);
    if (moves[_i].hosts)
        set("hosts", moves[_i].hosts);
    ck_assert_msg(spec_move_to_hosts(&spec, moves[_i].to, &err), "%s", err.text);
    char *text = device_list_text(&spec.devices);
    ck_assert_str_eq(text, moves[_i].wanted);
    if (!device_list_names_hosts(&spec.devices))
        ck_assert_str_eq(spec.hosts, moves[_i].to);
    ck_assert(spec_validate(&spec, &err));
    free(text);
}
END_TEST

START_TEST(unlike_hosts_cannot_be_moved)
{
    static const char *const lists[] = {"a/cpu:0-1,b/cpu:0", "a/cpu:0,b/cuda:0", "a/cpu:0,b/cpu:1"};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        set("devices", lists[i]);
        check_refused(spec_move_to_hosts(&spec, "c,d", &err),
                      "the run's hosts have different devices: give --devices for c,d");
    }
    check_refused(spec_move_to_hosts(&spec, "c,,d", &err), "is no name of a host");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("hosts");
    TCase *tc = tcase_create("hosts");
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, launchers);
    tcase_add_test(tc, lists_of_names);
    tcase_add_loop_test(tc, a_spec_moves_to_other_hosts, 0, sizeof moves / sizeof *moves);
    tcase_add_test(tc, unlike_hosts_cannot_be_moved);
    tcase_add_loop_test(tc, wrong_lists_are_refused, 0, sizeof wrong_lists / sizeof *wrong_lists);
    tcase_add_test(tc, a_spec_refuses_wrong_hosts);
    tcase_add_test(tc, there_are_as_many_as_devices);
    tcase_add_test(tc, hosts_files);
    tcase_add_test(tc, wrong_hosts_files_are_refused);
    tcase_add_loop_test(tc, devices_name_their_hosts, 0, sizeof named / sizeof *named);
    tcase_add_test(tc, json_keeps_hosts);
    tcase_add_loop_test(tc, wrong_devices_are_refused, 0, sizeof wrong / sizeof *wrong);
    tcase_add_test(tc, no_host_no_device);
    tcase_add_test(tc, devices_are_spread_over_hosts);
    tcase_add_test(tc, too_many_are_not_spread);
    suite_add_tcase(suite, tc);
    return run_suites(suite, NULL);
}
