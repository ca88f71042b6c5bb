/* SPDX-License-Identifier: MIT */
#include "ui/form.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

/* How left and right change a value. */
enum step_kind { STEP_NOT, STEP_WORDS, STEP_ONE, STEP_DOUBLE, STEP_125 };

/* The networks and data sets that come with the program; others can be typed. */
static const char *const models[] = {"",      "resnet18", "smallnet", "cifar-cnn",
                                     "lenet", "linear",   NULL};
static const char *const data_sets[] = {"", "fashion-mnist", "mnist", "cifar10", "glyphs", NULL};
static const char *const splits[] = {"chunk", "even", "balanced", NULL};
static const char *const methods[] = {"allreduce", "reduce-broadcast", "central", NULL};
static const char *const yes_no[] = {"no", "yes", NULL};
static const char *const momenta[] = {"0", "0.5", "0.9", "0.95", "0.99", NULL};

static const struct {
    const char *key, *hint;
    enum step_kind step;
    const char *const *words;
} fields[FORM_FIELDS] = {
    [FORM_MODEL] = {"model", "a name or a description file; default: smallnet, on GPUs resnet18",
                    STEP_WORDS, models},
    [FORM_DATA] = {"data", "name, folder or random:ROWSxCOLUMNS; default: fashion-mnist, or glyphs",
                   STEP_WORDS, data_sets},
    [FORM_DEVICES] = {"devices", "cpu:0-7, cuda:0,cuda:2 - or tick them above", STEP_NOT, NULL},
    [FORM_BATCH] = {"batch", "rows of a mini-batch, over all devices", STEP_DOUBLE, NULL},
    [FORM_LR] = {"lr", "learning rate; r changes that of the run that goes on", STEP_125, NULL},
    [FORM_EPOCHS] = {"epochs", "times over the whole training set", STEP_ONE, NULL},
    [FORM_SPLIT] = {"split", "how a mini-batch is divided; also weighted:W0,W1", STEP_WORDS,
                    splits},
    [FORM_SYNC] = {"sync", "how the devices' gradients meet", STEP_WORDS, methods},
    [FORM_SYNC_BN] = {"sync-bn", "BatchNorm statistics over all devices", STEP_WORDS, yes_no},
    [FORM_MOMENTUM] = {"momentum", "of SGD; 0: none", STEP_WORDS, momenta},
    [FORM_SEED] = {"seed", "of weights, order and glyphs", STEP_ONE, NULL},
};

bool form_init(struct form *form, const struct spec *spec, struct error *err)
{
    *form = (struct form){.cpu_top = -1};
    return spec_copy(&form->spec, spec, err);
}

void form_free(struct form *form)
{
    spec_free(&form->spec);
}

const char *form_label(enum form_field field)
{
    return fields[field].key;
}

const char *form_hint(enum form_field field)
{
    return fields[field].hint;
}

char *form_text(const struct form *form, enum form_field field)
{
    struct error ignored = ERROR_INIT;

    return spec_get(&form->spec, fields[field].key, &ignored);
}

bool form_steps(enum form_field field)
{
    return fields[field].step != STEP_NOT;
}

bool form_set(struct form *form, enum form_field field, const char *value, struct error *err)
{
    if (!spec_set(&form->spec, fields[field].key, value, err))
        return false;
    /* A batch or rate chosen by hand is meant for the devices there are now. */
    if (field == FORM_BATCH || field == FORM_LR)
        form->base_devices = 0;
    return true;
}

/* The word before or behind the present one, around the ends. */
static const char *next_word(const char *const *words, const char *value, int direction)
{
    int count = 0, at = -1;

    for (; words[count] != NULL; count++)
        if (strcmp(words[count], value) == 0)
            at = count;
    if (at < 0)
        return direction > 0 ? words[0] : words[count - 1];
    return words[(at + direction + count) % count];
}

/* 1, 2 and 5 times powers of ten, from any value on. */
static double next_125(double value, int direction)
{
    static const double marks[] = {0.5, 1, 2, 5, 10};

    if (value <= 0)
        return direction > 0 ? 1e-5 : 0;
    double power = pow(10, floor(log10(value) + 1e-9));
    double part = value / power;
    if (direction > 0) {
        for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++)
            if (marks[i] > part * (1 + 1e-9))
                return marks[i] * power;
    } else {
        for (size_t i = sizeof marks / sizeof marks[0]; i-- > 0;)
            if (marks[i] < part * (1 - 1e-9))
                return marks[i] * power;
    }
    return value;
}

bool form_step(struct form *form, enum form_field field, int direction, struct error *err)
{
    char *text = form_text(form, field);
    char next[64];
    long number;
    double real;

    if (text == NULL)
        return error_memory(err, "the form");
    snprintf(next, sizeof next, "%s", text);
    switch (fields[field].step) {
    case STEP_NOT:
        break;
    case STEP_WORDS:
        snprintf(next, sizeof next, "%s", next_word(fields[field].words, text, direction));
        break;
    case STEP_ONE:
        if (parse_long(text, 0, 1000000000000, &number))
            snprintf(next, sizeof next, "%ld", number + direction);
        break;
    case STEP_DOUBLE:
        if (parse_long(text, 0, 1000000000000, &number))
            snprintf(next, sizeof next, "%ld",
                     direction > 0 ? number * 2
                     : number > 1  ? number / 2
                                   : 1);
        break;
    case STEP_125:
        if (parse_double(text, 0, 1e9, &real))
            snprintf(next, sizeof next, "%.6g", next_125(real, direction));
        break;
    }
    bool ok = strcmp(next, text) == 0 || form_set(form, field, next, err);
    free(text);
    return ok;
}

bool form_take(struct form *form, const struct spec *spec, struct error *err)
{
    struct spec copy;

    if (!spec_copy(&copy, spec, err))
        return false;
    spec_free(&form->spec);
    form->spec = copy;
    form->base_devices = 0;
    return true;
}
