/* SPDX-License-Identifier: MIT */

/*
 * The maps of strided/plan.h along one side, for each kind of tile. Included after the vectors of
 * an instruction set. Every lane is a channel of its own.
 *
 * With d[0..m] the odd pixels and e[0..m-1] the even ones of a tile of m outputs, L_p Lagrange's
 * polynomial of the finite points (degree m-1) and N the product of all (z - point): the value at
 * point p is d applied to the coefficients of L_p, at infinity to those of N; output o is the sum
 * of the products times point^o, the one at infinity going to the last. The even pixels' values are
 * those whose products that sum takes to e.
 *
 * A closed tile has three odd pixels, and nothing but zeros around: y is the polynomial product of
 * d[2] + d[1] z + d[0] z^2 and the taps, last output first, and e a polynomial that is added; both
 * are evaluated at the points.
 *
 * The kind's order of the points differs between forward and data gradient, so that those of the
 * even pixels come first in both: see strided_kinds.
 */

static inline TARGET void x_four(const vector x[9], vector v[9])
{
    const vector half = v_all(0.5F), sixth = v_all(1.0F / 6), third = v_all(-1.0F / 3);
    const vector step = x[6] - x[2];
    v[0] = v_fma(half, step, x[0] - x[4]);
    v[1] = v_fma(half, x[4] - x[6], x[2]);
    v[2] = v_fma(v_all(-2), step, x[8] - x[4]);
    v[3] = v_fma(third, x[2], v_fma(half, x[4], x[6] * v_all(-1.0F / 6)));
    v[4] = step * sixth;
    v[5] = x[1] - x[5];
    v[6] = (x[3] + x[5]) * half;
    v[7] = x[7] - x[3];
    v[8] = (x[5] - x[3]) * half;
}

static inline TARGET void x_three(const vector x[7], vector v[7])
{
    const vector half = v_all(0.5F);
    v[0] = x[0] - x[4];
    v[1] = (x[2] + x[4]) * half;
    v[2] = x[6] - x[2];
    v[3] = (x[4] - x[2]) * half;
    v[4] = x[1] - x[3];
    v[5] = x[3];
    v[6] = x[5] - x[3];
}

static inline TARGET void x_closed(const vector x[7], vector v[8])
{
    const vector outer = x[5] + x[1], even = x[6] + x[2], odd = x[4] + x[0];
    v[0] = x[5];
    v[1] = outer + x[3];
    v[2] = x[1];
    v[3] = outer - x[3];
    v[4] = x[6];
    v[5] = even + odd;
    v[6] = x[0];
    v[7] = even - odd;
}

static inline TARGET void y_four(const vector m[5], vector y[4])
{
    const vector even = m[1] + m[3], odd = m[1] - m[3];
    y[0] = m[0] + even + m[4];
    y[1] = v_fma(v_all(2), m[4], odd);
    y[2] = v_fma(v_all(4), m[4], even);
    y[3] = v_fma(v_all(8), m[4], odd) + m[2];
}

static inline TARGET void y_three(const vector m[4], vector y[3])
{
    const vector even = m[1] + m[3];
    y[0] = m[0] + even;
    y[1] = m[1] - m[3];
    y[2] = even + m[2];
}

static inline TARGET void y_closed(const vector m[4], vector y[4])
{
    const vector half = v_all(0.5F);
    y[0] = m[2];
    y[1] = v_fma(half, m[1] + m[3], v_zero() - m[0]);
    y[2] = v_fma(half, m[1] - m[3], v_zero() - m[2]);
    y[3] = m[0];
}

static inline TARGET void y_turned_four(const vector y[4], vector m[5])
{
    const vector even = y[0] + y[2], odd = y[1] + y[3];
    m[0] = y[0];
    m[1] = even + odd;
    m[2] = y[3];
    m[3] = even - odd;
    m[4] = v_fma(v_all(8), y[3], v_fma(v_all(4), y[2], v_fma(v_all(2), y[1], y[0])));
}

static inline TARGET void y_turned_three(const vector y[3], vector m[4])
{
    const vector even = y[0] + y[2];
    m[0] = y[0];
    m[1] = even + y[1];
    m[2] = y[2];
    m[3] = even - y[1];
}

static inline TARGET void y_turned_closed(const vector y[4], vector m[4])
{
    const vector half = v_all(0.5F);
    m[0] = y[3] - y[1];
    m[1] = (y[1] + y[2]) * half;
    m[2] = y[0] - y[2];
    m[3] = (y[1] - y[2]) * half;
}

static inline TARGET void dy_four(const vector d[5], vector v[5])
{
    const vector half = v_all(0.5F), step = d[3] - d[1];
    v[0] = v_fma(half, step, d[0] - d[2]);
    v[1] = v_fma(half, d[2] - d[3], d[1]);
    v[2] = v_fma(v_all(-1.0F / 3), d[1], v_fma(half, d[2], d[3] * v_all(-1.0F / 6)));
    v[3] = step * v_all(1.0F / 6);
    v[4] = v_fma(v_all(-2), step, d[4] - d[2]);
}

