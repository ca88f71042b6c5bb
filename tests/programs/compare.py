#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`dpartui compare` with the real engine: plans, figures, Ctrl-C, kill -9 and resuming."""

import contextlib
import csv
import glob
import io
import json
import math
import os
import pty
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree as xml

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../harness"))
import plain_signals  # noqa: E402,F401
import program  # noqa: E402

BUILD = os.environ.get("top_builddir", ".")
PROGRAM = os.path.join(BUILD, "dpartui")
PATIENCE = 90.0
CORES = len(os.sched_getaffinity(0))
TINY = ["--model", "linear", "--data", "glyphs", "--train-rows", "256", "--test-rows", "64",
        "--batch", "64", "--epochs", "2"]
# Enough steps to interfere: seconds, also with sanitizers, with which a step takes five times as long.
EPOCHS = "40" if program.is_sanitized(os.path.join(BUILD, "dpartui-engine")) else "300"
LONG = ["--model", "linear", "--data", "glyphs", "--train-rows", "256", "--test-rows", "64",
        "--batch", "4", "--epochs", EPOCHS]


class Compare(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.env = dict(os.environ, XDG_RUNTIME_DIR=self.folder, XDG_STATE_HOME=self.folder,
                        XDG_DATA_HOME=self.folder, LC_ALL="C")
        self.children = []

    def tearDown(self):
        for child in self.children:
            if child.poll() is None:
                child.kill()
            child.communicate()
        self.dpartui("engine", "stop", "--now")
        with open(os.path.join(self.folder, "dpartui/engine.log"), encoding="utf8") as file:
            self.assertNotRegex(file.read(), "Sanitizer|runtime error")
        # The engine may be closing its store.
        shutil.rmtree(self.folder, ignore_errors=True)

    def dpartui(self, *arguments):
        return subprocess.run([PROGRAM, *arguments], env=self.env, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=PATIENCE, check=False)

    def compare(self, *arguments, status=0):
        done = self.dpartui("compare", *arguments)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def figures(self, *arguments, status=0):
        return json.loads(self.compare(*arguments, "--json", status=status).stdout)

    def start(self, *arguments):
        child = subprocess.Popen([PROGRAM, "compare", *arguments], env=self.env,
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, text=True)
        self.children.append(child)
        return child

    def plan(self, number=1):
        with open(os.path.join(self.folder, f"dpartui/comparisons/{number}.json"),
                  encoding="utf8") as file:
            return json.load(file)

    def runs(self):
        return json.loads(self.dpartui("runs", "--json").stdout)

    def wait_for(self, what, test):
        self.assertTrue(program.wait_until(test, PATIENCE), what)

    def wait_for_training(self, entry):
        """Until the run of the plan's entry trains."""
        def trains():
            try:
                run = self.plan()["runs"][entry]["run"]
            except (FileNotFoundError, ValueError):
                return False
            return run and any(one["run"] == run and one["status"] == "running" and
                               one["epochs_done"] >= 1 for one in self.runs())
        self.wait_for(f"entry {entry} trains", trains)

    def is_stored(self, entry):
        """It is written a moment after it can be seen."""
        store = sqlite3.connect(f"file:{os.path.join(self.folder, 'dpartui/runs.db')}?mode=ro",
                                uri=True)
        try:
            return store.execute("SELECT count(*) FROM runs WHERE number = ?",
                                 (self.plan()["runs"][entry]["run"],)).fetchone()[0] == 1
        finally:
            store.close()

    def engine_pid(self):
        return json.loads(self.dpartui("engine", "status", "--json").stdout)["pid"]

    def test_strong_scaling_interleaves_fresh_seeds(self):
        picture = os.path.join(self.folder, "figures.svg")
        found = self.figures(*TINY, "--devices-counts", "1,2", "--repeats", "2", "--seed", "5",
                             "--target-acc", "0", "--svg", picture)
        self.assertEqual([(run["label"], run["seed"]) for run in found["runs"]],
                         [("1 device", 5), ("2 devices", 5), ("1 device", 6), ("2 devices", 6)])
        self.assertEqual((found["kind"], found["scaling"], found["unfinished"]),
                         ("devices", "strong", 0))
        one, two = found["rows"]
        self.assertEqual((one["batch"], two["batch"], one["devices"], two["devices"]),
                         (64, 64, "cpu:0", "cpu:0-1"))
        # The same cores for every device, whatever their number.
        self.assertEqual(one["spec"]["cpu_threads"], two["spec"]["cpu_threads"])
        self.assertFalse(os.path.exists(os.path.join(self.folder, "dpartui/checkpoints/1")))
        for row in (one, two):
            self.assertEqual((row["done"], row["failed"], row["missing"]), (2, 0, 0))
            self.assertEqual(row["samples_per_s"]["count"], 2)
            self.assertLessEqual(row["samples_per_s"]["min"], row["samples_per_s"]["median"])
            self.assertEqual(row["test_acc"]["count"], 2)
            self.assertEqual(row["target_s"]["count"], 2)
        # Equal seeds, equal accuracies: how a batch is divided makes no difference.
        self.assertEqual(one["test_acc"]["mean"], two["test_acc"]["mean"])
        self.assertAlmostEqual(two["efficiency"], two["speed_up"] / 2)
        self.assertIn("first epoch", found["warm_up"])
        self.check_against_the_store(found)
        self.assertRegex(self.dpartui("runs").stdout, r"(?m) DATA +ROWS +DEVICES .*\n.* glyphs +256/64 ")
        root = xml.parse(picture).getroot()
        self.assertTrue(root.tag.endswith("svg"))
        self.assertIn("Speed", "".join(root.itertext()))

    def check_against_the_store(self, found):
        """What is said of each run is what the run's own epochs say."""
        for run in found["runs"]:
            shown = json.loads(self.dpartui("show", str(run["run"]), "--json").stdout)
            self.assertEqual(shown["spec"]["seed"], run["seed"])
            self.assertIn("compare-1", shown["tags"])
            self.assertEqual((shown["train_rows"], shown["test_rows"]), (256, 64))
            self.assertRegex(shown["note"], "^compare 1: ")
            self.assertEqual(run["s_per_epoch"], [shown["epochs"][1]["seconds"]])
            self.assertEqual(shown["s_per_epoch"], shown["epochs"][1]["seconds"])
            self.assertEqual(shown["samples_per_s"], shown["epochs"][1]["samples_per_s"])
            self.assertEqual(run["test_acc"], shown["epochs"][1]["test_acc"])
            self.assertEqual(run["target_s"], shown["epochs"][0]["seconds"])

    def test_the_workbench_says_the_same(self):
        """Speed-up, shares of time, cause and sentence of the command and of the compare page."""
        found = self.figures(*TINY, "--epochs", "4", "--devices-counts", "1,2", "--repeats", "3")
        one, two = found["rows"]
        shown = self.dpartui("screen", "--view", "compare", "--size", "300x60", "--keys", "<End>")
        self.assertEqual(shown.returncode, 0, shown.stderr)
        page = " ".join(line[:90] for line in shown.stdout.splitlines())
        words = re.sub(r"\s+", " ", page)
        for row in (one, two):
            self.assertRegex(words, fr" {row['device_count']} \d+ 64 0.1 \S+ \S+ "
                                    fr"{row['speed_up']:.2f}x {100 * row['efficiency']:.0f}% "
                                    fr"{row['test_acc']['mean']:.3f} ")
        self.assertIn(found["sentence"], words)
        compute = 1 - two["sync_share"] - two["wait_share"]
        self.assertIn(f"{100 * compute:.0f}% compute, {100 * two['sync_share']:.0f}% all-reduce",
                      words)
        self.check_shares_of_a_run()

    def check_shares_of_a_run(self):
        """By `show` they are those of the run's page."""
        run = str(max(one["run"] for one in self.runs()))
        said = self.dpartui("show", run).stdout
        parts = re.search(r"Of the devices' time: (\d+%) compute, (\d+%) all-reduce, (\d+%) waiting",
                          said)
        self.assertTrue(parts, said)
        page = self.dpartui("screen", "--view", "runs", "--size", "120x60", "--keys", "<Enter>").stdout
        for share, name in zip(parts.groups(), ("computing", "all-reduce", "waiting")):
            self.assertRegex(page, fr"(?m)^{name} .* {share} ")

    def test_weak_scaling_grows_batch_and_rate(self):
        found = self.figures(*TINY, "--lr", "0.1", "--devices-counts", "1,3", "--scaling", "weak")
        self.assertEqual([(row["batch"], row["lr"]) for row in found["rows"]],
                         [(64, 0.1), (192, 0.3)])
        self.assertEqual(found["scaling"], "weak")
        for more, advised in (([], True), (["--warmup", "1"], False),
                              (["--lr-schedule", "one-cycle"], False)):
            done = self.compare(*TINY, "--lr", "0.1", "--devices-counts", "1,2", "--scaling", "weak",
                                *more)
            self.assertEqual("lr grows to 0.2 with the devices" in done.stderr, advised, more)

    def test_lists_of_devices(self):
        found = self.figures(*TINY, "--devices-list", "cpu:0;cpu:0,cpu:1")
        self.assertEqual([row["label"] for row in found["rows"]], ["cpu:0", "cpu:0-1"])
        # Free GPUs that only the configuration asks for are not looked for.
        self.env["DPARTUI_DEVICES"] = "free:2"
        found = self.figures(*TINY, "--devices-list", "cpu:0;cpu:0,cpu:1")
        self.assertEqual([row["devices"] for row in found["rows"]], ["cpu:0", "cpu:0-1"])

    def test_free_gpus_of_hosts(self):
        """Refused as by train: this host's numbers say nothing about others."""
        for command in "compare", "train":
            done = self.dpartui(command, *TINY, "--hosts", "h1,h2", "--devices", "free:2")
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn("free:2: the load of other hosts' GPUs is not known", done.stderr)

    def test_strategies(self):
        """The same devices with each strategy, told apart everywhere, also without an engine."""
        done = self.compare("--model", "lenet", "--data", "glyphs", "--train-rows", "200",
                            "--test-rows", "64", "--batch", "40", "--epochs", "2", "--init", "default",
                            "--cpu-threads", "1", "--devices", "cpu:0-1", "--strategies",
                            "data,pipeline")
        self.assertRegex(done.stdout, r"(?m)^DEVICES +STRATEGY +RUNS .* MB/STEP +MEMORY ")
        self.assertRegex(done.stdout, r"(?m)^2 devices +pipeline +1/1 .* MiB ")
        self.dpartui("engine", "stop")
        found = self.figures("--show", "1")
        self.assertEqual(found["kind"], "strategies")
        self.assertEqual([(row["label"], row["strategy"], row["devices"]) for row in found["rows"]],
                         [("1 device", "data", "cpu:0"), ("2 devices, data", "data", "cpu:0-1"),
                          ("2 devices, pipeline", "pipeline", "cpu:0-1")])
        self.assertEqual(found["base"], "1 device")
        one, data, pipeline = found["rows"]
        self.assertEqual(one["sync_bytes_per_step"], 0)
        for row, run in zip(found["rows"], found["runs"], strict=True):
            shown = json.loads(self.dpartui("show", str(run["run"]), "--json").stdout)
            self.assertEqual(shown["spec"]["strategy"], row["strategy"])
            self.assertEqual(row["memory_most"], max(shown["memory"]))
            self.assertEqual(row["sync_bytes_per_step"], shown["sync_bytes_per_step"])
        self.assertNotEqual(data["sync_bytes_per_step"], pipeline["sync_bytes_per_step"])
        self.assertRegex(found["sentence"], "^On 2 devices (data|pipeline) is .* times 1 device")
        rows = list(csv.DictReader(io.StringIO(self.compare("--show", "1", "--csv").stdout)))
        self.assertEqual([row["strategy"] for row in rows], ["data", "data", "pipeline"])
        self.assertRegex(self.compare("--list").stdout, r"(?m)^ *1 .* strategies, .* 3/3 +0$")
        # The workbench has them from the engine.
        self.dpartui("engine", "start")
        shown = self.dpartui("screen", "--view", "compare", "--size", "300x60")
        self.assertIn("Pipeline: batch 40", shown.stdout)
        page = re.sub(r"\s+", " ", " ".join(line[:90] for line in shown.stdout.splitlines()))
        self.assertIn(found["sentence"], page)

    def test_batches_and_rates(self):
        done = self.compare(*TINY, "--batch", "32,64,128", "--epochs", "1")
        self.assertIn("batch 32, seed 1", done.stdout)
        self.assertIn("is the fastest", done.stdout)
        self.assertIn("with the warm-up where a run has a single epoch", done.stdout)
        self.assertRegex(done.stdout, r"(?m)^ *32 .*\d\* .*k\* ")
        shown = self.compare("--show", "1", "--csv").stdout
        rows = list(csv.DictReader(io.StringIO(shown)))
        self.assertEqual([row["batch"] for row in rows], ["32", "64", "128"])
        self.assertEqual([row["efficiency"] for row in rows], ["", "", ""])
        self.assertTrue(all(float(row["samples_per_s"]) > 0 for row in rows))
        found = self.figures(*TINY, "--lr", "0.1,0.2")
        self.assertEqual([row["lr"] for row in found["rows"]], [0.1, 0.2])
        self.assertEqual(found["id"], "2")
        self.assertEqual(self.dpartui("completion", "words", "comparisons").stdout,
                         "2\tlr\n1\tbatch\n")
        listed = self.compare("--list").stdout
        self.assertRegex(listed, r"(?m)^ *1 .*batch +3 +1 +3/3 +0$")
        self.assertRegex(listed, r"(?m)^ *2 .*lr +2 +1 +2/2 +0$")

    def test_types_that_devices_did_not_compute_in_are_told(self):
        self.env["DPARTUI_EMULATE_BF16"] = "1"
        text = "dtype bf16: computed in f32, not in bf16\n"
        small = self.compare(*TINY, "--dtype", "f32,bf16").stdout
        self.assertEqual(small.count(text), 1, small)
        self.assertEqual(small.count("computed in"), 1, small)
        large = self.compare("--model", "smallnet", "--data", "glyphs", "--train-rows", "64",
                             "--test-rows", "64", "--batch", "64", "--epochs", "1", "--dtype",
                             "f32,bf16").stdout
        self.assertNotIn("computed in", large)

    def test_grids_have_each_combination(self):
        """A column for each setting, a row for each combination, and figures over the seeds."""
        done = self.compare(*TINY, "--optimizer", "sgd,adam", "--batch", "32,64", "--repeats", "2",
                            "--target-acc", "0.01")
        self.assertIn("8/8 batch 64, optimizer adam, seed 2, run 8: ", done.stdout)
        self.assertRegex(done.stdout, r"(?m)^BATCH +OPTIMIZER +RUNS .* TEST ACC +RANGE +TO 0\.01$")
        self.assertRegex(done.stdout, r"(?m)^ *64 +adam +2/2 ")
        found = self.figures("--show", "1")
        self.assertEqual(found["kind"], "batch,optimizer")
        self.assertEqual([(row["batch"], row["spec"]["optimizer"]) for row in found["rows"]],
                         [(32, "sgd"), (32, "adam"), (64, "sgd"), (64, "adam")])
        # What nobody gave is the optimizer's own.
        self.assertEqual([row["lr"] for row in found["rows"]], [0.1, 0.001] * 2)
        for i, row in enumerate(found["rows"]):
            runs = [found["runs"][i], found["runs"][i + 4]]
            accuracies = [run["test_acc"] for run in runs]
            self.assertEqual([run["seed"] for run in runs], [1, 2])
            self.assertAlmostEqual(row["test_acc"]["mean"], sum(accuracies) / 2)
            self.assertEqual((row["test_acc"]["min"], row["test_acc"]["max"]),
                             (min(accuracies), max(accuracies)))
            shown = json.loads(self.dpartui("show", str(runs[0]["run"]), "--json").stdout)
            self.assertEqual(shown["spec"]["optimizer"], row["spec"]["optimizer"])
            self.assertEqual(shown["spec"]["lr"], row["lr"])
        rows = list(csv.DictReader(io.StringIO(self.compare("--show", "1", "--csv").stdout)))
        self.assertEqual([row["optimizer"] for row in rows], ["sgd", "adam"] * 2)
        self.assertEqual([row["target_reached"] for row in rows], ["2"] * 4)

    def test_the_range_test_raises_the_rate(self):
        """Losses are those of a run with that schedule, and the rate is where they fall most."""
        task = ["--model", "smallnet", "--data", "glyphs", "--train-rows", "512", "--batch", "16",
                "--seed", "3", "--init", "default", "--optimizer", "adam"]
        found = self.figures(*task, "--lr-range", "1e-4:1", "--max-steps", "80")
        self.assertEqual((found["from"], found["to"], found["steps"]), (0.0001, 1, 80))
        points = found["points"]
        for point in points:
            self.assertAlmostEqual(point["lr"], 0.0001 * 10 ** (4 * (point["step"] - 1) / 79), 9)
        lines = self.dpartui("train", *task, "--lr", "1", "--lr-schedule", "range:1e-4",
                             "--max-steps", "80", "--epochs", "80", "--json", "--foreground").stdout
        events = [json.loads(line) for line in lines.splitlines()]
        losses = [event["loss"] for event in events if event["event"] == "step"]
        self.assertEqual([point["loss"] for point in points], losses[:len(points)])
        self.check_suggestion(points, found["suggested_lr"])
        least = min(points, key=lambda point: point["smoothed"])
        self.assertEqual(found["lowest_lr"], least["lr"])
        shown = json.loads(self.dpartui("show", str(found["run"]), "--json").stdout)
        self.assertEqual(shown["note"], "lr range 0.0001:1")
        self.assertEqual(shown["spec"]["lr_schedule"], "range:0.0001")
        # Nothing is evaluated, whatever a configuration says.
        self.assertEqual({epoch["test_acc"] for epoch in shown["epochs"]}, {None})
        self.assertIsNone(shown["test_acc"])
        self.assertEqual([event for event in events if event["event"] == "warning"], [])
        self.env.update(DPARTUI_PATIENCE="2", DPARTUI_VALIDATION="0.1")
        again = self.figures(*task, "--lr-range", "1e-4:1", "--max-steps", "80")
        self.assertEqual(again["points"], points)
        del self.env["DPARTUI_PATIENCE"], self.env["DPARTUI_VALIDATION"]
        self.assertIn("is suggested: there the smoothed loss falls most steeply",
                      self.compare(*task, "--lr-range", "1e-4:1").stdout)
        rows = list(csv.reader(io.StringIO(
            self.compare(*task, "--lr-range", "1e-4:0.01", "--csv").stdout)))
        self.assertEqual(rows[0], ["step", "lr", "loss", "smoothed"])
        self.assertEqual(len(rows), 101)
        self.assertEqual(self.figures("--list"), [])

    def check_suggestion(self, points, suggested):
        smoothed = [point["smoothed"] for point in points]
        apart, first = max(1, len(points) // 20), len(points) // 10
        slopes = {i: (smoothed[i + apart] - smoothed[i - apart]) /
                  math.log(points[i + apart]["lr"] / points[i - apart]["lr"])
                  for i in range(first, min(smoothed.index(min(smoothed)) + 1,
                                            len(points) - apart))}
        self.assertEqual(suggested, points[min(slopes, key=slopes.get)]["lr"])

    def test_the_range_test_stops_when_the_loss_diverges(self):
        found = self.figures("--model", "linear", "--data", "glyphs", "--train-rows", "512",
                             "--batch", "32", "--lr-range", "1e-3:1e5", "--max-steps", "1000")
        self.assertTrue(found["diverged"])
        self.assertLess(len(found["points"]), 1000)
        smoothed = [point["smoothed"] for point in found["points"]]
        self.assertTrue(all(value <= 4 * min(smoothed[:i + 1])
                            for i, value in enumerate(smoothed[:-1])))
        # Stopped, unless the engine found the loss to be no number before it was told to.
        run, = self.runs()
        self.assertIn(run["status"], ("stopped", "failed"))

    def test_show_needs_no_engine_and_tells_of_deleted_runs(self):
        trained = self.figures(*TINY, "--devices-counts", "1,2")
        victim = trained["runs"][1]["run"]
        self.dpartui("engine", "stop")
        self.assertEqual(self.figures("--show", "1")["rows"], trained["rows"])
        self.assertIn("no engine is running", self.dpartui("engine", "status").stdout)
        self.compare("--resume", "1")  # nothing to do, but an engine
        self.delete(victim)
        shown = self.compare("--show", "1").stdout
        self.assertIn(f"run {victim} was deleted", shown)
        self.assertIn("--resume 1", shown)
        again = self.figures("--resume", "1")
        self.assertEqual(again["unfinished"], 0)
        self.assertNotEqual(again["runs"][1]["run"], victim)
        self.assertEqual(again["runs"][0]["run"], trained["runs"][0]["run"])

    def delete(self, run):
        """As the workbench does it."""
        folder = os.path.join(self.folder, "dpartui")
        self.assertIn("result", program.ask(folder, "delete", {"run": run}, PATIENCE))

        def gone():
            return not any(one["run"] == run for one in self.runs())
        self.wait_for("the run is deleted", gone)
        self.wait_for("it is deleted from the store", lambda: not self.stored(run))

    def stored(self, run):
        """Whether the store, which follows the engine a moment later, has the run."""
        store = sqlite3.connect(os.path.join(self.folder, "dpartui/runs.db"))
        with contextlib.closing(store):
            return store.execute("SELECT count(*) FROM runs WHERE number = ?", (run,)).fetchone()[0]

    def test_a_failed_run_leaves_the_others(self):
        done = self.dpartui("compare", *TINY, "--split", "even", "--batch", "64,63", "--devices",
                            "cpu:0-1", "--json")
        self.assertEqual(done.returncode, 1)
        found = json.loads(done.stdout)
        self.assertEqual([row["done"] for row in found["rows"]], [1, 0])
        self.assertEqual([row["failed"] for row in found["rows"]], [0, 1])
        self.assertIn("63", found["runs"][1]["reason"])
        self.assertIn("failed: ", done.stderr)
        self.assertIn("failed: ", self.compare("--show", "1").stdout)
        # It would fail again.
        self.assertEqual(found["unfinished"], 0)

    def test_ctrl_c_keeps_what_is_done(self):
        child = self.start(*LONG, "--devices-counts", "1,2")
        self.wait_for_training(1)
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=PATIENCE)
        self.assertEqual(child.returncode, 1, err)
        self.assertEqual((out + err).count("--resume 1"), 1)
        self.assertRegex(out, r"1/2 1 device, seed 1, run \d+: .* s/epoch")
        first, second = self.plan()["runs"]
        self.assertEqual((first["state"], second["state"]), ("done", "stopped"))
        self.assertEqual([run["status"] for run in self.runs()], ["done", "stopped"])
        found = self.figures("--resume", "1")
        self.assertEqual(found["runs"][0]["run"], first["run"])
        self.assertGreater(found["runs"][1]["run"], second["run"])
        self.assertEqual(found["unfinished"], 0)

    def test_resume_after_kill_of_the_command(self):
        child = self.start(*LONG, "--devices-counts", "1,2", "--repeats", "2")
        self.wait_for_training(1)
        child.kill()
        child.wait()
        # Another one cannot have it while the first holds it; a killed one holds nothing.
        found = self.figures("--resume", "1")
        self.assertEqual(found["unfinished"], 0)
        # The run that continued without the command was adopted, not trained again.
        self.assertEqual(len(self.runs()), 4)
        self.assertEqual([run["state"] for run in found["runs"]], ["done"] * 4)

    @unittest.skipIf(CORES < 2, "a second CPU device needs a core of its own")
    def test_the_advice_for_two_devices_can_be_followed(self):
        asked = [*TINY[:8], "--epochs", "2", "--predict", "2"]
        advice = self.compare(*asked, status=2).stderr.partition("as with ")[2].split()
        self.assertIn("--link", advice)
        self.assertEqual(self.figures(*asked, *advice)["predictions"][0]["count"], 2)

    def test_what_was_left_open_and_shared_cores_are_told(self):
        text = self.compare("--train-rows", "200", "--test-rows", "40", "--epochs", "1",
                            "--devices", f"cpu:0-{CORES}", "--devices-counts", f"1,{CORES + 1}",
                            "--cpu-threads", "1").stdout
        run = json.loads(self.dpartui("show", "1", "--json").stdout)
        self.assertIn(f"; model {run['model']}, data {run['data']} (200 rows), 1 epoch,", text)
        self.assertRegex(text, f"share cores.*{CORES + 1} threads (of .* )?on {CORES} core")

    @unittest.skipIf(CORES < 2, "a second CPU device needs a core of its own")
    def test_two_devices_are_predicted_from_one(self):
        found = self.figures(*TINY, "--devices", "cpu:0", "--cpu-threads", "1", "--batch",
                             "32,64", "--epochs", "3", "--predict", "2", "--link", "5GB/s")
        self.assertEqual([row["batch"] for row in found["rows"]], [32, 64])
        one, = found["predictions"]
        self.assertEqual([one[name] for name in ("count", "device_count", "batch", "device_rows")],
                         [2, 2, 64, 32])
        for speed in (one["s_per_epoch"], one["samples_per_s"]):
            self.assertLess(speed["min"], speed["median"])
            self.assertLess(speed["median"], speed["max"])
        self.assertAlmostEqual(one["efficiency"], one["speed_up"] / 2)
        self.assertRegex(one["sentence"], r"^Predicted for 2 devices: .* s/epoch .*; .* limits$")
        self.assertIn("at 5.00GB/s, after the backward pass", found["assumptions"])
        # The same later, for people; and what cannot be is said last.
        shown = self.compare("--show", "1", "--predict", "2", "--link", "5GB/s").stdout
        self.assertIn("\npredicted, not measured:\nDEVICES  BATCH  ROWS  S/EPOCH", shown)
        self.assertIn(one["sentence"] + ".\n", shown)
        done = self.compare("--show", "1", "--predict", "2", status=2)
        self.assertIn("comparison 1: batch", done.stdout)
        self.assertRegex(done.stderr, "^dpartui: --predict 2: no all-reduce was measured: .*\n$")
        self.assertNotIn("predictions", self.figures("--show", "1"))

    def test_a_run_that_was_never_written_down_is_found(self):
        self.figures(*TINY, "--devices-counts", "1,2")
        path = os.path.join(self.folder, "dpartui/comparisons/1.json")
        plan = self.plan()
        plan["runs"][1].update(run=None, state="waiting")
        with open(path, "w", encoding="utf8") as file:
            json.dump(plan, file)
        self.assertEqual(self.figures("--resume", "1")["unfinished"], 0)
        self.assertEqual(len(self.runs()), 2)

    def test_resume_after_kill_of_the_engine(self):
        child = self.start(*LONG, "--devices-counts", "1,2")
        self.wait_for_training(1)
        self.wait_for("the run is in the store", lambda: self.is_stored(1))
        os.kill(self.engine_pid(), signal.SIGKILL)
        _, err = child.communicate(timeout=PATIENCE)
        self.assertEqual(child.returncode, 1)
        self.assertIn("--resume 1 continues it", err)
        shown = self.figures("--show", "1")
        self.assertEqual([run["state"] for run in shown["runs"]], ["done", "stopped"])
        found = self.figures("--resume", "1")
        self.assertEqual([run["state"] for run in found["runs"]], ["done", "done"])
        self.assertEqual(found["runs"][0]["run"], shown["runs"][0]["run"])

    def test_one_at_a_time(self):
        child = self.start(*LONG, "--epochs", "1000000", "--devices-counts", "1")
        self.wait_for_training(0)
        self.assertIn("another dpartui", self.compare("--resume", "1", status=1).stderr)
        child.send_signal(signal.SIGTERM)
        _, err = child.communicate(timeout=PATIENCE)
        self.assertIn("the current run continues", err)
        self.assertEqual([run["status"] for run in self.runs()], ["running"])
        self.assertEqual(self.figures("--show", "1")["unfinished"], 1)
        self.assertEqual(glob.glob(os.path.join(self.folder, "dpartui/comparisons/*.lock")), [])

    def test_a_live_line_on_a_terminal(self):
        child, main = pty.fork()
        if child == 0:
            os.execve(PROGRAM, [PROGRAM, "compare", *LONG, "--devices-counts", "1,2"],
                      dict(self.env, TERM="xterm"))
        seen = b""
        try:
            while more := os.read(main, 4096):
                seen += more
        except OSError:
            pass  # the terminal's other end is closed
        os.close(main)
        _, status = os.waitpid(child, 0)
        self.assertEqual(os.waitstatus_to_exitcode(status), 0, seen)
        self.assertRegex(seen, rf"\r2/2 2 devices .*epoch \d+/{EPOCHS}".encode())
        self.assertRegex(seen, rb"\r2/2 2 devices .* left")
        self.assertIn(b"comparison 1: devices, strong scaling", seen)

    def test_wrong_usage(self):
        for options, said in ((["--devices-counts", "1,0"], "whole numbers"),
                              (["--devices-counts", "3", "--devices", "cpu:0-1"], "only 2"),
                              (["--batch", "64,128", "--devices-counts", "1"], "one thing at a time"),
                              (["--batch", "64,128", "--lr", "0.1,0.2", "--optimizer", "sgd,adam"],
                               "--batch, --lr and --optimizer have several values"),
                              (["--batch", "64,,128"], "a value between commas is missing"),
                              (["--batch", "1,2,3,4,5,6,7,8,9", "--lr", "1,2,3,4,5,6,7,8"],
                               "72 variants, 72 runs: a comparison has at most 64"),
                              (["--optimizer", "sgd,best"], "'best' is none of"),
                              (["--scaling", "sideways"], "neither strong nor weak"),
                              (["--strategies", "data,sideways", "--devices", "cpu:0-1"],
                               "'sideways' is none of data, pipeline, tensor and mixed"),
                              (["--strategies", "data,data", "--devices", "cpu:0-1"], "there twice"),
                              (["--strategies", "data", "--devices", "cpu:0"], "nothing to divide"),
                              (["--strategy", "data,tensor", "--devices", "cpu:0"],
                               "strategy: one device has nothing to divide"),
                              (["--strategy", "pipeline", "--devices", "cpu:0-3", "--devices-counts",
                                "2,4", "--stages", "2"], "stages: 1 name for 4 stages"),
                              (["--strategies", "data", "--strategy", "data"], "exclude"),
                              (["--strategies", "data", "--batch", "64,128"], "several values"),
                              (["--strategies", "data", "--devices-list", "cpu:0"], "no meaning"),
                              (["--strategies", "data,pipeline", "--devices", "cpu:0-1", "--split",
                                "auto"], "2 devices, pipeline: split auto"),
                              (["--repeats", "0"], "--repeats"),
                              (["--target-acc", "2"], "--target-acc"),
                              (["--json", "--csv"], "exclude"),
                              (["--resume", "1", "--show", "1"], "exclude"),
                              (["--show", "1", "--batch", "64"], "no meaning"),
                              (["--list", "--csv"], "--csv has no meaning with --list"),
                              (["--list", "--svg", "c.svg"], "--svg has no meaning with --list"),
                              (["--list", "--predict", "2"],
                               "--predict has no meaning with --list"),
                              (["--show", "99"], "no comparison '99'"),
                              (["--show", "w8"], "one of the workbench, whose compare view shows it; "
                                                 "'dpartui runs w8:' lists its runs"),
                              (["--resume", "../1"], "no comparison"),
                              (["--lr-range", "1:1e-4"], "the lower one first"),
                              (["--lr-range", "0:1"], "--lr-range '0:1'"),
                              (["--lr-range", "1e-4"], "two learning rates"),
                              (["--lr-range", "1e-4:1", "--lr", "1"], "--lr has no meaning"),
                              (["--lr-range", "1e-4:1", "--patience", "2"],
                               "--patience has no meaning"),
                              (["--lr-range", "1e-4:1", "--validation", "0.1"],
                               "--validation has no meaning"),
                              (["--lr-range", "1e-4:1", "--max-steps", "3"], "at least 20 steps"),
                              (["--lr-range", "1e-4:1", "--batch", "64,128"], "several values"),
                              (["--lr-range", "1e-4:1", "--list"], "exclude"),
                              (["--predict", "1"], "whole numbers from 2 to 64"),
                              (["--predict", "2", "--link", "5"], "must be a speed"),
                              (["--link", "5GB/s"], "is for --predict"),
                              (["--predict", "2", "--csv"], "--csv has no predictions"),
                              (["--predict", "2", "--lr", "0.1,0.2"], "let nothing else vary"),
                              (["--predict", "2", "--epochs", "1"], "train --epochs 2 or more"),
                              (["--predict", "2", "--epochs", "2", "--devices-counts", "1"],
                               "train two batches on one device and give --link"),
                              (["--predict", str(CORES + 1), "--epochs", "2", "--devices-list",
                                "cpu:0;cpu:0-1", "--cpu-threads", "1"],
                               f"would share {CORES} core"),
                              (["--predict", "2", "--lr-range", "1e-4:1"], "no meaning"),
                              (["--save", "x"], "no option")):
            done = self.dpartui("compare", *options)
            self.assertEqual(done.returncode, 2, options)
            self.assertIn(said, done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1)
        self.assertEqual(self.figures("--list"), [])

    def test_damaged_files_are_reported(self):
        self.figures(*TINY, "--devices-counts", "1")
        path = os.path.join(self.folder, "dpartui/comparisons/1.json")
        plan = self.plan()
        for text, said in (("{", "no JSON"), ("{}", "missing"),
                           (json.dumps(dict(plan, format=99)), "newer"),
                           (json.dumps(dict(plan, id="2")), "that of comparison 2")):
            with open(path, "w", encoding="utf8") as file:
                file.write(text)
            done = self.dpartui("compare", "--show", "1")
            self.assertIn(done.returncode, (1, 2))
            self.assertRegex(done.stderr, f"^dpartui: .*{re.escape(said)}")
            listed = self.dpartui("compare", "--list")
            self.assertEqual(listed.returncode, 0)
            self.assertIn(said, listed.stderr)
        # Its number is not given again.
        self.assertEqual(self.figures(*TINY, "--devices-counts", "1")["id"], "2")


if __name__ == "__main__":
    unittest.main(verbosity=2)
