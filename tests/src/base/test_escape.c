/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/escape.h"
#include "base/json.h"
#include "base/print.h"
#include "tests/suites.h"

/* Of each range its ends, and the neighbours that stay; 0: none. */
static const struct {
    char32_t before, first, last, behind;
} ranges[] = {
    {0, 0x1, 0x1f, ' '},
    {'~', 0x7f, 0x9f, 0xa0},
    {0xac, 0xad, 0xad, 0xae},
    {0x34e, 0x34f, 0x34f, 0x350},
    {0x61b, 0x61c, 0x61c, 0x61d},
    {0x115e, 0x115f, 0x1160, 0x1161},
    {0x17b3, 0x17b4, 0x17b5, 0x17b6},
    {0x180a, 0x180b, 0x180f, 0x1810},
    {0x200a, 0x200b, 0x200f, 0x2010},
    {0x2027, 0x2028, 0x202e, 0x202f},
    {0x205f, 0x2060, 0x206f, 0x2070},
    {0x3163, 0x3164, 0x3164, 0x3165},
    {0xd7ff, 0xd800, 0xdfff, 0xe000},
    {0xfdcf, 0xfdd0, 0xfdef, 0xfdf0},
    {0xfdff, 0xfe00, 0xfe0f, 0xfe10},
    {0xfefe, 0xfeff, 0xfeff, 0xff00},
    {0xff9f, 0xffa0, 0xffa0, 0xffa1},
    {0xffef, 0xfff0, 0xfffb, 0xfffc},
    {0xfffd, 0xfffe, 0xffff, 0x10000},
    {0x1342f, 0x13430, 0x1343f, 0x13440},
    {0x1bc9f, 0x1bca0, 0x1bca3, 0x1bca4},
    {0x1d172, 0x1d173, 0x1d17a, 0x1d17b},
    {0x1fffd, 0x1fffe, 0x1ffff, 0x20000},
    {0xdfffd, 0xdfffe, 0xe0fff, 0xe1000},
    {0xffffd, 0xffffe, 0xfffff, 0x100000},
    {0x10fffd, 0x10fffe, 0xffffffff, 0},
};

static const char *escaped(const char *text)
{
    static char shown[400];
    struct text appended = TEXT_INIT;
    escape_append(&appended, text);
    ck_assert_uint_eq(escape_copy(shown, sizeof shown, text), strlen(shown));
    ck_assert_str_eq(text_cstr(&appended), shown);
    ck_assert_int_eq(escape_needed(text), strcmp(text, shown) != 0);
    text_free(&appended);
    return shown;
}

START_TEST(ranges_have_these_ends)
{
    ck_assert(escape_hidden(0));
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        ck_assert(ranges[i].before == 0 || !escape_hidden(ranges[i].before));
        ck_assert(escape_hidden(ranges[i].first));
        ck_assert(escape_hidden(ranges[i].last));
        ck_assert(ranges[i].behind == 0 || !escape_hidden(ranges[i].behind));
    }
}
END_TEST

