/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "engine/device/cuda/libraries/api.h"

/*
 * cuDNN's graph API knows one kind of thing, the descriptor: made, given attributes, finalized, and
 * read-only from then on.
 */
struct dnn_attribute {
    cudnnBackendAttributeName_t name;
    cudnnBackendAttributeType_t type;
    int64_t count;
    const void *value;
};

/*
 * A finalized descriptor, released with BackendDestroyDescriptor; NULL: ERROR_FAILED, "WHAT: ..."
 * with cuDNN's words. `status` (may be NULL) gets what the call that failed, or the last, returned.
 */
cudnnBackendDescriptor_t dnn_make(const struct cudnn_api *api, cudnnBackendDescriptorType_t type,
                                  const char *what, const struct dnn_attribute *attributes,
                                  size_t count, cudnnStatus_t *status, struct error *err);

/*
 * The `count` descriptors of one attribute, copied by cuDNN into new ones of `type`, each released
 * with BackendDestroyDescriptor. At most `capacity` are taken; false: ERROR_FAILED and none is left
 * over.
 */
bool dnn_read_parts(const struct cudnn_api *api, cudnnBackendDescriptor_t from,
                    cudnnBackendAttributeName_t name, cudnnBackendDescriptorType_t type,
                    cudnnBackendDescriptor_t *parts, int capacity, int *count, struct error *err);

void dnn_release(const struct cudnn_api *api, cudnnBackendDescriptor_t *parts, int count);
