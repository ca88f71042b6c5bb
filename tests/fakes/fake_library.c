/* SPDX-License-Identifier: MIT */

/* A library for tests/engine/device/cuda/test_library.c: FAKE_VERSION, and FAKE_LACKS for one
 * that lacks a function. */
int fake_version(void);
int fake_seven(void);

int fake_version(void)
{
    return FAKE_VERSION;
}

#ifndef FAKE_LACKS
int fake_seven(void)
{
    return 7;
}
#endif
