/* SPDX-License-Identifier: MIT */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/print.h"
#include "config.h"
#include "engine/hosts/rank/link.h"
#include "engine/hosts/rank/order.h"
#include "engine/hosts/rank/sense.h"
#include "engine/hosts/rank/talk.h"
#include "spec/json.h"
#include "system/startup.h"

/*
 * dpartui-rank: the part of a run over hosts that one of them does. Started on each by mpirun or
 * srun, which the engine has started. The first one (rank 0) hears from the engine what to do.
 */

static const char help[] =
    "Usage: dpartui-rank\n"
    "\n"
    "A host's part of a training run over several. dpartui-engine has it started on each of them "
    "by\n"
    "mpirun or srun; there is nothing to start by hand. See dpartui-hosts(7).\n"
    "\n"
    "      --help         show this help\n"
    "      --version      show the version\n";

/* A host that fails lives on for as long: what it said has to reach the first one, and the launcher
 * ends all others when it ends. */
static const double LINGER_S = 5;

/* What has to be done, and the threads that do it. */
struct job {
    struct spec spec;
    long number;
    struct run_keep keep;
    char *checkpoints;
    struct mpi_link *link;
    struct talk *talk; /* NULL: this is not the first host */
    struct run_control none;
    atomic_bool done;
    bool ok;       /* it was trained to its end; else why not in `err` */
    bool agreed;   /* all hosts have come to the same end */
    bool deserted; /* by the engine, or by a launcher that ends: nobody waits for a last word */
    struct error err;
};

static volatile sig_atomic_t asked_to_stop;

static void note_signal(int number)
{
    (void)number;
    asked_to_stop = 1;
}

/* Batch systems send these before the time is up. */
static void watch_signals(void)
{
    const struct sigaction action = {.sa_handler = note_signal, .sa_flags = SA_RESTART};
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGUSR1, &action, NULL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
}

/* The engine's first line, which all hosts get. */
static char *share_line(struct talk *talk, struct error *err)
{
    char *line = talk ? talk_first_line(talk, err) : NULL;
    long length = line ? (long)strlen(line) + 1 : 0;
    MPI_Bcast(&length, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    if (length == 0) {
        if (!talk)
            error_set(err, ERROR_FAILED, "the first host has no run to do");
        return NULL;
    }
    if (!talk && !(line = malloc((size_t)length)))
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE); /* the others have it, and would wait */
    MPI_Bcast(line, (int)length, MPI_CHAR, 0, MPI_COMM_WORLD);
    return line;
}

static bool take_environment(const json_t *environment, struct error *err)
{
    const char *key;
    const json_t *value;
    json_object_foreach((json_t *)(uintptr_t)environment, key,
                        value) if (json_is_string(value) &&
                                   setenv(key, json_string_value(value), 1) !=
                                       0) return error_memory(err, "the environment");
    return true;
}

static bool take_job(struct job *job, const json_t *object, struct error *err)
{
    const char *version = member_text(object, "version");
    const char *checkpoints = json_string_value(json_object_get(object, "checkpoints"));
    if (strcmp(version, PACKAGE_VERSION) != 0)
        return error_set(err, ERROR_USAGE,
                         "dpartui-rank is version " PACKAGE_VERSION
                         ", the engine %s: install the same version on all hosts",
                         version);
    if (!take_environment(json_object_get(object, "environment"), err))
        return false;
    job->number = (long)member_integer(object, "run");
    if (checkpoints && !(job->checkpoints = strdup(checkpoints)))
        return error_memory(err, "the run");
    job->keep = (struct run_keep){
        .checkpoints = job->checkpoints,
        .resumes = json_is_true(json_object_get(object, "resumes")),
        .resume_steps = (long)member_integer(object, "resume_steps"),
        .measured_from = (long)member_integer(object, "measured_from"),
        .sync = job->talk && json_is_true(json_object_get(object, "syncs")) ? talk_sync : NULL,
        .sync_context = job->talk,
    };
    return spec_from_json(&job->spec, json_object_get(object, "spec"), err);
}

static bool add_sensors(struct host_link *link, struct error *err)
{
    struct sense *sense;
    if (!sense_open(&sense, err))
        return false;
    link->sense = sense_device;
    link->sensors = sense;
    return true;
}

