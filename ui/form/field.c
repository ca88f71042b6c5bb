/* SPDX-License-Identifier: MIT */
#include "ui/form/field.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "spec/spec.h"
#include "ui/draw/preferences.h"

/* The networks and data sets that come with the program; others can be typed. */
static const char *const models[] = {"",        "resnet18",        "smallnet", "cifar-cnn", "lenet",
                                     "alexnet", "mobilenet-small", "linear",   NULL};
#define DATA_NAME(name, fetched) name,
static const char *const data_sets[] = {"", DATA_SETS(DATA_NAME) NULL};
static const char *const strategies[] = {"data", "pipeline", "tensor", "mixed", NULL};
static const char *const replicas[] = {"1", "2", "4", "8", NULL};
static const char *const micro_batches[] = {"0", "1", "2", "4", "8", "16", "32", "64", NULL};
static const char *const splits[] = {"chunk", "even", "balanced", "auto", NULL};
static const char *const methods[] = {"allreduce", "reduce-broadcast", "central", NULL};
static const char *const yes_no[] = {"no", "yes", NULL};
static const char *const momenta[] = {"0", "0.5", "0.9", "0.95", "0.99", NULL};
static const char *const schedules[] = {"constant", "step:5",    "multistep:5,8", "cosine",
                                        "linear",   "one-cycle", "triangle",      NULL};
static const char *const warmups[] = {"0", "0.5", "1", "2", "5", NULL};
static const char *const optimizers[] = {"sgd", "nesterov", "adam", "adamw", "rmsprop", NULL};
static const char *const decays[] = {"0.9", "0.95", "0.98", "0.99", "0.999", "0.9999", NULL};
static const char *const types[] = {"default", "f32", "tf32", "bf16", NULL};
static const char *const inits[] = {
    "normal:0.01",    "default", "xavier-uniform", "xavier-normal", "kaiming-uniform",
    "kaiming-normal", NULL};
static const char *const recipes[] = {"auto", "none", NULL};
static const char *const orders[] = {"shuffle", "sequential", NULL};
static const char *const checkpoints[] = {"1", "2", "5", "10", "10m", "60m", "off", NULL};
static const char *const smoothings[] = {"0", "0.05", "0.1", "0.2", NULL};
static const char *const no_decays[] = {"none", "norm-bias", NULL};
static const char *const averages[] = {"0", "0.9", "0.99", "0.999", "0.9999", NULL};
static const char *const image_sizes[] = {"own", "28", "32", "64", "96", "128", "224", NULL};
static const char *const colours[] = {"auto", "grey", "colour", NULL};
static const char *const test_shares[] = {"0.1", "0.2", "0.3", "0.5", NULL};
static const char *const shares[] = {"0", "0.05", "0.1", "0.2", NULL};
static const char *const goals[] = {"0", "0.9", "0.95", "0.98", "0.99", NULL};
static const char *const row_counts[] = {"0", "1000", "5000", "10000", "20000", NULL};
static const char *const step_counts[] = {"0", "10", "100", "1000", "10000", NULL};
static const char *const notices[] = {"", "bell", NULL};
static const char *const augments[] = {"none", "flip", "crop", "flip-crop", NULL};

