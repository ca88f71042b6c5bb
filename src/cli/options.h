/* SPDX-License-Identifier: MIT */
#pragma once

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
    OPTION_OF("devices", OPTION_SETTING, "LIST",                                                   \
              "cpu:0-3; cuda:0,cuda:2-3; 0,1 (GPUs); free:N; all")
#define OPTION_GPUS OPTION_OF("gpus", OPTION_VALUE, "N", "the first N GPUs")
#define OPTION_SPLIT                                                                               \
    OPTION_OF("split", OPTION_SETTING, "RULE", "chunk, even, balanced, auto or weighted:W0,W1,...")
#define OPTION_DTYPE OPTION_OF("dtype", OPTION_SETTING, "TYPE", "f32, tf32 or bf16")
#define OPTION_TRAIN_ROWS                                                                          \
    OPTION_OF("train-rows", OPTION_SETTING, "N", "use the first N training rows; 0: all")
#define OPTION_TEST_ROWS                                                                           \
    OPTION_OF("test-rows", OPTION_SETTING, "N", "use the first N test rows; 0: all")
#define OPTION_DETERMINISTIC                                                                       \
    OPTION_OF("deterministic", OPTION_SWITCH, NULL, "the same result in every run, if slower")
#define OPTION_RECIPE                                                                              \
    OPTION_OF("recipe", OPTION_SETTING, "auto|none", "what the model file says of training")
#define OPTION_BATCH OPTION_OF("batch", OPTION_SETTING, "N", "global batch size, over all devices")
#define OPTION_CPU_THREADS                                                                         \
    OPTION_OF("cpu-threads", OPTION_SETTING, "N,...",                                              \
              "threads of each CPU device; 0: its share of the cores")

/* How a folder of pictures becomes rows. */
#define OPTIONS_PICTURES                                                                           \
    OPTION_OF("image-size", OPTION_SETTING, "N|WxH",                                               \
              "of pictures of a folder: resized, then cut; own: all have one"),                    \
        OPTION_OF("image-colour", OPTION_SETTING, "WHICH",                                         \
                  "grey, colour, or auto: if any has it"),                                         \
        OPTION_OF("test-share", OPTION_SETTING, "X", "of each class, where there is no test/"),    \
        OPTION_OF("skip-broken", OPTION_SWITCH, NULL, "leave out what cannot be read")

/* How a screen is drawn; run_preferences_take takes them over. */
#define OPTIONS_SCREEN                                                                             \
    OPTION_OF("charset", OPTION_VALUE, "CHARSET", "auto (by the locale), utf8 or ascii"),          \
        OPTION_OF("palette", OPTION_VALUE, "PALETTE", "colours: default or colour-blind"),         \
        OPTION_OF("background", OPTION_VALUE, "SHADE", "of the terminal: auto, dark or light"),    \
        OPTION_OF("canvas", OPTION_VALUE, "KIND", "of curves: auto, braille, quadrant or ascii")

/* What the devices divide, and how a pipeline does it. */
#define OPTIONS_STRATEGY                                                                           \
    OPTION_OF("strategy", OPTION_SETTING, "data|pipeline|tensor|mixed",                            \
              "what devices divide: rows, the network, its layers, or rows and linear layers"),    \
        OPTION_OF("micro-batches", OPTION_SETTING, "M",                                            \
                  "parts of a mini-batch in a pipeline (default: 4 for each stage)"),              \
        OPTION_OF("replicas", OPTION_SETTING, "R",                                                 \
                  "pipelines that divide the rows, each on some of the devices"),                  \
        OPTION_OF("stages", OPTION_SETTING, "LAYERS",                                              \
                  "last layer of each stage but the last (default: by measured times)"),           \
        OPTION_OF("memory-limit", OPTION_SETTING, "SIZE",                                          \
                  "memory that each device may use, such as 200M; 0: no limit")

/* Where else than on this host. */
#define OPTIONS_HOSTS                                                                              \
    OPTION_OF("hosts", OPTION_SETTING, "H1,H2,...", "train on these hosts, with devices on each"), \
        OPTION_OF("hosts-file", OPTION_VALUE, "FILE", "the same, a host to a line"),               \
        OPTION_OF("launcher", OPTION_SETTING, "COMMAND",                                           \
                  "starts them: mpirun (default), srun, or a command with %n, %h, %p"),            \
        OPTION_OF("host-limit", OPTION_SETTING, "SECONDS",                                         \
                  "of silence after which a host is given up"),                                    \
        OPTION_OF("restarts", OPTION_SETTING, "N",                                                 \
                  "resume by itself after the loss of a host, up to N times")

/* What the workbench's form and `train` begin with: where a run trains, its batch and learning
 * rate, what else defines it, and the files that it writes. */
