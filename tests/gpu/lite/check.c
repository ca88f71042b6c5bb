/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_TESTS = 64, MOST_CASES = 32, MOST_SUITES = 8, MOST_FIXTURES = 4 };

struct TCase {
    const char *name;
    double seconds;
    struct {
        SFun setup, teardown;
    } fixtures[MOST_FIXTURES];
    int fixture_count;
    struct {
        const TTest *test;
        int begin, end;
    } tests[MOST_TESTS];
    int count;
};

struct Suite {
    const char *name;
    TCase *cases[MOST_CASES];
    int count;
};

struct SRunner {
    Suite *suites[MOST_SUITES];
    int count, run, failed;
};

static void *need(void *memory)
{
    if (!memory) {
        fprintf(stderr, "out of memory\n");
        _exit(2);
    }
    return memory;
}

static void need_room(int count, int most)
{
    if (count < most)
        return;
    fprintf(stderr, "more tests than this stand-in of Check has room for\n");
    _exit(2);
}

Suite *suite_create(const char *name)
{
    Suite *suite = need(calloc(1, sizeof *suite));
    suite->name = name;
    return suite;
}

TCase *tcase_create(const char *name)
{
    TCase *tcase = need(calloc(1, sizeof *tcase));
    tcase->name = name;
    tcase->seconds = 4;
    return tcase;
}

void suite_add_tcase(Suite *suite, TCase *tcase)
{
    need_room(suite->count, MOST_CASES);
    suite->cases[suite->count++] = tcase;
}

void tcase_set_timeout(TCase *tcase, double seconds)
{
    tcase->seconds = seconds;
}

void tcase_add_checked_fixture(TCase *tcase, SFun setup, SFun teardown)
{
    need_room(tcase->fixture_count, MOST_FIXTURES);
    tcase->fixtures[tcase->fixture_count].setup = setup;
    tcase->fixtures[tcase->fixture_count++].teardown = teardown;
}

void check_add(TCase *tcase, const TTest *test, int begin, int end)
{
    need_room(tcase->count, MOST_TESTS);
    tcase->tests[tcase->count].test = test;
    tcase->tests[tcase->count].begin = begin;
    tcase->tests[tcase->count++].end = end;
}

SRunner *srunner_create(Suite *suite)
{
    SRunner *runner = need(calloc(1, sizeof *runner));
    srunner_add_suite(runner, suite);
    return runner;
}

void srunner_add_suite(SRunner *runner, Suite *suite)
{
    need_room(runner->count, MOST_SUITES);
    if (suite)
        runner->suites[runner->count++] = suite;
}

void check_fail(const char *file, int line, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    printf("%s:%d: ", file, line);
    vprintf(format, args);
    printf("\n");
    va_end(args);
    fflush(NULL);
    _exit(1);
}

static void run_one(const TCase *tcase, TFun test, int index)
{
    for (int i = 0; i < tcase->fixture_count; i++)
        if (tcase->fixtures[i].setup)
            tcase->fixtures[i].setup();
    test(index);
    for (int i = tcase->fixture_count; i-- > 0;)
        if (tcase->fixtures[i].teardown)
            tcase->fixtures[i].teardown();
}

/* In a process, and process group, of its own: nothing of a test outlives it. */
static bool run_apart(const TCase *tcase, TFun test, int index)
{
    const char *factor = getenv("CK_TIMEOUT_MULTIPLIER");
    int status = 0;
    fflush(NULL);
    pid_t child = fork();
    if (child < 0) {
        perror("fork");
        return false;
    }
    if (child == 0) {
        setpgid(0, 0);
        alarm((unsigned)ceil(tcase->seconds * (factor ? atof(factor) : 1)));
        run_one(tcase, test, index);
        exit(0);
    }
    waitpid(child, &status, 0);
    kill(-child, SIGKILL);
    if (WIFSIGNALED(status))
        printf("%s\n", WTERMSIG(status) == SIGALRM ? "took too long" : strsignal(WTERMSIG(status)));
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static bool wanted(const char *variable, const char *name)
{
    const char *only = getenv(variable);
    return !only || strcmp(only, name) == 0;
}

static void run_case(SRunner *runner, const Suite *suite, const TCase *tcase)
{
    const char *fork_wanted = getenv("CK_FORK");
    for (int i = 0; i < tcase->count; i++)
        for (int k = tcase->tests[i].begin; k < tcase->tests[i].end; k++) {
            const TTest *test = tcase->tests[i].test;
            bool ok = true;
            if (fork_wanted && strcmp(fork_wanted, "no") == 0)
                run_one(tcase, test->run, k);
            else
                ok = run_apart(tcase, test->run, k);
            if (!ok)
                printf("FAILED: %s:%s:%s:%d\n", suite->name, tcase->name, test->name, k);
            runner->run++;
            runner->failed += !ok;
        }
}

void srunner_run_all(SRunner *runner, enum print_output output)
{
    (void)output;
    for (int i = 0; i < runner->count; i++)
        for (int k = 0; k < runner->suites[i]->count; k++)
            if (wanted("CK_RUN_SUITE", runner->suites[i]->name) &&
                wanted("CK_RUN_CASE", runner->suites[i]->cases[k]->name))
                run_case(runner, runner->suites[i], runner->suites[i]->cases[k]);
    printf("Checks: %d, Failures: %d\n", runner->run, runner->failed);
}

int srunner_ntests_failed(SRunner *runner)
{
    return runner->failed;
}

void srunner_free(SRunner *runner)
{
    for (int i = 0; i < runner->count; i++) {
        for (int k = 0; k < runner->suites[i]->count; k++)
            free(runner->suites[i]->cases[k]);
        free(runner->suites[i]);
    }
    free(runner);
}
