/* SPDX-License-Identifier: MIT */
#include "engine/device/cuda/kernels/activation_math.h"
#include "engine/device/cuda/kernels/each.h"

struct function_identity {
    static __device__ float value(float x)
    {
        return x;
    }
};

struct function_relu {
    static __device__ float value(float x)
    {
        return relu(x);
    }
    static __device__ float backward(float y, float dy)
    {
        return relu_backward(y, dy);
    }
};

struct function_leaky_relu {
    float slope;

    __device__ float value(float x) const
    {
        return x > 0 ? x : x * slope;
    }
    __device__ float backward(float y, float dy) const
    {
        return y > 0 ? dy : dy * slope;
    }
};

struct function_sigmoid {
    static __device__ float value(float x)
    {
        return sigmoid(x);
    }
    static __device__ float backward(float y, float dy)
    {
        return sigmoid_backward(y, dy);
    }
};

struct function_tanh {
    static __device__ float value(float x)
    {
        return tanhf(x);
    }
    static __device__ float backward(float y, float dy)
    {
        return tanh_backward(y, dy);
    }
};

struct function_gelu {
    static __device__ float value(float x)
    {
        return gelu(x);
    }
    static __device__ float backward(float x, float dy)
    {
        return gelu_backward(x, dy);
    }
};

struct function_gelu_tanh {
    static __device__ float value(float x)
    {
        return gelu_tanh(x);
    }
    static __device__ float backward(float x, float dy)
    {
        return gelu_tanh_backward(x, dy);
    }
};

struct function_silu {
    static __device__ float value(float x)
    {
        return silu(x);
    }
    static __device__ float backward(float x, float dy)
    {
        return silu_backward(x, dy);
    }
};

struct function_hardswish {
    static __device__ float value(float x)
    {
        return hardswish(x);
    }
    static __device__ float backward(float x, float dy)
    {
        return hardswish_backward(x, dy);
    }
};

/* y = f(x + bias). The channels after the real ones stay zero, also where f(0) is not. */
template <typename F, typename T> struct activation_work : F {
    struct constants {
        float bias[pack<T>::size];
        int valid; /* of the pack's channels */
    };
    typedef pack<T> loaded;
    enum { bytes = sizeof(pack<T>) };
    const T *x;
    const float *bias;
    T *y;
    int real;

    __device__ constants prepare(uint32_t group) const
    {
        constants c;
        pack_channels(bias, group, c.bias);
        c.valid = real - (int)group * pack<T>::size;
        return c;
    }
    __device__ loaded load(size_t i) const
    {
        return pack_load(x, i);
    }
    __device__ void finish(size_t i, const loaded &in, const constants &c) const
    {
        float v[pack<T>::size];
        pack_numbers(in, v);
        for (int k = 0; k < pack<T>::size; k++)
            v[k] = k < c.valid ? this->value(v[k] + c.bias[k]) : 0;
        pack_store(y, i, v);
    }
};

template <typename F, typename T>
static cudaError_t forward_typed(cudaStream_t s, struct tensor_shape shape, const void *x,
                                 const float *bias, void *y, const F &f)
{
    activation_work<F, T> work;
    (F &)work = f;
    work.x = (const T *)x;
    work.bias = bias;
    work.y = (T *)y;
    work.real = shape.real;
    return each_of_tensor<T>(s, work, shape);
}

template <typename F>
static cudaError_t forward(cudaStream_t s, enum cuda_type type, struct tensor_shape shape,
                           const void *x, const float *bias, void *y, const F &f = F())
{
    return type == CUDA_BF16 ? forward_typed<F, uint16_t>(s, shape, x, bias, y, f)
                             : forward_typed<F, float>(s, shape, x, bias, y, f);
}

extern "C" cudaError_t kernel_activation(cudaStream_t s, enum cuda_type type, enum activation f,
                                         struct tensor_shape shape, const void *x,
                                         const float *bias, void *y)
{
    switch (f) {
    case ACTIVATION_RELU:
        return forward<function_relu>(s, type, shape, x, bias, y);
    case ACTIVATION_SIGMOID:
        return forward<function_sigmoid>(s, type, shape, x, bias, y);
    case ACTIVATION_TANH:
        return forward<function_tanh>(s, type, shape, x, bias, y);
    case ACTIVATION_GELU:
        return forward<function_gelu>(s, type, shape, x, bias, y);
    case ACTIVATION_GELU_TANH:
        return forward<function_gelu_tanh>(s, type, shape, x, bias, y);
    case ACTIVATION_SILU:
        return forward<function_silu>(s, type, shape, x, bias, y);
    case ACTIVATION_HARDSWISH:
        return forward<function_hardswish>(s, type, shape, x, bias, y);
    }
    return cudaErrorInvalidValue;
}