#define OPTIONS_PLACE                                                                              \
    OPTION_OF("model", OPTION_SETTING, "NAME|FILE",                                                \
              "network, by name or from a model description"),                                     \
        OPTION_OF("data", OPTION_SETTING, "NAME|DIR",                                              \
                  "fashion-mnist, mnist, cifar10, glyphs, random:ROWSxCOLUMNS, a folder or .npz"), \
        OPTION_DATA_DIR, OPTIONS_PICTURES, OPTION_DEVICES, OPTION_GPUS, OPTION_CPU_THREADS,        \
        OPTIONS_HOSTS
#define OPTIONS_PACE OPTION_BATCH, OPTION_OF("lr", OPTION_SETTING, "X", "learning rate")
#define OPTIONS_TRAINING                                                                           \
    OPTION_OF("lr-schedule", OPTION_SETTING, "SHAPE",                                              \
              "constant, step:N, multistep:N,M, cosine, linear, one-cycle, ..."),                  \
        OPTION_OF("warmup", OPTION_SETTING, "EPOCHS", "in which lr rises from near 0; 0: none"),   \
        OPTION_OF("optimizer", OPTION_SETTING, "NAME", "sgd, nesterov, adam, adamw or rmsprop"),   \
        OPTION_OF("momentum", OPTION_SETTING, "X", "of sgd, nesterov and rmsprop"),                \
        OPTION_OF("weight-decay", OPTION_SETTING, "X", "share of each weight that is taken off"),  \
        OPTION_OF("beta1", OPTION_SETTING, "X", "decay of adam's mean of gradients"),              \
        OPTION_OF("beta2", OPTION_SETTING, "X", "decay of adam's and rmsprop's mean of squares"),  \
        OPTION_OF("eps", OPTION_SETTING, "X", "added to the root of that mean"),                   \
        OPTION_OF("no-decay", OPTION_SETTING, "WHAT", "norm-bias: weight decay spares these"),     \
        OPTION_OF("clip-norm", OPTION_SETTING, "X", "most that the norm of all gradients is"),     \
        OPTION_OF("ema", OPTION_SETTING, "DECAY", "evaluate and save an average of the weights"),  \
        OPTION_OF("epochs", OPTION_SETTING, "N", "passes over the training rows"),                 \
        OPTION_OF("seed", OPTION_SETTING, "N", "of weights, order, dropout and made data"),        \
        OPTIONS_STRATEGY, OPTION_SPLIT,                                                            \
        OPTION_OF("sync", OPTION_SETTING, "METHOD", "allreduce, reduce-broadcast or central"),     \
        OPTION_OF("sync-bn", OPTION_SWITCH, NULL, "BatchNorm statistics over all devices"),        \
        OPTION_DTYPE,                                                                              \
        OPTION_OF("init", OPTION_SETTING, "RULE|FILE",                                             \
                  "normal:STD, kaiming-normal ..., default or a .safetensors file"),               \
        OPTION_RECIPE, OPTION_OF("order", OPTION_SETTING, "ORDER", "shuffle or sequential"),       \
        OPTION_OF("augment", OPTION_SETTING, "CHANGES",                                            \
                  "of training pictures: none, flip, crop, flip-crop"),                            \
        OPTION_OF("label-smoothing", OPTION_SETTING, "X",                                          \
                  "share of a label for all classes alike"),                                       \
        OPTION_OF("checkpoint-every", OPTION_SETTING, "N", "epochs, minutes as in 10m, or off"),   \
        OPTION_OF("noise-every", OPTION_SETTING, "N",                                              \
                  "steps between measures of the noise by one device; 0: none"),                   \
        OPTION_DETERMINISTIC, OPTION_TRAIN_ROWS, OPTION_TEST_ROWS,                                 \
        OPTION_OF("validation", OPTION_SETTING, "X",                                               \
                  "share of the training rows to choose by; 0: none"),                             \
        OPTION_OF("patience", OPTION_SETTING, "EPOCHS",                                            \
                  "end after so many without a better accuracy; 0: never"),                        \
        OPTION_OF("stop-at-acc", OPTION_SETTING, "X", "end at this accuracy; 0: at none"),         \
        OPTION_OF("max-steps", OPTION_SETTING, "N", "stop after N steps in all; 0: no limit"),     \
        OPTION_OF("notify", OPTION_SETTING, "bell|COMMAND", "when a run ends: ring, or run this")
#define OPTIONS_SPEC                                                                               \
    OPTIONS_PLACE, OPTIONS_PACE, OPTIONS_TRAINING,                                                 \
        OPTION_OF("save", OPTION_SETTING, "FILE", "write the final weights as safetensors"),       \
        OPTION_OF("save-best", OPTION_SETTING, "FILE", "write those of the best epoch"),           \
        OPTION_OF("log", OPTION_SETTING, "FILE", "write the events, one JSON object a line"),      \
        OPTION_OF("tensorboard", OPTION_SETTING, "DIR", "write DIR/run-N for TensorBoard")
