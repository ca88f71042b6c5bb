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

static bool bad_device(const char *text, struct error *err)
{
    return error_set(err, ERROR_USAGE,
                     "'%s' names no devices: use cpu:0, cpu:0-7, cuda:0,cuda:2-3, bare numbers for "
                     "GPUs, HOST/cuda:0, or all",
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

bool device_list_parse(const char *text, struct device_list *list, struct error *err)
{
    struct device_list parsed = {.choice = DEVICES_DEFAULT};
    if (strcmp(text, "all") == 0) {
        parsed.choice = DEVICES_ALL_GPUS;
    } else if (strncmp(text, "gpus:", 5) == 0) {
        long count;
        if (!parse_long(text + 5, 1, SPEC_MAX_DEVICES, &count))
            return error_set(err, ERROR_USAGE, "'%s': the number of GPUs must be 1 to %d", text,
                             SPEC_MAX_DEVICES);
        parsed.choice = DEVICES_FIRST_GPUS;
        parsed.count = (int)count;
    } else if (text[0] && strcmp(text, "default") != 0) {
        parsed.choice = DEVICES_LISTED;
        const char *at = text;
        for (;;) {
            if (!parse_item(text, &at, &parsed, err))
                return false;
            if (*at == '\0')
                break;
            if (*at != ',')
                return bad_device(text, err);
            at++;
        }
    }
    *list = parsed;
    return true;
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
    case DEVICES_LISTED:
        put_listed(&text, list);
        break;
    }
    return text_take(&text);
}
