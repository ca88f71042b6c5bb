/* SPDX-License-Identifier: MIT */
#include "events/device_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "spec/device_list.h"

char *run_devices_text(const json_t *run)
{
    const json_t *names = json_object_get(run, "devices");
    struct device_list list;
    struct error ignored = ERROR_INIT;
    struct text joined = TEXT_INIT;
    if (json_array_size(names) == 0)
        return NULL;
    for (size_t i = 0; i < json_array_size(names); i++) {
        const char *name = json_string_value(json_array_get(names, i));
        text_printf(&joined, "%s%s", i ? "," : "", name ? name : "?");
    }
    const char *text = text_cstr(&joined);
    char *devices =
        text && device_list_parse(text, &list, &ignored) ? device_list_text(&list) : NULL;
    text_free(&joined);
    return devices;
}

const char *run_devices_short(char *buffer, size_t size, const json_t *run)
{
    char *devices = run_devices_text(run);
    int length = snprintf(buffer, size, "%s", devices ? devices : "-");
    if (length >= (int)size)
        strcpy(buffer + size - 4, "...");
    free(devices);
    return buffer;
}

const char *device_names_short(char *buffer, size_t size, const json_t *list)
{
    size_t count = json_array_size(list), used = 1;
    snprintf(buffer, size, "[");
    for (size_t i = 0; i < count; i++) {
        const char *name = json_string_value(json_array_get(list, i));
        char more[64];
        /* Room for the end of the list is kept. */
        snprintf(more, sizeof more, "%s%s", i ? ", " : "", name ? name : "?");
        if (used + strlen(more) + 16 > size) {
            snprintf(buffer + used, size - used, ", %zu more", count - i);
            used = strlen(buffer);
            break;
        }
        strcpy(buffer + used, more);
        used += strlen(more);
    }
    snprintf(buffer + used, size - used, "]");
    return buffer;
}
