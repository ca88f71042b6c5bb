/* SPDX-License-Identifier: MIT */
#include "ui/actions/tags.h"

#include <string.h>

/* Tags: words to find runs by. */

enum { TAG_MOST = 60, TAGS_MOST = 20 }; /* bytes of one, and how many, of docs/protocol.md */

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

void tags_ask(struct ui *ui)
{
    const struct state_run *run = state_run(&ui->state, ui->selected_run);
    ui_prompt(ui, &tags_prompt, run->run, run->tags);
}
