/* SPDX-License-Identifier: MIT */

/*
 * The simulated GPU's cuDNN and cuBLASLt, by way of the backend's own use of them, against
 * sums written down as the definitions have them.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <check.h>

#include "engine/device/cuda/dnn/conv/plan.h"
#include "engine/device/cuda/dnn/matmul.h"
#include "tests/simgpu/simgpu.h"
#include "tests/suites.h"

#define must(CALL)      ck_assert_int_eq((int)(CALL), 0)
#define must_true(CALL) ck_assert_msg(CALL, "%s", err.text)

static void fresh_machine(void)
{
    simgpu_reset(NULL);
}

/* Numbers that bf16 holds exactly, small enough that sums of them are exact in f32. */
static float made_number(size_t i, unsigned which)
{
    return (float)((int)((i * 2654435761u + which * 97u) >> 7 & 15) - 8) / 8;
}

struct buffer {
    size_t count;
    bool bf16;
    float *host;
    void *device;
};

static void upload(struct buffer *b)
{
    uint16_t *narrow = malloc(b->count * sizeof *narrow);
    ck_assert_ptr_nonnull(narrow);
    for (size_t i = 0; i < b->count; i++) {
        uint32_t bits;
        memcpy(&bits, &b->host[i], sizeof bits);
        narrow[i] = (uint16_t)(bits >> 16);
    }
    must(cudaMemcpy(b->device, b->bf16 ? (void *)narrow : b->host, b->count * (b->bf16 ? 2 : 4),
                    cudaMemcpyHostToDevice));
    free(narrow);
}

static void download(struct buffer *b)
{
    uint16_t *narrow = malloc(b->count * sizeof *narrow);
    ck_assert_ptr_nonnull(narrow);
    must(cudaMemcpy(b->bf16 ? (void *)narrow : b->host, b->device, b->count * (b->bf16 ? 2 : 4),
                    cudaMemcpyDeviceToHost));
    for (size_t i = 0; b->bf16 && i < b->count; i++) {
        uint32_t bits = (uint32_t)narrow[i] << 16;
        memcpy(&b->host[i], &bits, sizeof bits);
    }
    free(narrow);
}

static struct buffer make_buffer(size_t count, bool bf16, unsigned which)
{
    struct buffer b = {.count = count, .bf16 = bf16};
    b.host = malloc(count * sizeof *b.host);
    ck_assert_ptr_nonnull(b.host);
    for (size_t i = 0; i < count; i++)
        b.host[i] = made_number(i, which);
    must(cudaMalloc(&b.device, count * (bf16 ? 2 : 4)));
    upload(&b);
    return b;
}

static void free_buffer(struct buffer *b)
{
    must(cudaFree(b->device));
    free(b->host);
}

/* Exact results, or rounded once to bf16. */
static void check_close(const struct buffer *b, const double *expected, const char *what)
{
    for (size_t i = 0; i < b->count; i++) {
        double tolerance = fabs(expected[i]) * (b->bf16 ? 0x1p-8 : 0x1p-22) + 1e-30;
        ck_assert_msg(fabs((double)b->host[i] - expected[i]) <= tolerance,
                      "%s[%zu]: %.9g, not %.9g", what, i, (double)b->host[i], expected[i]);
    }
}

/* Convolutions */

/* f(index of x, of w, of y) for every product of the convolution. */
static void each_product(const struct conv_request *r,
                         void (*f)(void *context, size_t x, size_t w, size_t y), void *context)
{
    for (int n = 0; n < r->rows; n++)
        for (int oh = 0; oh < r->out_h; oh++)
            for (int ow = 0; ow < r->out_w; ow++)
                for (int k = 0; k < r->out; k++)
                    for (int kh = 0; kh < r->kernel_h; kh++)
                        for (int kw = 0; kw < r->kernel_w; kw++)
                            for (int c = 0; c < r->in; c++) {
                                int ih = oh * r->stride_h - r->pad_h + kh * r->dilation_h;
                                int iw = ow * r->stride_w - r->pad_w + kw * r->dilation_w;
                                if (ih < 0 || iw < 0 || ih >= r->in_h || iw >= r->in_w)
                                    continue;
                                f(context,
                                  (size_t)(((n * r->in_h + ih) * r->in_w + iw) * r->in + c),
                                  (size_t)(((k * r->kernel_h + kh) * r->kernel_w + kw) * r->in + c),
                                  (size_t)(((n * r->out_h + oh) * r->out_w + ow) * r->out + k));
                            }
}

struct convolution {
    struct conv_request request;
    struct buffer x, w, y, bias, sums, squares;
    double *expected; /* of the result */
};

static void add_forward(void *context, size_t x, size_t w, size_t y)
{
    struct convolution *c = context;
    c->expected[y] += (double)c->x.host[x] * (double)c->w.host[w];
}

