/* SPDX-License-Identifier: MIT */
#include "tests/engine/device/cuda/kernels/cuda_tensor.h"
#include "tests/suites.h"

/* Every kernel of the CUDA backend against plain loops in f64. */
int main(void)
{
    return run_suites(elementwise_suite(), grouped_suite(), input_suite(), norm_suite(),
                      norm_backward_suite(), pool_suite(), take_suite(), NULL);
}
