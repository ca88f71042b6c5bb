/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_TESTS_SIMGPU_DNN_HPP
#define DPARTUI_TESTS_SIMGPU_DNN_HPP

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <vector>

#include <cudnn.h>

#include "tests/simgpu/machine.hpp"

/*
 * A stand-in for cuDNN's graph API. Descriptors are checked as the real ones are when they are
 * finalized; graphs run operation by operation with plain loops, in f32, rounded to bf16 where a
 * tensor that is not virtual is bf16.
 *
 * There are three engines. 0 uses "tensor cores": factors that are f32 are rounded to TF32; it
 * wants a workspace, which it overwrites; the gradients' sums change their order from run to run. 1
 * is exact and repeatable. 2 is as 1, for graphs of several operations, and is "compiled" when a
 * plan is made.
 */
struct cudnnContext {
    int device;
    cudaStream_t stream;
};

namespace simgpu
{

struct dnn_attribute {
    cudnnBackendAttributeType_t type;
    int64_t count = 0;
    std::vector<unsigned char> bytes;                          /* of values */
    std::vector<std::shared_ptr<struct dnn_descriptor>> parts; /* of descriptors */
};

struct dnn_descriptor {
    cudnnBackendDescriptorType_t type;
    bool finalized = false;
    std::map<int, dnn_attribute> attributes;

    template <typename T> std::vector<T> values(cudnnBackendAttributeName_t name) const
    {
        auto found = attributes.find(name);
        if (found == attributes.end())
            return {};
        const auto &bytes = found->second.bytes;
        std::vector<T> list(bytes.size() / sizeof(T));
        std::copy_n(bytes.begin(), list.size() * sizeof(T),
                    reinterpret_cast<unsigned char *>(list.data()));
        return list;
    }
    template <typename T> T value(cudnnBackendAttributeName_t name, T otherwise) const
    {
        std::vector<unsigned char> bytes = values<unsigned char>(name);
        if (bytes.size() < sizeof(T))
            return otherwise;
        memcpy(&otherwise, bytes.data(), sizeof(T));
        return otherwise;
    }
    const dnn_descriptor *part(cudnnBackendAttributeName_t name) const
    {
        auto found = attributes.find(name);
        return found == attributes.end() ? nullptr : found->second.parts.at(0).get();
    }
};

/* dnn_descriptor.cpp: keep the text for cudnnGetLastErrorString; returns status. */
cudnnStatus_t dnn_say(cudnnStatus_t status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Tensors are NHWC, filters KRSC; dims in the order n, c, h, w. */
struct dnn_tensor {
    int64_t id, n, c, h, w;
    bool bf16, is_virtual;
    int64_t alignment;
    size_t count() const
    {
        return static_cast<size_t>(n * c * h * w);
    }
    size_t bytes() const
    {
        return count() * (bf16 ? 2 : 4);
    }
};
dnn_tensor dnn_tensor_of(const dnn_descriptor &tensor);

/* What an operation reads and writes: names of attributes; those of reads that are not set are
 * left out. */
struct dnn_signature {
    cudnnBackendDescriptorType_t type;
    std::vector<cudnnBackendAttributeName_t> reads, writes;
};
const dnn_signature *dnn_signature_of(const dnn_descriptor &operation);

/* dnn_graph.cpp: the meaning of a descriptor whose attributes are all there. */
cudnnStatus_t dnn_check(const dnn_descriptor &d);
/* dnn_plan.cpp: the same for engines, configurations and plans. */
cudnnStatus_t dnn_check_plan(const dnn_descriptor &d);
/* A plan given as text becomes what it was when the text was read from it. */
cudnnStatus_t dnn_restore_plan(dnn_descriptor &d);
/* Parts of a plan: its configuration; of that its graph and the bytes of workspace it wants. */
const dnn_descriptor &dnn_config_of(const dnn_descriptor &plan);
const dnn_descriptor &dnn_graph_of(const dnn_descriptor &config);
int64_t dnn_workspace_of(const dnn_descriptor &config);
/* The number of an engine. */
int64_t dnn_engine_of(const dnn_descriptor &engine);
/* Attributes that are computed, not set. False: none of that name. */
bool dnn_computed(const dnn_descriptor &d, cudnnBackendAttributeName_t name, dnn_attribute *out);

/* dnn_run.cpp: run a graph; `pointers` by tensor. */
void dnn_run(const dnn_descriptor &graph, int64_t engine,
             const std::map<int64_t, void *> &pointers);

} // namespace simgpu

#endif
