#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs that are resumed: what of them is taken over, shown and kept."""

import glob
import json
import math
import os
import re
import signal
import socket
import statistics
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../harness"))
import cli  # noqa: E402

RANK = os.path.join(cli.BUILD, "dpartui-rank")
DATA = ["--model", "linear", "--data", "random:200x10", "--batch", "20"]
# With sanitizers a step takes several times as long: fewer do for a run that is interfered with.
SLOW = cli.program.is_sanitized(cli.ENGINE)


class Resume(cli.Case):
    def kill_engine(self):
        engine = self.good_json("engine", "status")["pid"]
        os.kill(engine, signal.SIGKILL)
        self.wait_gone(engine)

    def epochs(self, run):
        return [epoch["epoch"] for epoch in self.good_json("show", run)["epochs"]]

    def resume(self, run, *arguments):
        return self.good("train", "--resume", run, *arguments)

    def test_only_what_is_new_is_printed(self):
        self.good("train", *DATA, "--epochs", "3")
        lines = self.resume("1", "--epochs", "5").splitlines()
        self.assertEqual(lines[0], "run 1 resumes from its checkpoint after step 30 of 50: "
                                   "3 of 5 epochs taken over")
        self.assertEqual([line.split()[1] for line in lines if line.startswith("epoch ")],
                         ["4/5", "5/5"])
        self.assertEqual(self.epochs("1"), [1, 2, 3, 4, 5])

    def test_another_note_takes_the_place_of_its_own(self):
        self.good("train", *DATA, "--epochs", "1", "--note", "first")
        self.resume("1", "--epochs", "2")
        self.assertEqual(self.good_json("show", "1")["note"], "first")
        self.bad(2, "train", "--resume", "1", "--epochs", "3", "--note", "two\nlines")
        self.assertEqual(self.epochs("1"), [1, 2])
        for epochs, note in ("3", "second"), ("4", ""):
            self.resume("1", "--epochs", epochs, "--note", note)
            for place in "an engine", "the store":
                self.assertEqual(self.good_json("show", "1")["note"], note or None, place)
                self.good("engine", "stop")

    def test_as_json_a_resumed_run_is_complete(self):
        self.good("train", *DATA, "--epochs", "2")
        events = [json.loads(line) for line in
                  self.resume("1", "--epochs", "3", "--json").splitlines()]
        self.assertEqual([event["epoch"] for event in events if event["event"] == "epoch"],
                         [1, 2, 3])
        self.assertEqual([event["resumed_at"] for event in events if event["event"] == "run"],
                         [None, 20])
        self.assertNotIn("gap", [event["event"] for event in events])

    def test_devices_do_not_wait_for_what_was_before(self):
        self.good("train", *DATA, "--devices", "cpu:0-1", "--epochs", "1", "--max-steps", "8")
        self.resume("1", "--max-steps", "10")
        epoch = self.good_json("show", "1")["epochs"][-1]
        self.assertEqual((epoch["steps"], epoch["partial"]), (10, False))
        for device in epoch["devices"]:
            spent = device["compute_s"] + device["sync_s"] + device["wait_s"]
            self.assertLess(spent, epoch["seconds"] - 1e-6)

    def check_speed(self, measured, first=3):
        """The run's speed is that of these epochs without the first, whoever tells it."""
        for place in "an engine", "the store":
            run = self.good_json("show", "1")
            seconds = {epoch["epoch"]: epoch["seconds"] for epoch in run["epochs"]}
            counted = [seconds[epoch] for epoch in measured][1:]
            self.assertAlmostEqual(run["s_per_epoch"], statistics.median(counted), 9, place)
            self.assertEqual(run.get("measured_from"), first, place)
            self.assertEqual(f"Epochs before {first} do not count as speed"
                             in self.good("show", "1"), first is not None)
            self.good("engine", "stop")

    def test_the_speed_is_that_of_the_devices(self):
        self.good("train", *DATA, "--devices", "cpu:0", "--epochs", "2")
        self.assertNotIn("measured_from", self.good_json("show", "1"))
        self.resume("1", "--devices", "cpu:0-1", "--epochs", "5")
        self.check_speed([3, 4, 5])
        self.resume("1", "--epochs", "8")
        self.check_speed([3, 4, 5, 6, 7, 8])
        # Within an epoch, and once more.
        self.resume("1", "--epochs", "10", "--max-steps", "84")
        self.resume("1", "--max-steps", "86")
        self.resume("1", "--max-steps", "0")
        self.check_speed([3, 4, 5, 6, 7, 8, 9, 10])

    def test_the_speed_is_the_median_after_every_resume(self):
        self.good("train", *DATA, "--epochs", "6")
        for epochs in 12, 18, 19:
            end = json.loads(self.resume("1", "--epochs", str(epochs), "--json").splitlines()[-1])
            self.check_speed(range(1, epochs + 1), None)
            self.assertEqual(end["s_per_epoch"], self.good_json("show", "1")["s_per_epoch"])

    def test_the_speed_is_the_median_after_a_kill(self):
        self.good("train", *DATA, "--data", "random:4000x10", "--epochs", "100000", "--detach")
        for _ in 1, 2:
            first = len(self.epochs("1"))
            self.wait_for("epochs", lambda: len(self.epochs("1")) > first + 3)
            self.kill_engine()
            self.good("train", "--resume", "1", "--detach")
        self.wait_for("an epoch", lambda: len(self.epochs("1")) > 8)
        self.good("stop", "1")
        self.wait_for("its end", lambda: self.status_of(1) == "stopped")
        whole = [epoch["epoch"] for epoch in self.good_json("show", "1")["epochs"]
                 if not epoch["partial"]]
        self.check_speed(whole, None)

    def losses(self, run, first=1):
        return [epoch["train_loss"] for epoch in self.good_json("show", run)["epochs"]
                if epoch["epoch"] >= first]

    def test_another_optimizer_begins_as_in_a_new_run(self):
        whole, weights = ["--batch", "200", "--lr", "0.01"], self.path("w.safetensors")
        adam = [*whole, "--optimizer", "adam"]
        for options in [], ["--momentum", "0.9"], ["--optimizer", "rmsprop"]:
            self.good("train", *DATA, *whole, *options, "--epochs", "3", "--save", weights)
            run = str(max(entry["run"] for entry in self.good_json("runs")))
            self.good("train", *DATA, *adam, "--init", weights, "--epochs", "4")
            for epochs in "5", "7":
                self.resume(run, *adam, "--epochs", epochs)
            for resumed, new in zip(self.losses(run, 4), self.losses(str(int(run) + 1)),
                                    strict=True):
                self.assertAlmostEqual(resumed, new, 5, options)

    def test_every_optimizer_follows_every_other(self):
        self.good("train", *DATA, "--epochs", "1", "--lr", "0.01")
        rules = [["adam", "0"], ["sgd", "0.9"], ["rmsprop", "0.9"], ["adamw", "0"], ["rmsprop", "0"],
                 ["nesterov", "0.9"], ["sgd", "0"], ["adam", "0"]]
        for epochs, (rule, momentum) in enumerate(rules, 2):
            self.resume("1", "--epochs", str(epochs), "--optimizer", rule, "--momentum", momentum,
                        "--ema", "0.9" if epochs % 3 == 0 else "0")
        losses = self.losses("1")
        self.assertEqual(len(losses), 9)
        self.assertLess(losses[-1], losses[0])
        self.assertLess(max(losses), 1.2 * losses[0])

    def test_another_optimizer_has_its_own_defaults(self):
        self.good("train", *DATA, "--epochs", "1")
        said = self.bad(2, "train", "--resume", "1", "--epochs", "2", "--optimizer", "nesterov")
        self.assertIn("looks ahead by the momentum, which is 0", said)
        for epochs, optimizer, beta2 in ("2", "rmsprop", 0.99), ("3", "adam", 0.999):
            self.resume("1", "--epochs", epochs, "--optimizer", optimizer)
            run = self.good_json("show", "1")
            self.assertEqual((run["spec"]["beta2"], run["lr"]), (beta2, 0.1))
        self.assertIn("begins at zero", run["warnings"][0])

    def test_an_average_begins_at_the_weights(self):
        for _ in range(3):
            self.good("train", *DATA, "--epochs", "3", "--momentum", "0.9")
        self.resume("1", "--epochs", "5")
        self.resume("2", "--epochs", "5", "--ema", "0.99")
        self.resume("3", "--epochs", "4", "--ema", "0.99")
        self.resume("3", "--epochs", "5")
        self.assertEqual(self.losses("1"), self.losses("2"))
        self.assertEqual(self.losses("1"), self.losses("3"))

    def test_the_end_counts_all_epochs(self):
        self.good("train", *DATA, "--epochs", "2")
        for epochs, more in (4, ["--devices", "cpu:0-1"]), (5, []):
            end = json.loads(self.resume("1", "--epochs", str(epochs), *more, "--json")
                             .splitlines()[-1])
            self.assertEqual((end["event"], end["epochs"], end["steps"]),
                             ("end", epochs, 10 * epochs))

    def test_an_epoch_on_several_devices_does_not_count(self):
        self.good("train", *DATA, "--epochs", "2", "--max-steps", "14")
        self.resume("1", "--devices", "cpu:0-1", "--max-steps", "0", "--epochs", "5")
        self.check_speed([3, 4, 5])

    def test_what_changes_the_time_of_a_step(self):
        self.good("train", *DATA, "--epochs", "1", "--cpu-threads", "2")
        self.resume("1", "--epochs", "2", "--lr", "0.01", "--weight-decay", "0.1")
        self.assertNotIn("measured_from", self.good_json("show", "1"))
        for epochs, option, value in ((3, "--optimizer", "adam"), (4, "--cpu-threads", "1"),
                                      (5, "--clip-norm", "1"), (6, "--devices", "cpu:0-2")):
            self.resume("1", "--epochs", str(epochs), option, value)
            self.assertEqual(self.good_json("show", "1")["measured_from"], epochs, option)

    def test_an_older_checkpoint_counts_from_there(self):
        self.good("train", *DATA, "--epochs", "2")
        self.resume("1", "--epochs", "3", "--devices", "cpu:0-1")
        self.assertEqual(self.good_json("show", "1")["measured_from"], 3)
        newest = max(glob.glob(self.path("data/dpartui/checkpoints/1/step-*.safetensors")))
        with open(newest, "r+b") as file:
            file.truncate(100)
        self.resume("1", "--epochs", "4")
        self.check_speed([3, 4])

    def test_a_profiled_run_stays_one(self):
        self.good("train", *DATA, "--epochs", "2", "--profile")
        self.assertIn("operation", self.resume("1", "--epochs", "4").lower())
        self.assertEqual(self.good_json("show", "1")["profile"]["step"], 40)
        self.good("train", *DATA, "--epochs", "2")
        self.assertNotIn("profile", self.good_json("show", "2"))
        self.resume("2", "--epochs", "4", "--profile")
        self.assertEqual(self.good_json("show", "2")["profile"]["step"], 40)

    def test_its_warnings_are_kept_once(self):
        model = self.path("narrow.conf")
        with open(model, "w", encoding="ascii") as file:
            file.write('name = "narrow"; default_input = [ 10, 1, 1 ]; default_classes = 10;\n'
                       'layers = ( { type = "linear"; name = "fc1"; outputs = 4; },\n'
                       '    { type = "batchnorm"; name = "bn"; },\n'
                       '    { type = "linear"; name = "fc2"; outputs = "classes"; } );\n')
        self.good("train", *DATA, "--model", model, "--batch", "1", "--epochs", "1")
        warnings = self.good_json("show", "1")["warnings"]
        self.assertEqual(len(warnings), 1, warnings)
        for times in range(2, 5):
            self.resume("1", "--epochs", str(times))
            for place in "an engine", "the store":
                again, = self.good_json("show", "1")["warnings"]
                self.assertRegex(again, f"^{re.escape(warnings[0])} \\({times} times from "
                                        "[-0-9]+ [:0-9]+ to [-0-9]+ [:0-9]+\\)$", place)
                self.good("engine", "stop")

    def test_what_cannot_be_resumed_stays_as_it_was(self):
        self.good("train", *DATA, "--epochs", "2")
        before = self.good_json("show", "1")
        for option, value in (("--batch", "7"), ("--seed", "4"), ("--data", "random:50x5"),
                              ("--train-rows", "11"), ("--max-steps", "1")):
            said = self.bad(2, "train", "--resume", "1", "--epochs", "4", option, value)
            self.assertIn("run 1", said)
        self.assertEqual(self.good_json("show", "1"), before)

    def test_a_run_that_is_done_needs_more_to_train(self):
        self.good("train", *DATA, "--epochs", "2")
        self.good("train", *DATA, "--epochs", "2", "--max-steps", "7")
        self.good("train", *DATA, "--epochs", "9", "--stop-at-acc", "0.1")
        said = {"1": "run 1 is done, it has trained 2 epochs: resume it with more",
                "2": "run 2 is done, after step 7: resume it with a larger max-steps",
                "3": "run 3 is done, it ended early (test accuracy "}
        before = [self.good_json("show", run) for run in said]
        for more in ([], ["--devices", "cpu:0-1"], ["--optimizer", "adam"],
                     ["--save-best", self.path("b.npz")]):
            for run, words in said.items():
                self.assertIn(words, self.bad(2, "train", "--resume", run, *more))
        self.assertEqual([self.good_json("show", run) for run in said], before)
        # Its weights may be wanted after all, and its speed is as before.
        self.resume("1", "--save", self.path("w.npz"))
        self.assertTrue(os.path.exists(self.path("w.npz")))
        after = self.good_json("show", "1")
        self.assertEqual((after["s_per_epoch"], after["samples_per_s"]),
                         (before[0]["s_per_epoch"], before[0]["samples_per_s"]))
        self.resume("2", "--max-steps", "9")
        self.assertEqual(self.good_json("show", "2")["epochs"][-1]["steps"], 9)
        self.resume("3", "--stop-at-acc", "0")
        self.assertEqual(self.epochs("3"), list(range(1, 10)))

    def test_epochs_that_have_begun_cannot_be_left_out(self):
        self.good("train", *DATA, "--epochs", "5", "--max-steps", "25")
        said = "run 1 has begun 3 epochs: it cannot have fewer"
        before = self.good_json("show", "1")
        self.assertIn(said, self.bad(2, "train", "--resume", "1", "--epochs", "2",
                                     "--max-steps", "0"))
        self.good("train", *cli.ENDLESS, "--detach")
        self.resume("1", "--epochs", "8", "--max-steps", "0", "--detach")
        answer = cli.program.ask(self.path("dpartui"), "set_epochs", {"run": 1, "epochs": 2},
                                 cli.PATIENCE)
        self.assertEqual(answer["error"]["message"], said)
        self.ask("set_epochs", run=1, epochs=3)
        self.assertEqual(before["status"], "done")
        self.good("stop", "--now", "2")
        self.wait_status(1, "done")
        self.assertEqual(self.epochs("1")[-1], 3)

    def test_a_slow_follower_hears_the_end_of_a_run_that_is_resumed(self):
        self.good("train", *DATA, "--data", "random:20000x10", "--epochs", "6", "--detach")
        with subprocess.Popen([cli.PROGRAM, "follow", "1", "--json"], env=self.env,
                              stdout=subprocess.PIPE, text=True, bufsize=1) as follower:
            self.assertIn('"run"', follower.stdout.readline())
            self.wait_status(1, "done")
            self.resume("1", "--epochs", "7")
            ends = [line for line in follower.stdout if '"event":"end"' in line]
        self.assertEqual(len(ends), 1, ends)

    @unittest.skipUnless(os.path.exists(RANK), "built without MPI")
    def test_a_restart_keeps_live_changes(self):
        rows = 500 if SLOW else 2000  # most of the 40 epochs must be ahead
        self.good("train", *DATA, "--data", f"random:{rows}x100", "--epochs", "40", "--lr", "0.1",
                  "--hosts", "localhost", "--launcher", "%p", "--restarts", "2", "--detach")

        def lose():
            known = len(self.good_json("show", "1")["warnings"])
            rank, = self.processes(RANK)
            os.kill(rank, signal.SIGKILL)
            self.wait_for("the restart",
                          lambda: len(self.good_json("show", "1")["warnings"]) > known)

        self.wait_for("an epoch", lambda: self.epochs("1"))
        self.ask("set_epochs", run=1, epochs=1000000)
        self.ask("set_lr", run=1, lr=0.007)
        done = len(self.epochs("1"))
        self.wait_for("more epochs", lambda: len(self.epochs("1")) > max(42, done + 2))
        lose()
        done = self.epochs("1")[-1]
        self.wait_for("an epoch after it", lambda: self.epochs("1")[-1] > done + 1)
        run = self.good_json("show", "1")
        self.assertEqual((run["lr"], run["epochs"][-1]["lr"]), (0.007, 0.007))
        self.ask("pause", run=1)
        self.wait_status(1, "paused")
        lose()
        self.wait_status(1, "paused")
        self.ask("unpause", run=1)
        self.wait_status(1, "running")
        self.good("stop", "1")
        self.wait_status(1, "stopped")

    def test_a_follower_hears_the_end_of_a_resume_that_is_taken_back(self):
        self.good("train", *DATA, "--epochs", "4")
        self.good("train", *cli.ENDLESS, "--detach")
        resumed = {"jsonrpc": "2.0", "id": 1, "method": "submit", "params": {"resume": 1, "epochs": 9}}
        with socket.socket(socket.AF_UNIX) as line:
            line.settimeout(cli.PATIENCE)
            line.connect(self.path("dpartui/engine.sock"))
            line.sendall(json.dumps(resumed).encode() + b"\n")
            with line.makefile(encoding="utf8") as answers:
                start = json.loads(answers.readline())["result"]["from"]
                # In one write: it is shown, and so loaded, before any event has been sent.
                line.sendall(b"".join(
                    json.dumps({"jsonrpc": "2.0", "id": 2, "method": method,
                                "params": params}).encode() + b"\n"
                    for method, params in (("follow", {"run": 1, "from": start}),
                                           ("stop", {"run": 1}), ("show", {"run": 1}))))
                end = next(told for told in map(json.loads, answers)
                           if told.get("params", {}).get("event") == "end")
        self.assertEqual(end["params"]["run"], 1)
        self.good("stop", "--now", "2")

    def test_a_run_that_waited_begins(self):
        self.good("train", *cli.ENDLESS, "--detach")
        self.good("train", *DATA, "--epochs", "2", "--note", "waits", "--detach")
        self.wait_for("the first one's turn",
                      lambda: self.status_of(1) == "running" and self.status_of(2) == "queued")
        self.wait_for("the store", lambda: self.stored() == [1, 2])
        self.kill_engine()
        for start in ("without an engine", "with the next one"):
            run = self.good_json("show", "2")
            self.assertEqual(run["status"], "interrupted", start)
            self.assertIn("before the run began", run["error"], start)
            self.assertIn("crashed or was killed", self.good_json("show", "1")["error"], start)
            self.good("engine", "start")
        out = self.resume("2")
        self.assertIn("run 2 left no checkpoint: it starts from its beginning\n", out)
        self.assertIn("epoch 1/2 ", out)
        run = self.good_json("show", "2")
        self.assertEqual((run["status"], run["note"], run["error"]), ("done", "waits", None))
        self.assertEqual(self.epochs("2"), [1, 2])
        with open(self.path("dpartui/engine.log"), encoding="utf8") as file:
            self.assertIn("run 2 left no checkpoint: it starts from its beginning", file.read())

    def test_a_run_that_waits_to_resume_can_be_left_as_it_was(self):
        self.good("train", *DATA, "--epochs", "2", "--validation", "0.2", "--note", "first")
        self.good("train", *DATA, "--epochs", "9", "--stop-at-acc", "0.1")
        self.good("train", *DATA, "--data", "random:400000x10", "--epochs", "1", "--detach")
        self.wait_for("some steps", lambda: len(self.good_json("show", "3")["points"]) > 4)
        self.good("stop", "--now", "3")
        self.wait_for("its end", lambda: self.status_of(3) == "stopped")
        self.good("engine", "stop")
        before = {run: self.good_json("show", run) for run in "123"}
        self.good("engine", "start")
        told = {run: self.run_program("follow", run).stdout for run in before}
        other = ["--epochs", "30", "--devices", "cpu:0-1", "--optimizer", "adam", "--lr", "0.005",
                 "--stop-at-acc", "0", "--detach"]

        def wait_behind_another(note):
            self.good("train", *cli.ENDLESS, "--detach")
            for run in before:
                self.resume(run, *other)
                self.assertEqual(self.status_of(int(run)), "queued")
                self.assertEqual(self.good_json("show", run)["devices"], ["cpu:0", "cpu:1"])
                # What is changed meanwhile changes nothing else.
                self.good("runs", "note", run, note)
                self.good("runs", "tag", run, note)
                self.ask("set_lr", run=int(run), lr=0.007)
                before[run].update(note=note, tags=sorted({*before[run]["tags"], note}))

        def check(place):
            for run, was in before.items():
                now = self.good_json("show", run)
                for key, value in was.items():
                    self.assertEqual(now.get(key), value, f"{key} of run {run}, {place}")

        wait_behind_another("once")
        follower = self.start("follow", "1", "--json")
        self.assertIn('"run"', self.first_line(follower.stdout))
        for run in before:
            self.good("stop", run)
        out, _ = self.finish(follower, 1)
        self.assertEqual(json.loads(out.splitlines()[-1])["status"], "stopped")
        check("taken out of the queue")
        self.assertEqual({run: self.run_program("follow", run).stdout for run in before}, told)
        self.assertIn("resume it with more", self.bad(2, "train", "--resume", "1"))
        self.kill_engine()
        check("in the store")
        wait_behind_another("twice")
        self.wait_for("the last tag in the store",
                      lambda: (3, "twice") in self.query("SELECT run, tag FROM tags"))
        self.kill_engine()
        check("its engine was killed")
        self.resume("1", "--epochs", "3")
        self.assertEqual(self.epochs("1"), [1, 2, 3])

    def test_a_killed_run_keeps_its_scaled_schedule(self):
        warm = 1000 if SLOW else 4000
        steps = 15 * warm
        self.good("train", *DATA, "--data", f"random:{20 * warm}x10", "--epochs", "15", "--lr", "0.02",
                  "--lr-schedule", "cosine:0.1", "--warmup", "1", "--checkpoint-every", "0.01m",
                  "--detach")
        self.wait_for("some steps", lambda: self.good_json("show", "1")["points"])
        self.ask("set_lr", run=1, lr=0.001)
        self.wait_for("the change", lambda: self.good_json("show", "1")["retunes"])
        change, = self.good_json("show", "1")["retunes"]
        self.wait_for("a checkpoint after it", lambda: (self.good_json("show", "1")["checkpoint"]
                                                        or {"steps": 0})["steps"] > change["step"])
        self.kill_engine()
        events = [json.loads(line) for line in self.resume("1", "--json").splitlines()]
        again = [event for event in events if event["event"] == "run"][-1]
        self.assertGreater(again["resumed_at"], change["step"])
        self.assertAlmostEqual(change["scale"], change["to"] / change["from"], 12)
        self.assertAlmostEqual(again["lr"], 0.02 * change["scale"], 12)
        rates = {event["step"]: event["lr"] for event in events if event["event"] == "step"
                 and event["step"] > again["resumed_at"]}
        self.assertEqual(max(rates), steps)
        for step, rate in rates.items():
            part = max(0, step - 1 - warm) / (steps - warm)
            share = (0.1 + 0.9 * (1 + math.cos(math.pi * part)) / 2) * min(1, step / (warm + 1))
            self.assertAlmostEqual(rate / again["lr"], share, 9)

    def test_what_was_done_of_a_first_epoch_is_replaced(self):
        self.good("train", *DATA, "--data", "random:400000x10", "--epochs", "1", "--detach")
        self.wait_for("some steps", lambda: len(self.good_json("show", "1")["points"]) > 4)
        self.good("stop", "--now", "1")
        self.wait_for("its end", lambda: self.status_of(1) == "stopped")
        self.good("runs", "note", "1", "again")
        events = [json.loads(line) for line in
                  self.resume("1", "--max-steps", "7", "--json").splitlines()]
        self.assertEqual([event["step"] for event in events if event["event"] == "step"],
                         list(range(1, 8)))
        self.assertEqual([event["event"] for event in events].count("run"), 1)
        self.good("engine", "stop")
        run = self.good_json("show", "1")
        self.assertEqual(sum(point["steps"] for point in run["points"]), 7)
        self.assertEqual((run["status"], run["note"]), ("done", "again"))

    def test_a_run_that_would_lose_epochs_is_refused(self):
        self.good("train", *DATA, "--epochs", "3", "--checkpoint-every", "0")
        self.assertIn("run 1 left no checkpoint to resume from: 'dpartui show 1'",
                      self.bad(1, "train", "--resume", "1", "--epochs", "5"))
        self.assertEqual(self.epochs("1"), [1, 2, 3])
        self.assertIn("no run 7", self.bad(2, "train", "--resume", "7"))


if __name__ == "__main__":
    if not os.path.exists(cli.PROGRAM):
        sys.exit("build the programs first")
    unittest.main()
