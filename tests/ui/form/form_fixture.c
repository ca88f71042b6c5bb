/* SPDX-License-Identifier: MIT */
#include "tests/ui/form/form_fixture.h"

#include <stdlib.h>
#include <string.h>

#include "ui/control/engine.h"

struct replay replay;

void form_begin(void)
{
    replay_begin(&replay);
}

void form_end(void)
{
    replay_end(&replay);
}

void check_field(enum form_field field, const char *expected)
{
    char *text = form_text(&replay.ui.form, field);
    ck_assert_str_eq(text, expected);
    free(text);
}

static bool note_request(void *context, enum request request, json_t *params, struct error *err)
{
    int *checks = context;
    (void)err;
    *checks += request == REQUEST_CHECK;
    json_decref(params);
    return true;
}

void count_checks(int *checks)
{
    *checks = 0;
    replay_recording(&replay, "idle", 0);
    replay.ui.requester = (struct requester){note_request, checks};
    replay.ui.check = (struct form_check){.asked = false};
}

void answer_check(const char *text)
{
    json_t *result = json_loads(text, 0, NULL);
    ck_assert_ptr_nonnull(result);
    ui_answer(&replay.ui, REQUEST_CHECK, result, NULL);
    json_decref(result);
}

int style_of_value(const char *label)
{
    struct surface surface = {.rows = 0};
    size_t length = strlen(label), at = 0;
    int style = -1;
    replay_draw(&replay, 60, 120, &surface);
    for (int y = 0; y < 60; y++)
        for (int x = 1; x + 10 < 120; x++) {
            for (at = 0; at < length; at++)
                if (surface_at(&surface, y, x + (int)at)->character != (char32_t)label[at])
                    break;
            bool alone = surface_at(&surface, y, x - 1)->character == U' ' &&
                         surface_at(&surface, y, x + (int)length)->character == U' ';
            if (at == length && alone && style < 0)
                style = surface_at(&surface, y, x + 10)->style;
        }
    surface_free(&surface);
    return style;
}