static const struct field fields[] = {
    {"model", "a name or a description file; default: smallnet, on GPUs resnet18", STEP_WORDS,
     models},
    {"data", "name, folder or random:ROWSxCOLUMNS; default: fashion-mnist, or glyphs", STEP_WORDS,
     data_sets},
    {"data-dir", "the folder that holds the named data sets", STEP_NOT, NULL},
    {"image-size", "of a folder's pictures: 32 or 64x48; own: all have the same", STEP_WORDS,
     image_sizes},
    {"image-colour", "of a folder's pictures; auto: colour if any has it", STEP_WORDS, colours},
    {"test-share", "of each class of a folder without test/", STEP_WORDS, test_shares},
    {"skip-broken", "leave out pictures that cannot be read", STEP_WORDS, yes_no},
    {"devices", "cpu:0-7, cuda:0, free:2 - or tick them in the list", STEP_NOT, NULL},
    {"hosts", "h1,h2: train on these, with the devices on each", STEP_NOT, NULL},
    {"launcher", "starts them: mpirun, srun, or a command with %n, %h, %H, %p", STEP_NOT, NULL},
    {"host-limit", "seconds of silence after which a host is given up", STEP_NOT, NULL},
    {"restarts", "of a run that has lost a host, by itself", STEP_ONE, NULL},
    {"cpu-threads", "of each CPU device; 0: its share of the cores; 2,1: one by one", STEP_ONE,
     NULL},
    {"batch", "global batch size, over all devices", STEP_DOUBLE, NULL},
    {"lr", "learning rate; r changes that of the running run", STEP_125, NULL},
    {"epochs", "passes over the training set", STEP_ONE, NULL},
    {"lr-schedule", "how lr changes over the run; also cosine:END, multistep:3,6:FACTOR",
     STEP_WORDS, schedules},
    {"warmup", "epochs in which lr rises from near 0; 0: none", STEP_WORDS, warmups},
    {"strategy", "rows (data), stages (pipeline), layers (tensor) or both (mixed)", STEP_WORDS,
     strategies},
    {"micro-batches", "parts that a mini-batch goes through a pipeline in; 0: 4 for each stage",
     STEP_WORDS, micro_batches},
    {"replicas", "pipelines that divide the rows, each on some of the devices", STEP_WORDS,
     replicas},
    {"stages", "last layer of each stage but the last: conv1,conv4; default: by times", STEP_NOT,
     NULL},
    {"memory-limit", "memory that each device may use: 200M, 1.5G; 0: no limit", STEP_NOT, NULL},
    {"split", "how a mini-batch is divided; auto: by speed; also weighted:W0,W1", STEP_WORDS,
     splits},
    {"sync", "how gradients are all-reduced", STEP_WORDS, methods},
    {"sync-bn", "BatchNorm statistics over all devices", STEP_WORDS, yes_no},
    {"optimizer", "by PyTorch's definitions", STEP_WORDS, optimizers},
    {"momentum", "of sgd, nesterov and rmsprop; 0: none", STEP_WORDS, momenta},
    {"weight-decay", "share of each weight that is taken off with the gradient; 0: none", STEP_125,
     NULL},
    {"beta1", "decay of adam's mean of gradients", STEP_WORDS, momenta},
    {"beta2", "decay of the mean of squared gradients, of adam and rmsprop", STEP_WORDS, decays},
    {"eps", "added to the root of that mean, so that nothing is divided by 0", STEP_125, NULL},
    {"no-decay", "norm-bias: weight decay spares parameters of BatchNorm, and biases", STEP_WORDS,
     no_decays},
    {"clip-norm", "the norm that all gradients together are scaled down to; 0: they stay", STEP_125,
     NULL},
    {"ema", "decay of an average of the weights, which is evaluated and saved; 0: none", STEP_WORDS,
     averages},
    {"seed", "of weights, order and glyphs", STEP_ONE, NULL},
    {"dtype", "number type; CPU devices: f32 or bf16", STEP_WORDS, types},
    {"init", "initial weights: normal:STD, uniform:BOUND, xavier, kaiming, PyTorch's, or a file",
     STEP_WORDS, inits},
    {"recipe", "auto: what the model file says is used where nothing is given", STEP_WORDS,
     recipes},
    {"order", "of the rows in each epoch", STEP_WORDS, orders},
    {"augment", "training pictures mirrored at random, moved by up to 4 pixels, or both",
     STEP_WORDS, augments},
    {"label-smoothing", "share of a label that all classes get alike in training; 0: none",
     STEP_WORDS, smoothings},
    {"validation", "share of the training rows that best epochs are chosen by; 0: none", STEP_WORDS,
     shares},
    {"patience", "epochs without a better accuracy that end the run; 0: none do", STEP_ONE, NULL},
    {"stop-at-acc", "accuracy that ends the run; 0: none does", STEP_WORDS, goals},
    {"checkpoint-every", "epochs between checkpoints, minutes as in 10m, or off", STEP_WORDS,
     checkpoints},
    {"noise-every", "steps after which one device alone measures its gradients' noise; 0: never",
     STEP_ONE, NULL},
    {"deterministic", "bit-identical results in every run, even where that is slower", STEP_WORDS,
     yes_no},
    {"train-rows", "only the first so many training rows; 0: all", STEP_WORDS, row_counts},
    {"test-rows", "only the first so many test rows; 0: all", STEP_WORDS, row_counts},
    {"max-steps", "steps after which the run ends; 0: no limit", STEP_WORDS, step_counts},
    {"save", "file for the final weights, from / on", STEP_NOT, NULL},
    {"save-best", "file for the weights of the best epoch, from / on", STEP_NOT, NULL},
    {"log", "file for the events, a JSON object a line, from / on", STEP_NOT, NULL},
    {"tensorboard", "folder for event files, in run-N, from / on", STEP_NOT, NULL},
    {"notify", "when a run ends: bell, or a command for the engine to run", STEP_WORDS, notices},
    {"profile", "tell where the time of the steps goes", STEP_WORDS, yes_no},
    {"charset", "what to draw with; auto: by the locale", STEP_WORDS, NULL},
    {"colour", "no: bold, dim and reverse instead of colours", STEP_WORDS, NULL},
    {"palette", "colour-blind: colours that all eyes can tell apart", STEP_WORDS, NULL},
    {"background", "of the terminal; auto: what it says, else colours for both", STEP_WORDS, NULL},
    {"canvas", "what curves are drawn with; auto: the finest that the characters allow", STEP_WORDS,
     NULL},
    {"load", "load of the devices: as a bar, a curve or a number", STEP_WORDS, NULL},
    {"x-axis", "of the chart: epochs, steps, or seconds of training", STEP_WORDS, NULL},
    {"y-axis", "of the chart: linear, or logarithmic but for accuracies", STEP_WORDS, NULL},
    {"smoothing", "of the curves on the chart, over their last points", STEP_WORDS, NULL},
    {"columns", "of the runs page, in this order: run model data devices acc...", STEP_NOT, NULL},
    {"mouse", "clicks and the wheel; to select text, hold Shift then", STEP_WORDS, NULL},
};

