/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "engine/fetch/address.h"
#include "tests/engine/fetch/fetch_fixture.h"
#include "tests/suites.h"
#include "tests/support.h"

START_TEST(from_a_folder)
{
    char *from = format("file://%s%s", mirror, _i ? "/" : "");
    check_fetched(from);
    check_installed();
    ck_assert_str_eq(seen.phases, "dvdv");
    ck_assert_int_eq(seen.done, SHORT);
    free(from);
}
END_TEST

START_TEST(from_a_server)
{
    server.no_length = _i;
    start();
    check_fetched(address);
    check_installed();
    ck_assert_int_eq(server.requests, 2);
}
END_TEST

START_TEST(what_is_there_is_not_fetched_again)
{
    start();
    check_fetched(address);
    check_fetched(address);
    ck_assert_int_eq(server.requests, 2);
    /* Same size, other bytes: the digest tells. */
    content[0][7] ^= 1;
    put_file(home, "things/long.gz", content[0], LONG);
    content[0][7] ^= 1;
    check_fetched(address);
    ck_assert_int_eq(server.requests, 3);
    put_file(home, "things/short.gz", content[1], SHORT - 1);
    check_fetched(address);
    ck_assert_int_eq(server.requests, 4);
    check_installed();
}
END_TEST

START_TEST(a_partial_file_is_gone_on_with)
{
    start();
    put_part(content[0], 123456);
    check_fetched(address);
    check_installed();
    ck_assert_int_eq(server.requests, 2);
    remove_tree(format("%s/things", home));
    put_part(content[0], 123456);
    server.last_start = -1;
    set.file_count = 1;
    check_fetched(address);
    ck_assert_int_eq(server.last_start, 123456);
}
END_TEST

START_TEST(a_partial_file_is_gone_on_with_from_a_folder)
{
    char *from = format("file://%s", mirror);
    put_part(content[0], 123456);
    check_fetched(from);
    check_installed();
    free(from);
}
END_TEST

START_TEST(a_server_without_ranges_sends_it_all)
{
    server.no_ranges = true;
    start();
    put_part(content[0], 123456);
    check_fetched(address);
    check_installed();
    ck_assert_int_eq(server.requests, 3);
}
END_TEST

START_TEST(a_partial_file_larger_than_the_file_is_dropped)
{
    start();
    put_part(NULL, LONG + 1);
    check_fetched(address);
    check_installed();
    ck_assert_int_eq(server.requests, 2);
}
END_TEST

START_TEST(a_whole_partial_file_is_only_verified)
{
    start();
    put_part(content[0], LONG);
    check_fetched(address);
    check_installed();
    ck_assert_int_eq(server.requests, 1); /* the other file */
}
END_TEST

START_TEST(a_partial_file_of_something_else_is_fetched_afresh)
{
    start();
    put_part(NULL, 5000);
    check_fetched(address);
    check_installed();
    ck_assert_int_eq(server.requests, 3);
    ck_assert_int_eq(server.last_start, 0);
}
END_TEST

START_TEST(wrong_bytes_are_removed)
{
    content[0][LONG - 1] ^= 1;
    put_file(mirror, "long.gz", content[0], LONG);
    start();
    check_refused(address, "SHA-256");
    ck_assert_int_eq(size_of("long.gz"), -1);
    ck_assert_int_eq(size_of("long.gz.part"), -1);
    ck_assert_int_eq(server.requests, 1);
}
END_TEST

START_TEST(wrong_sizes_are_refused)
{
    put_file(mirror, "long.gz", content[0], _i % 2 ? LONG - 1 : LONG - 100000);
    put_file(mirror, "short.gz", NULL, SHORT + 5000);
    server.no_length = _i >= 2;
    start();
    check_refused(address, _i < 2 ? "the server offers" : "bytes are there");
    ck_assert_int_eq(size_of("long.gz"), -1);
    set.files[0] = set.files[1];
    check_refused(address, _i < 2 ? "offers 6000 bytes, but the file has 1000"
                                  : "sends more than the 1000 bytes");
    ck_assert_int_eq(size_of("short.gz"), -1);
}
END_TEST

START_TEST(an_empty_answer_is_refused)
{
    put_file(mirror, "long.gz", NULL, 0);
    start();
    check_refused(address, "only 0 of 300000 bytes");
}
END_TEST

START_TEST(broken_transfers_are_taken_up_again)
{
    server.breaks = 2;
    server.break_after = 100000;
    start();
    check_fetched(address);
    check_installed();
    ck_assert_int_eq(server.requests, 4);
}
END_TEST

