/* SPDX-License-Identifier: MIT */

/* A libcuda.so.1 that is older than any CUDA runtime that can be used here. */
int cuDriverGetVersion(int *version);
int cuInit(unsigned flags);

int cuDriverGetVersion(int *version)
{
    *version = 11000;
    return 0;
}

int cuInit(unsigned flags)
{
    (void)flags;
    return 0;
}
