/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/device/device.h"
#include "engine/train/profile/noise.h"

/* Where one device's time went in one step, in seconds of wall time. */
struct step_times {
    double compute_s;  /* forward, backward, update */
    double reduce_s;   /* keeping the replicas equal, waiting for those who reduce included */
    double sync_bn_s;  /* all-reduces inside the passes (synchronised BatchNorm), likewise */
    double wait_s;     /* waiting for devices that are still computing */
    double pass_s;     /* of compute_s: forward and backward, which depend on the rows */
    double update_s;   /* of compute_s: the optimizer */
    double barrier_s;  /* of wait_s: after the pass */
    double summed_s;   /* gradients under way to other hosts, also beside computing: in no other */
    double measure_s;  /* measuring the noise by halves, which is in no other of these */
    double begin, end; /* of the device's part of the step, on clock_seconds */
};

/* One device's part of a step. */
struct step_part {
    long rows;
    struct batch_result result;
    struct step_times times;
    struct noise_part noise;
};
