/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <cudnn.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/gpu/gpu_case.h"
#include "tests/gpu/probe.h"
#include "tests/suites.h"
#include "tests/support.h"

/* The probe of tests/gpu/run on a simulated GPU: that its parts work, and what they say of faults.
 */

static const char model_text[] =
    "default_input = [ 1, 8, 8 ]; default_classes = 10;\n"
    "layers = ( { type = \"conv\"; name = \"stem\"; channels = 8; kernel = 3; pad = 1; },\n"
    "  \"batchnorm\", \"relu\",\n"
    "  { type = \"residual\"; name = \"unit\";\n"
    "    layers = ( { type = \"conv\"; name = \"wide\"; channels = 16; kernel = 3; stride = 2;\n"
    "                 pad = 1; }, \"batchnorm\" );\n"
    "    shortcut = ( { type = \"conv\"; name = \"skip\"; channels = 16; kernel = 1;\n"
    "                   stride = 2; } );\n"
    "    after = ( \"relu\" ); },\n"
    "  { type = \"linear\"; outputs = \"classes\"; } );\n";

static char *folder, *path, *said;
static size_t length;
static struct probe probe;

static void setup(void)
{
    gpu_begin();
    folder = temporary_folder();
    path = format("%s/small.conf", folder);
    put_file(folder, "small.conf", model_text, strlen(model_text));
    setenv("XDG_CACHE_HOME", folder, 1);
    probe =
        (struct probe){.model = path, .input = {1, 8, 8}, .rows = 3, .steps = 4, .type = TYPE_BF16};
}

static void teardown(void)
{
    free(said);
    said = NULL;
    free(path);
    remove_tree(folder);
    gpu_end();
}

/* Failures of a part; what it says is in `said`. */
static int listen(int part(const struct probe *))
{
    free(said);
    said = NULL;
    probe.out = open_memstream(&said, &length);
    ck_assert_ptr_nonnull(probe.out);
    const int failed = part(&probe);
    ck_assert_int_eq(fclose(probe.out), 0);
    return failed;
}

static void expect(const char *text)
{
    ck_assert_msg(strstr(said, text) != NULL, "nothing of \"%s\" in:\n%s", text, said);
}

START_TEST(libraries_are_told)
{
    ck_assert_msg(listen(probe_libraries) == 0, "%s", said);
    expect("cuDNN: ");
    expect("cuBLASLt: ");
    expect("cuda:0: ");
    expect("multiprocessors");
}
END_TEST

START_TEST(convolutions_agree)
{
    ck_assert_msg(listen(probe_convolutions) == 0, "%s", said);
    expect("conv 1x1/1 16x8x8 -> 8, 3 rows, bf16, forward: ok, eng");
    expect("conv 3x3/2 8x8x8 -> 16, 3 rows, bf16, weights: ok, eng");
    expect("conv 1x1/2 8x8x8 -> 16, 3 rows, bf16, data: ok, eng");
    expect("convolutions: 0 plans of 10 are wrong");
}
END_TEST

START_TEST(a_convolution_that_fails_is_named)
{
    ck_assert_int_eq(listen(probe_convolutions), 0);
    /* Choices are remembered, so each plan runs twice and no more. */
    simgpu_fail_call("cudnnBackendExecute", 3, CUDNN_STATUS_EXECUTION_FAILED);
    ck_assert_int_eq(listen(probe_convolutions), 1);
    expect("\nFAIL: conv 1x1/1 16x8x8 -> 8, 3 rows, bf16, forward with sums: ");
    expect("convolutions: 1 plans of 10 are wrong");
}
END_TEST

START_TEST(steps_are_captured)
{
    ck_assert_msg(listen(probe_capture) == 0, "%s", said);
    expect("capture: 0 of ");
}
END_TEST

