/* SPDX-License-Identifier: MIT */
#include "ui/actions/chosen/tags.h"

#include <stdio.h>
#include <string.h>

/* Tags: words to find runs by. */

/* Bytes of one, and how many, of docs/protocol.md. */
enum { TAG_MOST = 60, TAGS_MOST = 20 };

static const char separators[] = " ,";

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

/* As they are written on the screen and in commands: "#good" and "+good" are "good", unless a tag
 * that was shown has this very name. */
static void drop_signs(char *text, const char *shown)
{
    for (text += strspn(text, separators); *text != '\0'; text += strspn(text, separators)) {
        size_t length = strcspn(text, separators);
        if (length > 1 && (*text == '#' || *text == '+') && !has_tag(shown, text, length))
            *text = ' ';
        text += length;
    }
}

static bool check_tags(struct ui *ui, const char *text)
{
    int count = 0;
    for (text += strspn(text, separators); *text != '\0'; text += strspn(text, separators)) {
        size_t length = strcspn(text, separators);
        if (length > TAG_MOST)
            return ui_say(ui, true, "wants words of at most %d bytes, this one has %zu: %.12s...",
                          TAG_MOST, length, text);
        text += length;
        count++;
    }
    if (count > TAGS_MOST)
        ui_say(ui, true, "wants at most %d words, these are %d", TAGS_MOST, count);
    return count <= TAGS_MOST;
}

/* Those that all chosen runs have, with a blank between. */
static void common_tags(const struct ui *ui, char *buffer, size_t size)
{
    const struct run_group *group = &ui->chosen;
    const struct state_run *first = state_run(&ui->state, group->run[0]);
    size_t used = 0;
    buffer[0] = '\0';
    for (const char *tag = first ? first->tags : ""; *tag != '\0'; tag += strspn(tag, separators)) {
        size_t length = strcspn(tag, separators);
        int having = 0;
        for (int i = 0; i < group->count; i++) {
            const struct state_run *run = state_run(&ui->state, group->run[i]);
            having += run && has_tag(run->tags, tag, length);
        }
        if (having == group->count && used < size)
            used += (size_t)snprintf(buffer + used, size - used, "%s%.*s", used > 0 ? " " : "",
                                     (int)length, tag);
        tag += length;
    }
}

/* Only what was changed here is sent: another viewer may have added some meanwhile. */
static bool accept_tags(struct ui *ui, const char *text)
{
    const char *shown = ui->chosen_tags;
    char wanted[sizeof ui->editor.text];
    snprintf(wanted, sizeof wanted, "%s", text);
    drop_signs(wanted, shown);
    if (!check_tags(ui, wanted))
        return false;
    for (int i = 0; i < ui->chosen.count; i++) {
        long run = ui->chosen.run[i];
        if (!state_run(&ui->state, run))
            ui_say(ui, true, "run %ld is not there any more", run);
        else if (!ui_request(ui, REQUEST_TAGS,
                             json_pack("{s:I, s:o, s:o}", "run", (json_int_t)run, "add",
                                       words_besides(wanted, shown), "remove",
                                       words_besides(shown, wanted))))
            return false;
    }
    return true;
}

static const struct prompt tags_prompt = {
    .label = "Tags of run %ld: ",
    .hint = "words with blanks between",
    .accept = accept_tags,
    .extends = true,
};
static const struct prompt common_prompt = {
    .label = "Tags that all marked runs have: ",
    .hint = "words with blanks between",
    .accept = accept_tags,
    .extends = true,
};

void tags_ask(struct ui *ui)
{
    char text[sizeof ui->chosen_tags + 1];
    ui->chosen = ui_runs_chosen(ui);
    common_tags(ui, ui->chosen_tags, sizeof ui->chosen_tags);
    /* The next one can be typed at once. */
    snprintf(text, sizeof text, "%s%s", ui->chosen_tags, ui->chosen_tags[0] != '\0' ? " " : "");
    ui_prompt(ui, ui->chosen.count > 1 ? &common_prompt : &tags_prompt, ui->chosen.run[0], text);
}