START_TEST(after_some_attempts_it_gives_up)
{
    server.breaks = 100;
    server.break_after = 1000;
    start();
    check_refused(address, "gave up after 3 attempts");
    ck_assert_int_eq(server.requests, 3);
    ck_assert_int_eq(size_of("long.gz.part"), 3000);
    ck_assert_int_eq(size_of("long.gz"), -1);
}
END_TEST

START_TEST(without_ranges_it_gives_up_as_well)
{
    server.breaks = 100;
    server.break_after = 1000;
    server.no_ranges = true;
    start();
    check_refused(address, "gave up after 3 attempts");
    ck_assert_int_le(server.requests, 6);
}
END_TEST

START_TEST(a_stalled_transfer_ends)
{
    server.breaks = 1;
    server.break_after = 1000;
    server.stall = true;
    patience.stall_s = 1.5; /* time for the server's thread on a busy machine */
    patience.attempts = 1;
    start();
    check_refused(address, "gave up after 1 attempt (nothing arrived for 1.5 s)");
    ck_assert_int_eq(size_of("long.gz.part"), 1000);
}
END_TEST

START_TEST(error_statuses)
{
    server.unavailable = 2;
    start();
    check_fetched(address);
    ck_assert_int_eq(server.requests, 4);
    set.files[0].name = "absent.gz";
    check_refused(address, "absent.gz: the server answers 404 (not found)");
    ck_assert_int_eq(server.requests, 5);
    ck_assert_int_eq(size_of("absent.gz.part"), 0);
}
END_TEST

START_TEST(redirects_stay_on_the_web)
{
    start();
    char *there = format("%smoved/", address), *file = format("file://%s/", mirror);
    server.redirect = address;
    check_fetched(there);
    check_installed();
    remove_tree(format("%s/things", home));
    server.redirect = file;
    check_refused(there, "cannot fetch");
    ck_assert_int_eq(size_of("long.gz"), -1);
    server.redirect = there;
    check_refused(there, "cannot fetch");
    free(there);
    free(file);
}
END_TEST

START_TEST(nobody_listens)
{
    check_refused(NULL, "http://127.0.0.1:9/long.gz: cannot fetch"); /* the discard port */
    check_refused("file:///nonexistent", "file:///nonexistent/long.gz: cannot fetch");
}
END_TEST

START_TEST(addresses_and_names_are_checked)
{
    static const char *const bad[] = {"gopher://h/", "scp://h/", "/some/where", "", "https:/h"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        check_refused(bad[i], "it must begin with http://");
        ck_assert_int_eq(err.kind, ERROR_USAGE);
    }
    ck_assert(!fetch_dataset("things", home, NULL, report, &seen, &err));
    ck_assert_int_eq(err.kind, ERROR_USAGE);
    ck_assert_ptr_nonnull(strstr(err.text, "fashion-mnist, mnist and cifar10"));
}
END_TEST

/* Names and passwords in addresses stay out of messages, which others may get to see. */
START_TEST(passwords_are_not_shown)
{
    static const char *const pairs[][2] = {
        {"http://me:secret@host/file", "http://***@host/file"},
        {"http://me:sec/ret@host/file", "http://***@host/file"},
        {"me:secret@host", "***@host"},
        {"http://host:80/file", "http://host:80/file"},
        {"file:///a", "file:///a"},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        char *shown = address_shown(pairs[i][0]);
        ck_assert_str_eq(shown, pairs[i][1]);
        free(shown);
    }
    start();
    char *with = format("http://me:secret@%s", address + strlen("http://"));
    check_fetched(with);
    set.files[0].name = "absent.gz";
    check_refused(with, "http://***@127.0.0.1");
    ck_assert_ptr_null(strstr(err.text, "secret"));
    free(with);
    check_refused("scp://me:secret@host/", "scp://***@host/");
    ck_assert_ptr_null(strstr(err.text, "secret"));
    check_refused("http://me:secret@127.0.0.1:9/", "http://***@127.0.0.1:9/absent.gz");
    ck_assert_ptr_null(strstr(err.text, "secret"));
    check_refused("http://me:sec/ret@127.0.0.1:9/", "***@127.0.0.1");
    ck_assert_ptr_null(strstr(err.text, "sec/ret"));
}
END_TEST

