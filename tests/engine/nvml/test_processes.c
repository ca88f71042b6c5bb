/* SPDX-License-Identifier: MIT */
/* The processes on GPUs, as the made-up library and this machine's /proc tell them. */
#include <math.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/nvml/library.h"
#include "engine/nvml/scan.h"
#include "tests/engine/nvml/nvml_fixture.h"

enum { NOBODY = 4194305 }; /* above all process numbers of Linux */

static struct nvml_api api;
static struct nvml_scan scan;

static int lookups;

/* In place of the C library's, which may ask a directory service. */
int getpwuid_r(uid_t uid, struct passwd *entry, char *space, size_t size, struct passwd **found)
{
    lookups++;
    snprintf(space, size, "user %lu", (unsigned long)uid);
    *entry = (struct passwd){.pw_name = space, .pw_uid = uid};
    *found = entry;
    return 0;
}

static void begin(void)
{
    char why[200];
    lookups = 0;
    fake_load(false);
    ck_assert_msg(nvml_library_open(&api, fake_path, why, sizeof why), "%s", why);
    fake->gpus = 2;
    nvml_scan_look(&api, NULL, &scan);
}

static void end(void)
{
    nvml_scan_end(&api, &scan);
    nvml_library_close(&api);
    fake_unload();
}

/* Of the first GPU, at another time. True: what can be seen changed. */
static bool read_first(void)
{
    static double now = 100;
    bool restart = false;
    return nvml_gpu_read(&api, &scan.gpu[0], now += 2, true, &restart);
}

static void put(int gpu, unsigned pid, unsigned long long gib, unsigned percent)
{
    fake->process[fake->processes++] =
        (struct fake_process){gpu, pid, gib == NVML_NO_VALUE ? NVML_NO_VALUE : gib << 30, percent};
}

/* As dpartui-rank is a child of a launcher that the engine has started. */
START_TEST(what_this_process_has_started_is_its_own)
{
    const struct gpu_figures *gpu = &scan.gpu[0].figures;
    int line[2];
    pid_t grandchild = 0;
    ck_assert_int_eq(pipe(line), 0);
    const pid_t child = fork();
    if (child == 0) {
        grandchild = fork();
        if (grandchild > 0)
            (void)!write(line[1], &grandchild, sizeof grandchild);
        pause();
    }
    ck_assert_int_eq(read(line[0], &grandchild, sizeof grandchild), sizeof grandchild);
    put(0, (unsigned)grandchild, 3, 0);
    put(0, (unsigned)getppid(), 2, 0);
    read_first();
    const bool own = gpu->process[0].own, other = gpu->process[1].own;
    kill(grandchild, SIGKILL);
    kill(child, SIGKILL);
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
    close(line[0]);
    close(line[1]);
    ck_assert(own);
    ck_assert(!other);
}
END_TEST

START_TEST(who_uses_a_gpu)
{
    const struct gpu_figures *gpu = &scan.gpu[0].figures;
    put(0, NOBODY, NVML_NO_VALUE, 0);
    put(0, (unsigned)getpid(), 2, 20);
    put(1, 1, 9, 50);
    put(0, 1, 40, 80);
    ck_assert(read_first());
    ck_assert_int_eq(gpu->processes, 3);
    ck_assert_str_eq(gpu->no_processes.text, "");
    const struct gpu_process *other = &gpu->process[0], *own = &gpu->process[1];
    ck_assert_int_eq(other->pid, 1);
    ck_assert_uint_eq(other->memory, 40ULL << 30);
    ck_assert_double_eq(other->load, 0.8);
    ck_assert(!other->own);
    ck_assert_str_ne(other->user, "");
    ck_assert(own->own);
    ck_assert_double_eq(own->load, 0.2);
    ck_assert_ptr_nonnull(strstr(own->command, "test_nvml"));
    ck_assert_str_eq(own->why, "");
    /* A process that cannot be looked at has its reason, and comes last without its memory. */
    ck_assert_int_eq(gpu->process[2].pid, NOBODY);
    ck_assert_uint_eq(gpu->process[2].memory, 0);
    ck_assert_double_eq(gpu->process[2].load, 0);
    ck_assert_str_eq(gpu->process[2].user, "");
    ck_assert_str_eq(gpu->process[2].why, "hidden here: another user's or container's");
    read_first(); /* rates come with the second reading */
    ck_assert(!read_first());
    fake->processes--;
    ck_assert(read_first());
    ck_assert_int_eq(gpu->processes, 2);
}
END_TEST

