/* SPDX-License-Identifier: MIT */
#include <unistd.h>

#include <string>

#include "tests/simgpu/libraries/dnn.hpp"

/* cuDNN's engines, configurations and plans. */

using namespace simgpu;

int64_t simgpu::dnn_engine_of(const dnn_descriptor &engine)
{
    return engine.value<int64_t>(CUDNN_ATTR_ENGINE_GLOBAL_INDEX, -1);
}

const dnn_descriptor &simgpu::dnn_config_of(const dnn_descriptor &plan)
{
    return *plan.part(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG);
}

const dnn_descriptor &simgpu::dnn_graph_of(const dnn_descriptor &config)
{
    return *config.part(CUDNN_ATTR_ENGINECFG_ENGINE)->part(CUDNN_ATTR_ENGINE_OPERATION_GRAPH);
}

/* Engine 0 wants as much as its first result takes in f32. */
int64_t simgpu::dnn_workspace_of(const dnn_descriptor &config)
{
    if (dnn_engine_of(*config.part(CUDNN_ATTR_ENGINECFG_ENGINE)) != 0)
        return 0;
    const auto &first = *dnn_graph_of(config).attributes.at(CUDNN_ATTR_OPERATIONGRAPH_OPS).parts[0];
    const dnn_signature *s = dnn_signature_of(first);
    for (auto name : s->writes)
        if (const dnn_descriptor *result = first.part(name))
            return static_cast<int64_t>(dnn_tensor_of(*result).count() * sizeof(float));
    return 0;
}

