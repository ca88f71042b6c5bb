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
/*
 * One access of one thread to some of a word's 4 bytes; 0: none. It is read and written as one
 * number: a processor that reads what was just written in parts waits for it.
 */
struct access {
    uint64_t all;
    unsigned run() const /* which block of which launch, counted from the program's start */
    {
        return all & 0xffffff;
    }
    unsigned thread() const
    {
        return all >> 24 & 0x3ff;
    }
    unsigned barrier() const /* barriers of the block before it */
    {
        return all >> 34 & 0x3fff;
    }
    bool differs(const access &other, uint64_t bits) const
    {
        return ((all ^ other.all) & bits) != 0;
    }
};
constexpr uint64_t one_thread = 1ul << 24, one_barrier = 1ul << 34, one_warp = 1ul << 48,
                   is_atomic = 1ul << 59, one_byte = 1ul << 60;
constexpr uint64_t run_bits = one_thread - 1, thread_bits = one_barrier - one_thread,
                   barrier_bits = one_warp - one_barrier, warp_bits = is_atomic - one_warp,
                   byte_bits = 15 * one_byte;
constexpr uint64_t lane_bits = 31 * one_thread; /* which one of its warp */
constexpr unsigned most_runs = (1u << 24) - 1;

struct word {
    access write, read;
};

/* Beside a word's reads, and apart from it, as it is wanted less often: they lie far from each other,
 * so most of the detector's time is waiting for memory. */
struct more_reads {
    access other;  /* by another thread of the block */
    access before; /* by an earlier block */
};

constexpr unsigned page_bits = 12;
constexpr size_t words_of_page = (1u << page_bits) / 4;
constexpr size_t most_pages = 4096; /* kept from one kernel to the next */
struct alignas(64) page {
    word words[words_of_page];
    more_reads more[words_of_page];
};

struct range {
    uintptr_t begin;
    size_t size;
    bool holds(uintptr_t at) const
    {
        return at - begin < size;
    }
};

