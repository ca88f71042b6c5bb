/* SPDX-License-Identifier: MIT */
#include <cstring>

#include "tests/simgpu/libraries/dnn.hpp"

/* cuDNN's handles, and plans that are executed on their streams. */

using namespace simgpu;

namespace
{
constexpr uintptr_t workspace_alignment = 256;
/* What a pack gives for the graph's tensors, or why not. */
cudnnStatus_t find_pointers(const dnn_descriptor &graph, const dnn_descriptor &pack, int device,
                            std::map<int64_t, void *> *out)
{
    auto ids = pack.values<int64_t>(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
    auto pointers = pack.values<void *>(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS);
    if (ids.size() != pointers.size())
        return dnn_say(CUDNN_STATUS_BAD_PARAM, "a pack of as many pointers as ids is wanted");
    std::map<int64_t, void *> given;
    for (size_t i = 0; i < ids.size(); i++)
        given[ids[i]] = pointers[i];
    for (const auto &operation : graph.attributes.at(CUDNN_ATTR_OPERATIONGRAPH_OPS).parts)
        for (const auto &[name, attribute] : operation->attributes) {
            if (attribute.parts.empty() ||
                attribute.parts[0]->type != CUDNN_BACKEND_TENSOR_DESCRIPTOR)
                continue;
            dnn_tensor t = dnn_tensor_of(*attribute.parts[0]);
            if (t.is_virtual)
                continue;
            auto found = given.find(t.id);
            if (found == given.end())
                return dnn_say(CUDNN_STATUS_BAD_PARAM, "tensor %d is not in the pack",
                               static_cast<int>(t.id));
            auto address = reinterpret_cast<uintptr_t>(found->second);
            if (address % static_cast<uintptr_t>(t.alignment))
                return dnn_say(CUDNN_STATUS_BAD_PARAM_MISALIGNED_POINTER, "tensor %d",
                               static_cast<int>(t.id));
            if (!device_can_use(device, found->second, t.bytes())) {
                fault("cuDNN is given tensor %d of %zu bytes where there is no such memory",
                      static_cast<int>(t.id), t.bytes());
                return dnn_say(CUDNN_STATUS_EXECUTION_FAILED, "tensor %d is not in memory",
                               static_cast<int>(t.id));
            }
            (*out)[t.id] = found->second;
        }
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t check_workspace(void *workspace, size_t size, int device)
{
    if (size == 0)
        return CUDNN_STATUS_SUCCESS;
    if (reinterpret_cast<uintptr_t>(workspace) % workspace_alignment)
        return dnn_say(CUDNN_STATUS_BAD_PARAM_MISALIGNED_POINTER, "the workspace");
    if (!device_can_use(device, workspace, size)) {
        fault("cuDNN is given a workspace of less than %zu bytes", size);
        return dnn_say(CUDNN_STATUS_BAD_PARAM_SIZE_INSUFFICIENT, "the workspace");
    }
    return CUDNN_STATUS_SUCCESS;
}
} // namespace

extern "C" {

cudnnStatus_t cudnnCreate(cudnnHandle_t *out)
{
    guard held(the_machine().lock);
    int status;
    if (asked_to_fail("cudnnCreate", &status))
        return static_cast<cudnnStatus_t>(status);
    if (the_machine().options.no_driver)
        return dnn_say(CUDNN_STATUS_NOT_INITIALIZED, "no driver");
    *out = lib_make(std::make_shared<cudnnContext>(cudnnContext{this_caller().device, nullptr}));
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnDestroy(cudnnHandle_t handle)
{
    guard held(the_machine().lock);
    return lib_drop(handle) ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_BAD_PARAM;
}

cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream)
{
    guard held(the_machine().lock);
    auto context = lib_find(handle);
    if (!context || (stream && (!stream_exists(stream) || stream->device != context->device)))
        return dnn_say(CUDNN_STATUS_BAD_PARAM_STREAM_MISMATCH, "a stream of another device");
    context->stream = stream;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendExecute(cudnnHandle_t handle, cudnnBackendDescriptor_t plan_handle,
                                  cudnnBackendDescriptor_t pack_handle)
{
    guard held(the_machine().lock);
    int failure;
    if (asked_to_fail("cudnnBackendExecute", &failure))
        return static_cast<cudnnStatus_t>(failure);
    auto context = lib_find(handle);
    auto plan = lib_find(static_cast<dnn_descriptor *>(plan_handle));
    auto pack = lib_find(static_cast<dnn_descriptor *>(pack_handle));
    if (!context || !plan || !pack || !plan->finalized || !pack->finalized)
        return dnn_say(CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED, "no handle, plan or pack");
    if (!plan->value<cudnnHandle_t>(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, nullptr))
        return dnn_say(CUDNN_STATUS_BAD_PARAM, "a plan for a device that is only described");
    if (context->device != this_caller().device) {
        fault("cuDNN's handle of device %d is used while device %d is selected", context->device,
              this_caller().device);
        return dnn_say(CUDNN_STATUS_EXECUTION_FAILED, "another device is selected");
    }
    const dnn_descriptor &config = dnn_config_of(*plan);
    std::map<int64_t, void *> pointers;
    auto size = static_cast<size_t>(dnn_workspace_of(config));
    void *workspace = pack->value<void *>(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, nullptr);
    if (cudnnStatus_t status =
            find_pointers(dnn_graph_of(config), *pack, context->device, &pointers))
        return status;
    if (cudnnStatus_t status = check_workspace(workspace, size, context->device))
        return status;
    cudaError_t queued =
        enqueue(stream_of(context->stream),
                {"cuDNN plan",
                 [=] {
                     const dnn_descriptor &c = dnn_config_of(*plan);
                     if (size)
                         memset(workspace, static_cast<int>(random_number(256)), size);
                     dnn_run(dnn_graph_of(c), dnn_engine_of(*c.part(CUDNN_ATTR_ENGINECFG_ENGINE)),
                             pointers);
                     return cudaSuccess;
                 },
                 {},
                 {}});
    return queued == cudaSuccess
               ? CUDNN_STATUS_SUCCESS
               : dnn_say(CUDNN_STATUS_EXECUTION_FAILED_CUDART, "%s", cudaGetErrorString(queued));
}

} /* extern "C" */
