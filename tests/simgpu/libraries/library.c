/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "engine/device/cuda/libraries/api.h"
#include "engine/device/cuda/libraries/loader.h"
#include "engine/device/cuda/libraries/nccl.h"

/* The backend's way to shared libraries (library.h), which here leads to the simulator's. */

/* Named by control.cpp, so that the linker takes this file, and not the backend's library.c. */
const int simgpu_has_libraries = 1;

#define CUDNN_ENTRY(RESULT, NAME, ARGUMENTS)    {"cudnn" #NAME, (void (*)(void))cudnn##NAME},
#define CUBLASLT_ENTRY(RESULT, NAME, ARGUMENTS) {"cublasLt" #NAME, (void (*)(void))cublasLt##NAME},
#define NCCL_ENTRY(RESULT, NAME, ARGUMENTS)     {"nccl" #NAME, (void (*)(void))nccl##NAME},

static const struct entry {
    const char *name;
    void (*function)(void);
} entries[] = {CUDNN_FUNCTIONS(CUDNN_ENTRY) CUBLASLT_FUNCTIONS(CUBLASLT_ENTRY)
                   NCCL_FUNCTIONS(NCCL_ENTRY)};

static const struct entry *find_entry(const char *name)
{
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++)
        if (strcmp(entries[i].name, name) == 0)
            return &entries[i];
    return NULL;
}

bool library_open(const struct library_request *wish, void *table, struct error *err)
{
    for (size_t i = 0; i < wish->symbol_count; i++) {
        const struct entry *found = find_entry(wish->symbols[i]);
        if (!found)
            return error_set(err, ERROR_FAILED, "the simulated %s has no function %s", wish->name,
                             wish->symbols[i]);
        memcpy((char *)table + i * sizeof(void *), &found->function, sizeof(void *));
    }
    return true;
}

bool library_open_once(struct library_once *once, const struct library_request *wish, void *table,
                       struct error *err)
{
    pthread_mutex_lock(&once->lock);
    once->is_open = once->is_open || library_open(wish, table, err);
    bool open = once->is_open;
    pthread_mutex_unlock(&once->lock);
    return open;
}