extern "C" cudaError_t kernel_bias(cudaStream_t s, enum cuda_type type, struct tensor_shape shape,
                                   const void *x, const float *bias, void *y)
{
    return forward<function_identity>(s, type, shape, x, bias, y);
}

/* `kept` is what the function's backward() computes from: its result, or what it was applied to. */
template <typename F, typename T> struct activation_backward_work : F {
    typedef each_nothing constants;
    struct loaded {
        pack<T> kept, dy;
    };
    enum { bytes = 2 * sizeof(pack<T>) };
    const T *kept, *dy;
    T *dx;

    __device__ constants prepare(uint32_t) const
    {
        return constants();
    }
    __device__ loaded load(size_t i) const
    {
        loaded in;
        in.kept = pack_load(kept, i);
        in.dy = pack_load(dy, i);
        return in;
    }
    __device__ void finish(size_t i, const loaded &in, const constants &) const
    {
        float v[pack<T>::size], d[pack<T>::size];
        pack_numbers(in.kept, v);
        pack_numbers(in.dy, d);
        for (int k = 0; k < pack<T>::size; k++)
            d[k] = this->backward(v[k], d[k]);
        pack_store(dx, i, d);
    }
};

template <typename F, typename T>
static cudaError_t backward_typed(cudaStream_t s, size_t count, const void *kept, const void *dy,
                                  void *dx, const F &f)
{
    activation_backward_work<F, T> work;
    (F &)work = f;
    work.kept = (const T *)kept;
    work.dy = (const T *)dy;
    work.dx = (T *)dx;
    return each_launch(s, work, count / pack<T>::size, 1);
}

template <typename F>
static cudaError_t backward(cudaStream_t s, enum cuda_type type, size_t count, const void *kept,
                            const void *dy, void *dx, const F &f = F())
{
    return type == CUDA_BF16 ? backward_typed<F, uint16_t>(s, count, kept, dy, dx, f)
                             : backward_typed<F, float>(s, count, kept, dy, dx, f);
}

extern "C" cudaError_t kernel_activation_backward(cudaStream_t s, enum cuda_type type,
                                                  enum activation f, struct tensor_shape shape,
                                                  const void *kept, const void *dy, void *dx)
{
    const size_t count = tensor_size(shape);
    switch (f) {
    case ACTIVATION_RELU:
        return backward<function_relu>(s, type, count, kept, dy, dx);
    case ACTIVATION_SIGMOID:
        return backward<function_sigmoid>(s, type, count, kept, dy, dx);
    case ACTIVATION_TANH:
        return backward<function_tanh>(s, type, count, kept, dy, dx);
    case ACTIVATION_GELU:
        return backward<function_gelu>(s, type, count, kept, dy, dx);
    case ACTIVATION_GELU_TANH:
        return backward<function_gelu_tanh>(s, type, count, kept, dy, dx);
    case ACTIVATION_SILU:
        return backward<function_silu>(s, type, count, kept, dy, dx);
    case ACTIVATION_HARDSWISH:
        return backward<function_hardswish>(s, type, count, kept, dy, dx);
    }
    return cudaErrorInvalidValue;
}

extern "C" cudaError_t kernel_leaky_relu(cudaStream_t s, enum cuda_type type, float slope,
                                         struct tensor_shape shape, const void *x, void *y)
{
    function_leaky_relu f;
    f.slope = slope;
    return forward(s, type, shape, x, NULL, y, f);
}

extern "C" cudaError_t kernel_leaky_relu_backward(cudaStream_t s, enum cuda_type type, float slope,
                                                  struct tensor_shape shape, const void *y,
                                                  const void *dy, void *dx)
{
    function_leaky_relu f;
    f.slope = slope;
    return backward(s, type, tensor_size(shape), y, dy, dx, f);
}
