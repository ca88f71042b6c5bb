/* SPDX-License-Identifier: MIT */
#include "engine/nvml/library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

const char *nvml_words(int code)
{
    switch (code) {
    case NVML_UNINITIALIZED:
        return "the NVIDIA driver was restarted";
    case NVML_NOT_SUPPORTED:
        return "the NVIDIA driver does not tell this of this GPU";
    case NVML_NO_PERMISSION:
        return "the NVIDIA driver does not let this user read it";
    case NVML_NOT_FOUND:
        return "the NVIDIA driver does not know this GPU any more";
    case NVML_INSUFFICIENT_POWER:
        return "the GPU's power cables are not attached properly";
    case NVML_DRIVER_NOT_LOADED:
        return "the NVIDIA driver is not loaded: see dmesg, or try modprobe nvidia";
    case NVML_TIMEOUT:
        return "the NVIDIA driver ran out of time";
    case NVML_IRQ_ISSUE:
        return "the NVIDIA driver has a problem with the GPU's interrupts: see dmesg";
    case NVML_FUNCTION_NOT_FOUND:
        return "this version of the NVIDIA driver does not tell this";
    case NVML_GPU_IS_LOST:
        return "the GPU is lost: it no longer answers on its bus; see dmesg, then reset or reboot";
    case NVML_RESET_REQUIRED:
        return "the GPU must be reset (nvidia-smi --gpu-reset) before it can be used again";
    case NVML_OPERATING_SYSTEM:
        return "the system or a control group keeps this process from the GPU";
    case NVML_VERSION_MISMATCH:
        return "the NVIDIA driver and its library are of different versions: reboot after the "
               "driver's update";
    case NVML_MEMORY:
        return "the NVIDIA driver has no memory left";
    case NVML_NO_DATA:
        return "the NVIDIA driver has no figure yet";
    default:
        return "the NVIDIA driver reports an error that it does not explain";
    }
}

void nvml_throttle_words(unsigned long long reasons, char *text, size_t size)
{
    /* A power brake and heat are also reported as a slowdown by hardware. */
    if (reasons & (NVML_THROTTLE_HARDWARE_THERMAL | NVML_THROTTLE_POWER_BRAKE))
        reasons &= ~NVML_THROTTLE_HARDWARE;
    if (reasons & NVML_THROTTLE_HARDWARE_THERMAL)
        reasons &= ~NVML_THROTTLE_THERMAL;
    static const struct {
        unsigned long long bit;
        const char *words;
    } known[] = {{NVML_THROTTLE_HARDWARE_THERMAL, "thermal (hardware)"},
                 {NVML_THROTTLE_POWER_BRAKE, "power brake"},
                 {NVML_THROTTLE_HARDWARE, "hardware slowdown"},
                 {NVML_THROTTLE_THERMAL, "thermal"},
                 {NVML_THROTTLE_POWER_CAP, "power cap"},
                 {NVML_THROTTLE_BOARD_LIMIT, "board limit"},
                 {NVML_THROTTLE_RELIABILITY, "reliability"},
                 {NVML_THROTTLE_SYNC_BOOST, "sync boost"},
                 {NVML_THROTTLE_APPLICATION_CLOCKS, "set clocks"},
                 {NVML_THROTTLE_DISPLAY_CLOCKS, "display clocks"}};
    size_t length = 0;
    text[0] = '\0';
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (!(reasons & known[i].bit))
            continue;
        int more =
            snprintf(text + length, size - length, "%s%s", length ? ", " : "", known[i].words);
        if (more < 0 || (size_t)more >= size - length) {
            text[length] = '\0';
            return;
        }
        length += (size_t)more;
    }
}

/* What a symbol stands for, or what an older one does that may be NULL; NULL: neither is there. */
static void *find_symbol(void *library, const char *symbol, const char *older)
{
    void *found = dlsym(library, symbol);
    return found || !older ? found : dlsym(library, older);
}

static void find_symbols(struct nvml_api *api)
{
    void *found;
    /* POSIX: an object pointer from dlsym is the function's address. */
#define NVML_FIND(member, parameters, symbol, older)                                               \
    found = find_symbol(api->library, symbol, older);                                              \
    memcpy(&api->member, &found, sizeof found);
    NVML_FUNCTIONS(NVML_FIND)
#undef NVML_FIND
}

bool nvml_library_open(struct nvml_api *api, const char *path, char *why, size_t size)
{
    memset(api, 0, sizeof *api);
    api->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!api->library) {
        /* dlerror() would name the file, but also report files that are there and broken. */
        const char *error = dlerror();
        bool absent = !error || strstr(error, "No such file");
        snprintf(why, size,
                 absent ? "no NVIDIA driver is installed, or not all of it: %s was not found"
                        : "%s",
                 absent ? path : error);
        return false;
    }
    find_symbols(api);
    int code = NVML_CALL(api, init);
    if (code == NVML_SUCCESS && (!api->count || !api->handle))
        code = NVML_FUNCTION_NOT_FOUND;
    if (code == NVML_SUCCESS)
        return true;
    if (code == NVML_FUNCTION_NOT_FOUND)
        snprintf(why, size, "%s is not the library of an NVIDIA driver that is known here", path);
    else if (code == NVML_UNKNOWN)
        snprintf(why, size, "the NVIDIA driver cannot be used: see dmesg and nvidia-smi");
    else
        snprintf(why, size, "%s", nvml_words(code));
    dlclose(api->library);
    memset(api, 0, sizeof *api);
    return false;
}

void nvml_library_close(struct nvml_api *api)
{
    if (!api->library)
        return;
    (void)NVML_CALL(api, shutdown);
    dlclose(api->library);
    memset(api, 0, sizeof *api);
}