static void add_data(void *context, size_t x, size_t w, size_t y)
{
    struct convolution *c = context;
    c->expected[x] += (double)c->y.host[y] * (double)c->w.host[w];
}

static void add_weights(void *context, size_t x, size_t w, size_t y)
{
    struct convolution *c = context;
    c->expected[w] += (double)c->x.host[x] * (double)c->y.host[y];
}

static struct conv_request some_convolution(enum conv_pattern pattern, enum number_type type,
                                            int stride)
{
    return (struct conv_request){
        .pattern = pattern,
        .type = type,
        .rows = 3,
        .in = 8,
        .in_h = 6,
        .in_w = 5,
        .out = 16,
        .out_h = (6 - 1) / stride + 1,
        .out_w = (5 - 1) / stride + 1,
        .kernel_h = 3,
        .kernel_w = 3,
        .stride_h = stride,
        .stride_w = stride,
        .pad_h = 1,
        .pad_w = 1,
        .dilation_h = 1,
        .dilation_w = 1,
    };
}

static void make_convolution(struct convolution *c, const struct conv_request *r)
{
    bool bf16 = r->type == TYPE_BF16;
    size_t x = (size_t)(r->rows * r->in_h * r->in_w * r->in);
    size_t w = (size_t)(r->out * r->kernel_h * r->kernel_w * r->in);
    size_t y = (size_t)(r->rows * r->out_h * r->out_w * r->out);
    size_t channels = (size_t)r->out;
    c->request = *r;
    c->x = make_buffer(x, bf16, 1);
    c->w = make_buffer(w, bf16, 2);
    c->y = make_buffer(y, bf16, 3);
    c->bias = make_buffer(channels, false, 6);
    c->sums = make_buffer(channels, false, 7);
    c->squares = make_buffer(channels, false, 8);
    c->expected = calloc(x + w + y, sizeof *c->expected);
    ck_assert_ptr_nonnull(c->expected);
}

static void free_convolution(struct convolution *c)
{
    struct buffer *all[] = {&c->x, &c->w, &c->y, &c->bias, &c->sums, &c->squares};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free_buffer(all[i]);
    free(c->expected);
}

static struct buffer *expect(struct convolution *c)
{
    const struct conv_request *r = &c->request;
    if (r->pattern == CONV_WEIGHTS) {
        each_product(r, add_weights, c);
        return &c->w;
    }
    if (r->pattern == CONV_DATA) {
        each_product(r, add_data, c);
        return &c->x;
    }
    each_product(r, add_forward, c);
    for (size_t i = 0; i < c->y.count; i++) {
        double *v = &c->expected[i];
        if (r->pattern == CONV_FORWARD_BIAS)
            *v += (double)c->bias.host[i % c->bias.count];
        if (r->relu && *v < 0)
            *v = 0;
    }
    return &c->y;
}

static void check_sums(struct convolution *c, const struct buffer *result)
{
    size_t channels = c->sums.count;
    double sums[16] = {0}, squares[16] = {0};
    for (size_t i = 0; i < result->count; i++) {
        double v = c->expected[i];
        sums[i % channels] += v;
        squares[i % channels] += v * v;
    }
    download(&c->sums);
    download(&c->squares);
    check_close(&c->sums, sums, "sums");
    check_close(&c->squares, squares, "squares");
}