START_TEST(more_than_are_listed)
{
    const struct gpu_figures *gpu = &scan.gpu[0].figures;
    for (unsigned i = 0; i < GPU_PROCESSES + 2; i++)
        put(0, NOBODY + i, i, 1);
    read_first();
    ck_assert_int_eq(gpu->processes, GPU_PROCESSES + 2);
    ck_assert_int_eq(gpu_processes_listed(gpu), GPU_PROCESSES);
    ck_assert_uint_eq(gpu->process[0].memory, (GPU_PROCESSES + 1ULL) << 30);
}
END_TEST

START_TEST(a_driver_that_does_not_tell)
{
    const struct gpu_figures *gpu = &scan.gpu[0].figures;
    put(0, 1, 40, 80);
    fake->code[FAKE_PROCESSES] = NVML_NO_PERMISSION;
    read_first();
    ck_assert_int_eq(gpu->processes, 0);
    ck_assert_str_eq(gpu->no_processes.text, nvml_words(NVML_NO_PERMISSION));
    ck_assert(gpu->working);
    fake->code[FAKE_PROCESSES] = NVML_SUCCESS;
    fake->lost = 0;
    read_first();
    ck_assert_str_eq(gpu->no_processes.text, nvml_words(NVML_GPU_IS_LOST));
}
END_TEST

START_TEST(a_process_is_looked_up_once)
{
    const struct gpu_process *first = &scan.gpu[0].figures.process[0];
    put(0, (unsigned)getpid(), 2, 20);
    read_first();
    read_first();
    ck_assert_int_eq(lookups, 1);
    ck_assert_int_eq(strncmp(first->user, "user ", 5), 0);
    ck_assert_ptr_nonnull(strstr(first->command, "test_nvml"));
    /* One with more memory takes the place of the first. */
    put(0, 1, 40, 80);
    read_first();
    ck_assert_int_eq(lookups, 2);
    ck_assert_str_eq(first->user, "user 0");
    read_first();
    ck_assert_int_eq(lookups, 2);
    ck_assert_ptr_nonnull(strstr(first[1].command, "test_nvml"));
}
END_TEST

START_TEST(processes_are_read_where_they_are_wanted)
{
    bool restart = false;
    put(0, 1, 40, 80);
    nvml_gpu_read(&api, &scan.gpu[0], 100, false, &restart);
    ck_assert(scan.gpu[0].figures.working);
    ck_assert_int_eq(scan.gpu[0].figures.processes, 0);
    ck_assert_str_ne(scan.gpu[0].figures.no_processes.text, "");
}
END_TEST

Suite *nvml_processes_suite(void)
{
    Suite *suite = suite_create("processes on GPUs");
    TCase *tests = tcase_create("processes");
    tcase_add_checked_fixture(tests, begin, end);
    tcase_add_test(tests, who_uses_a_gpu);
    tcase_add_test(tests, what_this_process_has_started_is_its_own);
    tcase_add_test(tests, more_than_are_listed);
    tcase_add_test(tests, a_driver_that_does_not_tell);
    tcase_add_test(tests, a_process_is_looked_up_once);
    tcase_add_test(tests, processes_are_read_where_they_are_wanted);
    suite_add_tcase(suite, tests);
    return suite;
}