START_TEST(hidden_characters_become_escapes)
{
    static const char *const cases[][2] = {
        {"", ""},
        {"plain ~", "plain ~"},
        {"a\tb\nc\x1b[2J\x7f", "a\\x09b\\x0ac\\x1b[2J\\x7f"},
        {"\xc2\x9b"
         "2J\xc2\xad\xc2\xa0",
         "\\u009b2J\\u00ad\xc2\xa0"},
        {"a\xe2\x80\xae"
         "b\xe2\x80\xa8\xef\xbb\xbf",
         "a\\u202eb\\u2028\\ufeff"},
        {"\xf3\xa0\x81\x81.", "\\U000e0041."},
        /* Joiners, of emoji and of Persian, too. */
        {"\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x92\xbb", "\xf0\x9f\x91\xa9\\u200d\xf0\x9f\x92\xbb"},
        {"\xd9\x85\xdb\x8c\xe2\x80\x8c\xd8\xae", "\xd9\x85\xdb\x8c\\u200c\xd8\xae"},
        /* Combining, wide, of private use, not assigned, visible though a format: they stay. */
        {"e\xcc\x81\xe6\xbc\xa2\xee\x80\x80\xe0\xa7\xbf\xd8\x80",
         "e\xcc\x81\xe6\xbc\xa2\xee\x80\x80\xe0\xa7\xbf\xd8\x80"},
        {"C:\\u202e", "C:\\u202e"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char once[400];
        ck_assert_str_eq(escaped(cases[i][0]), cases[i][1]);
        strcpy(once, escaped(cases[i][0]));
        ck_assert_str_eq(escaped(once), once);
    }
}
END_TEST

START_TEST(bytes_that_are_no_utf8_become_escapes)
{
    static const char *const cases[][2] = {
        {"\xff\xfe", "\\xff\\xfe"},
        {"a\x80\xbf", "a\\x80\\xbf"},
        {"a\xe4", "a\\xe4"}, /* cut short at the end, and within */
        {"a\xe4\xbc", "a\\xe4\\xbc"},
        {"a\xf0\x9f\x91", "a\\xf0\\x9f\\x91"},
        {"\xe4\xbcz", "\\xe4\\xbcz"},
        {"\xc3\xc3\xa4", "\\xc3\xc3\xa4"},
        {"\xc0\x80\xc1\xbf", "\\xc0\\x80\\xc1\\xbf"}, /* overlong */
        {"\xe0\x80\xaf\xf0\x80\x80\xaf", "\\xe0\\x80\\xaf\\xf0\\x80\\x80\\xaf"},
        {"\xe0\x9f\xbf\xe0\xa0\x80", "\\xe0\\x9f\\xbf\xe0\xa0\x80"},
        {"\xed\x9f\xbb\xed\xa0\x80\xed\xbf\xbf", "\xed\x9f\xbb\\xed\\xa0\\x80\\xed\\xbf\\xbf"},
        {"\xf4\x8f\xbf\xbd\xf4\x90\x80\x80\xf5\x80\x80\x80",
         "\xf4\x8f\xbf\xbd\\xf4\\x90\\x80\\x80\\xf5\\x80\\x80\\x80"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        ck_assert_str_eq(escaped(cases[i][0]), cases[i][1]);
}
END_TEST

START_TEST(decoding_stays_within_its_bytes)
{
    char32_t character = 7;
    ck_assert_uint_eq(utf8_decode("\xe2\x80\xae", 0, &character), 0);
    ck_assert_uint_eq(utf8_decode("\xe2\x80\xae", 2, &character), 0);
    ck_assert_uint_eq(character, 7);
    ck_assert_uint_eq(utf8_decode("\xe2\x80\xae", 3, &character), 3);
    ck_assert_uint_eq(character, 0x202e);
}
END_TEST

START_TEST(copies_end_between_characters)
{
    static const struct {
        size_t size;
        const char *copy;
    } cases[] = {{1, ""},
                 {2, "a"},
                 {3, "a"},
                 {4, "a\xc3\xa4"},
                 {9, "a\xc3\xa4"},
                 {10, "a\xc3\xa4\\u202e"},
                 {11, "a\xc3\xa4\\u202ez"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char copy[16] = "0123456789abcde";
        escape_copy(copy, cases[i].size, "a\xc3\xa4\xe2\x80\xaez");
        ck_assert_str_eq(copy, cases[i].copy);
        ck_assert_int_eq(copy[cases[i].size], "0123456789abcde"[cases[i].size]);
    }
}
END_TEST

START_TEST(what_was_cut_is_trimmed)
{
    static const char *const cases[][2] = {
        {"", ""},
        {"a", "a"},
        {"a\xc3\xa4", "a\xc3\xa4"},
        {"a\xc3", "a"},
        {"\xe2\x80", ""},
        {"\xe2\x80\xae", "\xe2\x80\xae"},
        {"a\xf0\x9f\x91", "a"},
        {"a\xf0\x9f\x91\xa9", "a\xf0\x9f\x91\xa9"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[16];
        strcpy(text, cases[i][0]);
        utf8_trim(text);
        ck_assert_str_eq(text, cases[i][1]);
    }
}
END_TEST

START_TEST(errors_are_escaped_and_cut_between_characters)
{
    struct error err = ERROR_INIT;
    char name[sizeof err.text + 40];
    error_set(&err, ERROR_FAILED, "%s: no", "a\xe2\x80\xae\n\xff");
    ck_assert_str_eq(err.text, "a\\u202e\\x0a\\xff: no");
    error_prefix(&err, "b%s", "\xc2\xad");
    ck_assert_str_eq(err.text, "b\\u00ad: a\\u202e\\x0a\\xff: no");
    for (size_t odd = 0; odd < 2; odd++) { /* two bytes each */
        memset(name, 'x', odd);
        for (size_t i = odd; i + 2 < sizeof name; i += 2)
            memcpy(name + i, "\xc3\xa4", 3);
        error_set(&err, ERROR_FAILED, "%s", name);
        ck_assert_uint_eq(strlen(err.text), sizeof err.text - 1 - !odd);
        ck_assert(!escape_needed(err.text));
    }
}
END_TEST

static char *printed(void (*print_all)(FILE *out))
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    ck_assert_ptr_nonnull(out);
    print_all(out);
    fclose(out);
    return text;
}

static void print_cases(FILE *out)
{
    print_to(out, "%s|%5s|%-5s|%*s|%-*s|%%\n\x1b[K", "a\nb", "\xe2\x80\xae", "\xc3\xa4", 4, "c", 3,
             "d");
    print_to(out, "%d %ld %lld %u %lu %llu %zu|%05d|%+d|%-4d|%3.1f|%*.0f|%.*f|%g|%.10g\n", -1, -2L,
             -3LL, 4U, 5UL, 18446744073709551615ULL, (size_t)7, 42, 8, 9, 2.25, 4, 10.4, 2, 1.005,
             1e-5, 0.1);
    print_to(out, "none");
}

START_TEST(printing_escapes_arguments_only)
{
    ck_assert_ptr_nonnull(setlocale(LC_CTYPE, "C.UTF-8"));
    char *text = printed(print_cases);
    ck_assert_str_eq(text, "a\\x0ab|\\u202e|\xc3\xa4    |   c|d  |%\n\x1b[K"
                           "-1 -2 -3 4 5 18446744073709551615 7|00042|+8|9   |2.2|  10|1.00|1e-05|"
                           "0.1\nnone");
    free(text);
}
END_TEST

START_TEST(widths_are_columns)
{
    ck_assert_ptr_nonnull(setlocale(LC_CTYPE, "C.UTF-8"));
    ck_assert_uint_eq(print_width("e\xcc\x81\xe6\xbc\xa2z"), 4); /* combining and wide */
    ck_assert_uint_eq(print_width("\\u202e"), 6);
    ck_assert_ptr_nonnull(setlocale(LC_CTYPE, "C"));
    ck_assert_uint_eq(print_width("\xc3\xa4"), 2);
}
END_TEST

START_TEST(json_hides_nothing_and_loses_nothing)
{
    static const char name[] = "a\x7f\xc2\x9b\xe2\x80\xae\xf3\xa0\x81\x81\n\xc3\xa4";
    json_t *object = json_pack("{s:s, s:[i]}", name, name, "list", 1);
    char *line = json_to_text(object, JSON_COMPACT), *file = NULL;
    size_t size;
    const char *string = "\"a\\u007f\\u009b\\u202e\\udb40\\udc41\\n\xc3\xa4\"";
    char *expected = text_format("{%s:%s,\"list\":[1]}", string, string);
    ck_assert_str_eq(line, expected);
    ck_assert_uint_eq(json_length(object, JSON_COMPACT), strlen(expected));
    json_t *back = json_loads(line, 0, NULL);
    ck_assert(json_equal(object, back));
    FILE *out = open_memstream(&file, &size);
    ck_assert(json_to_file(object, out, JSON_INDENT(1)));
    fclose(out);
    char *indented = json_to_text(object, JSON_INDENT(1));
    ck_assert_str_eq(file, indented);
    ck_assert_ptr_nonnull(strstr(file, "{\n"));
    json_decref(back);
    json_decref(object);
    free(line);
    free(expected);
    free(file);
    free(indented);
}
END_TEST

START_TEST(json_of_any_bytes)
{
    json_t *string = json_any_text("a\xff\xe2\x80\xae\xc3");
    ck_assert_str_eq(json_string_value(string), "a\\xff\xe2\x80\xae\\xc3");
    json_decref(string);
    string = string_or_null("a\xff");
    ck_assert_str_eq(json_string_value(string), "a\\xff");
    json_decref(string);
    ck_assert(json_is_null(string_or_null("")) && json_is_null(string_or_null(NULL)));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("escape");
    TCase *tcase = tcase_create("escape");
    tcase_add_test(tcase, ranges_have_these_ends);
    tcase_add_test(tcase, hidden_characters_become_escapes);
    tcase_add_test(tcase, bytes_that_are_no_utf8_become_escapes);
    tcase_add_test(tcase, decoding_stays_within_its_bytes);
    tcase_add_test(tcase, copies_end_between_characters);
    tcase_add_test(tcase, what_was_cut_is_trimmed);
    tcase_add_test(tcase, errors_are_escaped_and_cut_between_characters);
    tcase_add_test(tcase, printing_escapes_arguments_only);
    tcase_add_test(tcase, widths_are_columns);
    tcase_add_test(tcase, json_hides_nothing_and_loses_nothing);
    tcase_add_test(tcase, json_of_any_bytes);
    suite_add_tcase(suite, tcase);
    return run_suites(suite, NULL);
}
