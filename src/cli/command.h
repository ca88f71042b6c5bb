/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_CLI_COMMAND_H
#define DPARTUI_CLI_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "settings/settings.h"

/*
 * The command line as data: a table of commands, each with a table of options. Parsing, --help and
 * the hints for mistyped names all read these tables.
 */

enum exit_status { STATUS_DONE, STATUS_FAILED, STATUS_USAGE };

enum option_kind {
    OPTION_FLAG,    /* no argument; its value is "" when given */
    OPTION_VALUE,   /* an argument the command looks at itself */
    OPTION_SETTING, /* an argument for spec_set() under the option's name */
    OPTION_SWITCH,  /* a setting that is yes or no: without an argument it is yes */
    OPTION_WORD,    /* one of the words that the argument consists of ("time|order"), or without an
                       argument the first of them; the command looks at it */
};

struct option {
    const char *name; /* without dashes */
    enum option_kind kind;
    const char *argument; /* as --help calls it, which argument.h understands; NULL for none */
    const char *help;
};

#define COMMANDS_MAX  32
#define OPTIONS_MAX   48
#define ARGUMENTS_MAX 64

struct command;

/* A command line taken apart. */
struct invocation {
    const struct command *command;
    struct settings settings; /* files, environment, then the command line */
    const char *values[OPTIONS_MAX];
    int argument_count;
    const char *arguments[ARGUMENTS_MAX]; /* what is no option */
};

struct command {
    const char *name;      /* NULL: the program without a command */
    const char *arguments; /* "RUN", "NAME|FILE", "RUN..." or NULL; argument.h understands them */
    const char *forms;     /* what else it takes, in the same words, for completion; or NULL */
    int argument_min, argument_max;
    bool live_run;                /* its RUN is one that has not ended */
    bool dash_words;              /* "-word" is an argument; options begin with two dashes */
    const char *summary;          /* one line for the list of commands */
    const char *details;          /* lines below it in the command's own help, or NULL */
    const struct option *options; /* ends with a NULL name; --help and --version are understood */
    /* Returns an enum exit_status. An error is printed and makes it 1, or 2 for ERROR_USAGE. */
    int (*run)(struct invocation *invocation, struct error *err);
};

/* Does an option stand for something without an argument, so that one only follows behind '='? */
static inline bool option_stands_alone(const struct option *option)
{
    return option->kind == OPTION_SWITCH || option->kind == OPTION_WORD;
}

/* The value of an option, NULL when it was not given. */
const char *invocation_value(const struct invocation *invocation, const char *option);
/* Is there an OPTION_FLAG? */
bool invocation_has(const struct invocation *invocation, const char *option);

/*
 * Take a command line apart. `argv` begins behind the command's name and must outlive the
 * invocation. *help is set when --help was given (the rest is not looked at then).
 */
bool command_parse(const struct command *command, int argc, char *const *argv,
                   struct invocation *invocation, bool *help, struct error *err);

void command_print_help(const struct command *command);
void command_print_options(const struct command *command);

/* The option tables share these. */
#define OPTION_JSON                                                                                \
    {                                                                                              \
        "json", OPTION_FLAG, NULL, "print JSON"                                                    \
    }
#define OPTIONS_END                                                                                \
    {                                                                                              \
        NULL, OPTION_FLAG, NULL, NULL                                                              \
    }
#define OPTION_PROFILE(help)                                                                       \
    {                                                                                              \
        "profile", OPTION_WORD, "time|order", help                                                 \
    }
/* How a screen is drawn; run_preferences_take takes them over. */
#define OPTIONS_SCREEN                                                                             \
    {"charset", OPTION_VALUE, "CHARSET", "auto (by the locale), utf8 or ascii"},                   \
        {"palette", OPTION_VALUE, "PALETTE", "colours: default or colour-blind"},                  \
        {"background", OPTION_VALUE, "SHADE", "of the terminal: auto, dark or light"},             \
    {                                                                                              \
        "canvas", OPTION_VALUE, "KIND", "of curves: auto, braille, quadrant or ascii"              \
    }

