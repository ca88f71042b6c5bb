/* SPDX-License-Identifier: MIT */
#include "experiment/predict.h"

#include <math.h>

/* Bytes of a bucket, at least and at most (engine/train/sync/sync.c). */
#define LEAST_BUCKET (1024.0 * 1024)
#define MOST_BUCKET  (25 * LEAST_BUCKET)
/* Of a message, where no all-reduce was measured. */
#define LATENCY_S 5e-6
/* No point is known better than this. */
#define LEAST_VARIATION 0.02

/* By how much devices may slow each other down, where none were measured side by side: what a trial
 * on CPU devices showed (docs/benchmarks.md). */
#define SIDE_BY_SIDE 0.1

/* What points may leave open. */
struct reading {
    double h;
    bool latency; /* T is all latency */
};

/* The first is the likely one; without points of several devices nothing may be hidden. */
static const double hidden[] = {1.0 / 2, 1.0 / 3, 2.0 / 3, 0};
enum { HIDDEN = sizeof hidden / sizeof *hidden };

/* What was fitted; the letters are those of predict.h. */
struct fit {
    double c0, c1;
    double s, h, m, u;
    double l, k; /* k: B/b */
    double w1, v;
};

/* Least squares of y = p a + q b. */
struct squares {
    double aa, ab, bb, ay, by;
};

static void add(struct squares *sums, double a, double b, double y, double weight)
{
    sums->aa += weight * a * a;
    sums->ab += weight * a * b;
    sums->bb += weight * b * b;
    sums->ay += weight * a * y;
    sums->by += weight * b * y;
}

/* p and q, neither below 0. Where they cannot be told apart, all is p. */
static void solve(const struct squares *sums, double *p, double *q)
{
    const double determinant = sums->aa * sums->bb - sums->ab * sums->ab;
    if (determinant > 1e-9 * sums->aa * sums->bb) {
        *p = (sums->ay * sums->bb - sums->by * sums->ab) / determinant;
        *q = (sums->by * sums->aa - sums->ay * sums->ab) / determinant;
        if (*p >= 0 && *q >= 0)
            return;
    }
    /* One of them alone: the one with the smaller error. */
    const double less_a = sums->aa > 0 ? sums->ay * fmax(0, sums->ay) / sums->aa : 0;
    const double less_b = sums->bb > 0 ? sums->by * fmax(0, sums->by) / sums->bb : 0;
    *p = *q = 0;
    if (less_b > less_a * (1 + 1e-9))
        *q = sums->by / sums->bb;
    else if (less_a > 0)
        *p = sums->ay / sums->aa;
}

/* Errors count as parts of the step. */
static double weight_of(const struct predict_point *point)
{
    return 1 / (point->step_s * point->step_s);
}

static double compute_of(const struct fit *fit, double rows)
{
    return fit->c0 + fit->c1 * rows;
}

/* H(n) - 1 */
static double delays_of(int devices)
{
    double sum = 0;
    for (int i = 2; i <= devices; i++)
        sum += 1.0 / i;
    return sum;
}

static void fit_compute(const struct predict_model *model, struct fit *fit)
{
    struct squares sums = {0};
    for (int i = 0; i < model->count; i++) {
        const struct predict_point *point = &model->points[i];
        add(&sums, 1, point->rows, point->step_s - point->sync_s - point->wait_s, weight_of(point));
    }
    solve(&sums, &fit->c0, &fit->c1);
}

static void fit_wait(const struct predict_model *model, struct fit *fit)
{
    struct squares sums = {0};
    for (int i = 0; i < model->count; i++) {
        const struct predict_point *point = &model->points[i];
        add(&sums, 1, delays_of(point->devices) * compute_of(fit, point->rows), point->wait_s,
            weight_of(point));
    }
    solve(&sums, &fit->w1, &fit->v);
}

/* m and u: each bucket is half of what is left, but for the first, which is small. */
static void cut_buckets(double bytes, struct fit *fit)
{
    const bool small_first = bytes >= 4 * LEAST_BUCKET;
    double left = small_first ? bytes - LEAST_BUCKET : bytes;
    fit->m = small_first ? 2 : 1;
    for (; left >= 2 * LEAST_BUCKET; fit->m++)
        left -= fmin(left / 2, MOST_BUCKET);
    fit->u = left / bytes;
}