namespace
{
/* 2 is compiled, and only for graphs of several operations. */
constexpr int engine_count = 3, compiled_engine = 2;
constexpr int64_t compiled_kernels = 45; /* values of its knob */
bool is_fused(const dnn_descriptor &graph)
{
    return graph.attributes.at(CUDNN_ATTR_OPERATIONGRAPH_OPS).parts.size() > 1;
}

cudnnStatus_t check_engine(const dnn_descriptor &d)
{
    int64_t number = dnn_engine_of(d);
    bool fits = number != compiled_engine || is_fused(*d.part(CUDNN_ATTR_ENGINE_OPERATION_GRAPH));
    return number >= 0 && number < engine_count && fits
               ? CUDNN_STATUS_SUCCESS
               : dnn_say(CUDNN_STATUS_NOT_SUPPORTED, "no engine %d", static_cast<int>(number));
}

/* Engine 0 has tiles of several sizes, engine 2 several kernels, engine 1 nothing to choose. */
bool has_knob(int64_t engine, const dnn_descriptor &choice)
{
    auto type = choice.value(CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_KNOB_TYPE_COUNTS);
    auto value = choice.value<int64_t>(CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, -1);
    return (engine == 0 && type == CUDNN_KNOB_TYPE_TILE_SIZE) ||
           (engine == compiled_engine && type == CUDNN_KNOB_TYPE_KERNEL_CFG && value >= 0 &&
            value < compiled_kernels);
}

cudnnStatus_t check_config(const dnn_descriptor &d)
{
    auto knobs = d.attributes.find(CUDNN_ATTR_ENGINECFG_KNOB_CHOICES);
    if (knobs == d.attributes.end())
        return CUDNN_STATUS_SUCCESS;
    for (const auto &knob : knobs->second.parts)
        if (!has_knob(dnn_engine_of(*d.part(CUDNN_ATTR_ENGINECFG_ENGINE)), *knob))
            return dnn_say(CUDNN_STATUS_NOT_SUPPORTED, "a knob that the engine has not");
    return CUDNN_STATUS_SUCCESS;
}

/* Count a plan that is being finalized. */
cudnnStatus_t count_plan(const char *kind)
{
    int status = CUDNN_STATUS_SUCCESS;
    asked_to_fail(kind, &status);
    return static_cast<cudnnStatus_t>(status);
}

cudnnStatus_t check_plan(const dnn_descriptor &d)
{
    bool described = d.part(CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP);
    auto handle = d.value<cudnnHandle_t>(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, nullptr);
    if (described == (handle != nullptr))
        return dnn_say(CUDNN_STATUS_BAD_PARAM, "a plan wants a handle or a description");
    if (handle && !lib_find(handle))
        return dnn_say(CUDNN_STATUS_BAD_PARAM, "a plan's handle was destroyed");
    if (!d.part(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG))
        return dnn_say(CUDNN_STATUS_BAD_PARAM, "a plan of nothing");
    if (d.attributes.count(CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION))
        return count_plan("cuDNN plan loaded");
    auto number =
        static_cast<int>(dnn_engine_of(*dnn_config_of(d).part(CUDNN_ATTR_ENGINECFG_ENGINE)));
    if (the_machine().refused_engines.count(number))
        return dnn_say(CUDNN_STATUS_NOT_SUPPORTED_GRAPH_PATTERN, "engine %d does not do this",
                       number);
    if (number == compiled_engine)
        if (cudnnStatus_t status = count_plan("cuDNN plan compiled"))
            return status;
    return count_plan("cuDNN plan built");
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

/* A way to compute a graph; knob value -1: no knob. */
std::shared_ptr<dnn_descriptor> make_config(const std::shared_ptr<dnn_descriptor> &graph,
                                            int64_t number, cudnnBackendKnobType_t type,
                                            int64_t value)
{
    auto engine = new_part(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
    put_part(*engine, CUDNN_ATTR_ENGINE_OPERATION_GRAPH, graph);
    put<int64_t>(*engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, {number});
    auto config = new_part(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    put_part(*config, CUDNN_ATTR_ENGINECFG_ENGINE, engine);
    if (value < 0)
        return config;
    auto knob = new_part(CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR);
    put<cudnnBackendKnobType_t>(*knob, CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE,
                                {type});
    put<int64_t>(*knob, CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, CUDNN_TYPE_INT64, {value});
    put_part(*config, CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, knob);
    return config;
}

/* The engine with tensor cores first; of the compiled one a kernel, and again as its default. */
void offer_configs(const dnn_descriptor &heuristics, dnn_attribute *out)
{
    auto graph = heuristics.attributes.at(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH).parts[0];
    out->parts.push_back(make_config(graph, 0, CUDNN_KNOB_TYPE_TILE_SIZE, 3));
    out->parts.push_back(make_config(graph, 1, CUDNN_KNOB_TYPE_COUNTS, -1));
    if (is_fused(*graph)) {
        out->parts.push_back(make_config(graph, compiled_engine, CUDNN_KNOB_TYPE_KERNEL_CFG, 10));
        out->parts.push_back(make_config(graph, compiled_engine, CUDNN_KNOB_TYPE_COUNTS, -1));
    }
    out->count = static_cast<int64_t>(out->parts.size());
}

/* A plan as text: a number under which this process keeps what the text stands for until the next
 * reset; nobody else takes it for a plan of theirs. */
std::string text_of(const dnn_descriptor &plan)
{
    auto config = plan.attributes.at(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG).parts[0];
    auto &stored = the_machine().stored_plans;
    for (const auto &[text, kept] : stored)
        if (kept == config)
            return text;
    std::string text = "{\"cudnnVersion\":" + std::to_string(CUDNN_VERSION) +
                       ",\"process\":" + std::to_string(getpid()) +
                       ",\"reset\":" + std::to_string(the_machine().generation) +
                       ",\"plan\":" + std::to_string(stored.size()) + "}";
    stored[text] = config;
    return text;
}

std::vector<cudnnBackendNumericalNote_t> notes_of(const dnn_descriptor &engine)
{
    std::vector<cudnnBackendNumericalNote_t> notes;
    if (the_machine().narrow_engines.count(static_cast<int>(dnn_engine_of(engine))))
        notes.push_back(CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS);
    if (dnn_engine_of(engine) != 0)
        return notes;
    const auto &graph = *engine.part(CUDNN_ATTR_ENGINE_OPERATION_GRAPH);
    auto first = graph.attributes.at(CUDNN_ATTR_OPERATIONGRAPH_OPS).parts[0]->type;
    notes.push_back(CUDNN_NUMERICAL_NOTE_TENSOR_CORE);
    if (first != CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR)
        notes.push_back(CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC);
    return notes;
}

template <typename T> void compute(dnn_attribute *out, const std::vector<T> &values)
{
    out->count = static_cast<int64_t>(values.size());
    out->bytes = bytes_of(values);
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

cudnnStatus_t simgpu::dnn_restore_plan(dnn_descriptor &d)
{
    if (d.type != CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR ||
        !d.attributes.count(CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION))
        return CUDNN_STATUS_SUCCESS;
    auto bytes = d.values<char>(CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION);
    auto found = the_machine().stored_plans.find(std::string(bytes.begin(), bytes.end()));
    if (found == the_machine().stored_plans.end())
        return dnn_say(CUDNN_STATUS_SERIALIZATION_VERSION_MISMATCH, "a text that is no plan");
    d.attributes.erase(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG);
    put_part(d, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG,
             std::static_pointer_cast<dnn_descriptor>(found->second));
    return CUDNN_STATUS_SUCCESS;
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
        if (dnn_engine_of(d) == compiled_engine)
            compute<cudnnBackendBehaviorNote_t>(out, {CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION});
        else
            compute<cudnnBackendBehaviorNote_t>(out, {});
        return true;
    case CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION: {
        std::string text = text_of(d);
        compute<char>(out, {text.begin(), text.end()});
        return true;
    }
    case CUDNN_ATTR_ENGINECFG_WORKSPACE_SIZE:
        compute<int64_t>(out, {dnn_workspace_of(d)});
        return true;
    case CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE:
        compute<int64_t>(out, {dnn_workspace_of(dnn_config_of(d))});
        return true;
    default:
        return false;
    }
}
