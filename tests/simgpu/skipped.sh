#!/bin/sh
# SPDX-License-Identifier: MIT
# Stands for the tests on a simulated GPU where they cannot be built.
echo "the CUDA backend is not tried on a simulated GPU: ${SIMGPU_MISSING:-unknown reason}"
exit 77
