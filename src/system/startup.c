/* SPDX-License-Identifier: MIT */
#include "system/startup.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/print.h"

/*
 * libgomp reads its environment once, before main(). Variables that pin threads override the CPUs
 * that each device chooses for itself, so the program starts once more without them. And threads
 * that wait must sleep: the default, to spin for a while, is hardly faster on an idle machine and
 * several times slower on one that has other things to do.
 */
static void leave_openmp_settings(const char *program, char **argv)
{
    static const char *const names[] = {"OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY",
                                        "OMP_NUM_THREADS"};
    bool found = false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        found |= getenv(names[i]) != NULL;
        unsetenv(names[i]);
    }
    if (!getenv("OMP_WAIT_POLICY"))
        found |= setenv("OMP_WAIT_POLICY", "passive", 1) == 0;
    if (found) {
        execv("/proc/self/exe", argv);
        print_to(stderr, "%s: cannot restart without OpenMP's variables: %s\n", program,
                 strerror(errno));
    }
}

void startup_environment(const char *program, char **argv)
{
    leave_openmp_settings(program, argv);
    /* GPUs are numbered as the NVIDIA driver's tools number them, not by speed. */
    if (setenv("CUDA_DEVICE_ORDER", "PCI_BUS_ID", 1) != 0)
        print_to(stderr, "%s: cannot set CUDA_DEVICE_ORDER: %s\n", program, strerror(errno));
}
