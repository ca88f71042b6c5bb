/* SPDX-License-Identifier: MIT */
#include <algorithm>

#include "tests/simgpu/dnn.hpp"

/* cuDNN's engines, plans and handles. */

using namespace simgpu;

namespace
{
constexpr int engine_count = 2;
constexpr uintptr_t workspace_alignment = 256;

int64_t engine_of(const dnn_descriptor &engine)
{
    return engine.value<int64_t>(CUDNN_ATTR_ENGINE_GLOBAL_INDEX, -1);
}

const dnn_descriptor &config_of(const dnn_descriptor &plan)
{
    return *plan.part(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG);
}

const dnn_descriptor &graph_of(const dnn_descriptor &config)
{
    return *config.part(CUDNN_ATTR_ENGINECFG_ENGINE)->part(CUDNN_ATTR_ENGINE_OPERATION_GRAPH);
}

/* Engine 0 wants as much as its first result takes in f32. */
int64_t workspace_of(const dnn_descriptor &config)
{
    if (engine_of(*config.part(CUDNN_ATTR_ENGINECFG_ENGINE)) != 0)
        return 0;
    const auto &first = *graph_of(config).attributes.at(CUDNN_ATTR_OPERATIONGRAPH_OPS).parts[0];
    const dnn_signature *s = dnn_signature_of(first);
    for (auto name : s->writes)
        if (const dnn_descriptor *result = first.part(name))
            return static_cast<int64_t>(dnn_tensor_of(*result).count() * sizeof(float));
    return 0;
}

cudnnStatus_t check_engine(const dnn_descriptor &d)
{
    int64_t number = engine_of(d);
    return number >= 0 && number < engine_count
               ? CUDNN_STATUS_SUCCESS
               : dnn_say(CUDNN_STATUS_NOT_SUPPORTED, "no engine %d", static_cast<int>(number));
}

cudnnStatus_t check_config(const dnn_descriptor &d)
{
    auto knobs = d.attributes.find(CUDNN_ATTR_ENGINECFG_KNOB_CHOICES);
    bool tiles = engine_of(*d.part(CUDNN_ATTR_ENGINECFG_ENGINE)) == 0;
    if (knobs == d.attributes.end())
        return CUDNN_STATUS_SUCCESS;
    for (const auto &knob : knobs->second.parts)
        if (!tiles || knob->value(CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_KNOB_TYPE_SPLIT_K) !=
                          CUDNN_KNOB_TYPE_TILE_SIZE)
            return dnn_say(CUDNN_STATUS_NOT_SUPPORTED, "a knob that the engine has not");
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t check_plan(const dnn_descriptor &d)
{
    bool described = d.part(CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP);
    auto handle = d.value<cudnnHandle_t>(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, nullptr);
    if (described == (handle != nullptr))
        return dnn_say(CUDNN_STATUS_BAD_PARAM, "a plan wants a handle or a description");
    if (handle && !lib_find(handle))
        return dnn_say(CUDNN_STATUS_BAD_PARAM, "a plan's handle was destroyed");
    auto number = static_cast<size_t>(engine_of(*config_of(d).part(CUDNN_ATTR_ENGINECFG_ENGINE)));
    const auto &refused = the_machine().refused_engines;
    if (number < refused.size() && refused[number])
        return dnn_say(CUDNN_STATUS_NOT_SUPPORTED_GRAPH_PATTERN, "engine %d does not do this",
                       static_cast<int>(number));
    return CUDNN_STATUS_SUCCESS;
}

std::shared_ptr<dnn_descriptor> new_part(cudnnBackendDescriptorType_t type)
{
    auto made = std::make_shared<dnn_descriptor>();
    made->type = type;
    made->finalized = true;
    return made;
}

template <typename T> std::vector<unsigned char> bytes_of(const std::vector<T> &values)
{
    auto *begin = reinterpret_cast<const unsigned char *>(values.data());
    return {begin, begin + values.size() * sizeof(T)};
}

template <typename T>
void put(dnn_descriptor &d, cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
         const std::vector<T> &values)
{
    dnn_attribute &a = d.attributes[name];
    a.type = type;
    a.count = static_cast<int64_t>(values.size());
    a.bytes = bytes_of(values);
}

void put_part(dnn_descriptor &d, cudnnBackendAttributeName_t name,
              const std::shared_ptr<dnn_descriptor> &part)
{
    dnn_attribute &a = d.attributes[name];
    a.type = CUDNN_TYPE_BACKEND_DESCRIPTOR;
    a.parts.push_back(part);
    a.count = static_cast<int64_t>(a.parts.size());
}

/* Both engines, the one with tensor cores first. */
void offer_configs(const dnn_descriptor &heuristics, dnn_attribute *out)
{
    auto graph = heuristics.attributes.at(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH).parts[0];
    for (int64_t number = 0; number < engine_count; number++) {
        auto engine = new_part(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
        put_part(*engine, CUDNN_ATTR_ENGINE_OPERATION_GRAPH, graph);
        put<int64_t>(*engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, {number});
        auto config = new_part(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
        put_part(*config, CUDNN_ATTR_ENGINECFG_ENGINE, engine);
        if (number == 0) {
            auto knob = new_part(CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR);
            put<cudnnBackendKnobType_t>(*knob, CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE,
                                        CUDNN_TYPE_KNOB_TYPE, {CUDNN_KNOB_TYPE_TILE_SIZE});
            put<int64_t>(*knob, CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, CUDNN_TYPE_INT64, {3});
            put_part(*config, CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, knob);
        }
        out->parts.push_back(config);
    }
    out->count = engine_count;
}

std::vector<cudnnBackendNumericalNote_t> notes_of(const dnn_descriptor &engine)
{
    if (engine_of(engine) != 0)
        return {};
    const auto &graph = *engine.part(CUDNN_ATTR_ENGINE_OPERATION_GRAPH);
    auto first = graph.attributes.at(CUDNN_ATTR_OPERATIONGRAPH_OPS).parts[0]->type;
    std::vector<cudnnBackendNumericalNote_t> notes = {CUDNN_NUMERICAL_NOTE_TENSOR_CORE};
    if (first != CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR)
        notes.push_back(CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC);
    return notes;
}

template <typename T> void compute(dnn_attribute *out, const std::vector<T> &values)
{
    out->count = static_cast<int64_t>(values.size());
    out->bytes = bytes_of(values);
}

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

cudnnStatus_t simgpu::dnn_check_plan(const dnn_descriptor &d)
{
    switch (d.type) {
    case CUDNN_BACKEND_ENGINE_DESCRIPTOR:
        return check_engine(d);
    case CUDNN_BACKEND_ENGINECFG_DESCRIPTOR:
        return check_config(d);
    case CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR:
        return check_plan(d);
    default:
        return CUDNN_STATUS_SUCCESS;
    }
}

bool simgpu::dnn_computed(const dnn_descriptor &d, cudnnBackendAttributeName_t name,
                          dnn_attribute *out)
{
    switch (name) {
    case CUDNN_ATTR_ENGINEHEUR_RESULTS:
        offer_configs(d, out);
        return true;
    case CUDNN_ATTR_ENGINE_NUMERICAL_NOTE:
        compute(out, notes_of(d));
        return true;
    case CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE:
        compute<cudnnBackendBehaviorNote_t>(out, {});
        return true;
    case CUDNN_ATTR_ENGINECFG_WORKSPACE_SIZE:
        compute<int64_t>(out, {workspace_of(d)});
        return true;
    case CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE:
        compute<int64_t>(out, {workspace_of(config_of(d))});
        return true;
    default:
        return false;
    }
}

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
    const dnn_descriptor &config = config_of(*plan);
    std::map<int64_t, void *> pointers;
    auto size = static_cast<size_t>(workspace_of(config));
    void *workspace = pack->value<void *>(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, nullptr);
    if (cudnnStatus_t status = find_pointers(graph_of(config), *pack, context->device, &pointers))
        return status;
    if (cudnnStatus_t status = check_workspace(workspace, size, context->device))
        return status;
    cudaError_t queued = enqueue(
        stream_of(context->stream),
        {"cuDNN plan",
         [=] {
             const dnn_descriptor &c = config_of(*plan);
             if (size)
                 memset(workspace, static_cast<int>(random_number(256)), size);
             dnn_run(graph_of(c), engine_of(*c.part(CUDNN_ATTR_ENGINECFG_ENGINE)), pointers);
             return cudaSuccess;
         },
         {},
         {}});
    return queued == cudaSuccess
               ? CUDNN_STATUS_SUCCESS
               : dnn_say(CUDNN_STATUS_EXECUTION_FAILED_CUDART, "%s", cudaGetErrorString(queued));
}

} /* extern "C" */
