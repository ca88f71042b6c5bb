/* SPDX-License-Identifier: MIT */
#include "engine/device/cuda/pass/rows.h"

#include <stdlib.h>
#include <string.h>

#include "engine/device/cuda/runtime/memory.h"
#include "engine/device/cuda/runtime/wait.h"

/* The share of free memory that one data set may take; plans made later want room, too. */
#define SHARE     4
#define MOST_KEPT 4 /* data sets: train and test, and those of the run before */
/* Those of the passes that may be queued, and of the one after: so nobody waits for a set. */
#define STAGING_SETS (PASSES_QUEUED + 1)

/* A data set, known by where its rows lie in host memory. */
struct kept {
    const void *key;
    int rows;
    void *memory; /* all of it; NULL: its rows are staged, batch by batch */
};

/* Gathered rows: in pinned memory, and in the device's. */
struct staging {
    size_t room; /* bytes of each */
    char *host, *memory;
    cudaEvent_t copied; /* to the device's memory: the host's may be filled again */
    cudaEvent_t read;   /* by the last pass: the device's may */
    /* what it holds */
    const void *key;
    uint32_t *index;
    int rows, index_room;
    bool pending; /* copied, or on its way, and not yet used */
};

struct resident {
    struct kept kept[MOST_KEPT];
    int kept_count;
    struct staging staging[STAGING_SETS];
    int current; /* of the last batch */
};

static struct resident *resident_of(struct device *device, struct error *err)
{
    if (device->resident)
        return device->resident;
    struct resident *r = calloc(1, sizeof *r);
    if (!r) {
        error_memory(err, "data on the device");
        return NULL;
    }
    bool ok = true;
    for (int i = 0; ok && i < STAGING_SETS; i++)
        ok = cuda_check(cudaEventCreateWithFlags(&r->staging[i].copied, cudaEventDisableTiming),
                        "event", err) &&
             cuda_check(cudaEventCreateWithFlags(&r->staging[i].read, cudaEventDisableTiming),
                        "event", err);
    if (!ok) {
        resident_rows_free(r, true);
        return NULL;
    }
    device->resident = r;
    return r;
}

static void release_memory(struct resident *r)
{
    for (int i = 0; i < r->kept_count; i++)
        cudaFree(r->kept[i].memory);
    for (int i = 0; i < STAGING_SETS; i++) {
        struct staging *s = &r->staging[i];
        if (s->copied)
            cudaEventDestroy(s->copied);
        if (s->read)
            cudaEventDestroy(s->read);
        if (s->host)
            cudaFreeHost(s->host);
        if (s->memory)
            cudaFree(s->memory);
    }
}

void resident_rows_free(struct resident *r, bool at_rest)
{
    if (!r)
        return;
    if (at_rest)
        release_memory(r);
    for (int i = 0; i < STAGING_SETS; i++)
        free(r->staging[i].index);
    free(r);
}

static const void *rows_of(const struct dataset *data)
{
    return data->pixels ? (const void *)data->pixels : (const void *)data->numbers;
}

static size_t row_bytes(const struct dataset *data)
{
    return (size_t)data->channels * (size_t)data->height * (size_t)data->width *
           (data->pixels ? sizeof(uint8_t) : sizeof(float));
}

static const struct kept *find_kept(const struct resident *r, const struct dataset *data)
{
    for (int i = 0; i < r->kept_count; i++)
        if (r->kept[i].key == rows_of(data) && r->kept[i].rows == data->rows)
            return &r->kept[i];
    return NULL;
}

static bool fits(const struct dataset *data)
{
    size_t available = 0, all = 0;
    const size_t bytes = (size_t)data->rows * row_bytes(data);
    if (cudaMemGetInfo(&available, &all) == cudaSuccess)
        return bytes <= available / SHARE;
    (void)cudaGetLastError(); /* else the next launch would be blamed */
    return false;
}

static bool keep(struct device *device, struct resident *r, const struct dataset *data,
                 struct error *err)
{
    const size_t bytes = (size_t)data->rows * row_bytes(data);
    struct kept kept = {.key = rows_of(data), .rows = data->rows};
    if (cuda_memory_create(device, bytes, "the data set", &kept.memory, err) &&
        cuda_write(device, kept.memory, rows_of(data), bytes, "copying the data set", err)) {
        r->kept[r->kept_count++] = kept;
        return true;
    }
    cudaFree(kept.memory);
    return false;
}

static bool grow_set(struct device *device, struct staging *s, size_t bytes, struct error *err)
{
    void *memory;
    if (!cuda_wait_event(device, s->copied, "staged rows", err) ||
        !cuda_wait_event(device, s->read, "staged rows", err))
        return false;
    if (s->host)
        cudaFreeHost(s->host);
    cudaFree(s->memory);
    s->host = s->memory = NULL;
    s->room = 0;
    s->pending = false;
    if (!cuda_check(cudaMallocHost((void **)&s->host, bytes), "pinned memory", err) ||
        !cuda_memory_create(device, bytes, "staged rows", &memory, err))
        return false;
    s->memory = memory;
    s->room = bytes;
    return true;
}