struct detector {
    std::unordered_map<uintptr_t, std::unique_ptr<page>> pages;
    struct {
        uintptr_t number;
        page *kept;
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

page *page_of(uintptr_t at)
{
    uintptr_t number = at >> page_bits;
    auto &slot = d.recent[number % (sizeof d.recent / sizeof *d.recent)];
    if (slot.number != number) {
        std::unique_ptr<page> &p = d.pages[number];
        if (!p)
            p.reset(new page());
        slot.number = number;
        slot.kept = p.get();
    }
    return slot.kept;
}

inline bool acquired(unsigned run)
{
    return run - d.first_run < d.acquired.size() && d.acquired[run - d.first_run];
}

/* Whether nothing orders an earlier access and the present one, which are not of one thread. */
bool unordered(const access &before, const access &self, bool shared)
{
    if (before.run() < d.first_run)
        return false;
    if (!(before.all & self.all & byte_bits) || (before.all & self.all & is_atomic))
        return false;
    if (before.differs(self, run_bits))
        return !shared && !acquired(before.run());
    return !before.differs(self, barrier_bits) &&
           (before.differs(self, thread_bits - lane_bits) || !before.differs(self, warp_bits));
}

inline bool races(const access &before, const access &self, bool shared)
{
    return before.differs(self, run_bits | thread_bits) && unordered(before, self, shared);
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

__attribute__((cold, noinline)) void
report(const access &before, const access &self, uintptr_t at, const char *what, bool shared,
            const void *code)
{
    auto where = reinterpret_cast<uintptr_t>(code);
    dl_iterate_phdr(find_code, &where);
    char text[320];
    if (before.run() == self.run())
        snprintf(text, sizeof text,
                 "race: threads %u and %u of block (%u,%u,%u) %s %s, with no barrier between "
                 "(the last was in line %d)",
                 before.thread(), self.thread(),
                 here.block.x, here.block.y, here.block.z, what, place(at, shared).c_str(),
                 d.barrier_line);
    else
        snprintf(text, sizeof text, "race: block (%u,%u,%u) and an earlier one %s %s", here.block.x,
                 here.block.y, here.block.z, what, place(at, shared).c_str());
    d.found = text;
    snprintf(text, sizeof text, "; addr2line -e PROGRAM 0x%zx", static_cast<size_t>(where));
    d.found += text;
}

__attribute__((cold, noinline)) void report_unwritten(const access &self, uintptr_t at)
{
    d.found = "thread " + std::to_string(self.thread()) + " reads " + place(at, true) +
              ", which its block did not write";
}

inline bool same_moment(const access &a, const access &b)
{
    return !a.differs(b, ~byte_bits);
}

inline void remember_read(word &w, more_reads &more, const access &self)
{
    if (same_moment(w.read, self)) {
        w.read.all |= self.all;
    } else if (w.read.differs(self, run_bits)) {
        if (w.read.run() >= d.first_run)
            more.before = w.read;
        w.read = self;
    } else if (!w.read.differs(self, thread_bits) || w.read.differs(self, barrier_bits)) {
        w.read = self;
    } else {
        more.other = self;
    }
}

inline void touch(word &w, more_reads &more, const access &self, uintptr_t at, bool write,
                  bool shared, const void *code)
{
    if (races(w.write, self, shared))
        report(w.write, self, at, write ? "both write" : "write and read", shared, code);
    if (!write) {
        if (shared && w.write.differs(self, run_bits))
            report_unwritten(self, at);
        remember_read(w, more, self);
        return;
    }
    if (w.read.run() >= d.first_run)
        for (const access &read : {w.read, more.other, more.before})
            if (races(read, self, shared))
                report(read, self, at, "read and write", shared, code);
    w.write.all = self.all | (same_moment(w.write, self) ? w.write.all : 0);
}

/* Of a block's writes to global memory, what tells whether an atomic publishes them. */
void note_write()
{
    int thread = static_cast<int>(d.now.thread()), barrier = static_cast<int>(d.now.barrier());
    d.unfenced = true;
    d.writer = d.wrote_after != barrier || d.writer == thread ? thread : -1;
    d.wrote_after = barrier;
}

/* Whether the present thread comes after all writes of its block, and a fence. */
bool publishes()
{
    return !d.unfenced && (d.wrote_after != static_cast<int>(d.now.barrier()) ||
                           d.writer == static_cast<int>(d.now.thread()));
}

void touch_all(const void *p, size_t size, bool write, bool atomic, const void *code)
{
    auto at = reinterpret_cast<uintptr_t>(p);
    if (d.stack.holds(at) || range{reinterpret_cast<uintptr_t>(&here), sizeof here}.holds(at))
        return;
    bool shared = d.fixed.holds(at) || d.dynamic.holds(at);
    if (write && !shared && !atomic)
        note_write();
    const uint64_t now = d.now.all | (atomic ? is_atomic : 0);
    for (uintptr_t end = at + size; at < end && d.found.empty(); at = at / 4 * 4 + 4) {
        unsigned last = static_cast<unsigned>(std::min<size_t>(4, end - at / 4 * 4));
        const access self{now | ((0xFu << at % 4) & (0xFu >> (4 - last))) * one_byte};
        page &found = *page_of(at);
        size_t i = at % (1u << page_bits) / 4;
        touch(found.words[i], found.more[i], self, at, write, shared, code);
    }
}

/*
 * What most accesses are: inside a word of the GPU's memory that no other thread has touched since the
 * kernel began. False: it is not, and nothing was done.
 */
inline bool touch_own(uintptr_t at, size_t size, bool write)
{
    if (at % 4 + size > 4 || d.stack.holds(at) || d.fixed.holds(at) || d.dynamic.holds(at))
        return false;
    page &found = *page_of(at);
    const size_t i = at % (1u << page_bits) / 4;
    word &w = found.words[i];
    const access self{d.now.all | (((1ul << size) - 1) << at % 4) * one_byte};
    if (w.write.run() >= d.first_run && w.write.differs(self, run_bits | thread_bits))
        return false;
    const bool was_read = w.read.run() >= d.first_run;
    if (!write) {
        if (was_read)
            return false;
        w.read = self;
        return true;
    }
    if (was_read && (w.read.differs(self, run_bits | thread_bits) ||
                     found.more[i].other.run() >= d.first_run ||
                     found.more[i].before.run() >= d.first_run))
        return false;
    note_write();
    w.write.all = self.all | (same_moment(w.write, self) ? w.write.all : 0);
    return true;
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
    d.now = {++d.last_run};
    d.warp_barriers.assign(threads, 0);
    d.barrier_line = 0;
    d.unfenced = false;
    d.wrote_after = -1;
    d.acquired.clear();
}

void race_thread(int index, const void *stack, size_t size)
{
    d.now.all &= run_bits | barrier_bits;
    d.now.all |= static_cast<unsigned>(index) * one_thread & thread_bits;
    d.now.all |= d.warp_barriers[static_cast<size_t>(index)] * one_warp & warp_bits;
    d.stack = {reinterpret_cast<uintptr_t>(stack), size};
    watched = the_machine().check_now;
}

void race_pause()
{
    watched = false;
}

void race_barrier(int line)
{
    d.now.all = (d.now.all & ~barrier_bits) | ((d.now.all + one_barrier) & barrier_bits);
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
    if (!watched)
        return;
    auto at = reinterpret_cast<uintptr_t>(p);
    const uintptr_t end = at + size;
    while (at < end && touch_own(at, std::min<size_t>(4, end - at), write))
        at += std::min<size_t>(4, end - at);
    if (at < end && d.found.empty())
        touch_all(reinterpret_cast<const void *>(at), end - at, write, false, code);
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
    unsigned self = d.now.run() - d.first_run;
    if (!publishes() || (!blocks.empty() && blocks.back() == self))
        return;
    for (unsigned b = 0; b < d.acquired.size(); b++)
        if (d.acquired[b] && std::find(blocks.begin(), blocks.end(), b) == blocks.end())
            blocks.push_back(b);
    blocks.push_back(self);
}

} // namespace simgpu
