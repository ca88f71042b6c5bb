/* SPDX-License-Identifier: MIT */
#include "engine/device/cuda/dnn/desc.h"

cudnnBackendDescriptor_t dnn_make(const struct cudnn_api *api, cudnnBackendDescriptorType_t type,
                                  const char *what, const struct dnn_attribute *attributes,
                                  size_t count, cudnnStatus_t *status, struct error *err)
{
    cudnnBackendDescriptor_t made = NULL;
    cudnnStatus_t result = api->BackendCreateDescriptor(type, &made);
    for (size_t i = 0; i < count && result == CUDNN_STATUS_SUCCESS; i++)
        result = api->BackendSetAttribute(made, attributes[i].name, attributes[i].type,
                                          attributes[i].count, attributes[i].value);
    if (result == CUDNN_STATUS_SUCCESS)
        result = api->BackendFinalize(made);
    if (status)
        *status = result;
    if (cudnn_check(api, result, what, err))
        return made;
    dnn_release(api, &made, 1);
    return NULL;
}

bool dnn_read_parts(const struct cudnn_api *api, cudnnBackendDescriptor_t from,
                    cudnnBackendAttributeName_t name, cudnnBackendDescriptorType_t type,
                    cudnnBackendDescriptor_t *parts, int capacity, int *count, struct error *err)
{
    int64_t got = 0;
    int made = 0;
    cudnnStatus_t status = CUDNN_STATUS_SUCCESS;
    *count = 0;
    /* cuDNN does not say of every list beforehand how long it is. */
    while (made < capacity && status == CUDNN_STATUS_SUCCESS) {
        status = api->BackendCreateDescriptor(type, &parts[made]);
        if (status == CUDNN_STATUS_SUCCESS)
            made++;
    }
    if (status == CUDNN_STATUS_SUCCESS)
        status = api->BackendGetAttribute(from, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, capacity, &got,
                                          parts);
    if (!cudnn_check(api, status, "cuDNN's list of descriptors", err)) {
        dnn_release(api, parts, made);
        return false;
    }
    *count = got < made ? (int)got : made;
    dnn_release(api, parts + *count, made - *count);
    return true;
}

void dnn_release(const struct cudnn_api *api, cudnnBackendDescriptor_t *parts, int count)
{
    for (int i = 0; i < count; i++) {
        /* Nothing can be done about a descriptor that cannot be destroyed. */
        if (parts[i])
            (void)api->BackendDestroyDescriptor(parts[i]);
        parts[i] = NULL;
    }
}
