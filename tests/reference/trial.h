/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/device/device.h"

/*
 * One network with weights and rows, computed by a device and by the reference in double precision,
 * and the comparison of the two. Whatever goes wrong fails the running check.
 */
struct trial {
    struct net *net;
    struct weights weights;
    struct dataset data;
    uint32_t *index; /* `rows` of the data, in no order */
    int rows;
    double label_smoothing; /* 0 unless a test changes it */
    bool spares;            /* weight decay spares norms and biases; false unless a test does */
};

/* A network of the given layers (as in a model file, between the parentheses). `numbers`: data are
 * floats instead of pixels. The seed is the first from `seed` on for which no ReLU's input lies so
 * near to zero that single precision could take the other side. */
void trial_make(struct trial *trial, const char *layers, struct net_shape input, int classes,
                int rows, bool numbers, uint64_t seed);
/* The same for a model of the source tree, with any seed. */
void trial_make_shipped(struct trial *trial, const char *model, struct net_shape input, int rows,
                        uint64_t seed);
void trial_free(struct trial *trial);

/* What dropout is drawn with. */
enum { TRIAL_SEED = 7, TRIAL_EPOCH = 2 };

/* What a pass over the rows gave. */
struct outcome {
    double loss_sum;
    long correct;
    float *logits; /* rows x classes */
    float *grads;  /* canonical order */
    struct weights after;
};

/* All zero; `rows` rows of logits. */
void outcome_make(struct outcome *out, const struct trial *trial, int rows);
void outcome_free(struct outcome *outcome);

/* The kind of device that is tried. */
struct trial_device {
    const struct backend *backend;
    struct device_options options;
    void (*prepare)(struct device *device); /* as soon as it is open; NULL: nothing to do */
};

/* A CPU device of `threads`. */
struct trial_device trial_cpu(int threads);
/* The same, which computes small networks layer by layer, as it does large ones. */
struct trial_device trial_cpu_by_layers(int threads);
/* By layers, with convolutions by methods of our own instead of the library's where there are any:
 * in large networks these are what is fast. */
struct trial_device trial_cpu_by_own_kernels(int threads);

/* A device with a replica of a trial's network and its weights. */
struct rig {
    const struct backend *backend;
    struct device *device;
    struct replica *replica;
    bool gathers_rows; /* of a slice: its passes end with all rows of the trial */
};

void rig_open(struct rig *rig, const struct trial *trial, const struct trial_device *device);
void rig_close(struct rig *rig);
/* A whole arena in host memory, wherever it lies; the caller frees it. */
float *rig_read(const struct rig *rig, enum replica_arena arena);
void rig_write(const struct rig *rig, enum replica_arena arena, const float *values);
struct plan *rig_plan(struct rig *rig, const struct plan_request *request);
/* Run a plan over `rows` of the trial from `first` on, of `global` in all. */
void rig_run(struct rig *rig, struct plan *plan, const struct trial *trial, int first, int rows,
             struct outcome *out);

/* All rows on one device, by its backend and by the reference. */
void trial_run(const struct trial *trial, const struct trial_device *device, enum plan_mode mode,
               struct outcome *out);
void trial_reference(const struct trial *trial, enum plan_mode mode, struct outcome *out);

/* Each parameter's gradient and value and all logits within `tolerance` of the reference's, as root
 * of the mean square over the root mean square of what is expected. */
void outcome_compare(const struct trial *trial, const struct outcome *got,
                     const struct outcome *expected, enum plan_mode mode, double tolerance,
                     const char *what);

/* The loss over all rows by the reference in training mode, with number `at` of the weights moved
 * by `by`. */
double trial_loss_moved(const struct trial *trial, size_t at, double by);
