/* SPDX-License-Identifier: MIT */

/*
 * Vectors of lanes: exponential function, sigmoid, tanh. Included by lanes_kernels.h, which says
 * what must be defined.
 *
 * exp is that of the Cephes library (S. L. Moshier, expf), by fused multiply-adds: below 1 ulp;
 * sigmoid and tanh stay below 3 ulp. A NaN stays one.
 */

/* exp(x) for x <= 0. */
static inline TARGET vector exp_negative(vector x)
{
    const vector magic = v_all(12582912.0F); /* 1.5 * 2^23: adding it rounds to whole numbers */
    x = v_max(x, v_all(-104.0F));            /* below there is but 0 */
    vector n = v_fma(x, v_all(1.44269504F), magic) - magic;
    vector r = v_fma(n, v_all(-0.693359375F), x);
    r = v_fma(n, v_all(2.12194440e-4F), r);
    vector p = v_fma(v_all(1.9875691500e-4F), r, v_all(1.3981999507e-3F));
    p = v_fma(p, r, v_all(8.3334519073e-3F));
    p = v_fma(p, r, v_all(4.1665795894e-2F));
    p = v_fma(p, r, v_all(1.6666665459e-1F));
    p = v_fma(p, r, v_all(5.0000001201e-1F));
    p = v_fma(p, r * r, r) + v_all(1.0F);
    return v_scale(p, n);
}

/* a / b for 1 <= b <= 2: an estimate of 1 / b, a step of Newton's and one of correction. */
static inline TARGET vector divide(vector a, vector b)
{
    vector r = v_reciprocal(b);
    r = v_fma(v_fma(-b, r, v_all(1.0F)), r, r);
    vector q = a * r;
    return v_fma(v_fma(-b, q, a), r, q);
}

static inline TARGET vector v_absolute(vector x)
{
    return v_max(x, -x);
}

static inline TARGET vector sigmoid(vector x)
{
    const vector one = v_all(1.0F);
    vector e = exp_negative(-v_absolute(x));
    return divide(v_select(x, one, e), one + e);
}

static inline TARGET vector hyperbolic_tangent(vector x)
{
    const vector one = v_all(1.0F), size = v_absolute(x);
    vector e = exp_negative(-(size + size));
    vector large = divide(one - e, one + e);
    vector z = x * x;
    vector p = v_fma(v_all(-5.70498872745e-3F), z, v_all(2.06390887954e-2F));
    p = v_fma(p, z, v_all(-5.37397155531e-2F));
    p = v_fma(p, z, v_all(1.33314422036e-1F));
    p = v_fma(p, z, v_all(-3.33332819422e-1F));
    vector small = v_fma(p * z, x, x);
    return v_select(size - v_all(0.625F), v_select(x, large, -large), small);
}

static inline TARGET vector act_of(enum lanes_act act, vector x)
{
    switch (act) {
    case LANES_RELU:
        return v_max(x, v_all(0));
    case LANES_SIGMOID:
        return sigmoid(x);
    case LANES_TANH:
        return hyperbolic_tangent(x);
    case LANES_NONE:
        break;
    }
    return x;
}

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
