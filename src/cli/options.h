/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_CLI_OPTIONS_H
#define DPARTUI_CLI_OPTIONS_H

#include "cli/command.h"

/* Options that several commands have. */
#define OPTION_OF(name, kind, argument, help)                                                      \
    {                                                                                              \
        name, kind, argument, help                                                                 \
    }
#define OPTION_JSON          OPTION_OF("json", OPTION_FLAG, NULL, "print JSON")
#define OPTIONS_END          OPTION_OF(NULL, OPTION_FLAG, NULL, NULL)
#define OPTION_PROFILE(help) OPTION_OF("profile", OPTION_WORD, "time|order", help)
#define OPTION_DATA_DIR      OPTION_OF("data-dir", OPTION_SETTING, "DIR", "where named data lie")
#define OPTION_DEVICES                                                                             \
    OPTION_OF("devices", OPTION_SETTING, "LIST", "cpu:0-3; cuda:0,cuda:2-3; 0,1 (GPUs); all")
#define OPTION_GPUS OPTION_OF("gpus", OPTION_VALUE, "N", "the first N GPUs")
#define OPTION_SPLIT                                                                               \
    OPTION_OF("split", OPTION_SETTING, "RULE", "chunk, even, balanced, auto or weighted:W0,W1,...")
#define OPTION_DTYPE OPTION_OF("dtype", OPTION_SETTING, "TYPE", "f32, tf32 or bf16")
#define OPTION_TRAIN_ROWS                                                                          \
    OPTION_OF("train-rows", OPTION_SETTING, "N", "use the first N training rows; 0: all")
#define OPTION_TEST_ROWS                                                                           \
    OPTION_OF("test-rows", OPTION_SETTING, "N", "use the first N test rows; 0: all")
#define OPTION_BATCH OPTION_OF("batch", OPTION_SETTING, "N", "global batch size, over all devices")
#define OPTION_CPU_THREADS                                                                         \
    OPTION_OF("cpu-threads", OPTION_SETTING, "N,...",                                              \
              "threads of each CPU device; 0: its share of the cores")

/* How a screen is drawn; run_preferences_take takes them over. */
#define OPTIONS_SCREEN                                                                             \
    OPTION_OF("charset", OPTION_VALUE, "CHARSET", "auto (by the locale), utf8 or ascii"),          \
        OPTION_OF("palette", OPTION_VALUE, "PALETTE", "colours: default or colour-blind"),         \
        OPTION_OF("background", OPTION_VALUE, "SHADE", "of the terminal: auto, dark or light"),    \
        OPTION_OF("canvas", OPTION_VALUE, "KIND", "of curves: auto, braille, quadrant or ascii")

/* What the workbench's form and `train` begin with: where a run trains, its batch and learning
 * rate, what else defines it, and the files that it writes. */
#define OPTIONS_PLACE                                                                              \
    OPTION_OF("model", OPTION_SETTING, "NAME|FILE",                                                \
              "network, by name or from a model description"),                                     \
        OPTION_OF("data", OPTION_SETTING, "NAME|DIR",                                              \
                  "fashion-mnist, mnist, cifar10, glyphs, random:ROWSxCOLUMNS or a folder"),       \
        OPTION_DATA_DIR, OPTION_DEVICES, OPTION_GPUS, OPTION_CPU_THREADS
#define OPTIONS_PACE OPTION_BATCH, OPTION_OF("lr", OPTION_SETTING, "X", "learning rate")
#define OPTIONS_TRAINING                                                                           \
    OPTION_OF("momentum", OPTION_SETTING, "X", "of SGD"),                                          \
        OPTION_OF("weight-decay", OPTION_SETTING, "X", "of SGD"),                                  \
        OPTION_OF("epochs", OPTION_SETTING, "N", "passes over the training rows"),                 \
        OPTION_OF("seed", OPTION_SETTING, "N", "of weights, order, dropout and made data"),        \
        OPTION_SPLIT,                                                                              \
        OPTION_OF("sync", OPTION_SETTING, "METHOD", "allreduce, reduce-broadcast or central"),     \
        OPTION_OF("sync-bn", OPTION_SWITCH, NULL, "BatchNorm statistics over all devices"),        \
        OPTION_DTYPE,                                                                              \
        OPTION_OF("init", OPTION_SETTING, "RULE|FILE",                                             \
                  "normal:STD, default or a .safetensors file"),                                   \
        OPTION_OF("order", OPTION_SETTING, "ORDER", "shuffle or sequential"),                      \
        OPTION_OF("augment", OPTION_SETTING, "CHANGES",                                            \
                  "of training pictures: none, flip, crop, flip-crop"),                            \
        OPTION_OF("checkpoint-every", OPTION_SETTING, "N", "epochs, minutes as in 10m, or off"),   \
        OPTION_OF("deterministic", OPTION_SWITCH, NULL,                                            \
                  "the same result in every run, if slower"),                                      \
        OPTION_TRAIN_ROWS, OPTION_TEST_ROWS,                                                       \
        OPTION_OF("max-steps", OPTION_SETTING, "N", "stop after N steps in all; 0: no limit")
#define OPTIONS_SPEC                                                                               \
    OPTIONS_PLACE, OPTIONS_PACE, OPTIONS_TRAINING,                                                 \
        OPTION_OF("save", OPTION_SETTING, "FILE", "write the final weights as safetensors"),       \
        OPTION_OF("log", OPTION_SETTING, "FILE", "write the events, one JSON object a line"),      \
        OPTION_OF("tensorboard", OPTION_SETTING, "DIR", "write DIR/run-N for TensorBoard")

#endif
