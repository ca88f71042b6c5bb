/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/json.h"
#include "base/paths.h"
#include "base/print.h"
#include "base/text.h"
#include "config.h"
#include "engine/server/server.h"
#include "engine/train/checkpoint/folder.h"
#include "store/place.h"
#include "system/affinity.h"
#include "system/priority.h"
#include "system/startup.h"

enum { STATUS_DONE, STATUS_FAILED, STATUS_USAGE };

static const char help[] =
    "Usage: dpartui-engine [--foreground | --private FD] [--log FILE]\n"
    "\n"
    "Trains for dpartui. It is started when needed; run it by hand only to look at it.\n"
    "\n"
    "      --foreground   belong to this terminal: its end, as Ctrl-C does, ends the engine\n"
    "      --private FD   serve the one connection on descriptor FD and end with it\n"
    "      --log FILE     append messages to FILE instead of standard error; a private engine is\n"
    "                     silent without it\n"
    "      --help         show this help\n"
    "      --version      show the version\n"
    "\n"
    "A first SIGTERM or SIGINT lets the running training step end and its weights be saved, a\n"
    "second one ends the run at once. See dpartui-engine(8).\n";

struct arguments {
    bool foreground;
    int private_fd;
    const char *log;
};

static int complain(const char *text)
{
    print_to(stderr, "dpartui-engine: %s\n", text);
    return STATUS_USAGE;
}

/* -1: continue; else the exit status. */
static int parse_arguments(int argc, char **argv, struct arguments *arguments)
{
    static const struct option options[] = {
        {"foreground", no_argument, NULL, 'f'}, {"private", required_argument, NULL, 'p'},
        {"log", required_argument, NULL, 'l'},  {"help", no_argument, NULL, 'h'},
        {"version", no_argument, NULL, 'V'},    {NULL, 0, NULL, 0},
    };
    *arguments = (struct arguments){.private_fd = -1};
    opterr = 0; /* its messages quote what was typed */
    for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        long number;
        switch (option) {
        case 'f':
            arguments->foreground = true;
            break;
        case 'p':
            if (!parse_long(optarg, 0, 1 << 20, &number) || fcntl((int)number, F_GETFD) < 0)
                return complain("--private needs the number of an open descriptor");
            arguments->private_fd = (int)number;
            break;
        case 'l':
            arguments->log = optarg;
            break;
        case 'h':
            return fputs(help, stdout) < 0 || fflush(stdout) ? STATUS_FAILED : STATUS_DONE;
        case 'V':
            print("dpartui-engine " PACKAGE_VERSION "\n");
            return fflush(stdout) || ferror(stdout) ? STATUS_FAILED : STATUS_DONE;
        default:
            print_to(stderr,
                     "dpartui-engine: '%s': no such option, or an argument too few or too many "
                     "(see --help)\n",
                     argv[optind - 1]);
            return STATUS_USAGE;
        }
    }
    if (optind < argc)
        return complain("there are no arguments but options (see --help)");
    if (arguments->foreground && arguments->private_fd >= 0)
        return complain("--foreground and --private exclude each other");
    return -1;
}

/* Descriptors 0 to 2 are open, so that nothing else ever gets their numbers. */
static bool keep_standard_descriptors(void)
{
    int fd;
    do
        fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    while (fd >= 0 && fd <= 2 && fcntl(fd, F_SETFD, 0) == 0);
    if (fd < 0)
        return false;
    close(fd);
    return true;
}

static bool redirect_log(const char *path)
{
    int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    bool ok = fd >= 0 && dup2(fd, STDERR_FILENO) >= 0;
    if (!ok)
        print_to(stderr, "dpartui-engine: %s: %s\n", path, strerror(errno));
    if (fd >= 0)
        close(fd);
    return ok;
}

/* Blocked in every thread and read from a descriptor by the server. */
static int open_signals(bool foreground)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a file-size limit is an error of write(), not the end */
    if (foreground)
        sigaddset(&set, SIGHUP);
    else
        signal(SIGHUP, SIG_IGN);
    if (sigprocmask(SIG_BLOCK, &set, NULL) != 0)
        return -1;
    return signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

/* Where things are kept: what the server's options point to. */
struct places {
    char *store, *checkpoints, *note; /* each may be NULL */
    struct error no_store;            /* why there is none */
};

static void fill_options(struct server_options *options, const struct arguments *arguments,
                         int signal_fd, struct places *places)
{
    struct error err = ERROR_INIT;
    *places = (struct places){.no_store = ERROR_INIT};
    /* A private engine leaves the user's runs alone. */
    if (arguments->private_fd < 0)
        places->store = store_default_path(&places->no_store);
    if (places->store && !(places->checkpoints = checkpoint_default_folder(&err)))
        print_to(stderr, "dpartui-engine: %s: there will be no checkpoints\n", err.text);
    places->note = paths_ignored();
    *options = (struct server_options){
        .log_fd = arguments->private_fd < 0 || arguments->log ? STDERR_FILENO : -1,
        .own_log = !arguments->foreground && !arguments->log,
        .version = PACKAGE_VERSION,
        .private_fd = arguments->private_fd,
        .signal_fd = signal_fd,
        .store_path = places->store,
        .no_store = places->no_store.kind != ERROR_NONE ? places->no_store.text : NULL,
        .places_note = places->note,
        .checkpoints = places->checkpoints,
    };
}

int main(int argc, char **argv)
{
    struct arguments arguments;
    int status = parse_arguments(argc, argv, &arguments);
    if (status >= 0)
        return status;
    startup_environment("dpartui-engine", argv);
    if (!keep_standard_descriptors()) {
        print_to(stderr, "dpartui-engine: /dev/null: %s\n", strerror(errno));
        return STATUS_FAILED;
    }
    if (arguments.log && !redirect_log(arguments.log))
        return STATUS_FAILED;
    struct error err = ERROR_INIT;
    const bool limited = affinity_is_limited();
    if (!affinity_apply(&err) || !priority_apply(&err)) {
        print_to(stderr, "dpartui-engine: %s\n", err.text);
        return err.kind == ERROR_USAGE ? STATUS_USAGE : STATUS_FAILED;
    }
    /* Out of the starting terminal's session; fails harmlessly in one that leads its group. */
    if (!arguments.foreground)
        setsid();
    int signal_fd = open_signals(arguments.foreground);
    if (signal_fd < 0) {
        print_to(stderr, "dpartui-engine: cannot watch signals: %s\n", strerror(errno));
        return STATUS_FAILED;
    }
    struct places places;
    struct server_options options;
    fill_options(&options, &arguments, signal_fd, &places);
    options.limited = limited;
    if (options.private_fd >= 0)
        fcntl(options.private_fd, F_SETFD, FD_CLOEXEC);
    json_begin();
    enum server_end end;
    bool ok = server_run(&options, &end, &err);
    if (!ok) {
        print_to(stderr, "dpartui-engine: %s\n", err.text);
        status = err.kind == ERROR_USAGE ? STATUS_USAGE : STATUS_FAILED;
    } else {
        status = STATUS_DONE;
    }
    /* Threads that hang in a device must not keep the process: no destructors. */
    if (end == SERVER_ABANDONED)
        _exit(STATUS_FAILED);
    if (end == SERVER_HELD)
        _exit(status);
    close(signal_fd);
    free(places.note);
    free(places.checkpoints);
    free(places.store);
    return status;
}
