/* SPDX-License-Identifier: MIT */
#include "tests/faults/shim.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

/* The C library's own, under the names by which its malloc may be replaced. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

#define RANGES 16

/* Written before main() begins, read afterwards. */
static struct {
    struct fault_page *page;
    struct {
        uintptr_t begin, end;
    } ranges[RANGES]; /* code whose calls count; the program's is the first */
    int range_count;
    uintptr_t base; /* of the program */
    int kind;       /* that fails; -1: none */
    bool all;
    uint64_t at;
    int error;
    const char *path;
    int (*program_main)(int, char **, char **);
    bool started; /* main() has begun: what runs before it has nobody to complain to */
} shim = {.kind = -1};

static const char *const kind_names[] = {
#define FAULT_NAME(NAME) #NAME,
    FAULT_KINDS(FAULT_NAME)};

static int add_ranges(struct dl_phdr_info *info, size_t size, void *context)
{
    static const char *const libraries[] = {"libjansson", "libsqlite3", "libz."};
    const char *name = info->dlpi_name;
    bool program = *name == '\0' && shim.base == 0, wanted = program;
    (void)size;
    (void)context;
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++)
        wanted |= strstr(name, libraries[i]) != NULL;
    for (int i = 0; wanted && i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type != PT_LOAD || !(part->p_flags & PF_X) || shim.range_count == RANGES)
            continue;
        uintptr_t begin = info->dlpi_addr + part->p_vaddr;
        shim.ranges[shim.range_count].begin = begin;
        shim.ranges[shim.range_count++].end = begin + part->p_memsz;
    }
    if (program)
        shim.base = info->dlpi_addr;
    return 0;
}

static long number_of(const char *name)
{
    const char *text = getenv(name);
    return text ? strtol(text, NULL, 10) : 0;
}

__attribute__((constructor)) static void begin(void)
{
    const char *path = getenv("FAULT_PAGE"), *call = getenv("FAULT_CALL"), *at = getenv("FAULT_AT");
    int fd = path ? (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC) : -1;
    if (fd < 0)
        return;
    void *page = (void *)syscall(SYS_mmap, NULL, sizeof *shim.page, PROT_READ | PROT_WRITE,
                                 MAP_SHARED, fd, 0L);
    syscall(SYS_close, fd);
    if (page == MAP_FAILED)
        return;
    fault_stacks_begin();
    dl_iterate_phdr(add_ranges, NULL);
    for (int i = 0; call && i < FAULT_KIND_COUNT; i++)
        if (strcmp(call, kind_names[i]) == 0)
            shim.kind = i;
    shim.all = at && strcmp(at, "all") == 0;
    shim.at = (uint64_t)number_of("FAULT_AT");
    shim.error = (int)number_of("FAULT_ERRNO");
    shim.path = getenv("FAULT_PATH");
    shim.page = page;
}

static bool is_counted(const void *caller)
{
    for (int i = 0; shim.started && shim.page && i < shim.range_count; i++)
        if ((uintptr_t)caller >= shim.ranges[i].begin && (uintptr_t)caller < shim.ranges[i].end)
            return true;
    return false;
}

static int begin_main(int argc, char **argv, char **variables)
{
    shim.started = true;
    return shim.program_main(argc, argv, variables);
}

/* The C library's, which calls constructors and then main(). */
int __libc_start_main(int (*program_main)(int, char **, char **), int argc, char **argv,
                      int (*init)(int, char **, char **), void (*fini)(void),
                      void (*linker_fini)(void), void *stack_end);
int __libc_start_main(int (*program_main)(int, char **, char **), int argc, char **argv,
                      int (*init)(int, char **, char **), void (*fini)(void),
                      void (*linker_fini)(void), void *stack_end)
{
    __typeof__(__libc_start_main) *next = (__typeof__(next))dlsym(RTLD_NEXT, "__libc_start_main");
    shim.program_main = program_main;
    return next(begin_main, argc, argv, init, fini, linker_fini, stack_end);
}

static void note_callers(void)
{
    void *frames[12];
    int count = fault_stack_walk(frames, 12), kept = 0;
    for (int i = 0; i < count && kept < 8; i++)
        if (is_counted(frames[i]))
            shim.page->callers[kept++] = (uintptr_t)frames[i] - shim.base;
}

/* Count a call; true: it fails, and errno says why. */
static bool fails(enum fault_kind kind, const void *caller, const char *path)
{
    if (!is_counted(caller) || (shim.path && (!path || !strstr(path, shim.path))))
        return false;
    uint64_t number = __atomic_add_fetch(&shim.page->counts[kind], 1, __ATOMIC_RELAXED);
    if ((int)kind != shim.kind)
        return false;
    bool now =
        shim.all ? __atomic_load_n(&shim.page->active, __ATOMIC_RELAXED) != 0 : number == shim.at;
    if (!now)
        return false;
    if (__atomic_fetch_add(&shim.page->fired, 1, __ATOMIC_RELAXED) == 0)
        note_callers();
    errno = shim.error;
    return true;
}

