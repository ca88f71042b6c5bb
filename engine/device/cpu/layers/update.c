/* SPDX-License-Identifier: MIT */
#include "engine/device/cpu/layers/update.h"

#include "engine/device/cpu/core/device.h"
#include "engine/device/cpu/core/parameters.h"

/* Bound by memory: one pass over what the update needs, in parallel where that pays. */
#define PARALLEL_FROM 65536
/* Numbers that a thread takes at a time. */
#define CHUNK 16384
/* Neighbours that weight decay treats alike. */
#define ALIKE 16
/* Of them, those whose gradients are scaled at a time. */
#define BLOCK 1024
/* Parts of a sum, always the same, so that it does not depend on the number of threads. */
#define PARTS 64

/* Numbers begin to end of an arena; NULL where the rule has none. */
static float *numbers_from(float *arena, size_t begin)
{
    return arena ? arena + begin : NULL;
}

/* By the gradients g of these numbers. */
typedef void update_loop(const struct replica *replica, size_t begin, size_t end, const float *g,
                         struct optimizer_step s);

/* The loop of each rule; the compiler leaves out what a rule does not remember. */
#define LOOP(RULE, rule, states)                                                                   \
    static void loop_##rule(const struct replica *replica, size_t begin, size_t end,               \
                            const float *g, struct optimizer_step s)                               \
    {                                                                                              \
        float *w = replica->params + begin, *a = numbers_from(replica->state[0], begin),           \
              *b = numbers_from(replica->state[1], begin);                                         \
        _Pragma("omp simd") for (size_t i = 0; i < end - begin; i++)                               \
        {                                                                                          \
            float first = (states) > 0 ? a[i] : 0, second = (states) > 1 ? b[i] : 0;               \
            w[i] = update_##rule(w[i], g[i], &first, &second, &s);                                 \
            if ((states) > 0)                                                                      \
                a[i] = first;                                                                      \
            if ((states) > 1)                                                                      \
                b[i] = second;                                                                     \
        }                                                                                          \
    }
UPDATE_RULES(LOOP)

#define ENTRY(RULE, rule, states) [UPDATE_##RULE] = loop_##rule,
static update_loop *const loops[] = {UPDATE_RULES(ENTRY)};

static double squares_of(const struct replica *replica, size_t begin, size_t end)
{
    const float *g = replica->grads + begin;
    const size_t count = end - begin;
    double parts[PARTS], sum = 0;
#pragma omp parallel for schedule(static) if (count >= PARALLEL_FROM)
    for (int p = 0; p < PARTS; p++) {
        const size_t to = count * (size_t)(p + 1) / PARTS;
        double part = 0;
#pragma omp simd reduction(+ : part)
        for (size_t i = count * (size_t)p / PARTS; i < to; i++)
            part += (double)g[i] * (double)g[i];
        parts[p] = part;
    }
    for (int p = 0; p < PARTS; p++)
        sum += parts[p];
    return sum;
}

bool cpu_gradient_squares(struct device *device, const struct replica *replica, size_t begin,
                          size_t end, double *sum, struct error *err)
{
    (void)device;
    (void)err;
    *sum = squares_of(replica, begin, end);
    return true;
}

static float norm_of(const struct replica *replica, const struct optimizer_step *step)
{
    return step->norm != 0 ? step->norm : (float)sqrt(squares_of(replica, 0, replica->count));
}

/* With the gradients times `scale`, a block in the first-level cache at a time. */
static void clipped(update_loop *loop, const struct replica *replica, size_t begin, size_t end,
                    float scale, const struct optimizer_step *step)
{
    float scaled[BLOCK];
    for (size_t at = begin; at < end; at += BLOCK) {
        const size_t count = end - at < BLOCK ? end - at : BLOCK;
        const float *g = replica->grads + at;
#pragma omp simd
        for (size_t i = 0; i < count; i++)
            scaled[i] = g[i] * scale;
        loop(replica, at, at + count, scaled, *step);
    }
}

/* Where numbers begin that weight decay treats otherwise than number `at`, up to `end`. */
static size_t spared_until(const struct replica *replica, size_t at, size_t end)
{
    const uint8_t *spared = replica->spared;
    size_t to = at;
    do
        to = (to / ALIKE + 1) * ALIKE;
    while (to < end && spared[to / ALIKE] == spared[at / ALIKE]);
    return to < end ? to : end;
}

typedef void update_some(update_loop *loop, const struct replica *replica, size_t begin, size_t end,
                         float scale, const struct optimizer_step *step);

static void update_all(update_loop *loop, const struct replica *replica, size_t begin, size_t end,
                       float scale, const struct optimizer_step *step)
{
    if (scale != 1)
        clipped(loop, replica, begin, end, scale, step);
    else
        loop(replica, begin, end, replica->grads + begin, *step);
}

/* With the parameters that weight decay leaves alone. */
static void update_with_spared(update_loop *loop, const struct replica *replica, size_t begin,
                               size_t end, float scale, const struct optimizer_step *step)
{
    const struct optimizer_step without = update_spared(*step);
    for (size_t at = begin, to; at < end; at = to) {
        to = spared_until(replica, at, end);
        update_all(loop, replica, at, to, scale, replica->spared[at / ALIKE] ? &without : step);
    }
}

static void average(const struct replica *replica, size_t begin, size_t end,
                    const struct optimizer_step *step)
{
    const struct optimizer_step s = *step;
    const float *w = replica->params;
    float *mean = replica->state[s.average];
#pragma omp simd
    for (size_t i = begin; i < end; i++)
        mean[i] = update_average(mean[i], w[i], &s);
}

bool cpu_update(struct device *device, struct replica *replica, size_t begin, size_t end,
                const struct optimizer_step *step, struct error *err)
{
    if (begin > end || end > replica->count)
        return error_set(err, ERROR_FAILED, "%s: update of numbers %zu to %zu of %zu", device->name,
                         begin, end, replica->count);
    update_loop *const loop = loops[step->rule];
    update_some *const update = replica->spared ? update_with_spared : update_all;
    struct cpu_replica *r = (struct cpu_replica *)replica;
    const bool clips = step->clip > 0;
    r->grad_norm = clips ? norm_of(replica, step) : NAN;
    const float scale = clips ? update_clip(r->grad_norm, step->clip) : 1;
#pragma omp parallel for schedule(static) if (end - begin >= PARALLEL_FROM)
    for (size_t at = begin; at < end; at += CHUNK) {
        const size_t to = end - at < CHUNK ? end : at + CHUNK;
        update(loop, replica, at, to, scale, step);
        if (step->take > 0)
            average(replica, at, to, step);
    }
    return true;
}

bool cpu_swap(struct device *device, struct replica *replica, int state, struct error *err)
{
    (void)device;
    (void)err;
    float *a = replica->params, *b = replica->state[state];
#pragma omp parallel for simd schedule(static) if (replica->count >= PARALLEL_FROM)
    for (size_t i = 0; i < replica->count; i++) {
        const float kept = a[i];
        a[i] = b[i];
        b[i] = kept;
    }
    return true;
}
