/* SPDX-License-Identifier: MIT */
#pragma once

#include "tests/engine/device/cuda/dnn/conv_cases.h"

/*
 * Print what cuDNN puts first for ResNet-18's convolutions at 28x28 in bf16 with 1024 rows, in
 * every pattern: a line "engine<TAB>PATTERN<TAB>CONVOLUTION<TAB>NAME<TAB>WORKSPACE", NAME as cuDNN
 * calls the first engine that can be built ("none": no engine can), the workspace in bytes.
 * Patterns that cuDNN fuses are compiled, one to three seconds each.
 */
void conv_engines_print(struct conv_maker *maker, const struct conv_cases *cases);
