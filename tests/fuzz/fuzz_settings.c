/* SPDX-License-Identifier: MIT */
/* A configuration file: the user's own, and the one that the workbench keeps. */
#include "base/file.h"
#include "settings/file.h"
#include "settings/settings.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error err = ERROR_INIT;
    struct settings settings;
    fuzz_put("dpartui.conf", data, size);
    char *path = path_join(fuzz_folder(), "dpartui.conf");
    settings_init(&settings);
    if (settings_take_file(&settings, path, SOURCE_USER, &err))
        spec_validate(&settings.spec, &err);
    else
        FUZZ_CHECK(err.text[0]);
    settings_free(&settings);
    settings_init(&settings);
    err = (struct error)ERROR_INIT;
    if (!settings_read_saved(&settings, path, &err))
        FUZZ_CHECK(err.text[0]);
    settings_free(&settings);
    free(path);
    return 0;
}
