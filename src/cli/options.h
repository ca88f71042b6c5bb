/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_CLI_OPTIONS_H
#define DPARTUI_CLI_OPTIONS_H

#include "cli/command.h"

/* Options that several commands have. */
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
    {"batch", OPTION_SETTING, "N", "global batch size, over all devices"},                         \
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
        {"deterministic", OPTION_SWITCH, NULL, "the same result in every run, if slower"},         \
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

#endif