/* Plan, run, compare. Returns the plan's name; the caller frees it. */
static char *try_convolution(const struct conv_request *request, bool autotune)
{
    struct error err = ERROR_INIT;
    struct convolution c;
    struct conv_plan *plan;
    cudaStream_t stream;
    void *workspace = NULL;
    const struct cudnn_api *api = cudnn_open(&err);
    must_true(api);
    must(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    struct conv_maker maker = {
        .api = api, .stream = stream, .autotune = autotune, .workspace_limit = 1 << 24};
    must(api->Create(&maker.handle));
    must(api->SetStream(maker.handle, stream));
    make_convolution(&c, request);
    struct buffer *result = expect(&c);
    must_true(conv_plan_create(&maker, request, &plan, &err));
    if (conv_plan_workspace(plan))
        must(cudaMalloc(&workspace, conv_plan_workspace(plan)));
    struct conv_tensors tensors = {c.x.device,    c.w.device,    c.y.device,
                                   c.bias.device, c.sums.device, c.squares.device};
    must_true(conv_plan_run(plan, maker.handle, &tensors, workspace, &err));
    must(cudaStreamSynchronize(stream));
    download(result);
    check_close(result, c.expected, "result");
    if (request->pattern == CONV_FORWARD_STATS)
        check_sums(&c, result);
    char *name = strdup(conv_plan_name(plan));
    conv_plan_destroy(plan);
    must(cudaFree(workspace));
    free_convolution(&c);
    must(api->Destroy(maker.handle));
    must(cudaStreamDestroy(stream));
    ck_assert_msg(simgpu_faults() == 0, "%s", simgpu_first_fault());
    ck_assert_int_eq(simgpu_live_objects(), 0);
    return name;
}

START_TEST(test_convolutions)
{
    static const enum number_type types[] = {TYPE_F32, TYPE_TF32, TYPE_BF16};
    for (int t = 0; t < 3; t++)
        for (int stride = 1; stride <= 2; stride++)
            for (int relu = 0; relu <= (_i == CONV_FORWARD_BIAS); relu++) {
                struct conv_request r = some_convolution((enum conv_pattern)_i, types[t], stride);
                r.relu = relu;
                free(try_convolution(&r, false));
            }
}
END_TEST

/* Exact f32 and deterministic gradients take the engine that can; others the first. */
START_TEST(test_engines)
{
    struct conv_request r = some_convolution(CONV_WEIGHTS, TYPE_BF16, 1);
    char *name = try_convolution(&r, false);
    ck_assert_int_eq(strncmp(name, "eng0", 4), 0);
    free(name);
    r.deterministic = true;
    name = try_convolution(&r, false);
    ck_assert_str_eq(name, "eng1");
    free(name);
    r = some_convolution(CONV_FORWARD, TYPE_F32, 1);
    name = try_convolution(&r, false);
    ck_assert_str_eq(name, "eng1");
    free(name);
    r.type = TYPE_BF16;
    simgpu_refuse_engine(0, true);
    name = try_convolution(&r, false);
    ck_assert_str_eq(name, "eng1");
    free(name);
}
END_TEST

START_TEST(test_tuning)
{
    struct conv_request r = some_convolution(CONV_FORWARD, TYPE_BF16, 1);
    free(try_convolution(&r, true));
    /* Three plans, each checked and timed; how often depends on the time they take. */
    ck_assert_int_ge(simgpu_calls("cudnnBackendExecute"), 6);
}
END_TEST

/* What cuDNN does not take is refused here, too. */
START_TEST(test_bad_descriptors)
{
    struct error err = ERROR_INIT;
    const struct cudnn_api *api = cudnn_open(&err);
    must_true(api);
    cudnnBackendDescriptor_t tensor;
    int64_t dims[4] = {1, 8, 2, 2}, strides[4] = {32, 4, 2, 1}, alignment = 16, id = 1;
    cudnnDataType_t type = CUDNN_DATA_FLOAT;
    must(api->BackendCreateDescriptor(CUDNN_BACKEND_TENSOR_DESCRIPTOR, &tensor));
    must(api->BackendSetAttribute(tensor, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1,
                                  &type));
    ck_assert_int_eq(api->BackendFinalize(tensor), CUDNN_STATUS_BAD_PARAM);
    ck_assert_int_eq(
        api->BackendSetAttribute(tensor, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_FLOAT, 4, dims),
        CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE);
    must(api->BackendSetAttribute(tensor, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 4, dims));
    must(api->BackendSetAttribute(tensor, CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, 4, strides));
    must(api->BackendSetAttribute(tensor, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, 1,
                                  &alignment));
    must(api->BackendSetAttribute(tensor, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, &id));
    ck_assert_int_eq(api->BackendFinalize(tensor), CUDNN_STATUS_NOT_SUPPORTED_LAYOUT);
    must(api->BackendDestroyDescriptor(tensor));
}
END_TEST

/* A workspace that is too small and a tensor that is too short are found. */
START_TEST(test_bad_memory)
{
    struct error err = ERROR_INIT;
    struct conv_request r = some_convolution(CONV_FORWARD, TYPE_BF16, 1);
    struct convolution c;
    struct conv_plan *plan;
    const struct cudnn_api *api = cudnn_open(&err);
    must_true(api);
    struct conv_maker maker = {.api = api, .workspace_limit = 1 << 24};
    void *small;
    must(api->Create(&maker.handle));
    make_convolution(&c, &r);
    must_true(conv_plan_create(&maker, &r, &plan, &err));
    must(cudaMalloc(&small, conv_plan_workspace(plan) - 256));
    struct conv_tensors tensors = {.x = c.x.device, .w = c.w.device, .y = c.y.device};
    ck_assert(!conv_plan_run(plan, maker.handle, &tensors, small, &err));
    tensors.y = (char *)c.y.device + 256;
    void *enough;
    must(cudaMalloc(&enough, conv_plan_workspace(plan)));
    ck_assert(!conv_plan_run(plan, maker.handle, &tensors, enough, &err));
    ck_assert_int_eq(simgpu_faults(), 2);
    conv_plan_destroy(plan);
    free_convolution(&c);
}
END_TEST

/* Matrices */

static void try_product(const struct matmul_request *r)
{
    struct error err = ERROR_INIT;
    const struct cublaslt_api *api = cublaslt_open(&err);
    cublasLtHandle_t handle;
    cudaStream_t stream;
    struct matmul *matmul;
    void *workspace = NULL;
    must_true(api);
    must(api->Create(&handle));
    must(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    struct buffer a = make_buffer((size_t)(r->m * r->k), r->type == CUDA_BF16, 1);
    struct buffer b = make_buffer((size_t)(r->k * r->n), r->type == CUDA_BF16, 2);
    struct buffer c = make_buffer((size_t)(r->m * r->n), r->result == CUDA_BF16, 3);
    struct buffer bias = make_buffer((size_t)r->n, false, 4);
    double *expected = calloc(c.count, sizeof *expected);
    ck_assert_ptr_nonnull(expected);
    for (int i = 0; i < r->m; i++)
        for (int j = 0; j < r->n; j++) {
            double *v = &expected[i * r->n + j];
            for (int l = 0; l < r->k; l++)
                *v += (double)a.host[r->transpose_a ? l * r->m + i : i * r->k + l] *
                      (double)b.host[r->transpose_b ? j * r->k + l : l * r->n + j];
            *v += r->bias ? (double)bias.host[j] : 0;
            *v = r->relu && *v < 0 ? 0 : *v;
        }
    must_true(matmul_create(api, handle, r, 1 << 20, &matmul, &err));
    if (matmul_workspace(matmul))
        must(cudaMalloc(&workspace, matmul_workspace(matmul)));
    must_true(
        matmul_run(matmul, a.device, b.device, bias.device, c.device, workspace, stream, &err));
    must(cudaStreamSynchronize(stream));
    download(&c);
    check_close(&c, expected, "product");
    matmul_destroy(matmul);
    free_buffer(&a);
    free_buffer(&b);
    free_buffer(&c);
    free_buffer(&bias);
    free(expected);
    must(cudaFree(workspace));
    must(api->Destroy(handle));
    must(cudaStreamDestroy(stream));
    ck_assert_msg(simgpu_faults() == 0, "%s", simgpu_first_fault());
    ck_assert_int_eq(simgpu_live_objects(), 0);
}

START_TEST(test_products)
{
    static const struct {
        enum number_type math;
        enum cuda_type type, result;
    } types[] = {{TYPE_F32, CUDA_F32, CUDA_F32},
                 {TYPE_TF32, CUDA_F32, CUDA_F32},
                 {TYPE_BF16, CUDA_BF16, CUDA_F32},
                 {TYPE_BF16, CUDA_BF16, CUDA_BF16}};
    for (int t = 0; t < 4; t++)
        for (int options = 0; options < 16; options++) {
            struct matmul_request r = {.m = 5,
                                       .n = 16,
                                       .k = 24,
                                       .transpose_a = options & 1,
                                       .transpose_b = options & 2,
                                       .bias = options & 4 && types[t].result == CUDA_F32,
                                       .relu = options & 8,
                                       .math = types[t].math,
                                       .type = types[t].type,
                                       .result = types[t].result};
            try_product(&r);
        }
}
END_TEST

START_TEST(test_refused_epilogue)
{
    struct error err = ERROR_INIT;
    const struct cublaslt_api *api = cublaslt_open(&err);
    cublasLtHandle_t handle;
    struct matmul *matmul;
    struct matmul_request r = {.m = 4, .n = 8, .k = 8, .math = TYPE_F32, .bias = true};
    must_true(api);
    must(api->Create(&handle));
    simgpu_refuse_epilogues(true);
    ck_assert(!matmul_create(api, handle, &r, 0, &matmul, &err));
    r.bias = false;
    must_true(matmul_create(api, handle, &r, 0, &matmul, &err));
    matmul_destroy(matmul);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("simgpu libraries");
    TCase *group = tcase_create("cuDNN");
    tcase_add_checked_fixture(group, fresh_machine, NULL);
    tcase_set_timeout(group, 60);
    tcase_add_loop_test(group, test_convolutions, 0, CONV_PATTERNS);
    tcase_add_test(group, test_engines);
    tcase_add_test(group, test_tuning);
    tcase_add_test(group, test_bad_descriptors);
    tcase_add_test(group, test_bad_memory);
    suite_add_tcase(suite, group);
    group = tcase_create("cuBLASLt");
    tcase_add_checked_fixture(group, fresh_machine, NULL);
    tcase_add_test(group, test_products);
    tcase_add_test(group, test_refused_epilogue);
    suite_add_tcase(suite, group);
    return suite;
}

int main(void)
{
    return run_suites(make_suite(), NULL);
}
