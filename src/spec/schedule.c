/* SPDX-License-Identifier: MIT */
#include "spec/schedule.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "spec/text.h"

static const double PI = 3.14159265358979323846;

/* OneCycleLR's div_factor and final_div_factor: where its rate begins and ends. */
static const double CYCLE_BEGIN = 1.0 / 25, CYCLE_END = 1.0 / 25 / 1e4;

static const struct {
    const char *name;
    int epochs;        /* how many numbers of epochs its text has at most */
    const char *value; /* what the number after them is; NULL: there is none */
    double by_default, low, high;
} shapes[LR_SHAPES] = {
    [LR_CONSTANT] = {"constant", 0, NULL, 0, 0, 0},
    [LR_STEP] = {"step", 1, "the factor", 0.1, 1e-6, 100},
    [LR_MULTISTEP] = {"multistep", LR_MILESTONES, "the factor", 0.1, 1e-6, 100},
    [LR_COSINE] = {"cosine", 0, "the share of lr at the end", 0, 0, 1},
    [LR_LINEAR] = {"linear", 0, "the share of lr at the end", 0, 0, 1},
    [LR_ONE_CYCLE] = {"one-cycle", 0, "the share of the run before the peak", 0.3, 0, 1},
    [LR_TRIANGLE] = {"triangle", 0, "the share of the run before the peak", 0.3, 0, 1},
    [LR_RANGE] = {"range", 0, "the share of lr at the beginning", 1e-5, 1e-12, 1},
};

static const char forms[] = "constant, step:EPOCHS[:FACTOR], multistep:EPOCH,...[:FACTOR], "
                            "cosine[:END], linear[:END], one-cycle[:PEAK], triangle[:PEAK] or "
                            "range[:BEGIN]";

static const double MOST_EPOCHS = 1e6;

long lr_epoch_steps(struct lr_length length, double epochs)
{
    return lround(epochs * (double)length.epoch_steps);
}

bool lr_is_constant(const struct lr_schedule *schedule)
{
    return schedule->shape == LR_CONSTANT && schedule->warmup == 0;
}

bool lr_begins_highest(const struct lr_schedule *schedule)
{
    return schedule->warmup == 0 && schedule->shape < LR_ONE_CYCLE;
}

static double constant(const struct lr_schedule *schedule, struct lr_length length, double step)
{
    (void)schedule;
    (void)length;
    (void)step;
    return 1;
}

static double stepped(const struct lr_schedule *schedule, struct lr_length length, double step)
{
    double each = fmax(1, (double)lr_epoch_steps(length, schedule->epochs[0]));
    return pow(schedule->value, floor(step / each));
}

static double at_milestones(const struct lr_schedule *schedule, struct lr_length length,
                            double step)
{
    int passed = 0;
    while (passed < schedule->count &&
           step >= (double)lr_epoch_steps(length, schedule->epochs[passed]))
        passed++;
    return pow(schedule->value, passed);
}

/* Half a cosine from `from` to `to`, `part` of the way along. */
static double half_cosine(double from, double to, double part)
{
    return to + (from - to) * (1 + cos(PI * part)) / 2;
}

static double straight(double from, double to, double part)
{
    return from + (to - from) * part;
}

/* Which part is done of what begins after the warm-up. */
static double part_done(const struct lr_schedule *schedule, struct lr_length length, double step)
{
    double warmup = (double)lr_epoch_steps(length, schedule->warmup);
    double steps = (double)length.total_steps - warmup;
    return steps > 0 ? fmin(1, fmax(0, step - warmup) / steps) : 0;
}

static double along_cosine(const struct lr_schedule *schedule, struct lr_length length, double step)
{
    return half_cosine(1, schedule->value, part_done(schedule, length, step));
}

static double along_line(const struct lr_schedule *schedule, struct lr_length length, double step)
{
    return straight(1, schedule->value, part_done(schedule, length, step));
}

/* Up and down again. The peak may lie between two steps, or before the first one. */
static double cycle(const struct lr_schedule *schedule, struct lr_length length, double step,
                    double (*along)(double from, double to, double part))
{
    double last = (double)length.total_steps - 1;
    double peak = schedule->value * (double)length.total_steps - 1;
    if (step <= peak)
        return along(CYCLE_BEGIN, 1, peak > 0 ? step / peak : 1);
    return along(1, CYCLE_END, last > peak ? fmin(1, (step - peak) / (last - peak)) : 1);
}

static double one_cycle(const struct lr_schedule *schedule, struct lr_length length, double step)
{
    return cycle(schedule, length, step, half_cosine);
}

static double triangle(const struct lr_schedule *schedule, struct lr_length length, double step)
{
    return cycle(schedule, length, step, straight);
}

/* By the same factor in each step, to all of it in the last. */
static double rising(const struct lr_schedule *schedule, struct lr_length length, double step)
{
    double last = (double)length.total_steps - 1;
    return step < last ? pow(schedule->value, 1 - step / last) : 1;
}

