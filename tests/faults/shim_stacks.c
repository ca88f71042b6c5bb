/* SPDX-License-Identifier: MIT */
#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <string.h>

#include "tests/faults/shim.h"

/* Which allocation is meant: the stacks from which they are made. */

#define MODULES 256
/* Return addresses that tell stacks apart. */
#define DEPTH 12

/* Written before main() begins. */
static struct module {
    uintptr_t begin, end; /* of its code */
    uintptr_t base;
    uint64_t name; /* hash */
} modules[MODULES];
static int module_count;
static struct module own, c_library;

/* Fowler, Noll and Vo, FNV-1a. */
static uint64_t add_bytes(uint64_t hash, const void *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ ((const unsigned char *)bytes)[i]) * 0x100000001b3U;
    return hash;
}

#define HASH_START 0xcbf29ce484222325U

static int add_module(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size;
    (void)context;
    for (int i = 0; i < info->dlpi_phnum && module_count < MODULES; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type != PT_LOAD || !(part->p_flags & PF_X))
            continue;
        uintptr_t begin = info->dlpi_addr + part->p_vaddr;
        modules[module_count++] =
            (struct module){begin, begin + part->p_memsz, info->dlpi_addr,
                            add_bytes(HASH_START, info->dlpi_name, strlen(info->dlpi_name))};
    }
    return 0;
}

static const struct module *module_of(const void *address)
{
    uintptr_t at = (uintptr_t)address;
    for (int i = 0; i < module_count; i++)
        if (at >= modules[i].begin && at < modules[i].end)
            return &modules[i];
    return NULL;
}

void fault_stacks_begin(void)
{
    void *frames[1];
    backtrace(frames, 1); /* its first call allocates */
    dl_iterate_phdr(add_module, NULL);
    const struct module *found = module_of(__builtin_return_address(0));
    if (found)
        own = *found;
    found = module_of(dlsym(RTLD_NEXT, "qsort"));
    if (found)
        c_library = *found;
}

bool fault_in_c_library(const void *address)
{
    return (uintptr_t)address >= c_library.begin && (uintptr_t)address < c_library.end;
}

int fault_stack_walk(void **frames, int limit)
{
    static _Thread_local bool inside;
    void *all[DEPTH + 8];
    int kept = 0;
    if (inside)
        return 0;
    inside = true;
    int count = backtrace(all, DEPTH + 8);
    for (int i = 0; i < count && kept < limit; i++)
        if ((uintptr_t)all[i] < own.begin || (uintptr_t)all[i] >= own.end)
            frames[kept++] = all[i];
    inside = false;
    return kept;
}

static uint64_t hash_of(void *const *frames, int count)
{
    uint64_t hash = HASH_START;
    for (int i = 0; i < count && i < DEPTH; i++) {
        const struct module *module = module_of(frames[i]);
        uint64_t place[2] = {module ? module->name : 0,
                             module ? (uintptr_t)frames[i] - module->base : 0};
        hash = add_bytes(hash, place, sizeof place);
    }
    return hash ? hash : 1;
}

static void note(struct fault_page *page, uint64_t hash)
{
    uint64_t phase = __atomic_load_n(&page->phase, __ATOMIC_RELAXED);
    for (uint64_t i = 0; i < FAULT_STACKS; i++) {
        struct fault_stack *stack = &page->stacks[(hash + i) % FAULT_STACKS];
        uint64_t empty = 0;
        if (__atomic_compare_exchange_n(&stack->hash, &empty, hash, false, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED) ||
            empty == hash) {
            __atomic_fetch_or(&stack->phases, phase, __ATOMIC_RELAXED);
            return;
        }
    }
    __atomic_fetch_add(&page->left_out, 1, __ATOMIC_RELAXED);
}

bool fault_stack_is_target(struct fault_page *page, void *const *frames, int count)
{
    uint64_t hash = hash_of(frames, count);
    note(page, hash);
    return __atomic_compare_exchange_n(&page->target, &hash, 0, false, __ATOMIC_RELAXED,
                                       __ATOMIC_RELAXED);
}
