/* SPDX-License-Identifier: MIT */
#include "ui/form/preview.h"

#include <stdio.h>

#include "base/figure.h"

/* Steps of an epoch while the number of rows is not known. */
enum { GUESSED_STEPS = 100 };

static struct lr_length length_of(const struct form *form, const struct form_check *check)
{
    const struct spec *spec = &form->spec;
    long rows = spec->train_rows > 0 ? spec->train_rows : check ? check->train_rows : 0;
    long steps = rows > 0 ? (rows + spec->batch - 1) / spec->batch : GUESSED_STEPS;
    long total = steps * spec->epochs;
    return (struct lr_length){
        steps, spec->max_steps > 0 && spec->max_steps < total ? spec->max_steps : total};
}

static struct form_rate rate_at(const struct form *form, struct lr_length length, long step)
{
    long last = length.total_steps - 1;
    return (struct form_rate){
        (double)step / (double)length.epoch_steps,
        form->spec.lr * lr_share(&form->spec.schedule, length, step < last ? step : last)};
}

bool form_has_rates(const struct form *form)
{
    return form->spec.epochs > 0 && !lr_is_constant(&form->spec.schedule);
}

void form_rates(const struct form *form, const struct form_check *check, struct form_rate *rates,
                int count)
{
    struct lr_length length = length_of(form, check);
    for (int i = 0; i < count; i++)
        rates[i] = rate_at(form, length,
                           (long)((double)length.total_steps * (double)i / (double)(count - 1)));
}

void form_rates_text(const struct form *form, const struct form_check *check, char *buffer,
                     size_t size)
{
    enum { PLACES = 1001 };
    struct form_rate rates[PLACES], highest = {0};
    struct figure first, top, epoch, last;
    form_rates(form, check, rates, PLACES);
    for (int i = 0; i < PLACES; i++)
        if (rates[i].lr > highest.lr)
            highest = rates[i];
    if (highest.lr > rates[0].lr)
        snprintf(buffer, size, "lr %s in the first step, %s at epoch %s, %s in the last",
                 figure_digits(&first, rates[0].lr, 2), figure_digits(&top, highest.lr, 3),
                 figure_digits(&epoch, highest.epoch, 3),
                 figure_digits(&last, rates[PLACES - 1].lr, 2));
    else
        snprintf(buffer, size, "lr %s in the first step, %s in the last",
                 figure_digits(&first, rates[0].lr, 3),
                 figure_digits(&last, rates[PLACES - 1].lr, 2));
}
