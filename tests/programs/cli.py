#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The two programs from the outside: usage, output, exit statuses, signals, the engine's life."""

import fcntl
import http.server
import json
import os
import pty
import re
import select
import shutil
import signal
import socket
import sqlite3
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../harness"))
import plain_signals  # noqa: E402,F401
import program  # noqa: E402

BUILD = os.environ.get("top_builddir", ".")
PROGRAM = os.path.join(BUILD, "dpartui")
ENGINE = os.path.join(BUILD, "dpartui-engine")
PATIENCE = 180.0
# Some milliseconds, and a run that nobody will see the end of: its epochs are longer, as thousands of
# them would keep whoever shows it busy.
SHORT = ["--model", "linear", "--data", "random:200x10", "--batch", "20", "--epochs", "3"]
ENDLESS = ["--model", "linear", "--data", "random:4000x10", "--batch", "20", "--epochs", "1000000"]
# Rates have three digits wherever they are: 4.48k, never 4478.
RATE = r"(\d\.\d\d|\d\d\.\d|\d{3})[kM]? samples/s"
COMMANDS = ["train", "follow", "eval", "predict", "compare", "devices", "model", "runs", "show",
            "export", "stop", "check", "fetch", "completion", "engine", "screen"]


def has_ended(pid):
    """Also of a process that nobody has reaped yet; by then its sockets are closed."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            state = file.read().rpartition(b")")[2].split()[0]
        return state in b"ZX" and len(os.listdir(f"/proc/{pid}/task")) <= 1
    except (FileNotFoundError, ProcessLookupError):
        return True


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.env = dict(os.environ, XDG_RUNTIME_DIR=self.folder, XDG_STATE_HOME=self.folder,
                        XDG_DATA_HOME=os.path.join(self.folder, "data"), LC_ALL="C")
        self.children = []

    def tearDown(self):
        for child in self.children:
            if child.poll() is None:
                child.kill()
            child.communicate()
        self.run_program("engine", "stop", "--now")
        log = self.path("dpartui/engine.log")
        if os.path.exists(log):
            with open(log, encoding="utf8") as file:
                self.assertNotRegex(file.read(), "Sanitizer|runtime error")
        shutil.rmtree(self.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def run_program(self, *arguments, **options):
        return subprocess.run([PROGRAM, *arguments], env=self.env, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=PATIENCE, check=False,
                              **options)

    def processes(self, executable):
        """Numbers of this test's own processes that run it, also of those that will not stay."""
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/environ", "rb") as environment:
                    ours = f"XDG_RUNTIME_DIR={self.folder}\0".encode() in environment.read()
                if ours and os.path.realpath(f"/proc/{pid}/exe") == os.path.realpath(executable):
                    yield int(pid)
            except OSError:
                pass

    def good(self, *arguments, **options):
        done = self.run_program(*arguments, **options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def good_json(self, *arguments):
        return json.loads(self.good(*arguments, "--json"))

    def bad(self, status, *arguments):
        """The one line it complains with."""
        done = self.run_program(*arguments)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        self.assertTrue(done.stderr.startswith("dpartui: "), done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        return done.stderr

    def start(self, *arguments, program=PROGRAM):
        child = subprocess.Popen([program, *arguments], env=self.env, stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.children.append(child)
        return child

    def first_line(self, stream):
        """Of a child's output, and no more of it: the rest is left for communicate()."""
        line = b""
        while not line.endswith(b"\n") and (byte := os.read(stream.fileno(), 1)):
            line += byte
        return line.decode()

    def finish(self, child, status):
        out, err = child.communicate(timeout=PATIENCE)
        self.assertEqual(child.returncode, status, out + err)
        return out, err

    def wait_for(self, what, question):
        self.assertTrue(program.wait_until(question, PATIENCE), what)

    def wait_gone(self, pid):
        self.wait_for("its end", lambda: has_ended(pid))

    def ask(self, method, **params):
        """What the engine answers to what only the workbench asks."""
        answer = program.ask(self.path("dpartui"), method, params, PATIENCE)
        self.assertIn("result", answer)
        return answer["result"]

    def query(self, sql, path=None):
        """Rows of the run store, or of another; none while it cannot be read."""
        try:
            store = sqlite3.connect(f"file:{path or self.path('data/dpartui/runs.db')}?mode=ro", uri=True)
            try:
                return store.execute(sql).fetchall()
            finally:
                store.close()
        except sqlite3.Error:
            return []

    def stored(self):
        """The numbers of the runs that would outlive the engine now."""
        return [row[0] for row in self.query("SELECT number FROM runs ORDER BY number")]

    def status_of(self, run):
        return self.good_json("show", str(run))["status"]

    def wait_status(self, run, status):
        self.wait_for(f"run {run} {status}", lambda: self.status_of(run) == status)


class Usage(Case):
    def test_help_and_version(self):
        text = self.good("--help")
        for command in COMMANDS:
            self.assertRegex(text, rf"\n  {command}( \S+)* +[A-Z]")
            own = self.good(command, "--help")
            self.assertTrue(own.startswith(f"Usage: dpartui {command} "), own)
            self.assertIn("\n  --help ", own)
        self.assertRegex(self.good("--version"), r"^dpartui \d+\.\d+\.\d+\n$")
        self.assertRegex(self.good("train", "--version"), r"^dpartui \d+\.\d+\.\d+\n$")
        text = self.good("train", "--help")
        for option in ("model", "data", "data-dir", "image-size", "image-colour", "test-share",
                       "skip-broken", "devices", "gpus", "cpu-threads", "batch", "lr",
                       "lr-schedule", "warmup", "optimizer", "momentum", "weight-decay", "beta1", "beta2", "eps", "no-decay", "clip-norm", "ema", "epochs", "seed",
                       "strategy", "micro-batches", "stages", "split", "sync", "sync-bn",
                       "dtype", "init", "recipe", "order", "augment", "label-smoothing", "checkpoint-every", "noise-every", "deterministic", "train-rows", "test-rows", "max-steps", "validation", "patience", "stop-at-acc", "save", "save-best",
                       "log", "tensorboard", "json", "detach", "foreground"):
            self.assertIn(f"\n  --{option} ", text)
        self.assertIn("\n  --profile[=time|order] ", text)

    def test_mistakes(self):
        for arguments, says in (
                (["trian"], "'train'"),
                (["train", "--epcohs", "3"], "--epochs"),
                (["train", "--batch", "none"], "batch 'none'"),
                (["train", "--lr"], "--lr X"),
                (["train", "--lr-schedule", "sine"], "none of constant, step:EPOCHS"),
                (["train", *SHORT, "--warmup", "99"], "warmup 99 is longer than the run of"),
                (["train", "extra"], "'extra'"),
                (["train", "--foreground", "--detach"], "exclude"),
                (["train", "--devices", "cpu:0", "--gpus", "1"], "--devices and --gpus exclude"),
                (["train", "--hosts", "a", "--hosts-file", "/dev/null"],
                 "--hosts and --hosts-file exclude"),
                (["train", "--model", "no-such-model"], "no-such-model"),
                (["train", "--data", "/no/such/folder"], "/no/such/folder"),
                (["train", "--devices", "cuda:0"], "cuda:0"),
                (["train", "--devices", "gpu"], "gpu"),
                (["train", *SHORT, "--split", "even", "--devices", "cpu:0-2"], "20"),
                (["train", *SHORT, "--save", "/no/such/folder/file"], "/no/such/folder"),
                (["train", *SHORT, "--init", "/no/such.safetensors"], "/no/such.safetensors"),
                (["show"], "RUN"),
                (["show", "one"], "'one'"),
                (["stop", "0"], "'0'"),
                (["engine"], "start|stop|status|dial"),
                (["engine", "stat"], "did you mean"),
                (["model", "no-such-model"], "no-such-model"),
                (["fetch", "everything"], "everything"),
                (["runs", "--jsno"], "--json"),
                (["export"], "RUN...")):
            with self.subTest(arguments=arguments):
                self.assertIn(says, self.bad(2, *arguments))

    def test_bad_configuration(self):
        config = self.path("config")
        os.makedirs(os.path.join(config, "dpartui"))
        with open(os.path.join(config, "dpartui", "dpartui.conf"), "w", encoding="ascii") as file:
            file.write("run = { batch = 0; };\n")
        self.env["XDG_CONFIG_HOME"] = config
        self.assertIn("dpartui.conf", self.bad(2, "runs"))
        self.good("runs", "--help")

    def test_environment_is_below_the_command_line(self):
        self.env["DPARTUI_BATCH"] = "50"
        run = json.loads(self.good("train", "--json", *SHORT[:4], "--epochs", "1").split("\n")[0])
        self.assertEqual(run["batch"], 50)
        run = json.loads(self.good("train", "--json", *SHORT).split("\n")[0])
        self.assertEqual(run["batch"], 20)


class WithoutEngine(Case):
    def test_questions_start_none(self):
        self.assertEqual(self.good_json("runs"), [])
        self.assertIn("no runs yet", self.run_program("runs").stderr)
        self.assertIn("no run 1", self.bad(1, "show", "1"))
        self.assertIn("no run 1", self.bad(1, "stop", "1"))
        devices = self.good_json("devices")
        self.assertEqual(devices[0]["device"], "cpu:0")
        self.assertTrue(devices[0]["available"])
        self.assertIn("cpu:0", self.good("devices"))
        model = self.good_json("model", "smallnet", "--batch", "20", "--devices", "cpu:0-1")
        self.assertEqual([share["full"]["rows"] for share in model["memory"]], [10, 10])
        self.assertGreater(model["memory"][0]["total"], model["params"] * 4)
        self.assertEqual(sum(layer["params"] for layer in model["layers"]), model["params"])
        self.assertIn("IN ALL", self.good("model", "linear"))
        # To say how large a network is, nothing is measured.
        self.env["XDG_CACHE_HOME"] = self.path("cache")
        self.assertIn("IN ALL", self.good("model", "resnet18"))
        self.assertFalse(os.path.exists(self.path("cache/dpartui/cpu-choices")))
        self.assertEqual(self.good_json("engine", "status"),
                         {"running": False, "pid": None, "version": None, "run": None,
                          "no_gpus": None})

    def test_long_paths_are_refused(self):
        self.env["XDG_RUNTIME_DIR"] = self.path("x" * 120)
        os.mkdir(self.env["XDG_RUNTIME_DIR"])
        self.assertIn("XDG_RUNTIME_DIR", self.bad(1, "train", *SHORT))
        self.env["XDG_RUNTIME_DIR"] = self.folder

    def test_open_directories_are_refused(self):
        os.mkdir(self.path("dpartui"))
        os.chmod(self.path("dpartui"), 0o755)
        self.assertIn("chmod 700", self.bad(1, "runs"))
        os.chmod(self.path("dpartui"), 0o700)

    def test_missing_engine_program(self):
        alone = self.path("dpartui-alone")
        shutil.copy(PROGRAM, alone)
        self.env["PATH"] = "/nonexistent"
        done = subprocess.run([alone, "engine", "start"], env=self.env, capture_output=True,
                              text=True, timeout=PATIENCE, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("cannot start dpartui-engine", done.stderr)


class Training(Case):
    def test_json_and_log(self):
        log = self.path("log")
        lines = self.good("train", *SHORT, "--json", "--log", log).splitlines()
        events = [json.loads(line) for line in lines]
        self.assertEqual([event["event"] for event in events],
                         ["run"] + (["step"] * 10 + ["epoch"]) * 3 + ["end"])
        self.assertEqual([event["step"] for event in events if event["event"] == "step"],
                         list(range(1, 31)))
        self.assertEqual({event["run"] for event in events}, {1})
        self.assertEqual(events[-1]["status"], "done")
        with open(log, encoding="ascii") as file:
            self.assertEqual([json.loads(line)["event"] for line in file],
                             [event["event"] for event in events])

    def test_recipes_of_model_files(self):
        """Given, the model file's recipe, the program's default: in this order."""
        model = self.path("mine.conf")
        with open(model, "w", encoding="ascii") as file:
            file.write('default_input = [10, 1, 1]; default_classes = 2;\n'
                       'layers = ( { type = "linear"; outputs = "classes"; } );\n'
                       'training = { batch = 50; lr = 0.25; epochs = 2; };\n')
        job = ["--model", model, "--data", "random:200x10", "--epochs", "1"]
        self.env.pop("DPARTUI_RECIPE", None)

        def settings(*options):
            run = json.loads(self.good("train", *job, *options, "--json").splitlines()[0])
            run["origins"].pop("data_dir", None)  # of the environment, where there are real data
            return [run[name] for name in ("batch", "lr", "epochs")], run["origins"]

        values, origins = settings("--lr", "0.5")
        self.assertEqual(values, [50, 0.5, 1])
        self.assertEqual(origins, {"batch": "recipe", "lr": "given", "epochs": "given",
                                   "model": "given", "data": "given"})
        self.env["DPARTUI_BATCH"] = "20"
        self.assertEqual(settings()[0], [20, 0.25, 1])
        del self.env["DPARTUI_BATCH"]
        self.assertEqual(settings("--recipe", "none")[0], [256, 0.1, 1])
        self.assertIn("batch 50, lr 0.25, epochs 2", self.good("model", model))
        self.assertEqual(json.loads(self.good("model", model, "--json"))["batch"], 50)
        self.assertNotIn("recipe", self.good("model", model, "--recipe", "none"))
        left = json.loads(self.good("model", model, "--recipe", "none", "--json"))
        self.assertEqual((left["batch"], left["training"]), (256, {}))
        self.assertRegex(self.good("show", "1"), r"\n  batch +50  \(recipe\)\n")
        compared = json.loads(self.good("compare", *job, "--scaling", "weak", "--devices-list",
                                        "cpu:0;cpu:0-1", "--json"))
        self.assertEqual([(one["batch"], one["lr"]) for one in compared["rows"]],
                         [(50, 0.25), (100, 0.5)])
        with open(model, "a", encoding="ascii") as file:
            file.write("\n# training = { ... };\n")
        with open(model, "r+", encoding="ascii") as file:
            text = file.read().replace("epochs = 2", "epoch = 2")
            file.seek(0)
            file.write(text)
        self.assertRegex(self.bad(2, "train", *job), r"mine.conf:3: unknown setting 'epoch'")

    def test_warm_up_of_a_recipe(self):
        """It fits the epochs that were given; one that was given itself has to."""
        model = self.path("mine.conf")
        with open(model, "w", encoding="ascii") as file:
            file.write('default_input = [10, 1, 1]; default_classes = 2;\n'
                       'layers = ( { type = "linear"; outputs = "classes"; } );\n'
                       'training = { warmup = 5; epochs = 20; };\n')
        job = ["--model", model, "--data", "random:200x10"]
        self.env.pop("DPARTUI_RECIPE", None)
        for epochs, warmup in ((1, 0.25), (4, 1), (5, 5), (6, 5)):
            line = self.good("train", *job, "--epochs", str(epochs), "--json").splitlines()[0]
            run = json.loads(line)
            self.assertEqual((run["warmup"], run["origins"]["warmup"]), (warmup, "recipe"))
        self.good("compare", *job, "--epochs", "1,2")
        self.assertRegex(self.bad(2, "train", *job, "--epochs", "1", "--warmup", "5"),
                         r"warmup 5 is longer than the run of 1 epoch: ")

    def test_text_in_a_pipe(self):
        lines = self.good("train", *SHORT, "--devices", "cpu:0-1").splitlines()
        self.assertEqual(len(lines), 4)
        for number, line in enumerate(lines[:3], 1):
            self.assertRegex(line, rf"^epoch {number}/3  loss \d")
        self.assertRegex(lines[3], r"^test acc \d\.\d{3}, [\d.]+ s/epoch, " + RATE +
                         r" on \[cpu:0, cpu:1\]$")

    def test_devices_of_unequal_speed(self):
        lines = self.good("train", *SHORT, "--json", "--devices", "cpu:0-1", "--split", "auto",
                          "--cpu-threads", "2,1").splitlines()
        run, *others = [json.loads(line) for line in lines]
        self.assertEqual((run["split"], run["cpu_threads"]), ("auto", "2,1"))
        self.assertEqual([sum(event["shards"]) for event in others if event["event"] == "step"],
                         [20] * 30)
        self.assertIn("2 numbers for 3 CPU devices", self.run_program(
            "train", *SHORT, "--devices", "cpu:0-2", "--cpu-threads", "2,1").stderr)

    def test_a_log_that_cannot_be_written_is_told(self):
        done = self.run_program("train", *SHORT, "--log", "/dev/full")
        self.assertEqual(done.returncode, 0)
        self.assertIn("/dev/full: the log ends early", done.stderr)

    def test_models_beside_programs_that_are_not_installed(self):
        model = self.path("source/etc/models/beside.conf")
        os.makedirs(os.path.dirname(model))
        for program in (PROGRAM, ENGINE):
            shutil.copy(program, self.path("source"))
        with open(model, "w", encoding="ascii") as file:
            file.write('default_input = [ 5, 1, 1 ]; default_classes = 2;\n'
                       'layers = ( { type = "linear"; outputs = "classes"; } );\n')
        done = subprocess.run([self.path("source/dpartui"), "model", "beside"], env=self.env,
                              capture_output=True, text=True, timeout=PATIENCE, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"beside from {model}", done.stdout)
        self.assertIn("20 FLOP forward", done.stdout)
        self.assertRegex(self.bad(2, "model", "beside"), r"no model 'beside'; there are: .*\blenet, linear\b")

    def test_relative_paths_are_the_commands_own(self):
        self.good("train", *SHORT, "--save", "w.safetensors", "--log", "l", cwd=self.folder)
        self.good("train", *SHORT, "--init", "w.safetensors", cwd=self.folder)
        self.assertTrue(os.path.exists(self.path("l")))

    def test_names_that_are_not_utf8_are_named(self):
        folder = os.path.join(os.fsencode(self.folder), b"caf\xe9")
        for arguments in (("train", "--epochs", "1"), ("model", "linear"), ("compare", "--devices-counts", "1")):
            self.assertIn(r"caf\xe9' is not UTF-8",
                          self.bad(2, *arguments, "--devices", "cpu:0", "--data-dir", folder))
        self.assertIn(r"note: 'caf\xe9'", self.bad(2, "train", *SHORT, "--note", b"caf\xe9"))

    def test_runs_and_show(self):
        self.good("train", *SHORT)
        runs = self.good_json("runs")
        self.assertEqual(len(runs), 1)
        for member in ("run", "status", "model", "data", "devices", "batch", "lr", "epochs",
                       "test_acc", "s_per_epoch", "samples_per_s"):
            self.assertIsNotNone(runs[0][member], member)
        self.assertEqual(runs[0]["status"], "done")
        shown = self.good_json("show", "1")
        self.assertEqual([epoch["epoch"] for epoch in shown["epochs"]], [1, 2, 3])
        self.assertEqual(shown["spec"]["batch"], 20)
        self.assertIn("random:200x10", self.good("runs"))
        self.assertIn("EPOCH", self.good("show", "1"))

    def test_notes_and_stops_after_an_epoch(self):
        self.bad(2, "train", *ENDLESS, "--note", "two\nlines")
        run = self.good("train", *ENDLESS, "--detach", "--note", "warm start").strip()
        self.wait_for("an epoch", lambda: self.good_json("show", run)["epochs"])
        self.assertRegex(self.good("runs"), r"NOTE\n.* warm start\n")
        self.assertIn("note: warm start\n", self.good("show", run))
        self.assertIn("exclude", self.bad(2, "stop", run, "--now", "--after-epoch"))
        self.good("stop", run, "--after-epoch")
        self.wait_status(int(run), "stopped")
        shown = self.good_json("show", run)
        self.assertEqual([change["what"] for change in shown["retunes"]], ["stop_after_epoch"])
        self.assertFalse(shown["epochs"][-1]["partial"])
        self.assertEqual(sum(point["steps"] for point in shown["points"]),
                         shown["epochs"][-1]["step"])
        self.assertIn("changes while it ran\n  stop at epoch end requested after step ",
                      self.good("show", run))

    def test_detached_runs_are_queued(self):
        numbers = [int(self.good("train", *ENDLESS, "--detach")) for _ in range(2)]
        self.assertEqual(self.good_json("train", *ENDLESS, "--detach"), {"run": 3})
        self.assertEqual(numbers, [1, 2])
        self.wait_status(1, "running")
        self.assertEqual([self.status_of(2), self.status_of(3)], ["queued", "queued"])
        self.good("stop", "2")
        self.good("stop", "1", "--now")
        self.wait_status(3, "running")
        self.assertEqual([self.status_of(1), self.status_of(2)], ["stopped", "cancelled"])
        self.assertEqual([run["run"] for run in self.good_json("runs", "--status", "cancelled")], [2])
        self.assertIn("no run 9", self.bad(1, "stop", "9"))
        self.assertIn("run 1 has ended", self.bad(1, "stop", "1"))
        self.assertIn("--now", self.bad(1, "engine", "stop"))
        self.assertEqual(self.good_json("engine", "status")["run"], 3)
        self.good("engine", "stop", "--now")

    def test_foreground_leaves_the_background_alone(self):
        self.good("train", *SHORT, "--foreground")
        self.assertFalse(self.good_json("engine", "status")["running"])
        self.assertFalse(os.path.exists(self.path("dpartui/engine.lock")))


class Slow(http.server.BaseHTTPRequestHandler):
    """Sends the first file of MNIST drop by drop, until nobody takes it any more."""

    left = threading.Event()

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", str(9912422))
        self.end_headers()
        try:
            while True:
                self.wfile.write(b"x" * 1000)
                time.sleep(0.01)
        except OSError:
            self.left.set()

    def log_message(self, format, *args):
        pass


class Fetching(Case):
    def setUp(self):
        super().setUp()
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Slow)
        self.server.daemon_threads = True
        Slow.left.clear()
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def tearDown(self):
        self.server.shutdown()
        self.server.server_close()
        super().tearDown()

    def test_it_ends_with_the_command(self):
        for engine in (False, True):
            if engine:
                self.good("engine", "start")
            child = self.start("fetch", "mnist", "--data-dir", self.path(f"data-{engine}"), "--from",
                               f"http://127.0.0.1:{self.server.server_port}/")
            self.assertIn("images", child.stdout.readline())
            self.assertFalse(Slow.left.wait(0.3), "it ends by itself")
            child.send_signal(signal.SIGINT)
            child.communicate(timeout=PATIENCE)
            self.assertTrue(Slow.left.wait(PATIENCE), "the download continues")
            Slow.left.clear()

    def test_failures(self):
        place = ["--data-dir", self.path("data"), "--from", "file:///no/such/place"]
        self.assertIn("/no/such/place", self.bad(1, "fetch", "mnist", *place))
        self.bad(1, "fetch", "mnist", "--data-dir", "/dev/null/data")


class Signals(Case):
    def wait_said(self, child, text):
        """On standard error, after whatever else is said there."""
        self.assertTrue(any(text in line for line in child.stderr), text)

    def follow(self, *arguments):
        """A run in a follower whose first epoch has been seen."""
        child = self.start("train", *arguments)
        self.assertRegex(self.first_line(child.stdout), r"^epoch +1/")
        return child

    def test_interrupted_once_it_saves(self):
        for extra in ([], ["--foreground"]):
            weights = self.path("once.safetensors")
            child = self.follow(*ENDLESS, "--save", weights, *extra)
            child.send_signal(signal.SIGINT)
            out, err = self.finish(child, 1)
            self.assertIn("stopping after this step", err)
            self.assertIn("was stopped", err)
            self.assertIn("stopped after step", out)
            self.assertTrue(os.path.exists(weights))
            os.remove(weights)
        self.assertEqual(self.status_of(1), "stopped")

    def test_interrupted_twice_it_ends_at_once(self):
        weights = self.path("twice.safetensors")
        child = self.start("train", "--model", "smallnet", "--data", "glyphs", "--batch", "3000",
                           "--save", weights, "--epochs", "100")
        self.wait_for("the run", lambda: self.good_json("runs"))
        self.wait_status(1, "running")
        self.wait_for("training", lambda: self.good_json("show", "1")["params"])
        engine = self.good_json("engine", "status")["pid"]
        os.kill(engine, signal.SIGSTOP)  # it is to hear of both within one step
        child.send_signal(signal.SIGINT)
        self.wait_said(child, "after this step")
        child.send_signal(signal.SIGINT)
        self.wait_said(child, "at once")
        os.kill(engine, signal.SIGCONT)
        self.finish(child, 1)
        self.assertFalse(os.path.exists(weights))
        self.assertEqual(self.status_of(1), "stopped")

    def test_the_run_survives_its_viewer(self):
        for number in (signal.SIGHUP, signal.SIGKILL, signal.SIGTERM):
            child = self.follow(*ENDLESS)
            run = self.good_json("runs")[-1]["run"]
            child.send_signal(number)
            _, err = child.communicate(timeout=PATIENCE)
            self.assertEqual(err, "")
            epochs = self.good_json("show", str(run))["epochs_done"]
            self.wait_for("more epochs",
                          lambda e=epochs, r=run: self.good_json("show", str(r))["epochs_done"] > e)
            self.assertEqual(self.status_of(run), "running")
            self.good("stop", str(run))
            self.wait_status(run, "stopped")

    def test_a_run_is_followed_and_left(self):
        self.assertIn("no engine is running", self.bad(1, "follow", "1"))
        self.good("train", *ENDLESS, "--detach")
        child = self.start("follow", "1")
        self.assertRegex(child.stdout.readline(), r"^epoch +1/1000000  loss ")
        child.send_signal(signal.SIGINT)
        _, err = self.finish(child, 1)
        self.assertEqual(err, "dpartui: run 1 continues\n")
        self.assertEqual(self.status_of(1), "running")
        self.good("stop", "1", "--now")
        self.wait_status(1, "stopped")
        self.assertIn("run 1 was stopped", self.bad(1, "follow", "1"))
        self.good("train", *SHORT)
        self.assertEqual(len(self.good("follow", "2").splitlines()), 4)
        events = [json.loads(line) for line in self.good("follow", "2", "--json").splitlines()]
        self.assertEqual((events[0]["event"], events[-1]["status"]), ("run", "done"))
        self.assertIn("no run 9", self.bad(1, "follow", "9"))

    def test_a_detached_run_names_what_follows_it(self):
        output, _ = self.on_terminal(80, ["train", *ENDLESS, "--detach"], lambda fd, out: True)
        self.assertEqual(output.replace("\r", ""),
                         "1\ndpartui: 'dpartui follow 1' shows its progress\n")

    def test_a_private_run_survives_a_hang_up(self):
        child = self.follow(*ENDLESS, "--foreground", "--max-steps", "3000")
        child.send_signal(signal.SIGHUP)
        out, _ = self.finish(child, 0)
        self.assertRegex(out.splitlines()[-1], "^test acc ")

    def test_a_private_engine_ends_with_its_command(self):
        child = self.follow(*ENDLESS, "--foreground")
        engines = subprocess.run(["pgrep", "-P", str(child.pid)], capture_output=True, text=True,
                                 check=False).stdout.split()
        self.assertEqual(len(engines), 1)
        child.kill()
        child.wait()
        self.wait_gone(engines[0])

    def test_a_reader_that_leaves_is_no_error(self):
        child = self.start("train", *ENDLESS, "--json")
        json.loads(child.stdout.readline())
        child.stdout.close()
        child.wait(timeout=PATIENCE)
        self.assertEqual(child.stderr.read(), "")
        self.assertEqual(self.status_of(1), "running")

    def on_terminal(self, columns, arguments, talk):
        """Run on a pty; talk(fd, output so far) at each piece of output. Output and status."""
        pid, fd = pty.fork()
        if pid == 0:
            os.environ.update(self.env, TERM="xterm", COLUMNS="")
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
            os.execv(PROGRAM, [PROGRAM, *arguments])
        output = ""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            if not select.select([fd], [], [], 1)[0]:
                continue
            try:
                piece = os.read(fd, 65536)
            except OSError:
                break
            output += piece.decode()
            if not talk(fd, output):
                break
        os.close(fd)
        return output, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

    def test_a_bar_on_a_terminal(self):
        state = {"sent": False}

        def talk(fd, output):
            if not state["sent"] and re.search("\repoch[^\r]*loss", output):
                os.write(fd, b"\x03")
                state["sent"] = True
            return True

        output, status = self.on_terminal(70, ["train", *ENDLESS], talk)
        self.assertEqual(status, 1)
        self.assertIn("run 1: linear", output)
        self.assertIn("stopping after this step", output)
        bars = re.findall(r"\r(epoch[^\r\x1b]*)\x1b\[K", output)
        self.assertTrue(bars)
        for bar in bars:
            self.assertLess(len(bar), 80)
        self.assertTrue(any("[" in bar and len(bar) < 70 for bar in bars), bars)
        self.assertTrue(any(re.match(r"epoch \d+/1000000  .*loss \d\.\d{3}  acc \d\.\d{3}", bar)
                            for bar in bars), bars)

    def test_lines_fit_the_terminal(self):
        job = ["train", "--model", "linear", "--data", "glyphs", "--train-rows", "200",
               "--test-rows", "100", "--batch", "20", "--epochs", "10", "--validation", "0.2",
               "--save-best", self.path("w"), "--warmup", "1", "--lr-schedule", "cosine"]
        output, status = self.on_terminal(80, job, lambda fd, out: True)
        self.assertEqual(status, 0, output)
        lines = re.sub("\r[^\r\n]*\x1b\\[K", "", output).replace("\r", "").splitlines()
        for line in lines:
            self.assertLessEqual(len(line), 80, line)
        self.assertTrue([line for line in lines if line.startswith("  ")], lines)
        text = re.sub("\n  ", " ", "\n".join(lines))
        self.assertRegex(text, r"run 1: linear \(.* parameters\) on glyphs, batch 20, lr \S+, "
                               r"cosine, warmup 1, ")
        self.assertRegex(text, r"epoch 10/10  loss \d\.\d{4}  acc \d\.\d{3}  val acc \d\.\d{3}  "
                               r"\S+ s  " + RATE + "\n")
        self.assertRegex(text, r"validation acc 0\.\d+, test acc 0\.\d+ with the best weights, of "
                               r"epoch \d+, \S+ s/epoch, " + RATE + r" on \[cpu:0\]$")

    def test_the_run_survives_its_terminal(self):
        _, status = self.on_terminal(80, ["train", *ENDLESS], lambda fd, out: "epoch" not in out)
        self.assertEqual(status, 1)
        self.assertEqual(self.status_of(1), "running")


class Engine(Case):
    def pid(self):
        return self.good_json("engine", "status")["pid"]

    def test_start_stop_status(self):
        first = self.good_json("engine", "start")
        self.assertTrue(first["running"])
        self.assertEqual(self.good_json("engine", "start")["pid"], first["pid"])
        with open(f"/proc/{first['pid']}/stat", encoding="ascii") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        self.assertEqual(fields[4], "0", "the engine has a terminal")
        self.assertEqual(os.stat(os.path.join(self.folder, "dpartui")).st_mode & 0o777, 0o700)
        self.assertEqual(os.stat(self.path("dpartui/engine.sock")).st_mode & 0o777, 0o600)
        self.assertFalse(self.good_json("engine", "stop")["running"])
        self.assertFalse(os.path.exists(self.path("dpartui/engine.sock")))
        self.good("engine", "stop")

    def test_of_many_started_one_stays(self):
        children = [self.start("engine", "start", "--json") for _ in range(8)]
        pids = {json.loads(self.finish(child, 0)[0])["pid"] for child in children}
        self.assertEqual(len(pids), 1)
        by_hand = self.start("--foreground", program=ENGINE)
        _, err = self.finish(by_hand, 2)
        self.assertIn("already", err)
        self.wait_for("the end of the others", lambda: set(self.processes(ENGINE)) == pids)

    def test_what_a_killed_engine_left_is_no_hindrance(self):
        self.good("engine", "start")
        old = self.pid()
        os.kill(old, signal.SIGKILL)
        self.wait_gone(old)
        self.assertFalse(self.good_json("engine", "status")["running"])
        self.assertTrue(os.path.exists(self.path("dpartui/engine.sock")))
        self.good("train", *SHORT)
        self.assertNotEqual(self.pid(), old)

    def test_one_that_cannot_begin_says_why(self):
        os.mkdir(self.path("dpartui"), mode=0o700)
        os.mkdir(self.path("dpartui/engine.sock"))
        said = self.bad(1, "engine", "start")
        self.assertRegex(said, "^dpartui: the engine ended as it began: .*engine.sock: cannot remove "
                               "what a dead engine left: Is a directory .*engine.log.\n$")

    def test_it_is_found_again_when_its_socket_was_removed(self):
        """As by a login manager at the end of the last session, while a run trains."""
        self.good("train", *ENDLESS, "--detach")
        engine = self.pid()
        for leave_folder in (True, False):
            if leave_folder:
                os.unlink(self.path("dpartui/engine.sock"))
            else:
                os.rename(self.path("dpartui"), self.path("former"))
            self.wait_for("the engine", lambda: self.good_json("engine", "status")["running"])
            self.assertEqual(self.pid(), engine)
        self.assertEqual(self.status_of(1), "running")

    def test_without_its_socket_it_stays_the_one_of_its_store(self):
        """Another one would give its runs the same numbers, and lose them."""
        self.good("train", *SHORT)
        for _ in range(3):
            run = int(self.good("train", *ENDLESS, "--detach"))
            engine = self.pid()
            shutil.rmtree(self.path("dpartui"))
            self.assertEqual(int(self.good("train", *SHORT, "--detach")), run + 1)
            self.assertEqual(self.pid(), engine)
            self.good("stop", "--now", str(run))
            self.wait_for("the other run", lambda other=run + 1: self.status_of(other) == "done")

    def test_when_another_has_its_place_it_ends_idle(self):
        self.good("engine", "start")
        first = self.pid()
        self.env["XDG_DATA_HOME"] = self.path("other-data")

        def another_starts():
            """False: the first one has noticed sooner that its socket is gone, and listens again."""
            os.rename(self.path("dpartui"), tempfile.mkdtemp(dir=self.folder))
            self.good("engine", "start")
            return self.pid() != first

        self.wait_for("another engine", another_starts)
        self.wait_gone(first)
        self.assertTrue(self.good_json("engine", "status")["running"])

    def test_many_requests_at_once(self):
        self.good("train", *SHORT)
        requests = [{"jsonrpc": "2.0", "id": i, "method": "status"} for i in range(50)]
        requests.append({"jsonrpc": "2.0", "id": 50, "method": "follow", "params": {"run": 1}})
        with socket.socket(socket.AF_UNIX) as line:
            line.settimeout(PATIENCE)
            line.connect(self.path("dpartui/engine.sock"))
            line.sendall(b"".join(json.dumps(request).encode() + b"\n" for request in requests))
            with line.makefile(encoding="utf8") as answers:
                end = next(told for told in map(json.loads, answers)
                           if told.get("params", {}).get("event") == "end")
        self.assertEqual(end["params"]["status"], "done")

    def test_files_of_others_are_appended_to(self):
        for name, options in ("err", []), ("log", ["--log", self.path("log")]):
            with open(self.path(name), "ab") as file:
                file.write(b"x\n" * 1000000)
                file.flush()
                with subprocess.Popen([ENGINE, "--foreground", *options], env=self.env,
                                      stderr=file) as engine:
                    self.wait_for("a message", lambda: os.stat(file.name).st_size != 2000000)
                    engine.terminate()
                self.assertEqual(engine.returncode, 0)
                self.assertGreater(os.stat(file.name).st_size, 2000000)

    def test_a_lost_engine_is_an_error(self):
        child = self.start("train", *ENDLESS)
        child.stdout.readline()
        os.kill(self.pid(), signal.SIGKILL)
        _, err = self.finish(child, 1)
        self.assertIn("lost", err)

    def test_terminated_it_saves(self):
        weights = self.path("w.safetensors")
        child = self.start("train", *ENDLESS, "--save", weights)
        child.stdout.readline()
        engine = self.pid()
        os.kill(engine, signal.SIGTERM)
        self.finish(child, 1)
        self.wait_gone(engine)
        self.assertTrue(os.path.exists(weights))

    def test_openmp_variables_do_not_reach_it(self):
        variables = {"OMP_PROC_BIND": "true", "OMP_NUM_THREADS": "1", "GOMP_CPU_AFFINITY": "0"}
        self.env.update(variables)
        by_hand = self.start("--foreground", program=ENGINE)
        # Whether it has GPUs may be said before.
        said = [by_hand.stderr.readline()]
        if "GPUs" in said[0]:
            said.append(by_hand.stderr.readline())
        self.assertIn("is ready", said[-1])
        with open(f"/proc/{by_hand.pid}/environ", encoding="utf8") as file:
            environment = file.read()
        for variable in variables:
            self.assertNotIn(variable + "=", environment)
        by_hand.send_signal(signal.SIGHUP)
        self.finish(by_hand, 0)

    def test_usage(self):
        for arguments, status in ((["--help"], 0), (["--version"], 0), (["--nonsense"], 2),
                                  (["extra"], 2), (["--private", "x"], 2),
                                  (["--private", "77"], 2), (["--log", "/no/such/file"], 1)):
            with self.subTest(arguments=arguments):
                out, err = self.finish(self.start(*arguments, program=ENGINE), status)
                self.assertTrue(err if status else out)


if __name__ == "__main__":
    if not os.path.exists(PROGRAM) or not os.path.exists(ENGINE):
        sys.exit("build the programs first")
    unittest.main()
