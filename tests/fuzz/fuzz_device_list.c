/* SPDX-License-Identifier: MIT */
/* A list of devices; its text form must mean the same. */
#include <string.h>

#include "spec/spec.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error err = ERROR_INIT;
    struct device_list list, again;
    char *text = fuzz_string(data, size);
    memset(&list, 0, sizeof list);
    memset(&again, 0, sizeof again);
    if (device_list_parse(text, &list, &err)) {
        FUZZ_CHECK(list.count >= 0 && list.count <= SPEC_MAX_DEVICES);
        char *written = device_list_text(&list);
        FUZZ_CHECK(written && device_list_parse(written, &again, &err));
        FUZZ_CHECK(again.choice == list.choice && again.count == list.count &&
                   again.free == list.free);
        for (int i = 0; list.choice == DEVICES_LISTED && i < list.count; i++)
            FUZZ_CHECK(device_id_same(again.id[i], list.id[i]));
        free(written);
    } else {
        FUZZ_CHECK(err.text[0]);
    }
    free(text);
    return 0;
}