/*
 * Room in all sets at once, in the first pass over this many rows: allocating may wait for the
 * whole GPU, which must not happen while reductions wait there for other GPUs.
 */
static bool make_room(struct device *device, struct resident *r, struct staging *s, int rows,
                      size_t bytes, struct error *err)
{
    if (rows > s->index_room) {
        uint32_t *index = realloc(s->index, (size_t)rows * sizeof *index);
        if (!index)
            return error_memory(err, "staged rows");
        s->index = index;
        s->index_room = rows;
    }
    if (bytes <= s->room)
        return true;
    for (int i = 0; i < STAGING_SETS; i++)
        if (bytes > r->staging[i].room && !grow_set(device, &r->staging[i], bytes, err))
            return false;
    return true;
}

/* Gather rows and queue their copy, after the work that reads what the set held before. */
static bool stage(struct device *device, struct resident *r, struct staging *s,
                  const struct dataset *data, const uint32_t *index, int rows, struct error *err)
{
    const size_t row = row_bytes(data), count = (size_t)rows;
    if (!cuda_wait_event(device, s->copied, "staged rows", err) ||
        !make_room(device, r, s, rows, count * row, err))
        return false;
    s->pending = false;
    for (size_t n = 0; n < count; n++)
        memcpy(s->host + n * row, (const char *)rows_of(data) + index[n] * row, row);
    memcpy(s->index, index, count * sizeof *index);
    s->key = rows_of(data);
    s->rows = rows;
    if (!cuda_check(cudaStreamWaitEvent(device->side, s->read, 0), "event", err) ||
        !cuda_check(
            cudaMemcpyAsync(s->memory, s->host, count * row, cudaMemcpyHostToDevice, device->side),
            "copying rows", err) ||
        !cuda_check(cudaEventRecord(s->copied, device->side), "event", err))
        return false;
    s->pending = true;
    return true;
}

static bool holds(const struct staging *s, const struct batch *batch)
{
    return s->pending && s->key == rows_of(batch->data) && s->rows == batch->rows &&
           memcmp(s->index, batch->index, (size_t)s->rows * sizeof *s->index) == 0;
}

/* The batch's rows by way of a staging set: the one that was filled ahead, if it is theirs. */
static bool find_staged(struct device *device, struct resident *r, const struct batch *batch,
                        struct rows *out, struct error *err)
{
    const int next = (r->current + 1) % STAGING_SETS;
    struct staging *s = &r->staging[next];
    if (!holds(s, batch) && !stage(device, r, s, batch->data, batch->index, batch->rows, err))
        return false;
    if (!cuda_check(cudaStreamWaitEvent(device->stream, s->copied, 0), "event", err))
        return false;
    s->pending = false;
    r->current = next;
    *out = (struct rows){.gathered = true};
    if (batch->data->pixels)
        out->pixels = (const uint8_t *)s->memory;
    else
        out->numbers = (const float *)s->memory;
    return true;
}

/* Whether a data set is kept is decided once. *out is NULL where it is not because it changes, or
 * because as many as can be are known. */
static bool know(struct device *device, struct resident *r, const struct dataset *data,
                 const struct kept **out, struct error *err)
{
    *out = data->changes ? NULL : find_kept(r, data);
    if (*out || data->changes || r->kept_count == MOST_KEPT)
        return true;
    if (!fits(data))
        r->kept[r->kept_count++] = (struct kept){.key = rows_of(data), .rows = data->rows};
    else if (!keep(device, r, data, err))
        return false;
    *out = find_kept(r, data);
    return true;
}

bool rows_find(struct device *device, const struct batch *batch, struct rows *out,
               struct error *err)
{
    struct resident *r = resident_of(device, err);
    const struct kept *kept;
    if (!r || !know(device, r, batch->data, &kept, err))
        return false;
    if (!kept || !kept->memory)
        return find_staged(device, r, batch, out, err);
    *out = (struct rows){.gathered = false};
    if (batch->data->pixels)
        out->pixels = kept->memory;
    else
        out->numbers = kept->memory;
    return true;
}

bool rows_mark_read(struct device *device, struct error *err)
{
    const struct resident *r = device->resident;
    return cuda_check(cudaEventRecord(r->staging[r->current].read, device->stream), "event", err);
}

bool rows_stage_ahead(struct device *device, const struct batch *batch, struct error *err)
{
    struct resident *r = device->resident;
    const struct kept *kept = r ? find_kept(r, batch->data) : NULL;
    if (!r || !batch->next_index || batch->next_rows == 0 || batch->rows == 0 ||
        (kept && kept->memory))
        return true;
    for (int n = 0; n < batch->next_rows; n++)
        if (batch->next_index[n] >= (uint32_t)batch->data->rows)
            return true; /* a hint that cannot be true; the next pass will say so */
    return stage(device, r, &r->staging[(r->current + 1) % STAGING_SETS], batch->data,
                 batch->next_index, batch->next_rows, err);
}