/* The same for an allocation, which is chosen by its stack. */
static bool allocation_fails(const void *caller)
{
    struct fault_page *page = shim.page;
    if (!shim.started || !page || __atomic_load_n(&page->phase, __ATOMIC_RELAXED) == 0 ||
        (!is_counted(caller) && !fault_in_c_library(caller)))
        return false;
    void *frames[12];
    int count = fault_stack_walk(frames, 12), first = 0;
    while (first < count && fault_in_c_library(frames[first]))
        first++;
    if (first == count || !is_counted(frames[first]))
        return false;
    __atomic_add_fetch(&page->allocations, 1, __ATOMIC_RELAXED);
    if (!fault_stack_is_target(page, frames, count))
        return false;
    __atomic_fetch_add(&page->fired, 1, __ATOMIC_RELAXED);
    note_callers();
    errno = ENOMEM;
    return true;
}

/* The same for a call on a descriptor. */
static bool fails_on(enum fault_kind kind, const void *caller, int fd)
{
    char link[40], path[4096];
    if (!shim.path)
        return fails(kind, caller, NULL);
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    path[length > 0 ? length : 0] = '\0';
    return fails(kind, caller, path);
}

#define CALLER __builtin_return_address(0)
/* The function that this one replaces. */
#define NEXT(NAME)                                                                                 \
    static __typeof__(NAME) *next;                                                                 \
    if (!next)                                                                                     \
    next = (__typeof__(next))dlsym(RTLD_NEXT, #NAME)

void *malloc(size_t size)
{
    return allocation_fails(CALLER) ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return allocation_fails(CALLER) ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
    return allocation_fails(CALLER) ? NULL : __libc_realloc(old, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return allocation_fails(CALLER) ? NULL : __libc_memalign(alignment, size);
}

int posix_memalign(void **out, size_t alignment, size_t size)
{
    if (allocation_fails(CALLER))
        return ENOMEM;
    void *data = __libc_memalign(alignment, size);
    if (data)
        *out = data;
    return data ? 0 : ENOMEM;
}

/* The C library's would call malloc, in the name of the C library. */
char *(strdup)(const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = allocation_fails(CALLER) ? NULL : __libc_malloc(size);
    return copy ? memcpy(copy, text, size) : NULL;
}

char *(strndup)(const char *text, size_t limit)
{
    size_t length = strnlen(text, limit);
    char *copy = allocation_fails(CALLER) ? NULL : __libc_malloc(length + 1);
    if (!copy)
        return NULL;
    copy[length] = '\0';
    return memcpy(copy, text, length);
}

static int open_at(const void *caller, int folder, const char *path, int flags, unsigned mode)
{
    if (fails(FAULT_open, caller, path))
        return -1;
    return (int)syscall(SYS_openat, folder, path, flags, mode);
}

#define MODE_OF(FLAGS)                                                                             \
    unsigned mode = 0;                                                                             \
    if ((FLAGS) & (O_CREAT | __O_TMPFILE)) {                                                       \
        va_list arguments;                                                                         \
        va_start(arguments, FLAGS);                                                                \
        mode = va_arg(arguments, unsigned);                                                        \
        va_end(arguments);                                                                         \
    }

int open(const char *path, int flags, ...)
{
    MODE_OF(flags)
    return open_at(CALLER, AT_FDCWD, path, flags, mode);
}

int open64(const char *path, int flags, ...)
{
    MODE_OF(flags)
    return open_at(CALLER, AT_FDCWD, path, flags, mode);
}

int openat(int folder, const char *path, int flags, ...)
{
    MODE_OF(flags)
    return open_at(CALLER, folder, path, flags, mode);
}

FILE *fopen(const char *path, const char *mode)
{
    NEXT(fopen);
    return fails(FAULT_open, CALLER, path) ? NULL : next(path, mode);
}

DIR *opendir(const char *path)
{
    NEXT(opendir);
    return fails(FAULT_open, CALLER, path) ? NULL : next(path);
}

/* These are cancellation points in the C library, which the engine makes no use of. */
ssize_t read(int fd, void *data, size_t size)
{
    return fails_on(FAULT_read, CALLER, fd) ? -1 : syscall(SYS_read, fd, data, size);
}

ssize_t pread(int fd, void *data, size_t size, off_t offset)
{
    return fails_on(FAULT_read, CALLER, fd) ? -1 : syscall(SYS_pread64, fd, data, size, offset);
}

ssize_t pread64(int fd, void *data, size_t size, off64_t offset)
{
    return fails_on(FAULT_read, CALLER, fd) ? -1 : syscall(SYS_pread64, fd, data, size, offset);
}

ssize_t write(int fd, const void *data, size_t size)
{
    return fails_on(FAULT_write, CALLER, fd) ? -1 : syscall(SYS_write, fd, data, size);
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t offset)
{
    return fails_on(FAULT_write, CALLER, fd) ? -1 : syscall(SYS_pwrite64, fd, data, size, offset);
}

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t offset)
{
    return fails_on(FAULT_write, CALLER, fd) ? -1 : syscall(SYS_pwrite64, fd, data, size, offset);
}

int fsync(int fd)
{
    return fails_on(FAULT_fsync, CALLER, fd) ? -1 : (int)syscall(SYS_fsync, fd);
}

int fdatasync(int fd)
{
    return fails_on(FAULT_fsync, CALLER, fd) ? -1 : (int)syscall(SYS_fdatasync, fd);
}

int rename(const char *from, const char *to)
{
    return fails(FAULT_rename, CALLER, to) ? -1 : (int)syscall(SYS_rename, from, to);
}

int unlink(const char *path)
{
    return fails(FAULT_unlink, CALLER, path) ? -1 : (int)syscall(SYS_unlink, path);
}

int mkdir(const char *path, mode_t mode)
{
    return fails(FAULT_mkdir, CALLER, path) ? -1 : (int)syscall(SYS_mkdir, path, mode);
}

int ftruncate(int fd, off_t length)
{
    return fails_on(FAULT_truncate, CALLER, fd) ? -1 : (int)syscall(SYS_ftruncate, fd, length);
}

int ftruncate64(int fd, off64_t length)
{
    return fails_on(FAULT_truncate, CALLER, fd) ? -1 : (int)syscall(SYS_ftruncate, fd, length);
}

int fallocate(int fd, int mode, off_t offset, off_t length)
{
    return fails_on(FAULT_truncate, CALLER, fd)
               ? -1
               : (int)syscall(SYS_fallocate, fd, mode, offset, length);
}

/* The descriptor is gone also when close() fails. */
int close(int fd)
{
    bool failing = fails_on(FAULT_close, CALLER, fd);
    int error = errno, status = (int)syscall(SYS_close, fd);
    if (!failing)
        return status;
    errno = error;
    return -1;
}

int socket(int domain, int type, int protocol)
{
    return fails(FAULT_socket, CALLER, NULL) ? -1
                                             : (int)syscall(SYS_socket, domain, type, protocol);
}

int connect(int fd, const struct sockaddr *address, socklen_t size)
{
    return fails(FAULT_connect, CALLER, NULL) ? -1 : (int)syscall(SYS_connect, fd, address, size);
}

int accept4(int fd, struct sockaddr *address, socklen_t *size, int flags)
{
    return fails(FAULT_accept, CALLER, NULL) ? -1
                                             : (int)syscall(SYS_accept4, fd, address, size, flags);
}

ssize_t recv(int fd, void *data, size_t size, int flags)
{
    return fails(FAULT_recv, CALLER, NULL)
               ? -1
               : syscall(SYS_recvfrom, fd, data, size, flags, NULL, NULL);
}

ssize_t send(int fd, const void *data, size_t size, int flags)
{
    return fails(FAULT_send, CALLER, NULL) ? -1
                                           : syscall(SYS_sendto, fd, data, size, flags, NULL, 0);
}

void *mmap(void *where, size_t size, int protection, int flags, int fd, off_t offset)
{
    if (fails(FAULT_mmap, CALLER, NULL))
        return MAP_FAILED;
    return (void *)syscall(SYS_mmap, where, size, protection, flags, fd, offset);
}

void *mmap64(void *where, size_t size, int protection, int flags, int fd, off64_t offset)
{
    if (fails(FAULT_mmap, CALLER, NULL))
        return MAP_FAILED;
    return (void *)syscall(SYS_mmap, where, size, protection, flags, fd, offset);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                   void *context)
{
    NEXT(pthread_create);
    return fails(FAULT_thread, CALLER, NULL) ? errno : next(thread, attributes, run, context);
}

static double clock_shift(void)
{
    double shift = 0;
    if (shim.page)
        __atomic_load(&shim.page->clock_shift, &shift, __ATOMIC_RELAXED);
    return shift;
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
    NEXT(clock_gettime);
    int status = next(clock, now);
    if (status == 0 && clock == CLOCK_REALTIME)
        now->tv_sec += (time_t)clock_shift();
    return status;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
    struct timespec moment;
    int status = clock_gettime(CLOCK_REALTIME, &moment);
    (void)zone;
    *now = (struct timeval){.tv_sec = moment.tv_sec, .tv_usec = moment.tv_nsec / 1000};
    return status;
}

time_t time(time_t *out)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (out)
        *out = now.tv_sec;
    return now.tv_sec;
}
