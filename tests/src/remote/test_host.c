/* SPDX-License-Identifier: MIT */
/* Names of hosts, the arguments of ssh, and how long to wait between attempts. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "remote/host.h"
#include "tests/suites.h"
#include "tests/support.h"

static struct error err;

static void setup(void)
{
    err = (struct error)ERROR_INIT;
}

/* The argument list with '|' between, for the caller to free. */
static char *list(const struct remote *remote, enum remote_terminal terminal,
                  const char *const *command)
{
    struct text text = TEXT_INIT;
    char **arguments = remote_arguments(remote, terminal, command, &err);
    ck_assert_msg(arguments != NULL, "%s", err.text);
    for (size_t i = 0; arguments[i]; i++)
        text_printf(&text, "%s%s", i ? "|" : "", arguments[i]);
    remote_arguments_free(arguments);
    return text_take(&text);
}

#define COMMAND(...) ((const char *const[]){__VA_ARGS__, NULL})

static void check_list(const struct remote *remote, enum remote_terminal terminal,
                       const char *const *command, const char *expected)
{
    char *got = list(remote, terminal, command);
    ck_assert_str_eq(got, expected);
    free(got);
}

#define ALIVE "-o|ServerAliveInterval=5|-o|ServerAliveCountMax=3|-o|ConnectTimeout=10"

START_TEST(arguments_say_what_ssh_may_do_with_the_terminal)
{
    const struct remote remote = {.host = "me@gpu1"};
    check_list(&remote, REMOTE_ASKS, COMMAND("dpartui", "engine", "dial"),
               "ssh|-T|" ALIVE "|me@gpu1|dpartui|engine|dial");
    check_list(&remote, REMOTE_SILENT, COMMAND("dpartui"),
               "ssh|-T|" ALIVE "|-o|BatchMode=yes|me@gpu1|dpartui");
    check_list(&remote, REMOTE_THROUGH, COMMAND("dpartui"), "ssh|-t|" ALIVE "|me@gpu1|dpartui");
}
END_TEST

START_TEST(the_command_is_configured_as_words)
{
    const struct remote remote = {.host = "gpu1", .ssh = "  my-ssh -p 2222\t-F /a/b "};
    check_list(&remote, REMOTE_ASKS, COMMAND("x"), "my-ssh|-p|2222|-F|/a/b|-T|" ALIVE "|gpu1|x");
    const struct remote empty = {.host = "gpu1", .ssh = " \t"};
    ck_assert_ptr_null(remote_arguments(&empty, REMOTE_ASKS, COMMAND("x"), &err));
    ck_assert_int_eq(err.kind, ERROR_USAGE);
}
END_TEST

/* What a shell makes of the last words is what was meant. */
START_TEST(words_come_through_a_shell)
{
    static const char *const words[] = {
        "plain",   "two words",   "",  "it's", "$HOME", "`id`",        "a;b", "a\nb", "*",
        "\"quo\"", "back\\slash", "~", "#x",   "&",     "caf\xc3\xa9", "-n",  "!x",   "{a,b}"};
    enum { WORDS = sizeof words / sizeof *words };
    const struct remote remote = {.host = "gpu1"};
    for (size_t i = 0; i < WORDS; i++) {
        char got[64] = "";
        char **arguments =
            remote_arguments(&remote, REMOTE_ASKS, COMMAND("printf", "<%s>", words[i]), &err);
        ck_assert_ptr_nonnull(arguments);
        size_t at = 0;
        while (strcmp(arguments[at], "printf") != 0)
            at++;
        /* As ssh does: the words with blanks between, for a shell. */
        char *line = text_format("%s %s %s", arguments[at], arguments[at + 1], arguments[at + 2]);
        FILE *shell = popen(line, "r");
        ck_assert_ptr_nonnull(shell);
        ck_assert_uint_gt(fread(got, 1, sizeof got - 1, shell), 0);
        ck_assert_int_eq(pclose(shell), 0);
        char *expected = text_format("<%s>", words[i]);
        ck_assert_str_eq(got, expected);
        free(expected);
        free(line);
        remote_arguments_free(arguments);
    }
}
END_TEST

START_TEST(names_that_ssh_would_take_for_options_are_refused)
{
    static const char *const good[] = {"gpu1", "me@gpu1", "ssh://me@gpu1:2222", "me@[fe80::1%eth0]",
                                       "10.0.0.7"};
    static const char *const bad[] = {"",     "-v",   "-oProxyCommand=sh", "a b",
                                      "a\tb", "a\nb", "a\x1b[2J"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        ck_assert_msg(remote_check(good[i], &err), "%s", err.text);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        err = (struct error)ERROR_INIT;
        ck_assert_msg(!remote_check(bad[i], &err), "'%s'", bad[i]);
        ck_assert_int_eq(err.kind, ERROR_USAGE);
    }
    char longest[300];
    memset(longest, 'a', sizeof longest);
    longest[sizeof longest - 1] = '\0';
    ck_assert(!remote_check(longest, &err));
}
END_TEST

START_TEST(hosts_have_short_names)
{
    static const char *const names[][2] = {{"gpu1", "gpu1"},
                                           {"me@gpu1", "gpu1"},
                                           {"me@work@gpu1.example.org", "gpu1.example.org"},
                                           {"ssh://me@gpu1:2222", "gpu1"},
                                           {"ssh://gpu1", "gpu1"},
                                           {"ssh://me@[::1]:22", "[::1]:22"},
                                           {"fe80::1", "fe80::1"}};
    char name[REMOTE_NAME_SIZE];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        ck_assert_str_eq(remote_name(names[i][0], name), names[i][1]);
}
END_TEST

START_TEST(pauses_grow_to_half_a_minute)
{
    static const double expected[] = {1, 2, 4, 8, 16, 30, 30};
    double pause = 0;
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        ck_assert_double_eq(pause = remote_pause(pause), expected[i]);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("host");
    TCase *names = tcase_create("names and arguments");
    tcase_add_checked_fixture(names, setup, NULL);
    tcase_add_test(names, arguments_say_what_ssh_may_do_with_the_terminal);
    tcase_add_test(names, the_command_is_configured_as_words);
    tcase_add_test(names, words_come_through_a_shell);
    tcase_add_test(names, names_that_ssh_would_take_for_options_are_refused);
    tcase_add_test(names, hosts_have_short_names);
    tcase_add_test(names, pauses_grow_to_half_a_minute);
    suite_add_tcase(suite, names);
    return run_suites(suite, NULL);
}
