/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "engine/net/net.h"
#include "spec/spec.h"

/*
 * What is worth knowing of a GPU in its first minute, in parts that need nothing of each other.
 * Each tells what it finds line by line, as soon as it knows, what is wrong after "FAIL: ", and
 * returns how much was wrong. For tests/gpu/run, and on a simulated GPU for `make check`.
 */
struct probe {
    FILE *out;
    const char *model; /* file of a model's description */
    struct net_shape input;
    int rows, steps;
    enum number_type type;
};

/* A line, flushed. */
void probe_say(const struct probe *probe, const char *pattern, ...)
    __attribute__((format(printf, 2, 3)));
/* The same after "FAIL: "; 1. */
int probe_fail(const struct probe *probe, const char *pattern, ...)
    __attribute__((format(printf, 2, 3)));

/* A part runs in its own process, so that one that crashes or hangs takes no other with it. */
struct probe_part {
    const char *name;
    int (*run)(const struct probe *probe);
    unsigned seconds; /* at most */
};

/* Whether it found nothing wrong; the caller may not have called CUDA. */
bool probe_run(const struct probe *probe, const struct probe_part *part);

/* The GPU, the driver, and the libraries: versions, and the files they were loaded from. */
int probe_libraries(const struct probe *probe);
/*
 * Each convolution of the model in each direction, as the backend plans it, run twice, the second
 * time over its own results, and compared with plain loops in double precision: some numbers of the
 * result, and all sums for BatchNorm.
 */
int probe_convolutions(const struct probe *probe);
/* Each step of a training pass after the input captured as a CUDA graph by itself, and started. */
int probe_capture(const struct probe *probe);
/* Some training steps as runs take them; the plan must have nothing to note. */
int probe_steps(const struct probe *probe);

/* The files of NVIDIA's libraries that are loaded. */
void probe_loaded(const struct probe *probe);
