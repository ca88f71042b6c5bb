/* SPDX-License-Identifier: MIT */
#include "spec/device_list.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "spec/hosts.h"

static const char *const kind_prefix[] = {[DEVICE_CPU] = "cpu:", [DEVICE_CUDA] = "cuda:"};

#define MAX_INDEX 9999

bool device_id_same(struct device_id a, struct device_id b)
{
    return a.kind == b.kind && a.index == b.index && strcmp(a.host, b.host) == 0;
}

int device_count_kind(const struct device_id *devices, int count, enum device_kind kind)
{
    int found = 0;
    for (int i = 0; i < count; i++)
        found += devices[i].kind == kind;
    return found;
}

static bool bad_device(const char *text, struct error *err)
{
    return error_set(err, ERROR_USAGE,
                     "'%s' names no devices: use cpu:0, cpu:0-7, cuda:0,cuda:2-3, bare numbers for "
                     "GPUs, HOST/cuda:0, free:2, or all",
                     text);
}

/* Decimal digits only; strtol would take signs and spaces. */
static bool read_index(const char **at, int *value)
{
    if (!isdigit((unsigned char)**at))
        return false;
    for (*value = 0; isdigit((unsigned char)**at); ++*at) {
        *value = *value * 10 + (**at - '0');
        if (*value > MAX_INDEX)
            return false;
    }
    return true;
}

/* "HOST/" if there is one; *host is zero before. */
static bool read_host(const char **at, char *host)
{
    const size_t item = strcspn(*at, ","), length = strcspn(*at, "/");
    if (length >= item)
        return true;
    if (!host_name_is_valid(*at, length))
        return false;
    memcpy(host, *at, length);
    *at += length + 1;
    return true;
}

/* One item between commas: [HOST/][cpu:|cuda:]FIRST[-LAST]. Moves *at past it. */
static bool parse_item(const char *text, const char **at, struct device_list *list,
                       struct error *err)
{
    enum device_kind kind = DEVICE_CUDA;
    char host[HOST_NAME] = "";
    if (!read_host(at, host))
        return bad_device(text, err);
    for (size_t k = 0; k < sizeof kind_prefix / sizeof *kind_prefix; k++) {
        if (strncmp(*at, kind_prefix[k], strlen(kind_prefix[k])) == 0) {
            kind = (enum device_kind)k;
            *at += strlen(kind_prefix[k]);
            break;
        }
    }
    int first, last;
    if (!read_index(at, &first))
        return bad_device(text, err);
    last = first;
    if (**at == '-') {
        ++*at;
        if (!read_index(at, &last) || last < first)
            return bad_device(text, err);
    }
    for (int index = first; index <= last; index++) {
        if (list->count == SPEC_MAX_DEVICES)
            return error_set(err, ERROR_USAGE, "'%s' names more than %d devices", text,
                             SPEC_MAX_DEVICES);
        struct device_id *id = &list->id[list->count++];
        *id = (struct device_id){.kind = kind, .index = index};
        memcpy(id->host, host, sizeof host);
    }
    return true;
}

static bool parse_listed(const char *text, const char *at, struct device_list *list,
                         struct error *err)
{
    list->choice = DEVICES_LISTED;
    list->count = 0;
    for (;; at++) {
        if (!parse_item(text, &at, list, err))
            return false;
        if (*at == '\0')
            return true;
        if (*at != ',')
            return bad_device(text, err);
    }
}

/* What follows "gpus:" or "free:". */
static bool parse_count(const char *text, const char *number, enum device_choice choice,
                        struct device_list *list, struct error *err)
{
    long count;
    if (strchr(number, ','))
        return error_set(err, ERROR_USAGE, "'%s': a number of GPUs stands alone, or name them all",
                         text);
    if (!parse_long(number, 1, SPEC_MAX_DEVICES, &count))
        return error_set(err, ERROR_USAGE, "'%s': the number of GPUs must be 1 to %d%s", text,
                         SPEC_MAX_DEVICES, strcmp(number, "all") == 0 ? "; or give all" : "");
    list->choice = choice;
    list->count = (int)count;
    return true;
}

/* What follows "free:": a number and, where it has been chosen, "=" and those GPUs. */
static bool parse_free(const char *text, struct device_list *list, struct error *err)
{
    char number[16];
    const char *chosen = strchr(text, '=');
    const char *at = text + strlen("free:");
    snprintf(number, sizeof number, "%.*s", (int)strcspn(at, "="), at);
    if (!parse_count(text, number, DEVICES_FREE_GPUS, list, err))
        return false;
    if (!chosen)
        return true;
    list->free = list->count;
    if (!parse_listed(text, chosen + 1, list, err))
        return false;
    for (int i = 0; i < list->count; i++)
        if (list->id[i].kind != DEVICE_CUDA || *list->id[i].host)
            return bad_device(text, err);
    return list->count == list->free || bad_device(text, err);
}

bool device_list_parse(const char *text, struct device_list *list, struct error *err)
{
    struct device_list parsed = {.choice = DEVICES_DEFAULT};
    bool ok = true;
    if (strcmp(text, "all") == 0)
        parsed.choice = DEVICES_ALL_GPUS;
    else if (strncmp(text, "gpus:", 5) == 0)
        ok = parse_count(text, text + 5, DEVICES_FIRST_GPUS, &parsed, err);
    else if (strncmp(text, "free:", 5) == 0)
        ok = parse_free(text, &parsed, err);
    else if (text[0] && strcmp(text, "default") != 0)
        ok = parse_listed(text, text, &parsed, err);
    if (ok)
        *list = parsed;
    return ok;
}

const char *device_id_text(struct device_id id, char *buffer)
{
    snprintf(buffer, DEVICE_NAME, "%s%s%s%d", id.host, *id.host ? "/" : "", kind_prefix[id.kind],
             id.index);
    return buffer;
}

static void put_listed(struct text *text, const struct device_list *list)
{
    for (int i = 0, end; i < list->count; i = end) {
        end = i + 1;
        while (end < list->count && list->id[end].kind == list->id[i].kind &&
               list->id[end].index == list->id[end - 1].index + 1 &&
               strcmp(list->id[end].host, list->id[i].host) == 0)
            end++;
        char name[DEVICE_NAME];
        text_printf(text, "%s%s", i ? "," : "", device_id_text(list->id[i], name));
        if (end > i + 1)
            text_printf(text, "-%d", list->id[end - 1].index);
    }
}

char *device_list_text(const struct device_list *list)
{
    struct text text = TEXT_INIT;
    switch (list->choice) {
    case DEVICES_DEFAULT:
        text_puts(&text, "default");
        break;
    case DEVICES_ALL_GPUS:
        text_puts(&text, "all");
        break;
    case DEVICES_FIRST_GPUS:
        text_printf(&text, "gpus:%d", list->count);
        break;
    case DEVICES_FREE_GPUS:
        text_printf(&text, "free:%d", list->count);
        break;
    case DEVICES_LISTED:
        if (list->free > 0)
            text_printf(&text, "free:%d=", list->free);
        put_listed(&text, list);
        break;
    }
    return text_take(&text);
}
