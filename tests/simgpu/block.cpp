/* SPDX-License-Identifier: MIT */
#include "tests/simgpu/block.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <numeric>
#include <vector>

#include "tests/simgpu/fiber.hpp"
#include "tests/simgpu/machine.hpp"
#include "tests/simgpu/race.hpp"

namespace simgpu
{
__thread position here;
namespace
{
enum class state { unstarted, ready, at_barrier, at_warp, done };
struct gpu_thread {
    state now;
    fiber *stack; /* once it had to wait */
    int line;     /* where it waits */
    warp_action action;
    unsigned mask;
    int source;
    size_t size;
    unsigned char value[warp_value_size], result[warp_value_size];
    unsigned votes;
};

/* Every number below `count` once, in an order that looks random. */
struct turn {
    unsigned long count, step, offset;
    turn(unsigned long n, unsigned long seed) : count(n), step(1), offset(0)
    {
        if (seed == 0)
            return;
        offset = seed * 2654435761ul % n;
        for (step = seed * 40503ul % n + 1; std::gcd(step, n) != 1; step++)
            ;
        step %= n;
    }
    unsigned long operator[](unsigned long i) const
    {
        return (offset + i * step) % count;
    }
};

struct block_run {
    const char *kernel;
    std::vector<std::pair<int, bool>> barriers; /* that were passed: line, whether it is ignored */
    const std::function<void()> *thread;
    uint3 shape;
    unsigned seed;
    std::vector<gpu_thread> threads;
    unsigned long place; /* in the present pass through the threads */
    turn order{1, 0};
    int current;
    fiber *entered;
    std::string wrong;
};

/* Stacks are kept to the end of the process; the machine's lock guards them. */
std::vector<fiber *> &idle = *new std::vector<fiber *>();
block_run *active;

fiber *take_fiber()
{
    if (idle.empty())
        return fiber_create();
    fiber *f = idle.back();
    idle.pop_back();
    return f;
}

void become(int index)
{
    unsigned i = static_cast<unsigned>(index);
    active->current = index;
    here.thread.x = i % active->shape.x;
    here.thread.y = i / active->shape.x % active->shape.y;
    here.thread.z = i / active->shape.x / active->shape.y;
    size_t size;
    const void *stack = fiber_stack(active->entered, &size);
    race_thread(index, stack, size);
}

void meet(size_t first, unsigned mask);
void thread_of_warp_ended(size_t lane_of_warp);

/* On a fiber: run unstarted threads one after another, as long as it is their turn. */
SIMGPU_NEVER_RETURNS void run_threads()
{
    for (;;) {
        (*active->thread)();
        race_pause();
        gpu_thread &t = active->threads[static_cast<size_t>(active->current)];
        t.now = state::done;
        t.stack = nullptr;
        thread_of_warp_ended(static_cast<size_t>(active->current));
        unsigned long next = active->place + 1;
        if (next < active->order.count &&
            active->threads[active->order[next]].now == state::unstarted) {
            active->place = next;
            become(static_cast<int>(active->order[next]));
            continue;
        }
        fiber_leave();
    }
}

void wait_as(state reason)
{
    race_pause();
    int self = active->current;
    gpu_thread &t = active->threads[static_cast<size_t>(self)];
    t.now = reason;
    t.stack = active->entered;
    if (reason == state::at_warp)
        meet(static_cast<size_t>(self) / 32 * 32, t.mask);
    if (t.now != state::ready)
        fiber_leave();
    t.now = state::ready;
    become(self);
}

/* When every lane that `lane` waits for is there, let all of them continue. */
void meet(size_t first, unsigned mask)
{
    auto &all = active->threads;
    size_t lanes = std::min<size_t>(32, all.size() - first);
    unsigned present = 0;
    const gpu_thread *other = nullptr;
    for (size_t i = 0; i < lanes; i++) {
        const gpu_thread &t = all[first + i];
        if (!(mask >> i & 1) || t.now == state::done)
            continue;
        if (t.now != state::at_warp || t.mask != mask)
            return;
        if (other && (other->line != t.line || other->action != t.action))
            return;
        other = &t;
        present |= 1u << i;
    }
    if (other && other->action == WARP_SYNC)
        race_warp_barrier(first, present);
    unsigned votes = 0;
    for (size_t i = 0; i < lanes; i++)
        if (present >> i & 1 && all[first + i].source)
            votes |= 1u << i;
    for (size_t i = 0; i < lanes; i++) {
        gpu_thread &t = all[first + i];
        if (!(present >> i & 1))
            continue;
        t.votes = votes;
        if (t.action == WARP_SHUFFLE) {
            if (present >> (t.source & 31) & 1)
                memcpy(t.result, all[first + static_cast<size_t>(t.source)].value, t.size);
            else
                memset(t.result, 0xFF, t.size);
        }
        t.now = state::ready;
    }
}

/* Others may have waited for it alone. */
void thread_of_warp_ended(size_t lane_of_warp)
{
    size_t first = lane_of_warp / 32 * 32, end = std::min(first + 32, active->threads.size());
    unsigned tried = 0;
    for (size_t i = first; i < end; i++) {
        const gpu_thread &t = active->threads[i];
        if (t.now != state::at_warp || t.mask == tried)
            continue;
        tried = t.mask;
        meet(first, tried);
    }
}

/* One pass through the threads: each that can continues until it waits. False: none could. */
bool pass(unsigned number)
{
    block_run &b = *active;
    b.order = turn(b.threads.size(), b.seed ? b.seed + number : 0);
    bool any = false;
    for (b.place = 0; b.place < b.order.count; b.place++) {
        size_t i = b.order[b.place];
        gpu_thread &t = b.threads[i];
        if (t.now != state::unstarted && t.now != state::ready)
            continue;
        any = true;
        fiber *f = t.now == state::ready ? t.stack : take_fiber();
        if (t.now == state::unstarted)
            fiber_begin(f, run_threads);
        b.entered = f;
        become(static_cast<int>(i));
        fiber_enter(f);
        race_pause();
        if (b.threads[static_cast<size_t>(b.current)].now == state::done)
            idle.push_back(f);
    }
    return any;
}

void passed_barrier(int line)
{
    auto &lines = active->barriers;
    auto known = std::find_if(lines.begin(), lines.end(), [&](auto &b) { return b.first == line; });
    if (known == lines.end()) {
        machine &m = the_machine();
        std::pair<std::string, int> barrier{active->kernel, line};
        known = lines.insert(lines.end(), {line, barrier == m.ignored_barrier});
        m.barriers.insert(std::move(barrier));
    }
    if (!known->second)
        race_barrier(line);
}

/* No thread can continue: the end, a barrier that all reached, or a mistake. */
bool release_barrier()
{
    block_run &b = *active;
    const gpu_thread *first = nullptr;
    size_t waiting = 0, done = 0;
    for (const gpu_thread &t : b.threads) {
        if (t.now == state::done) {
            done++;
            continue;
        }
        if (t.now == state::at_warp) {
            b.wrong = "lanes of a warp do not meet (line " + std::to_string(t.line) + ")";
            return false;
        }
        if (first && first->line != t.line) {
            b.wrong = "threads of a block wait at different barriers (lines " +
                      std::to_string(first->line) + " and " + std::to_string(t.line) + ")";
            return false;
        }
        first = &t;
        waiting++;
    }
    if (waiting && done) {
        b.wrong = std::to_string(done) + " threads of a block ended while " +
                  std::to_string(waiting) + " wait at the barrier in line " +
                  std::to_string(first->line);
        return false;
    }
    for (gpu_thread &t : b.threads)
        if (t.now == state::at_barrier)
            t.now = state::ready;
    if (first)
        passed_barrier(first->line);
    return waiting > 0;
}

void run_block()
{
    block_run &b = *active;
    race_begin_block(b.threads.size());
    for (gpu_thread &t : b.threads) {
        t.now = state::unstarted;
        t.stack = nullptr;
    }
    unsigned number = 0;
    do {
        while (pass(number++))
            ;
    } while (release_barrier());
    for (gpu_thread &t : b.threads) /* of a block that is stuck */
        if (t.now != state::done && t.stack)
            idle.push_back(t.stack);
    if (b.wrong.empty())
        b.wrong = race_found();
}

} // namespace

void block_barrier(int line)
{
    gpu_thread &t = active->threads[static_cast<size_t>(active->current)];
    t.line = line;
    wait_as(state::at_barrier);
}

int lane_number()
{
    return active->current % 32;
}

unsigned warp_meet(warp_action action, unsigned mask, void *value, size_t size, int source,
                   int line)
{
    gpu_thread &t = active->threads[static_cast<size_t>(active->current)];
    if (!(mask >> (active->current % 32) & 1)) {
        active->wrong = "a lane is not in its own mask (line " + std::to_string(line) + ")";
        mask |= 1u << (active->current % 32);
    }
    t.action = action;
    t.mask = mask;
    t.source = source;
    t.line = line;
    t.size = size;
    if (size)
        memcpy(t.value, value, size);
    wait_as(state::at_warp);
    if (size)
        memcpy(value, t.result, size);
    return t.votes;
}

std::string run_kernel(const char *name, const kernel_shape &shape, unsigned seed,
                       const std::function<void()> &thread)
{
    block_run run;
    run.kernel = name;
    run.thread = &thread;
    run.shape = {shape.threads.x, shape.threads.y, shape.threads.z};
    run.seed = seed;
    run.threads.resize(size_t{shape.threads.x} * shape.threads.y * shape.threads.z);
    active = &run;
    here.threads = run.shape;
    here.blocks = {shape.blocks.x, shape.blocks.y, shape.blocks.z};
    const size_t blocks = size_t{shape.blocks.x} * shape.blocks.y * shape.blocks.z;
    const bool sampled = the_machine().sampled && blocks > 2;
    turn order(sampled ? 2 : blocks, seed);
    /* Exactly as much as was asked for, so that AddressSanitizer sees what is after it. */
    void *shared = nullptr;
    if (posix_memalign(&shared, 16, std::max<size_t>(shape.shared, 1)))
        return "out of memory";
    here.dynamic_shared = shared;
    race_begin_kernel(order.count, shared, shape.shared);
    for (size_t i = 0; i < order.count && run.wrong.empty(); i++) {
        size_t block = sampled && order[i] ? blocks - 1 : order[i];
        here.block.x = static_cast<unsigned>(block % shape.blocks.x);
        here.block.y = static_cast<unsigned>(block / shape.blocks.x % shape.blocks.y);
        here.block.z = static_cast<unsigned>(block / shape.blocks.x / shape.blocks.y);
        memset(shared, 0xFF, shape.shared);
        run_block();
    }
    race_end_kernel();
    free(shared);
    active = nullptr;
    return run.wrong;
}

} // namespace simgpu
