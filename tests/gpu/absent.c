/* SPDX-License-Identifier: MIT */
#include "tests/gpu/absent.h"

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/device/cuda/libraries/driver.h"

static int ask(void)
{
    char why[200] = "CUDA lists none";
    int count = 0;
    cudaError_t status = cudaGetDeviceCount(&count);
    if (status == cudaSuccess && count > 0)
        return 0;
    if (status != cudaSuccess)
        cuda_absence(status, why, sizeof why);
    printf("skipped: no GPU: %s\n", why);
    return fflush(stdout) == 0 ? GPU_ABSENT : 1;
}

bool gpu_absent(void)
{
    int status = 0;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0)
        _exit(ask());
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
           WEXITSTATUS(status) == GPU_ABSENT;
}
