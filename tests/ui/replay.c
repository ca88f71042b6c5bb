/* SPDX-License-Identifier: MIT */
#include "tests/ui/replay.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support.h"
#include "ui/actions/views.h"
#include "ui/app/snapshot.h"
#include "ui/control/control.h"
#include "ui/control/engine.h"
#include "ui/frame/screen.h"

static const char *show_key(long run, char *buffer, size_t size)
{
    snprintf(buffer, size, "%ld", run);
    return buffer;
}

/* A recorded answer to `show` or `evaluate` is there for whenever the ui asks. */
static void keep_answer(struct replay *replay, const json_t *message)
{
    json_t *result = json_object_get(message, "result");
    if (json_object_get(result, "confusion")) {
        json_decref(replay->evaluation);
        replay->evaluation = json_incref(result);
    }
    long run = (long)json_integer_value(json_object_get(result, "run"));
    char key[24];
    if (run > 0 && json_is_array(json_object_get(result, "epochs")))
        json_object_set(replay->shows, show_key(run, key, sizeof key), result);
}

static void answer(struct replay *replay)
{
    static const struct error failure = {ERROR_FAILED, "no such run"};
    if (replay->evaluates && replay->evaluation)
        ui_answer(&replay->ui, REQUEST_EVALUATE, replay->evaluation, NULL);
    replay->evaluates = false;
    for (int i = 0; i < replay->wanted_count; i++) {
        char key[24];
        show_key(replay->wanted[i], key, sizeof key);
        ui_answer(&replay->ui, REQUEST_SHOW, json_object_get(replay->shows, key), &failure);
    }
    replay->wanted_count = 0;
}

static bool keep_request(void *context, enum request request, json_t *params, struct error *err)
{
    struct replay *replay = context;
    int room = (int)(sizeof replay->wanted / sizeof replay->wanted[0]) - replay->wanted_count;
    if (request == REQUEST_SHOW && room > 0)
        replay->wanted[replay->wanted_count++] =
            (long)json_integer_value(json_object_get(params, "run"));
    replay->evaluates = replay->evaluates || request == REQUEST_EVALUATE;
    char *text = params ? json_dumps(params, JSON_COMPACT | JSON_REAL_PRECISION(6)) : NULL;
    int last = (int)(sizeof replay->asked / sizeof replay->asked[0]) - 1;
    (void)err;
    json_decref(params);
    if (replay->asked_count > last) {
        memmove(replay->asked[0], replay->asked[1], sizeof replay->asked[0] * (size_t)last);
        replay->asked_count = last;
    }
    snprintf(replay->asked[replay->asked_count++], sizeof replay->asked[0], "%s %s",
             request_method(request), text ? text : "");
    free(text);
    return true;
}

void replay_begin(struct replay *replay)
{
    struct error err = ERROR_INIT;
    struct settings settings;
    memset(replay, 0, sizeof *replay);
    settings_init(&settings);
    ck_assert(ui_init(&replay->ui, &settings.spec, &err));
    ck_assert(saved_settings_open(&replay->saved, &settings, &err));
    settings_free(&settings);
    free(replay->saved.path);
    replay->saved.path = NULL;
    replay->saved.source.file = "settings.conf";
    replay->ui.settings_source = &replay->saved.source;
    replay->shows = json_object();
    ck_assert(replay->shows != NULL);
    playback_begin(&replay->playback, &replay->ui);
    replay->ui.requester = (struct requester){keep_request, replay};
}

void replay_end(struct replay *replay)
{
    ui_free(&replay->ui);
    json_decref(replay->shows);
    json_decref(replay->evaluation);
    saved_settings_close(&replay->saved);
}

void replay_line(struct replay *replay, const char *line)
{
    json_error_t where;
    json_t *message = json_loads(line, 0, &where);
    ck_assert_msg(message != NULL, "%s: %s", where.text, line);
    playback_message(&replay->playback, message);
    json_decref(message);
}

