/* SPDX-License-Identifier: MIT */
/* Runs on free GPUs, from their submission to their turn. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/engine/nvml/nvml_fixture.h"
#include "tests/fakes/engine_thread.h"
#include "tests/fakes/fake_nvml.h"

static void begin(void)
{
    fake_load(false);
    fake->gpus = 3;
    fake->gpm = fake->percent = 0;
    fake->memory_used = 0;
    unsetenv("CUDA_VISIBLE_DEVICES");
    setenv("FAKE_GPUS", "3", 1);
    setenv("DPARTUI_NVML", fake_path, 1);
    engine_begin();
}

static void end(void)
{
    engine_end();
    unsetenv("DPARTUI_NVML");
    unsetenv("FAKE_GPUS");
    fake_unload();
}

static void use_only(int gpu)
{
    fake->process[0] = (struct fake_process){gpu, 1, 40ULL << 30, 90};
    fake->processes = 1;
}

static void expect_devices(struct client *client, long run, const char *devices)
{
    json_t *shown = ask(client, "show", of(run));
    ck_assert_str_eq(string_of(json_object_get(shown, "spec"), "devices"), devices);
    json_decref(shown);
}

START_TEST(chosen_when_their_turn_comes)
{
    struct client *client = watcher();
    use_only(0);
    long first = submit(client, "model=slow devices=free:2 train-rows=25600 epochs=1000");
    wait_status(client, first, "running");
    expect_devices(client, first, "free:2=cuda:1-2");
    long second = submit(client, "devices=free:2");
    expect_devices(client, second, "free:2=cuda:1-2");
    /* Another user comes and the first one leaves while it waits. */
    use_only(1);
    tell(client, "stop", of(first));
    expect_end(client, first, "stopped");
    json_t *event = next_event(client, second, "run");
    ck_assert_str_eq(string_of(event, "choice"),
                     "free:2: cuda:0 (0% load, 0 B used), cuda:2 (0%, 0 B used); left out: cuda:1 "
                     "(90%, 40.0 GiB used by 1 process)");
    json_decref(event);
    expect_end(client, second, "done");
    expect_devices(client, second, "free:2=cuda:0,cuda:2");
    refuse_saying(client, "submit", json_pack("{s:s}", "devices", "free:4"),
                  "free:4: 4 GPUs asked for, 3 can be used here");
    client_close(client);
}
END_TEST

/* The GPUs may have gone by then. */
START_TEST(there_are_too_few_when_its_turn_comes)
{
    struct client *client = watcher();
    long first = submit(client, "model=slow train-rows=25600 epochs=1000");
    long second = submit(client, "devices=free:3");
    wait_status(client, first, "running");
    setenv("FAKE_GPUS", "1", 1);
    tell(client, "stop", of(first));
    expect_end(client, second, "failed");
    json_t *shown = ask(client, "show", of(second));
    ck_assert_str_eq(string_of(shown, "error"), "free:3: 3 GPUs asked for, 1 can be used here");
    json_decref(shown);
    client_close(client);
}
END_TEST

Suite *free_runs_suite(void)
{
    Suite *suite = suite_create("runs on free GPUs");
    TCase *tests = tcase_create("free");
    tcase_set_timeout(tests, 60);
    tcase_add_checked_fixture(tests, begin, end);
    tcase_add_test(tests, chosen_when_their_turn_comes);
    tcase_add_test(tests, there_are_too_few_when_its_turn_comes);
    suite_add_tcase(suite, tests);
    return suite;
}
