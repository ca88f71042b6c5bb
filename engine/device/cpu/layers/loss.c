/* SPDX-License-Identifier: MIT */
#include "engine/device/cpu/layers/loss.h"

#include <math.h>

#include "engine/device/cpu/core/number.h"
#include "engine/device/cpu/core/plan.h"
#include "engine/device/plan/batch_check.h"

/* Softmax and cross-entropy over the logits, and their gradient. */
struct loss {
    const struct buffer *logits, *gradient, *losses; /* losses: a double per row */
    const struct buffer *x, *dx; /* the same in f32: themselves, or copies of bf16 */
    int rows, classes, row;      /* row: numbers from row to row */
    double smoothing;
};

double loss_of_row(const float *x, int classes, int label, double smoothing, double scale,
                   float *gradient)
{
    const double own = 1 - smoothing, other = smoothing / classes;
    double max = (double)x[0], sum = 0, mean = 0;
    for (int k = 1; k < classes; k++)
        max = (double)x[k] > max ? (double)x[k] : max;
    for (int k = 0; k < classes; k++)
        sum += exp((double)x[k] - max);
    for (int k = 0; gradient && k < classes; k++)
        gradient[k] = (float)((exp((double)x[k] - max) / sum - own * (k == label) - other) * scale);
    const double loss = log(sum) + max - (double)x[label];
    if (smoothing == 0)
        return loss;
    for (int k = 0; k < classes; k++)
        mean += (double)x[k] / classes;
    return loss + smoothing * ((double)x[label] - mean);
}

int loss_guess(const float *x, int classes)
{
    int best = 0;
    for (int k = 1; k < classes; k++)
        if (x[k] > x[best])
            best = k;
    return best;
}

static bool run_loss(struct plan *plan, void *layer, struct error *err)
{
    const struct loss *l = layer;
    const struct batch *batch = plan->core.batch;
    const uint8_t *labels = batch->data->labels;
    double *losses = l->losses->data;
    uint8_t *predicted = plan->core.predicted;
    const double scale = 1 / (double)batch->global_rows;
    long correct = 0;
    if (!batch_check_labels(batch, plan->replica->base.net, err))
        return false;
    const size_t count = (size_t)l->rows * l->row;
    if (plan->bf16)
        numbers_widen(l->logits->data, l->x->data, count);
#pragma omp parallel for schedule(static) reduction(+ : correct) if (l->rows >= 256)
    for (int n = 0; n < l->rows; n++) {
        const float *x = (const float *)l->x->data + (size_t)n * l->row;
        float *gradient = l->dx ? (float *)l->dx->data + (size_t)n * l->row : NULL;
        int label = labels[batch->index[n]];
        losses[n] = loss_of_row(x, l->classes, label, l->smoothing, scale, gradient);
        int guess = loss_guess(x, l->classes);
        correct += guess == label;
        if (predicted)
            predicted[n] = (uint8_t)guess;
        for (int k = l->classes; gradient && k < l->row; k++)
            gradient[k] = 0;
    }
    if (plan->bf16 && l->dx)
        numbers_narrow(l->dx->data, l->gradient->data, count);
    plan->core.result = (struct batch_result){.correct = correct, .predicted = predicted};
    for (int n = 0; n < l->rows; n++) /* in order, so that the sum does not depend on the team */
        plan->core.result.loss_sum += losses[n];
    return true;
}

/* What the loss is computed with. */
static bool make_copies(struct builder *b, struct loss *l, struct error *err)
{
    const size_t bytes = (size_t)l->rows * l->row * sizeof(float);
    l->x = l->logits;
    if (!b->plan->bf16)
        return true;
    l->x = build_scratch(b, bytes, err);
    if (l->x && b->training)
        l->dx = build_scratch(b, bytes, err);
    return l->x && (l->dx || !b->training);
}

bool build_loss(struct builder *b, struct error *err)
{
    const struct value *logits = &b->graph->values[b->graph->logits];
    struct loss *l = build_object(b, sizeof *l, NULL, err);
    if (!l)
        return false;
    l->rows = b->rows;
    l->classes = b->graph->net->classes;
    l->smoothing = b->training ? b->core->request.label_smoothing : 0;
    l->row = (int)value_row(logits);
    l->logits = b->core->logits = build_value(b, b->graph->logits, err);
    b->core->logits_row = value_row(logits);
    l->losses = l->logits ? build_scratch(b, (size_t)b->rows * sizeof(double), err) : NULL;
    if (!l->losses || !make_copies(b, l, err) ||
        !build_loss_step(b, run_loss, l, &l->gradient, err))
        return false;
    if (!b->plan->bf16)
        l->dx = l->gradient;
    return true;
}