START_TEST(cancelling_keeps_the_partial_file)
{
    start();
    seen.cancel_at = 3;
    check_refused(address, "cancelled");
    ck_assert_int_eq(err.kind, ERROR_CANCELLED);
    ck_assert_int_eq(size_of("long.gz"), -1);
    ck_assert_int_ge(size_of("long.gz.part"), 0);
    seen.cancel_at = 0;
    check_fetched(address);
    check_installed();
}
END_TEST

START_TEST(cancelling_ends_a_stall_and_a_pause)
{
    server.breaks = 1;
    server.stall = _i;
    patience.pause_s = 1000;
    patience.stall_s = 1000;
    seen.cancel_at = 3;
    start();
    check_refused(address, "cancelled");
    ck_assert_int_eq(err.kind, ERROR_CANCELLED);
}
END_TEST

START_TEST(a_full_disk)
{
    struct rlimit limit, small = {.rlim_cur = 100000};
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
    small.rlim_max = limit.rlim_max;
    signal(SIGXFSZ, SIG_IGN);
    start();
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
    bool ok = fetch(address);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    ck_assert(!ok);
    ck_assert_ptr_nonnull(strstr(err.text, "long.gz.part: cannot write: File too large"));
    ck_assert_int_eq(size_of("long.gz.part"), 100000);
    check_fetched(address);
    check_installed();
    ck_assert_int_eq(server.requests, 3);
}
END_TEST

START_TEST(places_that_cannot_be_written)
{
    put_file(root, "home", "", 0);
    check_refused(address, "home: cannot make this directory");
    ck_assert_int_eq(unlink(home), 0);
    put_file(home, "things/long.gz.part/in/the/way", "", 0);
    check_refused("file:///nowhere", "long.gz.part: cannot create");
    if (geteuid() == 0)
        return; /* root may write everywhere */
    char *things = format("%s/closed", home);
    ck_assert_int_eq(mkdir(things, 0555), 0);
    free(home);
    home = things;
    check_refused("file:///nowhere", "cannot make this directory: Permission denied");
}
END_TEST

START_TEST(two_fetches_at_once)
{
    char *dir = format("%s/things", home);
    ck_assert(make_directories(dir, 0777, &err));
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ck_assert_int_eq(flock(fd, LOCK_EX), 0);
    check_refused("file:///nowhere", "another fetch into this folder is running");
    close(fd);
    free(dir);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("fetch");
    TCase *tcase = tcase_create("transfer");
    tcase_add_checked_fixture(tcase, fetch_setup, fetch_teardown);
    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, from_a_folder, 0, 2);
    tcase_add_loop_test(tcase, from_a_server, 0, 2);
    tcase_add_test(tcase, what_is_there_is_not_fetched_again);
    tcase_add_test(tcase, a_partial_file_is_gone_on_with);
    tcase_add_test(tcase, a_partial_file_is_gone_on_with_from_a_folder);
    tcase_add_test(tcase, a_server_without_ranges_sends_it_all);
    tcase_add_test(tcase, a_partial_file_larger_than_the_file_is_dropped);
    tcase_add_test(tcase, a_whole_partial_file_is_only_verified);
    tcase_add_test(tcase, a_partial_file_of_something_else_is_fetched_afresh);
    tcase_add_test(tcase, wrong_bytes_are_removed);
    tcase_add_loop_test(tcase, wrong_sizes_are_refused, 0, 4);
    tcase_add_test(tcase, an_empty_answer_is_refused);
    tcase_add_test(tcase, broken_transfers_are_taken_up_again);
    tcase_add_test(tcase, after_some_attempts_it_gives_up);
    tcase_add_test(tcase, without_ranges_it_gives_up_as_well);
    tcase_add_test(tcase, a_stalled_transfer_ends);
    tcase_add_test(tcase, error_statuses);
    tcase_add_test(tcase, redirects_stay_on_the_web);
    tcase_add_test(tcase, nobody_listens);
    tcase_add_test(tcase, addresses_and_names_are_checked);
    tcase_add_test(tcase, passwords_are_not_shown);
    tcase_add_test(tcase, cancelling_keeps_the_partial_file);
    tcase_add_loop_test(tcase, cancelling_ends_a_stall_and_a_pause, 0, 2);
    tcase_add_test(tcase, a_full_disk);
    tcase_add_test(tcase, places_that_cannot_be_written);
    tcase_add_test(tcase, two_fetches_at_once);
    suite_add_tcase(suite, tcase);
    return run_suites(suite, NULL);
}