static bool same_key(const char *a, const char *b)
{
    for (; *a != '\0' && (*a == *b || (*a == '-' && *b == '_')); a++)
        b++;
    return *a == '\0' && *b == '\0';
}

static const struct field unknown = {"", "", STEP_NOT, NULL};

const struct field *field_find(const char *key)
{
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        if (same_key(fields[i].key, key))
            return &fields[i];
    return &unknown;
}

/* The word before or after the present one, around the ends. */
static const char *next_word(const char *const *words, const char *value, int direction)
{
    int count = 0, at = -1;
    for (; words[count]; count++)
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

bool field_next(const struct field *field, const char *value, int direction, char *next,
                size_t size)
{
    const char *const *words = field->words ? field->words : preferences_words(field->key);
    long number;
    double real;
    switch (field->step) {
    case STEP_NOT:
        return false;
    case STEP_WORDS:
        if (!words)
            return false;
        snprintf(next, size, "%s", next_word(words, value, direction));
        return true;
    case STEP_ONE:
        if (!parse_long(value, 0, 1000000000000, &number))
            return false;
        snprintf(next, size, "%ld", number + direction);
        return true;
    case STEP_DOUBLE:
        if (!parse_long(value, 0, 1000000000000, &number))
            return false;
        snprintf(next, size, "%ld", direction > 0 ? number * 2 : number > 1 ? number / 2 : 1);
        return true;
    case STEP_125:
        if (!parse_double(value, 0, 1e9, &real))
            return false;
        snprintf(next, size, "%.6g", next_125(real, direction));
        return true;
    }
    return false;
}
