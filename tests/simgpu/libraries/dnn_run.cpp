/* SPDX-License-Identifier: MIT */
#include "tests/simgpu/libraries/dnn.hpp"
#include "tests/simgpu/numbers.hpp"

/* Running graphs of cuDNN's, operation by operation. Long sums are f64, or f32 within a picture. */

using namespace simgpu;

namespace
{
#define ATTR(NAME) CUDNN_ATTR_OPERATION_##NAME
#define KIND(NAME) CUDNN_BACKEND_OPERATION_##NAME##_DESCRIPTOR
struct values {
    dnn_tensor shape;
    std::vector<float> v; /* n, h, w, c */
    /* The channels of a pixel. */
    float *at(int64_t n, int64_t h, int64_t w)
    {
        return v.data() + ((n * shape.h + h) * shape.w + w) * shape.c;
    }
    /* Values from a picture, or a filter, to the next. */
    int64_t apart() const
    {
        return shape.h * shape.w * shape.c;
    }
};

class graph_run
{
  public:
    graph_run(int64_t engine, const std::map<int64_t, void *> &given)
        : tensor_cores(engine == 0),
          adds(the_machine().adding_engines.count(static_cast<int>(engine)) > 0),
          leaves_out(the_machine().wrong_engines.count(static_cast<int>(engine)) > 0),
          pointers(given)
    {
    }
    void operate(const dnn_descriptor &d);