/* s, h, m and u. */
static void fit_hiding(const struct predict_model *model, double h, struct fit *fit)
{
    double alone = 0, measured = -1;
    int ones = 0;
    for (int i = 0; i < model->count; i++)
        if (model->points[i].devices == 1) {
            alone += model->points[i].sync_s;
            ones++;
        }
    fit->s = ones > 0 ? alone / ones : 0;
    for (int i = 0; i < model->count; i++) {
        const struct predict_point *point = &model->points[i];
        const double exposed = fmax(0, point->sync_s - fit->s);
        if (point->devices > 1 && point->network_s > 0)
            measured =
                fmax(measured, fmax(0, point->network_s - exposed) / compute_of(fit, point->rows));
    }
    fit->h = measured >= 0 ? measured : model->overlaps ? h : 0;
    fit->m = fit->u = 1;
    if (fit->h > 0 && model->bytes > 0)
        cut_buckets(model->bytes, fit);
}

/* An all-reduce or a bucket of it, as multiples of B/b and l. */
struct sums {
    double sent, messages;
};

static struct sums whole_on(const struct fit *fit, int devices)
{
    return (struct sums){2.0 * (devices - 1) / devices, fit->m * 2.0 * (devices - 1)};
}

static struct sums last_on(const struct fit *fit, int devices)
{
    const struct sums whole = whole_on(fit, devices);
    return (struct sums){fit->u * whole.sent, whole.messages / fit->m};
}

static double seconds_of(const struct fit *fit, struct sums sums)
{
    return sums.sent * fit->k + sums.messages * fit->l;
}

/* Is all but the last bucket hidden? */
static bool hides_all(const struct fit *fit, int devices, double compute)
{
    return seconds_of(fit, last_on(fit, devices)) >=
           seconds_of(fit, whole_on(fit, devices)) - fit->h * compute;
}

/*
 * l and k; with `latency` all that a bandwidth does not say is l. Which of the points hide all but
 * the last bucket follows from l and k, so both are found in turns, beginning with none.
 */
static void fit_all_reduce(const struct predict_model *model, bool latency, struct fit *fit)
{
    enum { TURNS = 10 };
    const bool given = model->bandwidth > 0;
    const double k = given ? model->bytes / model->bandwidth : 0;
    fit->k = k;
    fit->l = LATENCY_S;
    for (int turn = 0; turn < TURNS; turn++) {
        struct squares squares = {0};
        double l = 0, fitted = 0;
        for (int i = 0; i < model->count; i++) {
            const struct predict_point *point = &model->points[i];
            const double compute = compute_of(fit, point->rows);
            const bool known = point->network_s > 0;
            const bool last = turn > 0 && !known && hides_all(fit, point->devices, compute);
            const struct sums sums = (last ? last_on : whole_on)(fit, point->devices);
            const double seconds =
                known ? point->network_s
                      : fmax(0, point->sync_s - fit->s) + (last ? 0 : fit->h * compute);
            if (point->devices > 1)
                add(&squares, given || latency ? 0 : sums.sent, sums.messages,
                    seconds - k * sums.sent, weight_of(point));
        }
        if (!(squares.bb > 0))
            return;
        solve(&squares, &fitted, &l);
        fit->l = l;
        fit->k = given ? k : fitted;
    }
}

/* How many numbers of devices above 1 there are, up to 2. */
static int count_several(const struct predict_model *model)
{
    int first = 0;
    for (int i = 0; i < model->count; i++) {
        const int devices = model->points[i].devices;
        if (devices > 1 && first > 0 && devices != first)
            return 2;
        first = devices > 1 ? devices : first;
    }
    return first > 0;
}

static struct fit make_fit(const struct predict_model *model, const struct reading *reading)
{
    struct fit fit = {0};
    fit_compute(model, &fit);
    fit_wait(model, &fit);
    fit_hiding(model, reading->h, &fit);
    fit_all_reduce(model, reading->latency, &fit);
    return fit;
}

static struct predicted_step step_of(const struct fit *fit, int devices, double rows)
{
    const double compute = compute_of(fit, rows);
    struct predicted_step step = {
        .compute_s = compute,
        .sync_s = fit->s + (hides_all(fit, devices, compute)
                                ? seconds_of(fit, last_on(fit, devices))
                                : seconds_of(fit, whole_on(fit, devices)) - fit->h * compute),
        .wait_s = fit->w1 + fit->v * delays_of(devices) * compute,
    };
    step.step_s = step.compute_s + step.sync_s + step.wait_s;
    return step;
}

/* How far the step moves when each point does by its variation. */
static double moved_by_variation(const struct predict_model *model, int devices, double rows,
                                 double step_s)
{
    double moved = 0;
    for (int i = 0; i < model->count; i++) {
        struct predict_model changed = *model;
        double most = 0;
        for (int sign = -1; sign < 2; sign += 2) {
            const struct predict_point *from = &model->points[i];
            struct predict_point *point = &changed.points[i];
            const double factor = 1 + sign * fmin(fmax(from->variation, LEAST_VARIATION), 0.9);
            point->step_s = from->step_s * factor;
            point->sync_s = from->sync_s * factor;
            point->wait_s = from->wait_s * factor;
            point->network_s = from->network_s * factor;
            const struct fit fit = make_fit(&changed, &(struct reading){hidden[0], false});
            most = fmax(most, fabs(step_of(&fit, devices, rows).step_s - step_s));
        }
        moved += most;
    }
    return moved;
}