static inline TARGET void dy_three(const vector d[4], vector v[4])
{
    const vector half = v_all(0.5F);
    v[0] = d[0] - d[2];
    v[1] = (d[1] + d[2]) * half;
    v[2] = (d[2] - d[1]) * half;
    v[3] = d[3] - d[1];
}

static inline TARGET void dx_four(const vector m[9], vector x[8])
{
    const vector even = m[1] + m[2], odd = m[1] - m[2];
    const vector even1 = m[6] + m[7], odd1 = m[6] - m[7];
    x[0] = m[5] + even1 + m[8];
    x[1] = m[0] + even + m[3];
    x[2] = v_fma(v_all(2), m[8], odd1);
    x[3] = v_fma(v_all(2), m[3], odd);
    x[4] = v_fma(v_all(4), m[8], even1);
    x[5] = v_fma(v_all(4), m[3], even);
    x[6] = v_fma(v_all(8), m[8], odd1);
    x[7] = v_fma(v_all(8), m[3], odd) + m[4];
}

static inline TARGET void dx_three(const vector m[7], vector x[6])
{
    const vector even = m[1] + m[2], even1 = m[5] + m[6];
    x[0] = m[4] + even1;
    x[1] = m[0] + even;
    x[2] = m[5] - m[6];
    x[3] = m[1] - m[2];
    x[4] = even1;
    x[5] = even + m[3];
}

static inline TARGET void dx_closed(const vector m[8], vector x[7])
{
    const vector even = m[1] + m[2], even1 = m[5] + m[6], odd1 = m[5] - m[6];
    x[0] = m[4] + even1;
    x[1] = m[0] + even;
    x[2] = odd1;
    x[3] = m[1] - m[2];
    x[4] = even1;
    x[5] = even + m[3];
    x[6] = odd1 + m[7];
}

/* Where the numbers of a map lie: `step` floats apart, those of the next line `next` further. */
struct spread {
    size_t step, next;
};

#define ALIGNED __attribute__((aligned(64)))

typedef void line_map(const float *in, struct spread from, float *out, struct spread to, int lines);

#define LINE_MAP(name, inputs, outputs)                                                            \
    static TARGET void name##_lines(const float *in, struct spread from, float *out,               \
                                    struct spread to, int lines)                                   \
    {                                                                                              \
        for (int n = 0; n < lines; n++, in += from.next, out += to.next) {                         \
            vector a[inputs], b[outputs];                                                          \
            _Pragma("GCC unroll 9") for (int i = 0; i < (inputs); i++) a[i] =                      \
                v_load(in + (size_t)i * from.step);                                                \
            name(a, b);                                                                            \
            _Pragma("GCC unroll 9") for (int i = 0; i < (outputs); i++)                            \
                v_store(out + (size_t)i * to.step, b[i]);                                          \
        }                                                                                          \
    }

LINE_MAP(x_four, 9, 9)
LINE_MAP(x_three, 7, 7)
LINE_MAP(x_closed, 7, 8)
LINE_MAP(y_four, 5, 4)
LINE_MAP(y_three, 4, 3)
LINE_MAP(y_closed, 4, 4)
LINE_MAP(y_turned_four, 4, 5)
LINE_MAP(y_turned_three, 3, 4)
LINE_MAP(y_turned_closed, 4, 4)
LINE_MAP(dy_four, 5, 5)
LINE_MAP(dy_three, 4, 4)
LINE_MAP(dx_four, 9, 8)
LINE_MAP(dx_three, 7, 6)
LINE_MAP(dx_closed, 8, 7)

/* A tile of the kernel of 1 needs none: see strided/plain.h. */
static line_map *const line_maps[STRIDED_MAPS][STRIDED_PLAIN] = {
    [STRIDED_X] = {x_four_lines, x_three_lines, x_closed_lines},
    [STRIDED_Y] = {y_four_lines, y_three_lines, y_closed_lines},
    [STRIDED_Y_TURNED] = {y_turned_four_lines, y_turned_three_lines, y_turned_closed_lines},
    [STRIDED_DY] = {dy_four_lines, dy_three_lines, dy_three_lines},
    [STRIDED_DX] = {dx_four_lines, dx_three_lines, dx_closed_lines},
};

/* The three taps of a side at its lines: first where forward, last where backward. */
static inline TARGET void taps_to_lines(const vector w[3], int lines, vector u[STRIDED_LINES])
{
    u[LINE_0] = w[0];
    u[LINE_1] = w[0] + w[2];
    u[LINE_MINUS_1] = w[0] - w[2];
    u[LINE_INFINITY] = w[2];
    u[LINE_EVEN] = w[1];
    if (lines > LINE_2)
        u[LINE_2] = v_fma(v_all(2), w[2], w[0]);
}

/* Gradients of the taps from those of their lines. */
static inline TARGET void lines_to_taps(const vector u[STRIDED_LINES], int lines, vector w[3])
{
    w[0] = u[LINE_0] + u[LINE_1] + u[LINE_MINUS_1];
    w[1] = u[LINE_EVEN];
    w[2] = u[LINE_1] - u[LINE_MINUS_1] + u[LINE_INFINITY];
    if (lines > LINE_2) {
        w[0] += u[LINE_2];
        w[2] = v_fma(v_all(2), u[LINE_2], w[2]);
    }
}
