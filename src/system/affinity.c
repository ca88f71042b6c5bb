/* SPDX-License-Identifier: MIT */
#include "system/affinity.h"

#include <ctype.h>
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

/* The kernel refuses a mask smaller than its own, whose size it does not tell: double until it
 * fits. */
static cpu_set_t *inherited_mask(int *bits, struct error *err)
{
    for (*bits = 1024; *bits <= 1 << 20; *bits *= 2) {
        cpu_set_t *set = CPU_ALLOC((size_t)*bits);
        if (!set) {
            error_memory(err, "CPU mask");
            return NULL;
        }
        if (sched_getaffinity(0, CPU_ALLOC_SIZE((size_t)*bits), set) == 0)
            return set;
        CPU_FREE(set);
        if (errno != EINVAL)
            break;
    }
    error_errno(err, "cannot read which CPUs this process may use");
    return NULL;
}

enum { MOST_CPU = 1 << 20 };

/* Moves *at past "3" or "0-3". */
static bool read_range(const char **at, long *first, long *last)
{
    char *end;
    if (!isdigit((unsigned char)**at))
        return false;
    *first = *last = strtol(*at, &end, 10);
    if (*end == '-' && isdigit((unsigned char)end[1]))
        *last = strtol(end + 1, &end, 10);
    *at = end;
    return *first <= *last && *last <= MOST_CPU;
}

/* Does the list name this CPU? -1: it is no list. */
static int names(const char *list, long cpu)
{
    int named = 0;
    long first, last;
    for (const char *at = list;; at++) {
        if (!read_range(&at, &first, &last))
            return -1;
        named |= cpu >= first && cpu <= last;
        if (*at != ',')
            return *at == '\0' ? named : -1;
    }
}

bool affinity_check(const char *text, struct error *err)
{
    long count;
    return parse_long(text, 1, MOST_CPU, &count) || (strpbrk(text, ",-") && names(text, 0) >= 0) ||
           error_set(err, ERROR_USAGE,
                     "cpus '%.40s' must be how many, as 4, or which, as 0-3,8 (4-4 for one)", text);
}

/* NULL: there is no limit. */
static const char *limit_text(void)
{
    const char *text = getenv(AFFINITY_VARIABLE);
    return text && *text ? text : NULL;
}

bool affinity_is_limited(void)
{
    return limit_text();
}

/* Those that the environment leaves of `*count`. */
static bool limit(int *cpus, int *count, struct error *err)
{
    const char *text = limit_text();
    long most;
    if (!text)
        return true;
    if (!affinity_check(text, err))
        return false;
    if (parse_long(text, 1, MOST_CPU, &most)) {
        *count = most < *count ? (int)most : *count;
        return true;
    }
    int kept = 0;
    const int first = cpus[0], last = cpus[*count - 1];
    for (int i = 0; i < *count; i++)
        if (names(text, cpus[i]) > 0)
            cpus[kept++] = cpus[i];
    *count = kept;
    return kept > 0 || error_set(err, ERROR_USAGE,
                                 "cpus '%.40s': none of them may be used here: there are those of "
                                 "%d-%d",
                                 text, first, last);
}

bool affinity_apply(struct error *err)
{
    int *cpus, count;
    if (!affinity_is_limited())
        return true;
    if (!affinity_cpus(&cpus, &count, err))
        return false;
    const int bits = cpus[count - 1] + 1;
    const size_t size = CPU_ALLOC_SIZE((size_t)bits);
    cpu_set_t *set = CPU_ALLOC((size_t)bits);
    bool ok = set || error_memory(err, "CPU mask");
    if (ok) {
        CPU_ZERO_S(size, set);
        for (int i = 0; i < count; i++)
            CPU_SET_S((size_t)cpus[i], size, set);
        ok = sched_setaffinity(0, size, set) == 0 ||
             error_errno(err, "cpus '%.40s'", getenv(AFFINITY_VARIABLE));
        CPU_FREE(set);
    }
    free(cpus);
    return ok && (unsetenv(AFFINITY_VARIABLE) == 0 || error_errno(err, AFFINITY_VARIABLE));
}

char *affinity_text(void)
{
    struct text text = TEXT_INIT;
    struct error ignored = ERROR_INIT;
    int *cpus, count;
    if (!affinity_cpus(&cpus, &count, &ignored))
        return NULL;
    for (int i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && cpus[end] == cpus[end - 1] + 1;)
            end++;
        text_printf(&text, i ? ",%d" : "%d", cpus[i]);
        if (end > i + 1)
            text_printf(&text, "-%d", cpus[end - 1]);
    }
    free(cpus);
    return text_take(&text);
}

bool affinity_cpus(int **cpus, int *count, struct error *err)
{
    int bits;
    cpu_set_t *set = inherited_mask(&bits, err);
    if (!set)
        return false;
    size_t size = CPU_ALLOC_SIZE((size_t)bits);
    int *list = calloc((size_t)CPU_COUNT_S(size, set), sizeof *list);
    if (!list) {
        CPU_FREE(set);
        return error_memory(err, "CPU list");
    }
    *count = 0;
    for (int i = 0; i < bits; i++)
        if (CPU_ISSET_S((size_t)i, size, set))
            list[(*count)++] = i;
    CPU_FREE(set);
    if (!limit(list, count, err)) {
        free(list);
        return false;
    }
    *cpus = list;
    return true;
}

int affinity_count(void)
{
    struct error ignored = ERROR_INIT;
    int *cpus, count;
    if (!affinity_cpus(&cpus, &count, &ignored))
        return 1;
    free(cpus);
    return count;
}