/* All hosts, in their order, or why one of them cannot. */
static bool begin(struct job *job, struct error *err)
{
    struct host_list hosts = {0};
    char *line = share_line(job->talk, err);
    if (!line)
        return false;
    json_t *object = json_read(line, strlen(line), 0, NULL);
    free(line);
    bool ok = object ? take_job(job, object, err)
                     : error_set(err, ERROR_FAILED, "the engine's line is no JSON");
    json_decref(object);
    if (ok)
        ok = spec_hosts(&job->spec, &hosts, err);
    return order_agree(&hosts, ok, err) &&
           link_open(MPI_COMM_WORLD, &hosts, job->spec.host_limit, &job->link, err) &&
           add_sensors(link_of(job->link), err);
}

static void *train(void *context)
{
    static const struct run_limits limits = RUN_LIMITS_DEFAULT;
    struct job *job = context;
    struct host_link *link = link_of(job->link);
    const struct run_sink sink = job->talk ? talk_sink(job->talk) : (struct run_sink){0};
    struct run_control *control = job->talk ? talk_control(job->talk) : &job->none;
    char own = 0, all[SPEC_MAX_HOSTS];
    struct error lost = ERROR_INIT;
    job->ok = run_train_over(link, &limits, &job->spec, job->number, &job->keep, control, &sink,
                             &job->err);
    /* The first host may still have had files to write; one that has failed has told so before. */
    job->agreed = link->gather(link->context, &own, sizeof own, all, &lost);
    if (job->ok && !job->agreed)
        job->err = lost;
    job->ok = job->ok && job->agreed;
    atomic_store(&job->done, true);
    return NULL;
}

/* Until the run has ended, which may still have something to write when a host has failed. */
static void serve(struct job *job)
{
    const struct error gone = {ERROR_LOST, "the engine has gone"};
    const struct timespec moment = {.tv_nsec = 2000000L};
    bool linked = true;
    while (!atomic_load(&job->done) && (linked || !job->deserted)) {
        linked = linked && link_serve(job->link);
        if (!linked)
            nanosleep(&moment, NULL);
        if (asked_to_stop) {
            asked_to_stop = 0;
            link_ask_to_stop(job->link);
        }
        if (!job->talk)
            continue;
        if (link_is_asked_to_stop(job->link))
            run_control_stop(talk_control(job->talk), RUN_STOP_STEP);
        if (!job->deserted && !talk_serve(job->talk)) {
            job->deserted = true;
            link_fail(job->link, &gone);
        }
    }
}

static int run(struct job *job)
{
    pthread_t thread;
    struct error err = ERROR_INIT;
    bool ok = begin(job, &err);
    if (ok && pthread_create(&thread, NULL, train, job) != 0)
        ok = error_set(&err, ERROR_FAILED, "cannot start the thread that trains");
    if (!ok) {
        if (job->talk)
            talk_end(job->talk, &err);
        else
            print_to(stderr, "dpartui-rank: %s\n", err.text);
        return EXIT_FAILURE;
    }
    serve(job);
    if (job->deserted)
        return EXIT_FAILURE;
    pthread_join(thread, NULL);
    if (job->talk)
        talk_end(job->talk, job->ok ? NULL : &job->err);
    return job->agreed ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char **argv)
{
    struct job job = {.err = ERROR_INIT};
    struct error err = ERROR_INIT;
    int given, rank = 0;
    const bool version = argc == 2 && strcmp(argv[1], "--version") == 0;
    if (version || (argc == 2 && strcmp(argv[1], "--help") == 0)) {
        print("%s", version ? "dpartui-rank " PACKAGE_VERSION "\n" : help);
        return fflush(stdout) || ferror(stdout) ? EXIT_FAILURE : EXIT_SUCCESS;
    }
    if (argc > 1) {
        print_to(stderr, "dpartui-rank: there are no arguments but options (see --help)\n");
        return 2;
    }
    startup_environment("dpartui-rank", argv);
    watch_signals();
    json_begin();
    spec_init(&job.spec);
    run_control_init(&job.none);
    link_choose_algorithms();
    if (MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &given) != MPI_SUCCESS)
        return EXIT_FAILURE;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0 && !talk_open(&job.talk, &err)) {
        print_to(stderr, "dpartui-rank: %s\n", err.text);
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    const int status = run(&job);
    if (status == EXIT_SUCCESS) {
        alarm((unsigned)job.spec.host_limit + 1); /* for a host that is lost at the very end */
        MPI_Finalize();
    } else if (rank != 0) {
        sleep((unsigned)LINGER_S);
    }
    /* No destructors: others may be gone, and memory that MPI was given may be. The rest of ours
     * and of MPI's ends with the process. */
    _exit(status);
}
