/* SPDX-License-Identifier: MIT */
#include "experiment/noted.h"

#include <stdio.h>
#include <string.h>

#include "spec/fields.h"

/* The setting that `text` begins with, before a blank, into `key`; its value, NULL: there is none.
 */
static const char *take_key(const char *text, char *key, size_t size)
{
    size_t length = strcspn(text, " ");
    if (text[length] != ' ' || length == 0 || length >= size)
        return NULL;
    memcpy(key, text, length);
    key[length] = '\0';
    return spec_find_field(key) ? text + length + 1 : NULL;
}

/* "KEY VALUE", and after ", " another one; ", " may also be in a value. */
static bool take_label(struct noted_run *run)
{
    const char *at = take_key(run->label, run->varied[0], sizeof run->varied[0]), *value = at;
    run->varied_count = 1;
    if (!at)
        return false;
    while ((at = strstr(at, ", ")) && !take_key(at + 2, run->varied[1], sizeof run->varied[1]))
        at += 2;
    size_t length = at ? (size_t)(at - value) : strlen(value);
    if (length >= NOTED_VALUE)
        return false;
    snprintf(run->value[0], NOTED_VALUE, "%.*s", (int)length, value);
    if (!at)
        return true;
    value = take_key(at + 2, run->varied[1], sizeof run->varied[1]);
    run->varied_count = 2;
    return (size_t)snprintf(run->value[1], NOTED_VALUE, "%s", value) < NOTED_VALUE;
}

bool noted_read(struct noted_run *run, const char *note)
{
    const char *label = strstr(note, ": "), *end = NULL;
    *run = (struct noted_run){.varied_count = 0};
    if (!study_is_same(note, note) || !label)
        return false;
    label += 2;
    for (const char *at = label; (at = strstr(at, ", seed ")); at++)
        end = at;
    if (!end || (size_t)(end - label) >= sizeof run->label)
        return false;
    snprintf(run->label, sizeof run->label, "%.*s", (int)(end - label), label);
    return take_label(run);
}

static bool varies_the_same(const struct study *study, const struct noted_run *run)
{
    for (int i = 0; i < run->varied_count; i++)
        if (strcmp(study->varied[i], run->varied[i]) != 0)
            return false;
    return study->varied_count == run->varied_count;
}

int noted_variant(struct study *study, const struct noted_run *run)
{
    int i = 0;
    if (study->variant_count == 0) {
        study->kind = STUDY_SETTINGS;
        study->varied_count = run->varied_count;
        memcpy(study->varied, run->varied, sizeof study->varied);
    }
    if (!varies_the_same(study, run))
        return -1;
    while (i < study->variant_count && strcmp(study->variants[i].label, run->label) != 0)
        i++;
    if (i == study->variant_count) {
        if (i == STUDY_VARIANTS)
            return -1;
        study->variants[i] = (struct study_variant){.devices = 0};
        memcpy(study->variants[i].label, run->label, sizeof run->label);
        study->variant_count++;
    }
    return i;
}
