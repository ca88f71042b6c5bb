/* SPDX-License-Identifier: MIT */
#include "tests/simgpu/race.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <link.h>
#include <memory>
#include <unordered_map>
#include <vector>

#include "tests/simgpu/block.hpp"
#include "tests/simgpu/machine.hpp"

namespace simgpu
{
namespace
{
/* One access of one thread to some of a word's 4 bytes; all 0: none. */
struct access {
    uint64_t run : 24; /* which block of which launch, counted from the program's start */
    uint64_t thread : 10;
    uint64_t barrier : 14; /* barriers of the block before it */
    uint64_t warp : 11;    /* those of the warp */
    uint64_t atomic : 1;
    uint64_t bytes : 4;
};
constexpr unsigned most_runs = (1u << 24) - 1;

struct word {
    access write, read, other_read; /* two threads that read, of one block */
    access read_before;             /* one of an earlier block */
};

constexpr unsigned page_bits = 12;
constexpr size_t words_of_page = (1u << page_bits) / 4;
constexpr size_t most_pages = 4096; /* kept from one kernel to the next */
using page = std::unique_ptr<word[]>;

struct range {
    uintptr_t begin;
    size_t size;
    bool holds(uintptr_t at) const
    {
        return at - begin < size;
    }
};

struct detector {
    std::unordered_map<uintptr_t, page> pages;
    struct {
        uintptr_t number;
        word *words;
    } recent[64];
    unsigned last_run, first_run; /* of this launch */
    access now;                   /* but for atomic and bytes */
    std::vector<uint16_t> warp_barriers;
    int barrier_line;
    range stack, dynamic, fixed; /* fixed: what __shared__ declares */
    bool unfenced;               /* the block wrote since its last __threadfence */
    int wrote_after, writer; /* barriers before its latest write; thread, -1: several; -1: none */
    /* By atomic: the blocks that fenced and then updated it. Of the block: those before it. */
    std::unordered_map<uintptr_t, std::vector<unsigned>> released;
    std::vector<bool> acquired;
    std::string found;
};
detector &d = *new detector();
__thread bool watched;

/* Shared variables are thread_local (device_side.h): they lie where the program keeps those. */
int find_thread_locals(dl_phdr_info *info, size_t, void *out)
{
    if (!info->dlpi_tls_data)
        return 0;
    auto begin = reinterpret_cast<uintptr_t>(info->dlpi_tls_data);
    auto self = reinterpret_cast<uintptr_t>(&watched);
    for (int i = 0; i < info->dlpi_phnum; i++) {
        range found{begin, info->dlpi_phdr[i].p_memsz};
        if (info->dlpi_phdr[i].p_type != PT_TLS || !found.holds(self))
            continue;
        *static_cast<range *>(out) = found;
        return 1;
    }
    return 0;
}

word *words_of(uintptr_t at)
{
    uintptr_t number = at >> page_bits;
    auto &slot = d.recent[number % (sizeof d.recent / sizeof *d.recent)];
    if (slot.number != number) {
        page &p = d.pages[number];
        if (!p)
            p.reset(new word[words_of_page]());
        slot.number = number;
        slot.words = p.get();
    }
    return slot.words + at % (1u << page_bits) / 4;
}

inline bool acquired(unsigned run)
{
    return run - d.first_run < d.acquired.size() && d.acquired[run - d.first_run];
}

/* Whether nothing orders an earlier access and the present one. */
__attribute__((always_inline)) inline bool races(const access &before, const access &self, bool shared)
{
    if (before.run < d.first_run)
        return false;
    if (!(before.bytes & self.bytes) || (before.atomic && self.atomic))
        return false;
    if (before.run != self.run)
        return !shared && !acquired(before.run);
    return before.thread != self.thread && before.barrier == self.barrier &&
           (before.thread / 32 != self.thread / 32 || before.warp == self.warp);
}

std::string place(uintptr_t at, bool shared)
{
    char text[128];
    const auto &all = the_machine().memory;
    auto next = all.upper_bound(at);
    if (shared && d.dynamic.holds(at))
        snprintf(text, sizeof text, "byte %zu of dynamic shared memory", at - d.dynamic.begin);
    else if (shared)
        snprintf(text, sizeof text, "shared memory (byte %zu of its variables)",
                 at - d.fixed.begin);
    else if (next != all.begin() && at - std::prev(next)->first < std::prev(next)->second.size)
        snprintf(text, sizeof text, "byte %zu of an allocation of %zu", at - std::prev(next)->first,
                 std::prev(next)->second.size);
    else
        snprintf(text, sizeof text, "the program's memory");
    return text;
}

/* As addr2line takes it. */
int find_code(dl_phdr_info *info, size_t, void *code)
{
    *static_cast<uintptr_t *>(code) -= info->dlpi_addr; /* the program is the first */
    return 1;
}

void report(const access &before, const access &self, uintptr_t at, const char *what, bool shared,
            const void *code)
{
    auto where = reinterpret_cast<uintptr_t>(code);
    dl_iterate_phdr(find_code, &where);
    char text[320];
    if (before.run == self.run)
        snprintf(text, sizeof text,
                 "race: threads %u and %u of block (%u,%u,%u) %s %s, with no barrier between "
                 "(the last was in line %d)",
                 static_cast<unsigned>(before.thread), static_cast<unsigned>(self.thread),
                 here.block.x, here.block.y, here.block.z, what, place(at, shared).c_str(),
                 d.barrier_line);
    else
        snprintf(text, sizeof text, "race: block (%u,%u,%u) and an earlier one %s %s", here.block.x,
                 here.block.y, here.block.z, what, place(at, shared).c_str());
    d.found = text;
    snprintf(text, sizeof text, "; addr2line -e PROGRAM 0x%zx", static_cast<size_t>(where));
    d.found += text;
}

bool same_moment(const access &a, const access &b)
{
    return a.run == b.run && a.thread == b.thread && a.barrier == b.barrier && a.warp == b.warp &&
           a.atomic == b.atomic;
}

void remember_read(word &w, const access &self)
{
    if (same_moment(w.read, self)) {
        w.read.bytes |= self.bytes;
    } else if (w.read.run != self.run) {
        if (w.read.run >= d.first_run)
            w.read_before = w.read;
        w.read = self;
        w.other_read = access();
    } else if (w.read.thread == self.thread || w.read.barrier != self.barrier) {
        w.read = self;
    } else {
        w.other_read = self;
    }
}

void touch(word &w, const access &self, uintptr_t at, bool write, bool shared, const void *code)
{
    if (races(w.write, self, shared))
        report(w.write, self, at, write ? "both write" : "write and read", shared, code);
    if (!write) {
        if (shared && w.write.run != self.run)
            d.found = "thread " + std::to_string(self.thread) + " reads " + place(at, shared) +
                      ", which its block did not write";
        remember_read(w, self);
        return;
    }
    for (const access *r : {&w.read, &w.other_read, &w.read_before})
        if (races(*r, self, shared))
            report(*r, self, at, "read and write", shared, code);
    unsigned more = same_moment(w.write, self) ? w.write.bytes : 0;
    w.write = self;
    w.write.bytes |= more;
}

/* Of a block's writes to global memory, what tells whether an atomic publishes them. */
void note_write()
{
    int thread = static_cast<int>(d.now.thread), barrier = static_cast<int>(d.now.barrier);
    d.unfenced = true;
    d.writer = d.wrote_after != barrier || d.writer == thread ? thread : -1;
    d.wrote_after = barrier;
}

/* Whether the present thread comes after all writes of its block, and a fence. */
bool publishes()
{
    return !d.unfenced && (d.wrote_after != static_cast<int>(d.now.barrier) ||
                           d.writer == static_cast<int>(d.now.thread));
}

void touch_all(const void *p, size_t size, bool write, bool atomic, const void *code)
{
    auto at = reinterpret_cast<uintptr_t>(p);
    if (d.stack.holds(at) || range{reinterpret_cast<uintptr_t>(&here), sizeof here}.holds(at))
        return;
    bool shared = d.fixed.holds(at) || d.dynamic.holds(at);
    if (write && !shared && !atomic)
        note_write();
    access self = d.now;
    self.atomic = atomic;
    for (uintptr_t end = at + size; at < end && d.found.empty(); at = at / 4 * 4 + 4) {
        unsigned last = static_cast<unsigned>(std::min<size_t>(4, end - at / 4 * 4));
        self.bytes = (0xFu << at % 4) & (0xFu >> (4 - last));
        touch(*words_of(at), self, at, write, shared, code);
    }
}

void forget_pages()
{
    d.pages.clear();
    memset(d.recent, 0, sizeof d.recent);
}

} // namespace

void race_begin_kernel(size_t blocks, const void *shared, size_t size)
{
    if (d.last_run + blocks >= most_runs) {
        forget_pages();
        d.last_run = 0;
    }
    d.first_run = d.last_run + 1;
    d.dynamic = {reinterpret_cast<uintptr_t>(shared), size};
    dl_iterate_phdr(find_thread_locals, &d.fixed);
    d.released.clear();
    d.found.clear();
}

void race_end_kernel()
{
    if (d.pages.size() > most_pages)
        forget_pages();
}

void race_begin_block(size_t threads)
{
    d.now = access();
    d.now.run = ++d.last_run;
    d.warp_barriers.assign(threads, 0);
    d.barrier_line = 0;
    d.unfenced = false;
    d.wrote_after = -1;
    d.acquired.clear();
}

void race_thread(int index, const void *stack, size_t size)
{
    d.now.thread = static_cast<unsigned>(index) & 1023;
    d.now.warp = d.warp_barriers[static_cast<size_t>(index)] & 2047;
    d.stack = {reinterpret_cast<uintptr_t>(stack), size};
    watched = the_machine().check_now;
}

void race_pause()
{
    watched = false;
}

void race_barrier(int line)
{
    d.now.barrier++;
    d.barrier_line = line;
}

void race_warp_barrier(size_t first, unsigned present)
{
    uint16_t most = 0;
    for (size_t i = 0; i < 32; i++)
        if (present >> i & 1)
            most = std::max(most, d.warp_barriers[first + i]);
    for (size_t i = 0; i < 32; i++)
        if (present >> i & 1)
            d.warp_barriers[first + i] = static_cast<uint16_t>(most + 1);
}

const std::string &race_found()
{
    return d.found;
}

void race_access(const void *p, size_t size, bool write, const void *code)
{
    if (watched && d.found.empty())
        touch_all(p, size, write, false, code);
}

void race_fence()
{
    d.unfenced = false;
}

/* An update publishes what the block had fenced, and takes over what others published there. */
void race_atomic(const void *p, size_t size)
{
    if (!watched || !d.found.empty())
        return;
    touch_all(p, size, true, true, __builtin_return_address(0));
    auto &blocks = d.released[reinterpret_cast<uintptr_t>(p)];
    for (unsigned b : blocks) {
        if (d.acquired.size() <= b)
            d.acquired.resize(b + 1);
        d.acquired[b] = true;
    }
    unsigned self = d.now.run - d.first_run;
    if (!publishes() || (!blocks.empty() && blocks.back() == self))
        return;
    for (unsigned b = 0; b < d.acquired.size(); b++)
        if (d.acquired[b] && std::find(blocks.begin(), blocks.end(), b) == blocks.end())
            blocks.push_back(b);
    blocks.push_back(self);
}

} // namespace simgpu
