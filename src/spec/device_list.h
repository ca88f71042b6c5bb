/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include "base/error.h"

#define SPEC_MAX_DEVICES 64

enum device_kind { DEVICE_CPU, DEVICE_CUDA };

/* Of a host's name, and of "host/cuda:0", with their ends. */
enum { HOST_NAME = 64, DEVICE_NAME = HOST_NAME + 16 };

struct device_id {
    enum device_kind kind;
    int index;
    char host[HOST_NAME]; /* "": this one */
};

/* Which devices a run asked for, before the engine knows what the machine has. */
enum device_choice {
    DEVICES_DEFAULT,    /* every GPU, else cpu:0 with all cores */
    DEVICES_ALL_GPUS,   /* `all` */
    DEVICES_FIRST_GPUS, /* --gpus N: count */
    DEVICES_FREE_GPUS,  /* `free:N`: count, those that are used least when the run begins */
    DEVICES_LISTED,     /* id[0..count-1], in order; a device may be named twice */
};

struct device_list {
    enum device_choice choice;
    int count;
    struct device_id id[SPEC_MAX_DEVICES];
    int free; /* those listed were the least used GPUs, as `free:N` asked: N; 0: they were named */
};

bool device_id_same(struct device_id a, struct device_id b);
/* How many of `count` devices are of a kind. */
int device_count_kind(const struct device_id *devices, int count, enum device_kind kind);

/*
 * "cuda:0,cuda:2-3", "2,3" (GPUs), "cpu:0-7", "h1/cuda:0-3,h2/cuda:0", "all", "free:2", "" or
 * "default"; and "free:2=cuda:1,cuda:3", what that came to.
 */
bool device_list_parse(const char *text, struct device_list *list, struct error *err);
/* "cpu:0", "h1/cuda:2"; buffer of DEVICE_NAME bytes, returned. */
const char *device_id_text(struct device_id id, char *buffer);
/* "cpu:0-7,cuda:0", "all", "free:2=cuda:1,cuda:3"; a new string the caller frees, NULL: out of
 * memory. */
char *device_list_text(const struct device_list *list);
