/* SPDX-License-Identifier: MIT */
#include "tests/engine/nvml/nvml_fixture.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct fake_nvml *fake;
char fake_path[4096];
static void *library;

static void name_library(const char *name)
{
    const char *folder = getenv("top_builddir");
    snprintf(fake_path, sizeof fake_path, "%s/tests/fakes/%s", folder ? folder : ".", name);
}

void fake_load(bool old)
{
    name_library(old ? "fake_nvml_old.so" : "fake_nvml.so");
    library = dlopen(fake_path, RTLD_NOW | RTLD_LOCAL);
    ck_assert_msg(library != NULL, "%s", dlerror());
    void *found = dlsym(library, "fake_nvml");
    ck_assert_ptr_nonnull(found);
    struct fake_nvml *(*of_library)(void);
    memcpy(&of_library, &found, sizeof found);
    fake = of_library();
}

void fake_unload(void)
{
    dlclose(library);
}

bool fake_is_there(void)
{
    struct stat status;
    name_library("fake_nvml.so");
    if (stat(fake_path, &status) == 0 && status.st_size > 0)
        return true;
    printf("skipped: %s could not be built\n", fake_path);
    return false;
}
