/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/figure.h"
#include "base/text.h"
#include "ui/control/control.h"

/* Runs that have ended go on from a checkpoint; and words to find runs by. */

enum { TAG_MOST = 60, TAGS_MOST = 20 }; /* bytes of one, and how many, of docs/protocol.md */

static const char separators[] = " ,";

bool keeping_can(const struct ui *ui, enum action action)
{
    const struct state_run *run = state_run(&ui->state, ui->selected_run);
    switch (action) {
    case ACTION_TAGS:
        return ui->link == LINK_UP && run;
    case ACTION_GO_ON:
        return ui->link == LINK_UP && run && run_has_ended(run);
    default:
        return true;
    }
}

/* "10", or "10 on cpu:0-1": the devices, "" for those it had; false: it is neither. */
static bool read_going_on(const char *text, long *epochs, const char **devices)
{
    char number[24];
    size_t length = strcspn(text, separators);
    snprintf(number, sizeof number, "%.*s", (int)length, text);
    text += length;
    text += strspn(text, separators);
    if (strncmp(text, "on ", 3) == 0)
        text += 3;
    *devices = text + strspn(text, separators);
    return length < sizeof number && parse_long(number, 1, SPEC_MAX_EPOCHS, epochs);
}

static bool accept_going_on(struct ui *ui, const char *text)
{
    const struct state_run *run = state_run(&ui->state, ui->asked_run);
    struct device_list list;
    struct error err = ERROR_INIT;
    const char *devices;
    long epochs;
    if (!read_going_on(text, &epochs, &devices)) {
        ui_say(ui, true, "wants a whole number from 1 to %d, such as 20 or 20 on cpu:0-1",
               SPEC_MAX_EPOCHS);
        return false;
    }
    if (*devices != '\0' && !device_list_parse(devices, &list, &err)) {
        ui_say(ui, true, "%s", err.text);
        return false;
    }
    if (run && run->status == RUN_DONE && (double)epochs <= run->epochs_done) {
        ui_say(ui, true, "it has done %.0f: give it more", run->epochs_done);
        return false;
    }
    json_t *params =
        json_pack("{s:I, s:I}", "resume", (json_int_t)ui->asked_run, "epochs", (json_int_t)epochs);
    if (*devices != '\0')
        json_object_set_new(params, "devices", json_string(devices));
    return ui_request(ui, REQUEST_GO_ON, params);
}

static const struct prompt going_on = {
    .label = "Run %ld goes on; epochs in all: ",
    .hint = "10 on cpu:0-1: on other devices",
    .accept = accept_going_on,
};

/* A run that is done goes on only to more epochs: as many again. */
static void begin_going_on(struct ui *ui)
{
    const struct state_run *run = state_run(&ui->state, ui->selected_run);
    double epochs = run->status == RUN_DONE ? 2 * run->epochs : run->epochs;
    struct figure figure;
    ui_prompt(ui, &going_on, run->run, isfinite(epochs) ? figure_whole(&figure, epochs) : "");
}

/* Is the word one of those that blanks or commas separate in `text`? */
static bool has_tag(const char *text, const char *word, size_t length)
{
    while (*text != '\0') {
        size_t size = strcspn(text, separators);
        if (size == length && memcmp(text, word, length) == 0)
            return true;
        text += size;
        text += strspn(text, separators);
    }
    return length == 0;
}

/* The words of one text that the other has not. */
static json_t *words_besides(const char *text, const char *others)
{
    json_t *list = json_array();
    for (text += strspn(text, separators); *text != '\0'; text += strspn(text, separators)) {
        size_t length = strcspn(text, separators);
        if (!has_tag(others, text, length))
            json_array_append_new(list, json_stringn(text, length));
        text += length;
    }
    return list;
}

static bool check_tags(struct ui *ui, const char *text)
{
    int count = 0;
    for (text += strspn(text, separators); *text != '\0'; text += strspn(text, separators)) {
        size_t length = strcspn(text, separators);
        if (length > TAG_MOST) {
            ui_say(ui, true, "wants words of at most %d bytes, this one has %zu: %.12s...",
                   TAG_MOST, length, text);
            return false;
        }
        text += length;
        count++;
    }
    if (count > TAGS_MOST)
        ui_say(ui, true, "wants at most %d words, these are %d", TAGS_MOST, count);
    return count <= TAGS_MOST;
}

/* Only what was changed here is sent: another viewer may have added some meanwhile. */
static bool accept_tags(struct ui *ui, const char *text)
{
    const struct state_run *run = state_run(&ui->state, ui->asked_run);
    if (!check_tags(ui, text))
        return false;
    if (!run) {
        ui_say(ui, true, "run %ld is not there any more", ui->asked_run);
        return true;
    }
    return ui_request(ui, REQUEST_TAGS,
                      json_pack("{s:I, s:o, s:o}", "run", (json_int_t)run->run, "add",
                                words_besides(text, run->tags), "remove",
                                words_besides(run->tags, text)));
}

static const struct prompt tags_prompt = {
    .label = "Tags of run %ld: ",
    .hint = "words with blanks between",
    .accept = accept_tags,
};

bool keeping_act(struct ui *ui, enum action action)
{
    const struct state_run *run = state_run(&ui->state, ui->selected_run);
    if (action == ACTION_TAGS)
        ui_prompt(ui, &tags_prompt, run->run, run->tags);
    else if (action == ACTION_GO_ON)
        begin_going_on(ui);
    else
        return false;
    return true;
}