START_TEST(a_step_that_refuses_capture_is_named)
{
    ck_assert_int_eq(listen(probe_capture), 0);
    const long before = simgpu_calls("cudnnBackendExecute");
    ck_assert_int_eq(listen(probe_capture), 0);
    /* The same calls in the pass in front as in the capture. */
    const long pass = (simgpu_calls("cudnnBackendExecute") - before) / 2;
    ck_assert_int_gt(pass, 2);
    simgpu_fail_call("cudnnBackendExecute", (int)pass + 2, CUDNN_STATUS_NOT_SUPPORTED);
    ck_assert_int_eq(listen(probe_capture), 1);
    expect("\nFAIL: step ");
    expect("(conv unit.wide) refuses capture: ");
    expect("capture: 1 of ");
}
END_TEST

START_TEST(steps_are_taken)
{
    ck_assert_msg(listen(probe_steps) == 0, "%s", said);
    expect("step 4: loss ");
    expect("note: batch 3: ");
    ck_assert_int_gt(simgpu_calls("cudaGraphLaunch"), 0);
}
END_TEST

START_TEST(steps_without_graphs_fail)
{
    /* Once convolutions have been tuned, which takes graphs as well. */
    ck_assert_msg(listen(probe_steps) == 0, "%s", said);
    simgpu_fail_call("cudaGraphInstantiate", 1, cudaErrorStreamCaptureUnsupported);
    ck_assert_int_eq(listen(probe_steps), 1);
    expect("FAIL: the plan notes: no CUDA graphs: ");
}
END_TEST

START_TEST(a_model_that_is_missing_fails)
{
    probe.model = "/nowhere.conf";
    ck_assert_int_eq(listen(probe_convolutions), 1);
    ck_assert_int_eq(listen(probe_capture), 1);
    ck_assert_int_eq(listen(probe_steps), 1);
    expect("FAIL: /nowhere.conf");
}
END_TEST

static int crash(const struct probe *given)
{
    (void)given;
    return raise(SIGABRT);
}

static int hang(const struct probe *given)
{
    (void)given;
    while (pause() != 0)
        continue;
    return 0;
}

static int find_fault(const struct probe *given)
{
    return probe_fail(given, "%d too many", 3);
}

static int find_nothing(const struct probe *given)
{
    (void)given;
    return 0;
}

/* All four in turn. */
static int run_parts(const struct probe *given)
{
    static const struct probe_part parts[] = {{"crash", crash, 9},
                                              {"hang", hang, 1},
                                              {"fault", find_fault, 9},
                                              {"nothing", find_nothing, 9}};
    int failed = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        failed += !probe_run(given, &parts[i]);
    return failed;
}

START_TEST(a_part_takes_no_other_with_it)
{
    char text[2000] = "";
    FILE *file = tmpfile(); /* the parts' processes write to it as well */
    ck_assert_ptr_nonnull(file);
    probe.out = file;
    ck_assert_int_eq(run_parts(&probe), 3);
    rewind(file);
    ck_assert_uint_gt(fread(text, 1, sizeof text - 1, file), 0);
    ck_assert_int_eq(fclose(file), 0);
    said = strdup(text);
    expect("FAIL: crash: ended by signal 6: ");
    expect("FAIL: hang: not done after 1 s");
    expect("FAIL: 3 too many\n--- fault: FAILED, ");
    expect("--- nothing: ok, ");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("gpu_probe");
    TCase *tc = tcase_create("gpu_probe");
    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, libraries_are_told);
    tcase_add_test(tc, convolutions_agree);
    tcase_add_test(tc, a_convolution_that_fails_is_named);
    tcase_add_test(tc, steps_are_captured);
    tcase_add_test(tc, a_step_that_refuses_capture_is_named);
    tcase_add_test(tc, steps_are_taken);
    tcase_add_test(tc, steps_without_graphs_fail);
    tcase_add_test(tc, a_part_takes_no_other_with_it);
    tcase_add_test(tc, a_model_that_is_missing_fails);
    suite_add_tcase(suite, tc);
    return run_suites(suite, NULL);
}