static unsigned next_random(unsigned *seed)
{
    *seed = *seed * 1103515245u + 12345u;
    return *seed >> 16;
}

/* Something that a member should not be. */
static json_t *nonsense(unsigned *seed)
{
    switch (next_random(seed) % 8) {
    case 0:
        return json_null();
    case 1:
        return json_integer(-1);
    case 2:
        return json_real(1e300);
    case 3:
        return json_string("\x1b[31m\xe6\xbc\xa2\xe5\xad\x97 and a text that is much too long for "
                           "any column of any list on any screen, however wide it may be");
    case 4:
        return json_array();
    case 5:
        return json_object();
    case 6:
        return json_integer(9007199254740993);
    default:
        return json_true();
    }
}

static void spoil(json_t *value, unsigned *seed)
{
    const char *key;
    json_t *member;
    void *next;
    size_t i;
    json_object_foreach_safe(value, next, key, member)
    {
        if (strcmp(key, "id") == 0 || strcmp(key, "method") == 0)
            continue;
        if (next_random(seed) % 12 == 0)
            json_object_set_new(value, key, nonsense(seed));
        else if (next_random(seed) % 12 == 0)
            json_object_del(value, key);
        else
            spoil(member, seed);
    }
    json_array_foreach(value, i, member)
    {
        if (next_random(seed) % 12 == 0)
            json_array_set_new(value, i, nonsense(seed));
        else
            spoil(member, seed);
    }
}

void replay_recording(struct replay *replay, const char *name, unsigned damage)
{
    char *path = format("%s/tests/ui/recordings/%s.jsonl", getenv("top_srcdir"), name);
    FILE *file = fopen(path, "r");
    char *line = NULL;
    size_t size = 0;
    ck_assert_msg(file != NULL, "%s cannot be opened", path);
    ui_connected(&replay->ui);
    while (getline(&line, &size, file) > 0) {
        json_t *message = json_loads(line, 0, NULL);
        ck_assert_msg(message != NULL, "%s: not JSON: %s", path, line);
        if (damage != 0)
            spoil(message, &damage);
        keep_answer(replay, message);
        playback_message(&replay->playback, message);
        json_decref(message);
    }
    free(line);
    fclose(file);
    free(path);
}

void replay_keys(struct replay *replay, const char *keys)
{
    struct error err = ERROR_INIT;
    while (*keys != '\0') {
        const char *end = *keys == '<' ? strchr(keys, '>') : NULL;
        size_t length = end && end > keys + 1 ? (size_t)(end + 1 - keys) : 1;
        char key[32];
        ck_assert(length < sizeof key);
        snprintf(key, sizeof key, "%.*s", (int)length, keys);
        ck_assert_msg(snapshot_keys(&replay->ui, key, &err), "%s", err.text);
        answer(replay);
        keys += length;
    }
}

void replay_key(struct replay *replay, int key)
{
    ui_key(&replay->ui, key);
    answer(replay);
}

void replay_view(struct replay *replay, enum view_id view)
{
    ui_show_view(&replay->ui, view);
    answer(replay);
}

const char *replay_last(const struct replay *replay)
{
    return replay->asked_count > 0 ? replay->asked[replay->asked_count - 1] : "";
}

void replay_draw(struct replay *replay, int rows, int columns, struct surface *surface)
{
    struct error err = ERROR_INIT;
    replay->ui.rows = rows;
    replay->ui.columns = columns;
    ck_assert(surface_resize(surface, rows, columns, &err));
    ck_assert_msg(screen_draw(&replay->ui, surface, &err), "%s", err.text);
}

char *replay_screen(struct replay *replay, int rows, int columns, bool utf8)
{
    struct surface surface = {.utf8 = utf8};
    struct text text = TEXT_INIT;
    replay_draw(replay, rows, columns, &surface);
    surface_dump(&surface, &text);
    ck_assert(text_cstr(&text) != NULL);
    surface_free(&surface);
    return text.data;
}
