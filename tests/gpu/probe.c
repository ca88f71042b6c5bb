/* SPDX-License-Identifier: MIT */
#include "tests/gpu/probe.h"

#include <stdlib.h>

#include "base/paths.h"
#include "tests/gpu/absent.h"

/*
 * For tests/gpu/run: the parts of the probe on resnet18.
 *     gpu-probe [ROWS]
 */
static const struct probe_part parts[] = {
    {"libraries", probe_libraries, 30},
    {"convolutions", probe_convolutions, 170},
    {"capture", probe_capture, 60},
    {"steps", probe_steps, 60},
};

int main(int argc, char **argv)
{
    struct error err = ERROR_INIT;
    const int rows = argc > 1 ? atoi(argv[1]) : 256;
    char *model = paths_find_model("resnet18", &err);
    const struct probe probe = {.out = stdout,
                                .model = model,
                                .input = {1, 28, 28},
                                .rows = rows,
                                .steps = 20,
                                .type = TYPE_BF16};
    bool ok = true;
    if (rows < 1 || !model) {
        fprintf(stderr, "gpu-probe: %s\n", model ? "usage: gpu-probe [ROWS]" : err.text);
        free(model);
        return 2;
    }
    const bool absent = gpu_absent();
    for (size_t i = 0; !absent && i < sizeof parts / sizeof *parts; i++)
        ok = probe_run(&probe, &parts[i]) && ok;
    free(model);
    return absent ? GPU_ABSENT : !ok;
}
