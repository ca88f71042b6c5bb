/* SPDX-License-Identifier: MIT */
#include "engine/device/cuda/collective/nccl_marks.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/text.h"

static bool make_events(cudaEvent_t *first, cudaEvent_t *second, unsigned flags, struct error *err)
{
    return cuda_check(cudaEventCreateWithFlags(first, flags), "event for reductions", err) &&
           cuda_check(cudaEventCreateWithFlags(second, flags), "event for reductions", err);
}

bool nccl_marks_open(struct nccl_end *end, struct error *err)
{
    end->marks = calloc(NCCL_MARKS, sizeof *end->marks);
    end->clocks = calloc(NCCL_CLOCKS, sizeof *end->clocks);
    if (!end->marks || !end->clocks)
        return error_memory(err, "reductions between GPUs");
    bool ok = cuda_check(cudaEventCreateWithFlags(&end->done, cudaEventDisableTiming),
                         "event for reductions", err);
    for (int i = 0; ok && i < NCCL_MARKS; i++)
        ok = make_events(&end->marks[i].before, &end->marks[i].after, cudaEventDisableTiming, err);
    for (int i = 0; ok && i < NCCL_CLOCKS; i++)
        ok = make_events(&end->clocks[i].begin, &end->clocks[i].end, cudaEventDefault, err);
    return ok;
}

static void destroy(cudaEvent_t event)
{
    if (event)
        cudaEventDestroy(event);
}

void nccl_marks_close(struct device_group *group, struct nccl_end *end)
{
    pthread_mutex_lock(&group->marks_lock);
    for (int i = 0; end->marks && i < NCCL_MARKS; i++) {
        destroy(end->marks[i].before);
        destroy(end->marks[i].after);
    }
    free(end->marks);
    end->marks = NULL;
    pthread_mutex_unlock(&group->marks_lock);
    for (int i = 0; end->clocks && i < NCCL_CLOCKS; i++) {
        destroy(end->clocks[i].begin);
        destroy(end->clocks[i].end);
    }
    free(end->clocks);
    end->clocks = NULL;
    destroy(end->done);
    end->done = NULL;
}

bool nccl_is_over(cudaEvent_t event)
{
    bool over = cudaEventQuery(event) != cudaErrorNotReady;
    (void)cudaGetLastError(); /* "not ready" is kept like an error */
    return over;
}

struct nccl_mark *nccl_mark_before(struct nccl_end *end, const char *what, struct error *err)
{
    struct nccl_mark *mark = &end->marks[end->marked % NCCL_MARKS];
    mark->what = what;
    mark->queued_at = clock_seconds();
    if (!cuda_check(cudaEventRecord(mark->before, end->base.device->stream), "event", err))
        return NULL;
    atomic_store(&end->recorded, end->marked + 1);
    return mark;
}

bool nccl_mark_after(struct nccl_end *end, struct nccl_mark *mark, struct error *err)
{
    end->marked++;
    return cuda_check(cudaEventRecord(mark->after, end->base.device->stream), "event", err);
}

bool nccl_clock_begin(struct device_group *group, struct nccl_end *end, struct error *err)
{
    const struct nccl_clock *clock = &end->clocks[end->timed % NCCL_CLOCKS];
    return !nccl_spans(group) ||
           cuda_check(cudaEventRecord(clock->begin, end->base.stream), "event", err);
}

bool nccl_clock_end(struct device_group *group, struct nccl_end *end, struct error *err)
{
    const struct nccl_clock *clock = &end->clocks[end->timed % NCCL_CLOCKS];
    end->timed += nccl_spans(group);
    return !nccl_spans(group) ||
           cuda_check(cudaEventRecord(clock->end, end->base.stream), "event", err);
}

double nccl_summed_s(struct device_group *group, int rank)
{
    struct nccl_end *end = &group->ends[rank];
    float milliseconds = 0;
    if (end->told == end->timed)
        return 0;
    const struct nccl_clock *clock = &end->clocks[end->told++ % NCCL_CLOCKS];
    if (cudaEventElapsedTime(&milliseconds, clock->begin, clock->end) != cudaSuccess)
        (void)cudaGetLastError();
    return (double)milliseconds / 1e3;
}

/* The oldest of the rank's reductions that is not done; NULL: none. */
static const struct nccl_mark *oldest_waiting(struct nccl_end *end)
{
    if (end->checked < end->marked - NCCL_MARKS)
        end->checked = end->marked - NCCL_MARKS;
    while (end->checked < end->marked) {
        const struct nccl_mark *mark = &end->marks[end->checked % NCCL_MARKS];
        if (!nccl_is_over(mark->after))
            return mark;
        end->checked++;
    }
    return NULL;
}

/*
 * Has this end's GPU come to reduction `at`, counted from 0? Its own thread may not have looked for
 * long, so its event is asked, which CUDA allows any thread. An event that has been used again says
 * that the host was far ahead: the next older reduction that has one decides.
 */
static bool has_come(const struct nccl_end *end, long at)
{
    long recorded = atomic_load(&end->recorded);
    if (recorded <= at)
        return false;
    if (recorded > at + NCCL_MARKS)
        at = recorded - NCCL_MARKS;
    return !end->marks || nccl_is_over(end->marks[at % NCCL_MARKS].before);
}

/* Those whose GPUs have not come to where this rank's waits, or this one itself. */
static void blame(struct device_group *group, int rank, const struct nccl_mark *mark,
                  struct error *reason)
{
    const struct collective_request *request = &group->request;
    const struct nccl_end *self = &group->ends[rank];
    const bool came = nccl_is_over(mark->before);
    struct text late = TEXT_INIT;
    pthread_mutex_lock(&group->marks_lock);
    for (int i = 0; i < request->count && came; i++)
        if (!has_come(&group->ends[i], self->checked))
            text_printf(&late, "%s%s", late.length ? ", " : "", request->names[i]);
    pthread_mutex_unlock(&group->marks_lock);
    if (!came)
        error_set(reason, ERROR_FAILED,
                  "%s did not come to the %s (NCCL) within %.0f s; see dmesg and nvidia-smi",
                  request->names[rank], mark->what, request->limit_s);
    else
        nccl_blame(group, rank, &late, request->limit_s, mark->what, reason);
    text_free(&late);
}

/* Events are only asked when half of the limit has passed: until then they say nothing new. */
bool nccl_check_rank(struct device_group *group, int rank, struct error *err)
{
    struct nccl_end *end = &group->ends[rank];
    const double limit_s = group->request.limit_s, now = clock_seconds();
    struct error reason = ERROR_INIT;
    if (!nccl_intact(group, err))
        return false;
    if (limit_s <= 0 || !end->marks || end->checked == end->marked ||
        now - end->marks[end->checked % NCCL_MARKS].queued_at < limit_s / 2)
        return true;
    const struct nccl_mark *mark = oldest_waiting(end);
    if (!mark || now - mark->queued_at <= limit_s)
        return true;
    blame(group, rank, mark, &reason);
    nccl_break(group, &reason);
    return nccl_intact(group, err);
}