/* What the workbench's form and `train` begin with: where a run trains, its batch and learning
 * rate, what else defines it, and the files that it writes. */
#define OPTIONS_PLACE                                                                              \
    {"model", OPTION_SETTING, "NAME|FILE", "network, by name or from a model description"},        \
        {"data", OPTION_SETTING, "NAME|DIR",                                                       \
         "fashion-mnist, mnist, cifar10, glyphs, random:ROWSxCOLUMNS or a folder"},                \
        {"data-dir", OPTION_SETTING, "DIR", "where named data lie"},                               \
        {"devices", OPTION_SETTING, "LIST", "cpu:0-3; cuda:0,cuda:2-3; 0,1 (GPUs); all"},          \
        {"gpus", OPTION_VALUE, "N", "the first N GPUs"},                                           \
    {                                                                                              \
        "cpu-threads", OPTION_SETTING, "N,...",                                                    \
            "threads of each CPU device; 0: its share of the cores"                                \
    }
#define OPTIONS_PACE                                                                               \
    {"batch", OPTION_SETTING, "N", "rows of a mini-batch, over all devices"},                      \
    {                                                                                              \
        "lr", OPTION_SETTING, "X", "learning rate"                                                 \
    }
#define OPTIONS_TRAINING                                                                           \
    {"momentum", OPTION_SETTING, "X", "of the SGD"},                                               \
        {"weight-decay", OPTION_SETTING, "X", "of the SGD"},                                       \
        {"epochs", OPTION_SETTING, "N", "passes over the training rows"},                          \
        {"seed", OPTION_SETTING, "N", "of weights, order, dropout and made data"},                 \
        {"split", OPTION_SETTING, "RULE", "chunk, even, balanced, auto or weighted:W0,W1,..."},    \
        {"sync", OPTION_SETTING, "METHOD", "allreduce, reduce-broadcast or central"},              \
        {"sync-bn", OPTION_SWITCH, NULL, "BatchNorm statistics over all devices"},                 \
        {"dtype", OPTION_SETTING, "TYPE", "f32, tf32 or bf16"},                                    \
        {"init", OPTION_SETTING, "RULE|FILE", "normal:STD, default or a .safetensors file"},       \
        {"order", OPTION_SETTING, "ORDER", "shuffle or sequential"},                               \
        {"augment", OPTION_SETTING, "CHANGES",                                                     \
         "of training pictures: none, flip, crop, flip-crop"},                                     \
        {"checkpoint-every", OPTION_SETTING, "N", "epochs, minutes as in 10m, or off"},            \
        {"deterministic", OPTION_SWITCH, NULL, "the same bits in every run, if slower"},           \
        {"train-rows", OPTION_SETTING, "N", "use the first N training rows; 0: all"},              \
        {"test-rows", OPTION_SETTING, "N", "use the first N test rows; 0: all"},                   \
    {                                                                                              \
        "max-steps", OPTION_SETTING, "N", "stop after N steps in all; 0: no limit"                 \
    }
#define OPTIONS_SPEC                                                                               \
    OPTIONS_PLACE, OPTIONS_PACE, OPTIONS_TRAINING,                                                 \
        {"save", OPTION_SETTING, "FILE", "write the final weights as safetensors"},                \
        {"log", OPTION_SETTING, "FILE", "write the events, one JSON object a line"},               \
    {                                                                                              \
        "tensorboard", OPTION_SETTING, "DIR", "write DIR/run-N for TensorBoard"                    \
    }

extern const struct command command_workbench, command_train, command_compare, command_devices,
    command_runs, command_show, command_export, command_stop, command_model, command_fetch,
    command_completion, command_engine, command_screen, command_eval, command_check;

/* All of them, the workbench first; ends with NULL. */
extern const struct command *const commands[];

#endif
