/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "ui/actions.h"

/* The manual's list of keys is the workbench's table of actions, entry by entry. */

#define LIST_BEGIN "\n.Bl -tag -width \"q F10 Ctrl-C\" -compact\n"

/* The list as the table would have it. Punctuation alone is escaped, as mdoc wants it. */
static char *list_of_table(void)
{
    struct text list = TEXT_INIT;
    size_t count;
    const struct action_entry *table = actions_table(&count);
    ck_assert_uint_gt(count, 0);
    for (size_t i = 0; i < count; i++) {
        text_puts(&list, ".It Ic");
        for (const char *key = table[i].keys; *key;) {
            size_t length = strcspn(key, " ");
            bool punctuation = length == 1 && strchr("?.,;:!()[]|", *key);
            text_printf(&list, " %s%.*s", punctuation ? "\\&" : "", (int)length, key);
            key += length + strspn(key + length, " ");
        }
        text_printf(&list, "\n%s\n", table[i].description);
    }
    ck_assert_ptr_nonnull(text_cstr(&list));
    return list.data;
}

START_TEST(the_manual_lists_every_key)
{
    struct error err = ERROR_INIT;
    const char *top = getenv("top_srcdir");
    char *path = path_join(top ? top : ".", "man/dpartui.1"), *page;
    size_t length;
    ck_assert_msg(file_read(path, 1 << 20, &page, &length, &err), "%s", err.text);
    char *begin = strstr(page, LIST_BEGIN);
    ck_assert_ptr_nonnull(begin);
    begin += strlen(LIST_BEGIN);
    char *end = strstr(begin, ".El\n");
    ck_assert_ptr_nonnull(end);
    *end = '\0';
    char *wanted = list_of_table();
    if (strcmp(begin, wanted) != 0)
        printf("the list of keys in dpartui.1 should be:\n%s", wanted);
    ck_assert_str_eq(begin, wanted);
    free(wanted);
    free(page);
    free(path);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("keys");
    TCase *tcase = tcase_create("keys");
    tcase_add_test(tcase, the_manual_lists_every_key);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? 1 : 0;
}
