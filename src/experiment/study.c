/* SPDX-License-Identifier: MIT */
#include "experiment/study.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#define NOTE_PREFIX "compare "

void study_free(struct study *study)
{
    for (int i = 0; i < study->variant_count; i++)
        json_decref(study->variants[i].spec);
    free(study->entries);
    *study = (struct study){0};
}

json_t *study_entry_spec(const struct study *study, const struct study_entry *entry)
{
    json_t *spec = json_copy(study->variants[entry->variant].spec);
    if (spec && json_object_set_new(spec, "seed", json_integer((json_int_t)entry->seed)) != 0) {
        json_decref(spec);
        return NULL;
    }
    return spec;
}

void study_entry_note(const struct study *study, const struct study_entry *entry, char *buffer,
                      size_t size)
{
    snprintf(buffer, size, NOTE_PREFIX "%s: %s, seed %llu (%d/%d)", study->id,
             study->variants[entry->variant].label, (unsigned long long)entry->seed,
             (int)(entry - study->entries) + 1, study->entry_count);
}

bool study_is_same(const char *note, const char *other)
{
    size_t length = strcspn(note, ":");
    return strncmp(note, NOTE_PREFIX, strlen(NOTE_PREFIX)) == 0 && note[length] == ':' &&
           strncmp(note, other, length + 1) == 0;
}

void study_tag(const struct study *study, char *buffer, size_t size)
{
    snprintf(buffer, size, "compare-%s", study->id);
}

int study_count(const struct study *study, enum study_state state)
{
    int count = 0;
    for (int i = 0; i < study->entry_count; i++)
        count += study->entries[i].state == state;
    return count;
}

bool study_varies_batch(const struct study *study)
{
    return study->kind == STUDY_SETTINGS && study->varied_count == 1 &&
           strcmp(study->varied[0], "batch") == 0;
}

int study_unfinished(const struct study *study)
{
    return study->entry_count - study_count(study, STUDY_DONE) - study_count(study, STUDY_FAILED);
}

const char *study_devices(int devices, struct figure *text)
{
    snprintf(text->text, sizeof text->text, "%d device%s", devices, plural(devices));
    return text->text;
}

const char *study_title(const struct study *study, struct figure *text)
{
    if (study->kind == STUDY_SETTINGS)
        snprintf(text->text, sizeof text->text, "%s%s%s", study->varied[0],
                 study->varied_count > 1 ? " and " : "", study->varied[1]);
    else
        snprintf(text->text, sizeof text->text, "%s, %s",
                 study->strategies ? "strategies" : "devices",
                 study->scaling == SCALING_STRONG ? "strong scaling (the same batch)"
                                                  : "weak scaling (batch and lr grow)");
    return text->text;
}

const char *study_value(const struct study *study, const struct study_variant *variant, int which,
                        struct figure *text)
{
    char member[sizeof study->varied[0]];
    size_t i = 0;
    do
        member[i] = study->varied[which][i] == '-' ? '_' : study->varied[which][i];
    while (member[i++]);
    const json_t *value = json_object_get(variant->spec, member);
    if (json_is_number(value))
        return figure_digits(text, json_number_value(value), 12);
    snprintf(text->text, sizeof text->text, "%s",
             json_is_string(value) ? json_string_value(value)
             : json_is_true(value) ? "yes"
                                   : "no");
    return text->text;
}
