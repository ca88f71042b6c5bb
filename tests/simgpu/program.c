/* SPDX-License-Identifier: MIT */
#include "tests/simgpu/simgpu.h"

/* A whole program on simulated GPUs: the machine as it is after a reset, but faster, as nobody
 * looks at what it does in between. */
__attribute__((constructor)) static void hasten(void)
{
    simgpu_hasten(1000);
    simgpu_check_races(false);
}