double lr_share(const struct lr_schedule *schedule, struct lr_length length, long step)
{
    static double (*const shares[LR_SHAPES])(const struct lr_schedule *, struct lr_length,
                                             double) = {
        constant, stepped, at_milestones, along_cosine, along_line, one_cycle, triangle, rising};
    double share = shares[schedule->shape](schedule, length, (double)step);
    long warmup = lr_epoch_steps(length, schedule->warmup);
    return step < warmup ? share * ((double)step + 1) / ((double)warmup + 1) : share;
}

/* A number up to one of `ends`, which *at then stands on. */
static bool take_number(const char **at, const char *ends, double low, double high, double *number)
{
    char part[32];
    size_t length = strcspn(*at, ends);
    if (length >= sizeof part)
        return false;
    memcpy(part, *at, length);
    part[length] = '\0';
    *at += length;
    return parse_double(part, low, high, number);
}

/* ":N,M,..." of `text`, whose rest begins at *at. */
static bool take_epochs(struct lr_schedule *schedule, const char *text, const char **at,
                        struct error *err)
{
    int most = shapes[schedule->shape].epochs;
    if (most > 0 && **at != ':')
        return error_set(err, ERROR_USAGE, "lr-schedule '%.60s' needs epochs: %s", text, forms);
    while (schedule->count < most && (**at == ':' || **at == ',')) {
        int i = schedule->count++;
        ++*at;
        if (!take_number(at, ",:", 0, MOST_EPOCHS, &schedule->epochs[i]) ||
            !(schedule->epochs[i] > (i ? schedule->epochs[i - 1] : 0)))
            return error_set(err, ERROR_USAGE,
                             "lr-schedule '%.60s': epochs must be rising numbers above 0", text);
        if (**at == ':')
            break;
    }
    return **at != ',' ||
           error_set(err, ERROR_USAGE, "lr-schedule '%.60s' has more than %d number%s of epochs",
                     text, most, plural(most));
}

static bool take_value(struct lr_schedule *schedule, const char *text, const char *at,
                       struct error *err)
{
    enum lr_shape shape = schedule->shape;
    schedule->value = shapes[shape].by_default;
    if (*at == '\0')
        return true;
    at++;
    if (!shapes[shape].value)
        return error_set(err, ERROR_USAGE, "lr-schedule '%.60s': nothing follows '%s'", text,
                         shapes[shape].name);
    return (take_number(&at, "", shapes[shape].low, shapes[shape].high, &schedule->value)) ||
           error_set(err, ERROR_USAGE, "lr-schedule '%.60s': %s must be a number from %g to %g",
                     text, shapes[shape].value, shapes[shape].low, shapes[shape].high);
}

bool lr_schedule_parse(struct lr_schedule *schedule, const char *text, struct error *err)
{
    size_t length = strcspn(text, ":");
    for (int shape = 0; shape < LR_SHAPES; shape++) {
        const char *name = shapes[shape].name, *at = text + length;
        struct lr_schedule parsed = {.shape = (enum lr_shape)shape, .warmup = schedule->warmup};
        if (strlen(name) != length || strncmp(text, name, length) != 0)
            continue;
        if (!take_epochs(&parsed, text, &at, err) || !take_value(&parsed, text, at, err))
            return false;
        *schedule = parsed;
        return true;
    }
    return error_set(err, ERROR_USAGE, "lr-schedule '%.60s' is none of %s", text, forms);
}

static void put_number(struct text *text, char before, double value)
{
    char *number = spec_double_text(value);
    text_printf(text, "%c%s", before, number ? number : "?");
    text->failed = text->failed || !number;
    free(number);
}

char *lr_schedule_text(const struct lr_schedule *schedule)
{
    struct text text = TEXT_INIT;
    text_puts(&text, shapes[schedule->shape].name);
    for (int i = 0; i < schedule->count; i++)
        put_number(&text, i ? ',' : ':', schedule->epochs[i]);
    if (schedule->value != shapes[schedule->shape].by_default)
        put_number(&text, ':', schedule->value);
    return text_take(&text);
}

const char *lr_schedule_word(size_t index)
{
    static const char *const words[] = {"constant", "step:",     "multistep:", "cosine",
                                        "linear",   "one-cycle", "triangle",   "range"};
    return index < sizeof words / sizeof *words ? words[index] : NULL;
}

bool lr_schedule_check(const struct lr_schedule *schedule, long epochs, struct error *err)
{
    return epochs == 0 || schedule->warmup <= (double)epochs ||
           error_set(err, ERROR_USAGE,
                     "warmup %g is longer than the run of %ld epoch%s: choose a shorter one, or "
                     "more epochs",
                     schedule->warmup, epochs, plural(epochs));
}
