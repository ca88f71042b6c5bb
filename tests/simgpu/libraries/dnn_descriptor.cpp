/* SPDX-License-Identifier: MIT */
#include <cstdarg>
#include <cstdio>

#include "tests/simgpu/libraries/dnn.hpp"

/* Descriptors of cuDNN's graph API: attributes and their types. */

using namespace simgpu;

namespace
{
thread_local char last_error[512];
/* An attribute of a kind of descriptor; max 0: only to be read. */
struct rule {
    cudnnBackendDescriptorType_t of;
    cudnnBackendAttributeName_t name;
    cudnnBackendAttributeType_t type;
    int64_t min, max;
    bool required;
};

#define ATTR(NAME) CUDNN_ATTR_##NAME
#define KIND(NAME) CUDNN_BACKEND_##NAME##_DESCRIPTOR
#define TYPE(NAME) CUDNN_TYPE_##NAME
#define PART       CUDNN_TYPE_BACKEND_DESCRIPTOR

const rule rules[] = {
    {KIND(TENSOR), ATTR(TENSOR_DATA_TYPE), TYPE(DATA_TYPE), 1, 1, true},
    {KIND(TENSOR), ATTR(TENSOR_DIMENSIONS), TYPE(INT64), 4, 4, true},
    {KIND(TENSOR), ATTR(TENSOR_STRIDES), TYPE(INT64), 4, 4, true},
    {KIND(TENSOR), ATTR(TENSOR_BYTE_ALIGNMENT), TYPE(INT64), 1, 1, true},
    {KIND(TENSOR), ATTR(TENSOR_UNIQUE_ID), TYPE(INT64), 1, 1, true},
    {KIND(TENSOR), ATTR(TENSOR_IS_VIRTUAL), TYPE(BOOLEAN), 1, 1, false},

    {KIND(CONVOLUTION), ATTR(CONVOLUTION_SPATIAL_DIMS), TYPE(INT64), 1, 1, true},
    {KIND(CONVOLUTION), ATTR(CONVOLUTION_COMP_TYPE), TYPE(DATA_TYPE), 1, 1, true},
    {KIND(CONVOLUTION), ATTR(CONVOLUTION_CONV_MODE), TYPE(CONVOLUTION_MODE), 1, 1, true},
    {KIND(CONVOLUTION), ATTR(CONVOLUTION_PRE_PADDINGS), TYPE(INT64), 2, 2, true},
    {KIND(CONVOLUTION), ATTR(CONVOLUTION_POST_PADDINGS), TYPE(INT64), 2, 2, true},
    {KIND(CONVOLUTION), ATTR(CONVOLUTION_DILATIONS), TYPE(INT64), 2, 2, true},
    {KIND(CONVOLUTION), ATTR(CONVOLUTION_FILTER_STRIDES), TYPE(INT64), 2, 2, true},

#define CONVOLUTION_RULES(OPERATION, PREFIX, X, W, Y)                                              \
    {KIND(OPERATION), ATTR(PREFIX##_ALPHA), TYPE(FLOAT), 1, 1, true},                              \
        {KIND(OPERATION), ATTR(PREFIX##_BETA), TYPE(FLOAT), 1, 1, true},                           \
        {KIND(OPERATION), ATTR(PREFIX##_CONV_DESC), PART, 1, 1, true},                             \
        {KIND(OPERATION), ATTR(PREFIX##_##X), PART, 1, 1, true},                                   \
        {KIND(OPERATION), ATTR(PREFIX##_##W), PART, 1, 1, true},                                   \
    {                                                                                              \
        KIND(OPERATION), ATTR(PREFIX##_##Y), PART, 1, 1, true                                      \
    }
    CONVOLUTION_RULES(OPERATION_CONVOLUTION_FORWARD, OPERATION_CONVOLUTION_FORWARD, X, W, Y),
    CONVOLUTION_RULES(OPERATION_CONVOLUTION_BACKWARD_DATA, OPERATION_CONVOLUTION_BWD_DATA, DX, W,
                      DY),
    CONVOLUTION_RULES(OPERATION_CONVOLUTION_BACKWARD_FILTER, OPERATION_CONVOLUTION_BWD_FILTER, X,
                      DW, DY),

    {KIND(POINTWISE), ATTR(POINTWISE_MODE), TYPE(POINTWISE_MODE), 1, 1, true},
    {KIND(POINTWISE), ATTR(POINTWISE_MATH_PREC), TYPE(DATA_TYPE), 1, 1, true},
    {KIND(OPERATION_POINTWISE), ATTR(OPERATION_POINTWISE_PW_DESCRIPTOR), PART, 1, 1, true},
    {KIND(OPERATION_POINTWISE), ATTR(OPERATION_POINTWISE_XDESC), PART, 1, 1, true},
    {KIND(OPERATION_POINTWISE), ATTR(OPERATION_POINTWISE_BDESC), PART, 1, 1, false},
    {KIND(OPERATION_POINTWISE), ATTR(OPERATION_POINTWISE_YDESC), PART, 1, 1, true},

    {KIND(OPERATION_GEN_STATS), ATTR(OPERATION_GENSTATS_MODE), TYPE(GENSTATS_MODE), 1, 1, true},
    {KIND(OPERATION_GEN_STATS), ATTR(OPERATION_GENSTATS_MATH_PREC), TYPE(DATA_TYPE), 1, 1, true},
    {KIND(OPERATION_GEN_STATS), ATTR(OPERATION_GENSTATS_XDESC), PART, 1, 1, true},
    {KIND(OPERATION_GEN_STATS), ATTR(OPERATION_GENSTATS_SUMDESC), PART, 1, 1, true},
    {KIND(OPERATION_GEN_STATS), ATTR(OPERATION_GENSTATS_SQSUMDESC), PART, 1, 1, true},

    {KIND(OPERATIONGRAPH), ATTR(OPERATIONGRAPH_OPS), PART, 1, 32, true},
    {KIND(OPERATIONGRAPH), ATTR(OPERATIONGRAPH_HANDLE), TYPE(HANDLE), 1, 1, false},
    {KIND(DEVICEPROP), ATTR(DEVICEPROP_JSON_REPRESENTATION), TYPE(CHAR), 1, 1 << 20, true},
    {KIND(ENGINEHEUR), ATTR(ENGINEHEUR_OPERATION_GRAPH), PART, 1, 1, true},
    {KIND(ENGINEHEUR), ATTR(ENGINEHEUR_MODE), TYPE(HEUR_MODE), 1, 1, true},
    {KIND(ENGINEHEUR), ATTR(ENGINEHEUR_DEVICEPROP), PART, 1, 1, false},
    {KIND(ENGINEHEUR), ATTR(ENGINEHEUR_RESULTS), PART, 0, 0, false},
    {KIND(ENGINE), ATTR(ENGINE_OPERATION_GRAPH), PART, 1, 1, true},
    {KIND(ENGINE), ATTR(ENGINE_GLOBAL_INDEX), TYPE(INT64), 1, 1, true},
    {KIND(ENGINE), ATTR(ENGINE_DEVICEPROP), PART, 1, 1, false},
    {KIND(ENGINE), ATTR(ENGINE_NUMERICAL_NOTE), TYPE(NUMERICAL_NOTE), 0, 0, false},
    {KIND(ENGINE), ATTR(ENGINE_BEHAVIOR_NOTE), TYPE(BEHAVIOR_NOTE), 0, 0, false},
    {KIND(KNOB_CHOICE), ATTR(KNOB_CHOICE_KNOB_TYPE), TYPE(KNOB_TYPE), 1, 1, true},
    {KIND(KNOB_CHOICE), ATTR(KNOB_CHOICE_KNOB_VALUE), TYPE(INT64), 1, 1, true},
    {KIND(ENGINECFG), ATTR(ENGINECFG_ENGINE), PART, 1, 1, true},
    {KIND(ENGINECFG), ATTR(ENGINECFG_KNOB_CHOICES), PART, 1, 64, false},
    {KIND(ENGINECFG), ATTR(ENGINECFG_WORKSPACE_SIZE), TYPE(INT64), 0, 0, false},
    {KIND(EXECUTION_PLAN), ATTR(EXECUTION_PLAN_ENGINE_CONFIG), PART, 1, 1, false},
    {KIND(EXECUTION_PLAN), ATTR(EXECUTION_PLAN_JSON_REPRESENTATION), TYPE(CHAR), 1, 1 << 24, false},
    {KIND(EXECUTION_PLAN), ATTR(EXECUTION_PLAN_HANDLE), TYPE(HANDLE), 1, 1, false},
    {KIND(EXECUTION_PLAN), ATTR(EXECUTION_PLAN_DEVICEPROP), PART, 1, 1, false},
    {KIND(EXECUTION_PLAN), ATTR(EXECUTION_PLAN_WORKSPACE_SIZE), TYPE(INT64), 0, 0, false},
    {KIND(VARIANT_PACK), ATTR(VARIANT_PACK_UNIQUE_IDS), TYPE(INT64), 1, 64, true},
    {KIND(VARIANT_PACK), ATTR(VARIANT_PACK_DATA_POINTERS), TYPE(VOID_PTR), 1, 64, true},
    {KIND(VARIANT_PACK), ATTR(VARIANT_PACK_WORKSPACE), TYPE(VOID_PTR), 1, 1, true},
};

const rule *find_rule(cudnnBackendDescriptorType_t of, cudnnBackendAttributeName_t name)
{
    for (const rule &r : rules)
        if (r.of == of && r.name == name)
            return &r;
    return nullptr;
}

size_t element_size(cudnnBackendAttributeType_t type)
{
    switch (type) {
    case CUDNN_TYPE_CHAR:
    case CUDNN_TYPE_BOOLEAN:
        return 1;
    case CUDNN_TYPE_INT64:
    case CUDNN_TYPE_DOUBLE:
    case CUDNN_TYPE_VOID_PTR:
    case CUDNN_TYPE_HANDLE:
    case CUDNN_TYPE_BACKEND_DESCRIPTOR:
        return 8;
    default:
        return 4; /* floats, enumerations */
    }
}

std::shared_ptr<dnn_descriptor> find_descriptor(cudnnBackendDescriptor_t handle)
{
    return lib_find(static_cast<dnn_descriptor *>(handle));
}

cudnnStatus_t asked_to_fail(const char *function)
{
    int status = CUDNN_STATUS_SUCCESS;
    simgpu::asked_to_fail(function, &status);
    return static_cast<cudnnStatus_t>(status);
}

cudnnStatus_t set_parts(dnn_attribute &a, int64_t count, const void *values)
{
    auto *handles = static_cast<const cudnnBackendDescriptor_t *>(values);
    for (int64_t i = 0; i < count; i++) {
        auto part = handles[i] ? find_descriptor(handles[i]) : nullptr;
        if (!part)
            return dnn_say(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "part %d does not exist",
                           static_cast<int>(i));
        if (!part->finalized)
            return dnn_say(CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED, "part %d is not finalized",
                           static_cast<int>(i));
        a.parts.push_back(part);
    }
    return CUDNN_STATUS_SUCCESS;
}

/* Copy as many parts as wanted into descriptors that the program made for them. */
cudnnStatus_t get_parts(const dnn_attribute &a, int64_t wanted, void *values)
{
    auto *handles = static_cast<const cudnnBackendDescriptor_t *>(values);
    for (int64_t i = 0; i < wanted && i < a.count; i++) {
        auto into = find_descriptor(handles[i]);
        const dnn_descriptor &from = *a.parts[static_cast<size_t>(i)];
        if (!into || into->finalized || into->type != from.type)
            return dnn_say(CUDNN_STATUS_BAD_PARAM_DESCRIPTOR_TYPE,
                           "a part is read into no new descriptor of its type");
        *into = from;
    }
    return CUDNN_STATUS_SUCCESS;
}
} // namespace

cudnnStatus_t simgpu::dnn_say(cudnnStatus_t status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(last_error, sizeof last_error, format, arguments);
    va_end(arguments);
    return status;
}

extern "C" {

size_t cudnnGetVersion(void)
{
    return CUDNN_VERSION;
}

const char *cudnnGetErrorString(cudnnStatus_t status)
{
    return status == CUDNN_STATUS_SUCCESS           ? "CUDNN_STATUS_SUCCESS"
           : status < CUDNN_STATUS_BAD_PARAM        ? "CUDNN_STATUS_NOT_INITIALIZED"
           : status < CUDNN_STATUS_NOT_SUPPORTED    ? "CUDNN_STATUS_BAD_PARAM"
           : status < CUDNN_STATUS_INTERNAL_ERROR   ? "CUDNN_STATUS_NOT_SUPPORTED"
           : status < CUDNN_STATUS_EXECUTION_FAILED ? "CUDNN_STATUS_INTERNAL_ERROR"
                                                    : "CUDNN_STATUS_EXECUTION_FAILED";
}

void cudnnGetLastErrorString(char *text, size_t size)
{
    if (size)
        snprintf(text, size, "%s", last_error);
}

cudnnStatus_t cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t type,
                                           cudnnBackendDescriptor_t *out)
{
    guard held(the_machine().lock);
    if (cudnnStatus_t status = asked_to_fail("cudnnBackendCreateDescriptor"))
        return status;
    bool known = false;
    for (const rule &r : rules)
        known = known || r.of == type;
    if (!known)
        return dnn_say(CUDNN_STATUS_NOT_SUPPORTED, "the simulator has no descriptors of type %d",
                       type);
    auto made = std::make_shared<dnn_descriptor>();
    made->type = type;
    *out = lib_make(made);
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t handle)
{
    guard held(the_machine().lock);
    return lib_drop(handle) ? CUDNN_STATUS_SUCCESS
                            : dnn_say(CUDNN_STATUS_BAD_PARAM, "no such descriptor");
}

cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t handle,
                                       cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, int64_t count,
                                       const void *values)
{
    guard held(the_machine().lock);
    if (cudnnStatus_t status = asked_to_fail("cudnnBackendSetAttribute"))
        return status;
    auto d = find_descriptor(handle);
    if (!d || !values)
        return dnn_say(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "no descriptor or no values");
    if (d->finalized)
        return dnn_say(CUDNN_STATUS_BAD_PARAM, "attribute %d is set after finalizing", name);
    const rule *r = find_rule(d->type, name);
    if (!r || r->max == 0)
        return dnn_say(CUDNN_STATUS_NOT_SUPPORTED, "descriptor %d takes no attribute %d", d->type,
                       name);
    if (r->type != type)
        return dnn_say(CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE, "attribute %d has type %d, not %d",
                       name, r->type, type);
    if (count < r->min || count > r->max)
        return dnn_say(CUDNN_STATUS_BAD_PARAM_OUT_OF_BOUND, "attribute %d with %d elements", name,
                       static_cast<int>(count));
    dnn_attribute a;
    a.type = type;
    a.count = count;
    if (type == CUDNN_TYPE_BACKEND_DESCRIPTOR) {
        if (cudnnStatus_t status = set_parts(a, count, values))
            return status;
    } else {
        auto *bytes = static_cast<const unsigned char *>(values);
        a.bytes.assign(bytes, bytes + static_cast<size_t>(count) * element_size(type));
    }
    d->attributes[name] = std::move(a);
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendFinalize(cudnnBackendDescriptor_t handle)
{
    guard held(the_machine().lock);
    if (cudnnStatus_t status = asked_to_fail("cudnnBackendFinalize"))
        return status;
    auto d = find_descriptor(handle);
    if (!d)
        return dnn_say(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "no such descriptor");
    for (const rule &r : rules)
        if (r.of == d->type && r.required && !d->attributes.count(r.name))
            return dnn_say(CUDNN_STATUS_BAD_PARAM, "descriptor %d lacks attribute %d", d->type,
                           r.name);
    if (cudnnStatus_t status = dnn_restore_plan(*d))
        return status;
    if (cudnnStatus_t status = dnn_check(*d))
        return status;
    d->finalized = true;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendGetAttribute(const cudnnBackendDescriptor_t handle,
                                       cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, int64_t wanted,
                                       int64_t *count, void *values)
{
    guard held(the_machine().lock);
    if (cudnnStatus_t status = asked_to_fail("cudnnBackendGetAttribute"))
        return status;
    auto d = find_descriptor(handle);
    if (!d)
        return dnn_say(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "no such descriptor");
    if (!d->finalized)
        return dnn_say(CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED, "read before it is finalized");
    const rule *r = find_rule(d->type, name);
    if (!r || r->type != type)
        return dnn_say(CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE,
                       "descriptor %d has no attribute %d of type %d", d->type, name, type);
    dnn_attribute a;
    if (!dnn_computed(*d, name, &a)) {
        auto found = d->attributes.find(name);
        if (found != d->attributes.end())
            a = found->second;
    }
    if (count)
        *count = a.count;
    if (!values)
        return CUDNN_STATUS_SUCCESS;
    if (type == CUDNN_TYPE_BACKEND_DESCRIPTOR)
        return get_parts(a, wanted, values);
    std::copy_n(a.bytes.begin(),
                std::min(a.bytes.size(), static_cast<size_t>(wanted) * element_size(type)),
                static_cast<unsigned char *>(values));
    return CUDNN_STATUS_SUCCESS;
}

} /* extern "C" */
