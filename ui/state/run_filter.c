/* SPDX-License-Identifier: MIT */
#include "ui/state/run_filter.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

enum key_kind { KIND_TEXT, KIND_NUMBER, KIND_RUN, KIND_DEVICES, KIND_STATUS };

static const struct {
    const char *name;
    enum key_kind kind;
    size_t offset; /* in struct state_run, of a text or a double */
} keys[] = {
    {"run", KIND_RUN, 0},
    {"model", KIND_TEXT, offsetof(struct state_run, model)},
    {"data", KIND_TEXT, offsetof(struct state_run, data)},
    {"devices", KIND_DEVICES, offsetof(struct state_run, devices)},
    {"status", KIND_STATUS, 0},
    {"tag", KIND_TEXT, offsetof(struct state_run, tags)},
    {"note", KIND_TEXT, offsetof(struct state_run, note)},
    {"split", KIND_TEXT, offsetof(struct state_run, split)},
    {"sync", KIND_TEXT, offsetof(struct state_run, sync)},
    {"strategy", KIND_TEXT, offsetof(struct state_run, strategy)},
    {"rows", KIND_NUMBER, offsetof(struct state_run, train_rows)},
    {"batch", KIND_NUMBER, offsetof(struct state_run, batch)},
    {"lr", KIND_NUMBER, offsetof(struct state_run, lr)},
    {"epochs", KIND_NUMBER, offsetof(struct state_run, epochs)},
    {"acc", KIND_NUMBER, offsetof(struct state_run, test_acc)},
    {"best", KIND_NUMBER, offsetof(struct state_run, best_acc)},
    {"s/epoch", KIND_NUMBER, offsetof(struct state_run, s_per_epoch)},
    {"samples/s", KIND_NUMBER, offsetof(struct state_run, samples_per_s)},
};

enum { KEYS = sizeof keys / sizeof keys[0] };

/* "batch=256": which key, -1 for none of them; then it is a word like any other. */
static int key_of(const char *word, size_t length)
{
    for (int i = 0; i < KEYS; i++)
        if (strlen(keys[i].name) == length && strncasecmp(keys[i].name, word, length) == 0)
            return i;
    return -1;
}

static void read_term(struct run_filter_term *term, const char *word)
{
    size_t length = strcspn(word, "=<>");
    *term = (struct run_filter_term){.word = word};
    if (word[length] == '\0' || (term->key = key_of(word, length)) < 0)
        return;
    term->comparison = word[length];
    term->value = word + length + 1;
    if (term->comparison != '=' && *term->value == '=') {
        term->or_equal = true;
        term->value++;
    }
}

void run_filter_parse(struct run_filter *filter, const char *text)
{
    char *next, *word;
    filter->count = 0;
    snprintf(filter->text, sizeof filter->text, "%s", text);
    for (word = strtok_r(filter->text, " ", &next); word && filter->count < RUN_FILTER_TERMS;
         word = strtok_r(NULL, " ", &next))
        read_term(&filter->terms[filter->count++], word);
}

static const char *run_text(const struct state_run *run, size_t offset)
{
    return (const char *)run + offset;
}

/* What is not known fits no comparison. */
static bool compare(const struct run_filter_term *term, double actual)
{
    double wanted;
    if (!parse_double(term->value, -1e300, 1e300, &wanted) || !isfinite(actual))
        return false;
    bool equal = fabs(actual - wanted) <= 1e-9 * fabs(wanted);
    switch (term->comparison) {
    case '<':
        return equal ? term->or_equal : actual < wanted;
    case '>':
        return equal ? term->or_equal : actual > wanted;
    default:
        return equal;
    }
}

static bool is_number(const char *text)
{
    double ignored;
    return parse_double(text, -1e300, 1e300, &ignored);
}

static bool fits_key(const struct run_filter_term *term, const struct state_run *run)
{
    size_t offset = keys[term->key].offset;
    if (*term->value == '\0')
        return true;
    switch (keys[term->key].kind) {
    case KIND_NUMBER:
        return compare(term, *(const double *)(const void *)run_text(run, offset));
    case KIND_RUN:
        return compare(term, (double)run->run);
    case KIND_STATUS:
        return strcasestr(run_status_name(run->status), term->value) != NULL;
    case KIND_DEVICES:
        if (is_number(term->value))
            return compare(term, run->device_count);
        return strcasestr(run_text(run, offset), term->value) != NULL;
    default:
        return strcasestr(run_text(run, offset), term->value) != NULL;
    }
}

static bool fits_word(const char *word, const struct state_run *run)
{
    return strcasestr(run->model, word) || strcasestr(run->data, word) ||
           strcasestr(run->devices, word) || strcasestr(run->note, word) ||
           strcasestr(run->tags, word) || strcasestr(run_status_name(run->status), word);
}

bool run_filter_fits(const struct run_filter *filter, const struct state_run *run)
{
    for (int i = 0; i < filter->count; i++) {
        const struct run_filter_term *term = &filter->terms[i];
        if (term->value ? !fits_key(term, run) : !fits_word(term->word, run))
            return false;
    }
    return true;
}

static bool occurs(const char *word, const struct state *state)
{
    bool found = false;
    for (int i = 0; i < state->run_count && !found; i++)
        found = fits_word(word, &state->runs[i]);
    return found;
}

bool run_filter_problem(const struct run_filter *filter, const struct state *state, char *buffer,
                        size_t size)
{
    for (int i = 0; i < filter->count; i++) {
        const struct run_filter_term *term = &filter->terms[i];
        const int name = (int)strcspn(term->word, "=<>");
        const enum key_kind kind = term->value ? keys[term->key].kind : KIND_TEXT;
        if ((kind == KIND_NUMBER || kind == KIND_RUN) && *term->value != '\0' &&
            !is_number(term->value))
            snprintf(buffer, size, "%s wants a number, not '%s'", keys[term->key].name,
                     term->value);
        else if (!term->value && name > 0 && term->word[name] != '\0' && !occurs(term->word, state))
            snprintf(buffer, size, "'%.*s' is no name of a value, such as batch, lr, acc or status",
                     name, term->word);
        else
            continue;
        return true;
    }
    return false;
}