  private:
    values &read(const dnn_descriptor *tensor);
    values make(const dnn_descriptor *tensor) const;
    void write(values &&result);
    void scale_and_write(values &&result, float alpha, float beta);
    values &factors(const dnn_descriptor *tensor, values *rounded);
    void forward(const dnn_descriptor &d);
    void backward_data(const dnn_descriptor &d);
    void backward_filter(const dnn_descriptor &d);
    void pointwise(const dnn_descriptor &d);
    void sums(const dnn_descriptor *x, const dnn_descriptor *sum, const dnn_descriptor *squares);
    bool tensor_cores, adds, leaves_out;
    const std::map<int64_t, void *> &pointers;
    std::map<int64_t, values> known;
};

UNCHECKED void widen(float *to, const uint16_t *from, size_t count)
{
    for (size_t i = 0; i < count; i++)
        to[i] = from_bf16(from[i]);
}

UNCHECKED void narrow(uint16_t *to, const float *from, size_t count)
{
    for (size_t i = 0; i < count; i++)
        to[i] = to_bf16(from[i]);
}

/* Space for its values in bf16: sanitizers see the program's memory where it is copied. */
uint16_t *bits_of(const values &t)
{
    static thread_local std::vector<uint16_t> bits;
    if (bits.size() < t.v.size())
        bits.resize(t.v.size());
    return bits.data();
}

UNCHECKED void round_factors(float *x, size_t count)
{
    for (size_t i = 0; i < count; i++)
        x[i] = round_tf32(x[i]);
}

UNCHECKED void scale_and_add(float *to, float alpha, float beta, const float *before, size_t count)
{
    for (size_t i = 0; i < count; i++)
        to[i] = alpha * to[i] + (before ? beta * before[i] : 0);
}

void load(values &t, const void *from)
{
    if (!t.shape.bf16) {
        memcpy(t.v.data(), from, t.shape.bytes());
        return;
    }
    uint16_t *bits = bits_of(t);
    memcpy(bits, from, t.shape.bytes());
    widen(t.v.data(), bits, t.v.size());
}

void store(values &t, void *to)
{
    if (!t.shape.bf16) {
        memcpy(to, t.v.data(), t.shape.bytes());
        return;
    }
    uint16_t *bits = bits_of(t);
    narrow(bits, t.v.data(), t.v.size());
    memcpy(to, bits, t.shape.bytes());
    widen(t.v.data(), bits, t.v.size());
}

values graph_run::make(const dnn_descriptor *tensor) const
{
    values t;
    t.shape = dnn_tensor_of(*tensor);
    t.v.resize(t.shape.count());
    return t;
}

values &graph_run::read(const dnn_descriptor *tensor)
{
    int64_t id = dnn_tensor_of(*tensor).id;
    auto found = known.find(id);
    if (found != known.end())
        return found->second;
    values t = make(tensor);
    load(t, pointers.at(id));
    return known[id] = std::move(t);
}

void graph_run::write(values &&result)
{
    int64_t id = result.shape.id;
    if (!result.shape.is_virtual)
        store(result, pointers.at(id));
    known[id] = std::move(result);
}

void graph_run::scale_and_write(values &&result, float alpha, float beta)
{
    values before;
    if (beta != 0) {
        before = result;
        load(before, pointers.at(result.shape.id));
    }
    if (leaves_out)
        alpha *= 0.75f;
    if (alpha != 1 || beta != 0)
        scale_and_add(result.v.data(), alpha, beta, beta != 0 ? before.v.data() : nullptr,
                      result.v.size());
    write(std::move(result));
}

/* Factors as engines take them: those that tensor cores round are put into *rounded. */
values &graph_run::factors(const dnn_descriptor *tensor, values *rounded)
{
    values &t = read(tensor);
    if (!tensor_cores || t.shape.bf16)
        return t;
    *rounded = t;
    round_factors(rounded->v.data(), rounded->v.size());
    return *rounded;
}

/* Calls what(pixel of x, tap, pixel of y) for every product of a picture, y by y. */
template <typename F>
void each_tap(const dnn_descriptor &geometry, const dnn_tensor &x, const dnn_tensor &w,
              const dnn_tensor &y, F what)
{
    auto pads = geometry.values<int64_t>(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS);
    auto strides = geometry.values<int64_t>(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES);
    auto dilations = geometry.values<int64_t>(CUDNN_ATTR_CONVOLUTION_DILATIONS);
    for (int64_t oh = 0; oh < y.h; oh++)
        for (int64_t ow = 0; ow < y.w; ow++)
            for (int64_t kh = 0; kh < w.h; kh++)
                for (int64_t kw = 0; kw < w.w; kw++) {
                    int64_t ih = oh * strides[0] - pads[0] + kh * dilations[0];
                    int64_t iw = ow * strides[1] - pads[1] + kw * dilations[1];
                    if (ih >= 0 && ih < x.h && iw >= 0 && iw < x.w)
                        what(ih, iw, kh, kw, oh, ow);
                }
}

/* The products themselves, of one pixel with `filters` rows of weights that lie `apart` values from
 * one another, which each_tap has kept inside the picture. */
UNCHECKED void add_dots(float *to, const float *x, const float *weights, int64_t filters,
                        int64_t apart, int64_t count)
{
    for (int64_t k = 0; k < filters; k++) {
        float sum = 0;
#pragma omp simd reduction(+ : sum)
        for (int64_t i = 0; i < count; i++)
            sum += x[i] * weights[k * apart + i];
        to[k] += sum;
    }
}

UNCHECKED void add_rows(float *to, const float *weights, const float *factors, int64_t filters,
                        int64_t apart, int64_t count, bool backwards)
{
    for (int64_t n = 0; n < filters; n++) {
        int64_t k = backwards ? filters - 1 - n : n;
#pragma omp simd
        for (int64_t i = 0; i < count; i++)
            to[i] += factors[k] * weights[k * apart + i];
    }
}

UNCHECKED void add_outer(float *weights, const float *x, const float *factors, int64_t filters,
                         int64_t apart, int64_t count)
{
    for (int64_t k = 0; k < filters; k++)
#pragma omp simd
        for (int64_t i = 0; i < count; i++)
            weights[k * apart + i] += factors[k] * x[i];
}

void graph_run::forward(const dnn_descriptor &d)
{
    values rounded[2];
    values &x = factors(d.part(ATTR(CONVOLUTION_FORWARD_X)), &rounded[0]);
    values &w = factors(d.part(ATTR(CONVOLUTION_FORWARD_W)), &rounded[1]);
    values y = make(d.part(ATTR(CONVOLUTION_FORWARD_Y)));
    const dnn_descriptor &geometry = *d.part(ATTR(CONVOLUTION_FORWARD_CONV_DESC));
    for (int64_t n = 0; n < x.shape.n; n++)
        each_tap(geometry, x.shape, w.shape, y.shape,
                 [&](int64_t ih, int64_t iw, int64_t kh, int64_t kw, int64_t oh, int64_t ow) {
                     float *to = y.at(n, oh, ow);
                     const float *from = x.at(n, ih, iw);
                     add_dots(to, from, w.at(0, kh, kw), w.shape.n, w.apart(), x.shape.c);
                 });
    scale_and_write(std::move(y), d.value(ATTR(CONVOLUTION_FORWARD_ALPHA), 1.0f),
                    d.value(ATTR(CONVOLUTION_FORWARD_BETA), 0.0f));
}

void graph_run::backward_data(const dnn_descriptor &d)
{
    values rounded[2];
    values &y = factors(d.part(ATTR(CONVOLUTION_BWD_DATA_DY)), &rounded[0]);
    values &w = factors(d.part(ATTR(CONVOLUTION_BWD_DATA_W)), &rounded[1]);
    values x = make(d.part(ATTR(CONVOLUTION_BWD_DATA_DX)));
    const dnn_descriptor &geometry = *d.part(ATTR(CONVOLUTION_BWD_DATA_CONV_DESC));
    bool backwards = tensor_cores && random_number(2);
    for (int64_t n = 0; n < x.shape.n; n++)
        each_tap(geometry, x.shape, w.shape, y.shape,
                 [&](int64_t ih, int64_t iw, int64_t kh, int64_t kw, int64_t oh, int64_t ow) {
                     float *to = x.at(n, ih, iw);
                     const float *from = y.at(n, oh, ow);
                     add_rows(to, w.at(0, kh, kw), from, w.shape.n, w.apart(), x.shape.c,
                              backwards);
                 });
    scale_and_write(std::move(x), d.value(ATTR(CONVOLUTION_BWD_DATA_ALPHA), 1.0f),
                    d.value(ATTR(CONVOLUTION_BWD_DATA_BETA), 0.0f));
}

void graph_run::backward_filter(const dnn_descriptor &d)
{
    values rounded[2];
    values &x = factors(d.part(ATTR(CONVOLUTION_BWD_FILTER_X)), &rounded[0]);
    values &y = factors(d.part(ATTR(CONVOLUTION_BWD_FILTER_DY)), &rounded[1]);
    values w = make(d.part(ATTR(CONVOLUTION_BWD_FILTER_DW)));
    const dnn_descriptor &geometry = *d.part(ATTR(CONVOLUTION_BWD_FILTER_CONV_DESC));
    /* f32 within a group of pictures, as blocks of a GPU do; where groups begin is left to luck. */
    int64_t group = tensor_cores ? 1 + random_number(4) : 1;
    std::vector<double> sums(w.v.size());
    for (int64_t n = 0; n < x.shape.n; n++) {
        each_tap(geometry, x.shape, w.shape, y.shape,
                 [&](int64_t ih, int64_t iw, int64_t kh, int64_t kw, int64_t oh, int64_t ow) {
                     const float *from = x.at(n, ih, iw), *g = y.at(n, oh, ow);
                     add_outer(w.at(0, kh, kw), from, g, w.shape.n, w.apart(), x.shape.c);
                 });
        if (n % group != group - 1 && n != x.shape.n - 1)
            continue;
        for (size_t i = 0; i < sums.size(); i++) {
            sums[i] += static_cast<double>(w.v[i]);
            w.v[i] = 0;
        }
    }
    for (size_t i = 0; i < sums.size(); i++)
        w.v[i] = static_cast<float>(sums[i]);
    scale_and_write(std::move(w), d.value(ATTR(CONVOLUTION_BWD_FILTER_ALPHA), 1.0f),
                    d.value(ATTR(CONVOLUTION_BWD_FILTER_BETA), 0.0f));
}

float apply(cudnnPointwiseMode_t mode, float x, float b)
{
    switch (mode) {
    case CUDNN_POINTWISE_ADD:
        return x + b;
    case CUDNN_POINTWISE_RELU_FWD:
        return x > 0 ? x : 0;
    default:
        return x;
    }
}

void graph_run::pointwise(const dnn_descriptor &d)
{
    auto mode = d.part(ATTR(POINTWISE_PW_DESCRIPTOR))
                    ->value(CUDNN_ATTR_POINTWISE_MODE, CUDNN_POINTWISE_IDENTITY);
    const dnn_descriptor *second = d.part(ATTR(POINTWISE_BDESC));
    values &x = read(d.part(ATTR(POINTWISE_XDESC)));
    values *b = second ? &read(second) : nullptr;
    values y = make(d.part(ATTR(POINTWISE_YDESC)));
    const dnn_tensor &s = x.shape;
    for (int64_t n = 0; n < s.n; n++)
        for (int64_t h = 0; h < s.h; h++)
            for (int64_t w = 0; w < s.w; w++) {
                const float *from = x.at(n, h, w), *other = nullptr;
                float *to = y.at(n, h, w);
                if (b)
                    other = b->at(b->shape.n > 1 ? n : 0, b->shape.h > 1 ? h : 0,
                                  b->shape.w > 1 ? w : 0);
                for (int64_t c = 0; c < s.c; c++)
                    to[c] = apply(mode, from[c], b ? other[b->shape.c > 1 ? c : 0] : 0);
            }
    write(std::move(y));
}

void graph_run::sums(const dnn_descriptor *input, const dnn_descriptor *sum,
                     const dnn_descriptor *squares)
{
    values &x = read(input);
    auto channels = static_cast<size_t>(x.shape.c);
    std::vector<double> totals(channels), square_totals(channels);
    for (size_t i = 0; i < x.v.size(); i++) {
        double v = static_cast<double>(x.v[i]);
        totals[i % channels] += v;
        square_totals[i % channels] += v * v;
    }
    auto put = [&](const dnn_descriptor *tensor, const std::vector<double> &from) {
        values t = make(tensor);
        if (adds)
            load(t, pointers.at(t.shape.id));
        for (size_t c = 0; c < channels; c++)
            t.v[c] = static_cast<float>(from[c]) + (adds ? t.v[c] : 0);
        write(std::move(t));
    };
    put(sum, totals);
    put(squares, square_totals);
}

void graph_run::operate(const dnn_descriptor &d)
{
    switch (d.type) {
    case KIND(CONVOLUTION_FORWARD):
        return forward(d);
    case KIND(CONVOLUTION_BACKWARD_DATA):
        return backward_data(d);
    case KIND(CONVOLUTION_BACKWARD_FILTER):
        return backward_filter(d);
    case KIND(POINTWISE):
        return pointwise(d);
    case KIND(GEN_STATS):
        return sums(d.part(ATTR(GENSTATS_XDESC)), d.part(ATTR(GENSTATS_SUMDESC)),
                    d.part(ATTR(GENSTATS_SQSUMDESC)));
    default:
        return;
    }
}
} // namespace

void simgpu::dnn_run(const dnn_descriptor &graph, int64_t engine,
                     const std::map<int64_t, void *> &pointers)
{
    graph_run run(engine, pointers);
    for (const auto &operation : graph.attributes.at(CUDNN_ATTR_OPERATIONGRAPH_OPS).parts)
        run.operate(*operation);
}