/* By how much the model misses what was measured, at most, as a part of it. */
static double misfit(const struct predict_model *model, const struct fit *fit)
{
    double most = 0;
    for (int i = 0; i < model->count; i++) {
        const struct predict_point *point = &model->points[i];
        const double step_s = step_of(fit, point->devices, point->rows).step_s;
        most = fmax(most, fabs(step_s / point->step_s - 1));
    }
    return most;
}

struct predicted_step predict_step(const struct predict_model *model, int devices, double rows)
{
    const struct fit fit = make_fit(model, &(struct reading){hidden[0], false});
    const int several = count_several(model);
    struct predicted_step step = step_of(&fit, devices, rows);
    const double off =
        misfit(model, &fit) + moved_by_variation(model, devices, rows, step.step_s) / step.step_s;
    step.low_s = step.high_s = step.step_s;
    for (int i = 0; i < HIDDEN - (several > 0); i++)
        for (int latency = 0; latency < 1 + (several == 1); latency++) {
            const struct fit other = make_fit(model, &(struct reading){hidden[i], latency});
            const double other_s = step_of(&other, devices, rows).step_s;
            step.low_s = fmin(step.low_s, other_s);
            step.high_s = fmax(step.high_s, other_s);
        }
    step.low_s /= 1 + off;
    step.high_s *= 1 + off + (several == 0 ? SIDE_BY_SIDE : 0);
    return step;
}

static bool near(double a, double b)
{
    return fabs(a - b) <= 0.01 * fmax(a, b);
}

enum predict_lack predict_lacks(const struct predict_model *model, int devices, double rows)
{
    bool same = false, differ = false, one = false;
    const int several = count_several(model);
    for (int i = 0; i < model->count; i++) {
        const struct predict_point *point = &model->points[i];
        same |= near(point->rows, rows);
        differ |= !near(point->rows, model->points[0].rows);
        one |= point->devices == 1;
    }
    if (!same && !differ)
        return PREDICT_LACKS_ROWS;
    if (devices > 1 && several == 0 && !(model->bandwidth > 0))
        return PREDICT_LACKS_SYNC;
    if (model->bandwidth > 0 && !(model->bytes > 0))
        return PREDICT_LACKS_BYTES;
    return one || several == 2 ? PREDICT_LACKS_NOTHING : PREDICT_LACKS_WAIT;
}

/* What is measured on 2 devices is not predicted for them. */
static bool refuse_two(enum predict_lack lack, bool cpus, struct error *err)
{
    const char *speed = cpus ? "10GB/s" : "450GB/s";
    if (lack == PREDICT_LACKS_SYNC)
        return error_set(err, ERROR_USAGE,
                         "--predict 2: no all-reduce was measured: give --link, such as %s", speed);
    return error_set(err, ERROR_USAGE,
                     "--predict 2: computing was measured with one number of rows per device at "
                     "most: train two batches on one device and give --link, as with %s --batch "
                     "128,256 --link %s",
                     cpus ? "--devices cpu:0 --cpu-threads 1" : "--devices cuda:0", speed);
}

bool predict_refuse(enum predict_lack lack, int count, enum predict_on on, struct error *err)
{
    static const char *const words[] = {
        [PREDICT_LACKS_ROWS] =
            "computing was measured with one number of rows per device at most: train on another "
            "number of devices, too, as with --devices-counts 1,2, or with two batches, as with "
            "--batch 128,256",
        [PREDICT_LACKS_SYNC] = "no all-reduce was measured: train on 2 devices, too, as with "
                               "--devices-counts 1,2, or give --link, such as 450GB/s",
        [PREDICT_LACKS_WAIT] = "how waiting grows was not measured: train on 1 device, too, as "
                               "with --devices-counts 1,2",
        [PREDICT_LACKS_BYTES] =
            "the runs do not say how many gradients they sum: train the comparison again"};
    if (count == 2 && on != PREDICT_ON_HOSTS &&
        (lack == PREDICT_LACKS_ROWS || lack == PREDICT_LACKS_SYNC))
        return refuse_two(lack, on == PREDICT_ON_CPUS, err);
    return error_set(err, ERROR_USAGE, "--predict %d: %s", count, words[lack]);
}
