/* SPDX-License-Identifier: MIT */

/*
 * Vectors of lanes: exponential function, sigmoid, tanh. Included by lanes/kernels.h, which says
 * what must be defined.
 *
 * exp is that of the Cephes library (S. L. Moshier, expf), by fused multiply-adds: below 1 ulp;
 * sigmoid and tanh stay below 3 ulp. A NaN stays one.
 */

#define AT_ONCE 4

/* Several vectors step by step, so that the processor has something to do while one step waits for
 * the one before. */
#define EACH _Pragma("GCC unroll 4") for (int i = 0; i < n; i++)

/* x = exp(x) for x <= 0. */
INLINE void exp_negative(vector *x, const int n)
{
    const vector magic = v_all(12582912.0F); /* 1.5 * 2^23: adding it rounds to whole numbers */
    vector whole[AT_ONCE], r[AT_ONCE], p[AT_ONCE];
    EACH x[i] = v_max(x[i], v_all(-104.0F)); /* below there is but 0 */
    EACH whole[i] = v_fma(x[i], v_all(1.44269504F), magic) - magic;
    EACH r[i] = v_fma(whole[i], v_all(-0.693359375F), x[i]);
    EACH r[i] = v_fma(whole[i], v_all(2.12194440e-4F), r[i]);
    EACH p[i] = v_fma(v_all(1.9875691500e-4F), r[i], v_all(1.3981999507e-3F));
    EACH p[i] = v_fma(p[i], r[i], v_all(8.3334519073e-3F));
    EACH p[i] = v_fma(p[i], r[i], v_all(4.1665795894e-2F));
    EACH p[i] = v_fma(p[i], r[i], v_all(1.6666665459e-1F));
    EACH p[i] = v_fma(p[i], r[i], v_all(5.0000001201e-1F));
    EACH p[i] = v_fma(p[i], r[i] * r[i], r[i]) + v_all(1.0F);
    EACH x[i] = v_scale(p[i], whole[i]);
}

/* a = a / b for 1 <= b <= 2: an estimate of 1 / b, a step of Newton's and one of correction. */
INLINE void divide(vector *a, const vector *b, const int n)
{
    vector r[AT_ONCE], q[AT_ONCE];
    EACH r[i] = v_reciprocal(b[i]);
    EACH r[i] = v_fma(v_fma(-b[i], r[i], v_all(1.0F)), r[i], r[i]);
    EACH q[i] = a[i] * r[i];
    EACH a[i] = v_fma(v_fma(-b[i], q[i], a[i]), r[i], q[i]);
}

INLINE void sigmoid(vector *x, const int n)
{
    const vector one = v_all(1.0F);
    vector e[AT_ONCE], sum[AT_ONCE];
    EACH e[i] = v_below_zero(x[i]);
    exp_negative(e, n);
    EACH sum[i] = one + e[i];
    EACH x[i] = v_select(x[i], one, e[i]);
    divide(x, sum, n);
}

INLINE void hyperbolic_tangent(vector *x, const int n)
{
    const vector one = v_all(1.0F);
    vector e[AT_ONCE], sum[AT_ONCE], small[AT_ONCE];
    EACH e[i] = v_below_zero(x[i]) + v_below_zero(x[i]);
    exp_negative(e, n);
    EACH sum[i] = one + e[i];
    EACH e[i] = one - e[i];
    divide(e, sum, n);
    EACH sum[i] = x[i] * x[i];
    EACH small[i] = v_fma(v_all(-5.70498872745e-3F), sum[i], v_all(2.06390887954e-2F));
    EACH small[i] = v_fma(small[i], sum[i], v_all(-5.37397155531e-2F));
    EACH small[i] = v_fma(small[i], sum[i], v_all(1.33314422036e-1F));
    EACH small[i] = v_fma(small[i], sum[i], v_all(-3.33332819422e-1F));
    EACH small[i] = v_fma(small[i] * sum[i], x[i], x[i]);
    EACH e[i] = v_select(x[i], e[i], -e[i]);
    EACH x[i] = v_select(v_below_zero(x[i]) + v_all(0.625F), small[i], e[i]);
}

/* v = act(v), up to AT_ONCE vectors */
INLINE void act_on(enum lanes_act act, vector *v, const int n)
{
    switch (act) {
    case LANES_RELU:
        EACH v[i] = v_max(v[i], v_all(0));
        break;
    case LANES_SIGMOID:
        sigmoid(v, n);
        break;
    case LANES_TANH:
        hyperbolic_tangent(v, n);
        break;
    case LANES_NONE:
        break;
    }
}

/* y = act(x); y may be x. */
static TARGET void act_of(enum lanes_act act, const float *x, ptrdiff_t count, float *y)
{
    vector v[AT_ONCE];
    ptrdiff_t k = 0;
    for (; k + AT_ONCE <= count; k += AT_ONCE) {
        const int n = AT_ONCE;
        EACH v[i] = v_load(x + (k + i) * LANES);
        act_on(act, v, n);
        EACH v_store(y + (k + i) * LANES, v[i]);
    }
    for (; k < count; k++) {
        v[0] = v_load(x + k * LANES);
        act_on(act, v, 1);
        v_store(y + k * LANES, v[0]);
    }
}

#undef EACH

/* d * act'(x), from y = act(x). */
static inline TARGET vector act_back(enum lanes_act act, vector y, vector d)
{
    switch (act) {
    case LANES_RELU:
        return v_keep_positive(y, d);
    case LANES_SIGMOID:
        return d * (y * (v_all(1.0F) - y));
    case LANES_TANH:
        return v_fma(-(d * y), y, d);
    case LANES_NONE:
        break;
    }
    return d;
}
