/* SPDX-License-Identifier: MIT */
#include "tests/simgpu/fiber.hpp"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <sys/mman.h>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif
#if !defined(__x86_64__)
#define SIMGPU_UCONTEXT
#endif
#ifdef SIMGPU_UCONTEXT
#include <ucontext.h>
#endif

namespace simgpu
{
namespace
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr size_t stack_size = 256 << 10;
#else
constexpr size_t stack_size = 64 << 10;
#endif
} // namespace

#ifdef SIMGPU_UCONTEXT
using context = ucontext_t;
#else
using context = void *; /* stack pointer, all else is on the stack */
#endif

struct fiber {
    context own, back;
    char *stack, *left; /* where it was left last: what is below belongs to no function */
    void (*function)();
    void *own_fake = nullptr, *back_fake = nullptr; /* AddressSanitizer's shadow of the stacks */
    const void *back_bottom = nullptr;
    size_t back_size = 0;
    void *own_tsan = nullptr, *back_tsan = nullptr;
};

namespace
{
__thread fiber *running;
void arrived([[maybe_unused]] void *fake, [[maybe_unused]] const void **bottom,
             [[maybe_unused]] size_t *size)
{
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(fake, bottom, size);
#endif
}

SIMGPU_NEVER_RETURNS void first()
{
    fiber *f = running;
    arrived(nullptr, &f->back_bottom, &f->back_size);
    f->function();
    abort();
}
} // namespace

#ifdef SIMGPU_UCONTEXT
static void switch_context(context *from, context *to)
{
    swapcontext(from, to);
}

static void prepare(fiber *f)
{
    getcontext(&f->own);
    f->own.uc_stack.ss_sp = f->stack;
    f->own.uc_stack.ss_size = stack_size;
    f->own.uc_link = nullptr;
    makecontext(&f->own, first, 0);
}
#else
/* Keep what a function must keep for its caller (System V ABI), change stacks. */
extern "C" void simgpu_switch(void **from, void *to);
asm(R"(
    .text
    .type simgpu_switch,@function
simgpu_switch:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
    .size simgpu_switch,.-simgpu_switch
)");

static void switch_context(context *from, context *to)
{
    simgpu_switch(from, *to);
}

static void prepare(fiber *f)
{
    auto *top = reinterpret_cast<uintptr_t *>(f->stack + stack_size);
    *--top = 0; /* where `first` would return to; also keeps its stack aligned */
    *--top = reinterpret_cast<uintptr_t>(first);
    for (int i = 0; i < 6; i++)
        *--top = 0;
    f->own = top;
}
#endif

fiber *fiber_create()
{
    const size_t guard = 4096;
    auto *memory = static_cast<char *>(mmap(nullptr, stack_size + guard, PROT_READ | PROT_WRITE,
                                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    if (memory == MAP_FAILED || mprotect(memory, guard, PROT_NONE)) {
        perror("simgpu: stack of a GPU thread");
        abort();
    }
    auto *f = new fiber();
    f->stack = f->left = memory + guard;
#if defined(__SANITIZE_THREAD__)
    f->own_tsan = __tsan_create_fiber(0);
#endif
    return f;
}

const void *fiber_stack(const fiber *f, size_t *size)
{
    *size = stack_size;
    return f->stack;
}

void fiber_begin(fiber *f, void (*function)())
{
#if defined(__SANITIZE_ADDRESS__)
    __asan_unpoison_memory_region(f->left, static_cast<size_t>(f->stack + stack_size - f->left));
#endif
    f->own_fake = nullptr;
    f->function = function;
    prepare(f);
}

void fiber_enter(fiber *f)
{
    running = f;
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_start_switch_fiber(&f->back_fake, f->stack, stack_size);
#endif
#if defined(__SANITIZE_THREAD__)
    f->back_tsan = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(f->own_tsan, 0);
#endif
    switch_context(&f->back, &f->own);
    arrived(f->back_fake, nullptr, nullptr);
}

SIMGPU_NEVER_RETURNS void fiber_leave()
{
    fiber *f = running;
    f->left = static_cast<char *>(__builtin_frame_address(0));
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_start_switch_fiber(&f->own_fake, f->back_bottom, f->back_size);
#endif
#if defined(__SANITIZE_THREAD__)
    __tsan_switch_to_fiber(f->back_tsan, 0);
#endif
    switch_context(&f->own, &f->back);
    arrived(f->own_fake, &f->back_bottom, &f->back_size);
}

} // namespace simgpu
