#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs over hosts that nothing happens to: the same results as on one, whatever divides them."""

import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../harness"))
import hosts_case  # noqa: E402
from hosts_case import DATA, cli, enough, on_host  # noqa: E402

TWO = ["--hosts", "h1,h2", "--devices", "cpu:0"]
THREE = ["--hosts", "h1,h2,h3", "--devices", "cpu:0"]
FOUR = ["--hosts", "h1,h2,h3,h4", "--devices", "cpu:0"]
UNEQUAL = ["--devices", "h1/cpu:0-1,h2/cpu:0"]
SHORT = ["--epochs", "2"]


class Results(hosts_case.Case):
    def test_two_hosts_are_two_devices_bit_by_bit(self):
        for options in enough(([], ["--clip-norm", "0.5", "--validation", "0.1"],
                               ["--sync", "reduce-broadcast", "--sync-bn"],
                               ["--sync", "central", "--split", "weighted:1,3"]), 2):
            with self.subTest(options=options):
                self.assertEqual(self.train(*SHORT, *TWO, *options),
                                 self.train(*SHORT, "--devices", "cpu:0-1", *options))

    def test_a_slow_line_changes_nothing(self):
        fast = self.train(*SHORT, *TWO)
        for host in "h1", "h2":
            on_host(host, "tc qdisc add dev net0 root tbf rate 1gbit burst 128k latency 50ms")
        try:
            self.assertEqual(self.train(*SHORT, *TWO), fast)
        finally:
            for host in "h1", "h2":
                on_host(host, "tc qdisc del dev net0 root")

    def test_more_hosts_are_as_many_devices_within_rounding(self):
        for hosts, count, twice, options in enough((
                (THREE, 3, True, []), (UNEQUAL, 3, False, []),
                (THREE, 3, False, ["--sync", "central", "--split", "even", "--batch", "15",
                                   "--train-rows", "99"]),
                (FOUR, 4, True, ["--sync", "reduce-broadcast", "--split", "balanced"]),
                (FOUR, 4, False, ["--sync-bn", "--split", "weighted:1,2,1,2"]),
                (UNEQUAL, 3, False, ["--sync", "reduce-broadcast", "--sync-bn"]),
                (UNEQUAL, 3, True, ["--sync", "central"])), 3):
            with self.subTest(hosts=hosts, options=options):
                first = self.train(*SHORT, *hosts, *options)
                over, = self.newest_runs(1)
                if twice:
                    self.assertEqual(self.train(*SHORT, *hosts, *options), first)
                    self.assertEqual(self.losses(over), self.losses(*self.newest_runs(1)))
                self.train(*SHORT, "--devices", f"cpu:0-{count - 1}", *options)
                self.same_losses(over, *self.newest_runs(1))

    def test_another_optimizer_begins_as_on_two_devices(self):
        for run, devices in ("1", TWO), ("2", ["--devices", "cpu:0-1"]):
            self.train(*SHORT, *devices, "--momentum", "0.9")
            self.good("train", "--resume", run, "--epochs", "4", "--optimizer", "adam", "--lr",
                      "0.01", "--ema", "0.9")
        self.assertEqual(self.losses("1"), self.losses("2"))

    def test_its_weights_are_evaluated_on_this_host(self):
        self.good("train", *DATA, *SHORT, *THREE)
        result = self.ask("evaluate", run=1)
        self.assertEqual(result["devices"], ["cpu:0"])
        self.assertAlmostEqual(result["test_acc"], self.good_json("show", "1")["test_acc"], 6)

    def test_shares_are_found_over_hosts(self):
        self.good("train", *DATA, "--epochs", "3", *TWO, "--split", "auto")
        run = self.good_json("show", "1")
        self.assertEqual(run["status"], "done")
        self.assertEqual(len(run["epochs"]), 3)

    def test_batchnorm_over_hosts(self):
        model = self.path("norm.conf")
        text = ('name = "norm"; default_input = [ 1, 28, 28 ]; default_classes = 10;\n'
                'layers = ( { type = "conv"; name = "c"; channels = 4; kernel = 3; pad = 1; },\n'
                '    { type = "batchnorm"; name = "bn"; }, "relu", "global_avgpool", "flatten",\n'
                '    { type = "linear"; name = "fc"; outputs = "classes"; } );\n')
        with open(model, "w", encoding="ascii") as file:
            file.write(text)
        # Temporary files are each host's own.
        self.assertIn(f"h2: {model}", self.bad(1, "train", *DATA, *SHORT, "--model", model, *TWO))
        on_host("h2", f"mkdir -p {self.folder} && cat >{model} <<'END'\n{text}END")
        options = [*SHORT, "--model", model, "--sync-bn"]
        self.assertEqual(self.train(*options, *TWO), self.train(*options, "--devices", "cpu:0-1"))
        self.train(*options, *UNEQUAL)
        self.train(*options, "--devices", "cpu:0-2")
        over, one = self.newest_runs(2)
        self.same_losses(over, one)

    def newest_runs(self, count):
        return [str(run["run"]) for run in self.good_json("runs")[-count:]]


class Resuming(hosts_case.Case):
    def test_on_other_numbers_of_hosts(self):
        whole = self.train("--epochs", "4", "--devices", "cpu:0-1")
        path = self.path("resumed.safetensors")
        self.good("train", *DATA, "--epochs", "1", *TWO, "--save", path)
        for epochs, options in (("2", ["--devices", "h1/cpu:0-1", "--hosts", "h1"]),
                                ("3", ["--devices", "cpu:0-1", "--hosts", ""]),
                                ("4", TWO)):
            # Other devices may have other threads, whose sums round differently.
            self.good("train", "--resume", "2", "--epochs", epochs, "--cpu-threads", "1", *options)
            self.assertEqual(len(self.losses("2")), int(epochs))
            self.assertEqual(self.good_json("show", "2")["measured_from"], int(epochs))
        self.assertEqual(hosts_case.digest(path), whole)
        # Of three epochs, all since then on the same devices, the first is warm-up.
        self.good("train", "--resume", "2", "--epochs", "6", "--cpu-threads", "1")
        run = self.good_json("show", "2")
        seconds = [epoch["seconds"] for epoch in run["epochs"]]
        self.assertEqual(run["measured_from"], 4)
        self.assertAlmostEqual(run["s_per_epoch"], (seconds[4] + seconds[5]) / 2, 9)


class Options(hosts_case.Case):
    def test_a_hosts_file(self):
        path = self.path("hosts")
        with open(path, "w", encoding="ascii") as file:
            file.write("# two\nh1 slots=1\n\nh2:1\nh2\n")
        text = self.good("train", *DATA, *SHORT, "--hosts-file", path, "--devices", "cpu:0")
        self.assertIn("on [h1/cpu:0, h2/cpu:0]", text)
        with open(path, "a", encoding="ascii") as file:
            file.write("-x\n")
        self.assertIn(f"{path}:6", self.bad(2, "train", *DATA, "--hosts-file", path))
        self.assertIn("/no/such", self.bad(1, "train", *DATA, "--hosts-file", "/no/such"))

    def test_devices_with_their_hosts(self):
        text = self.good("train", *DATA, *SHORT, *UNEQUAL)
        self.assertIn("on [h1/cpu:0, h1/cpu:1, h2/cpu:0]", text)
        run = self.good_json("show", "1")
        self.assertEqual(run["devices"], ["h1/cpu:0", "h1/cpu:1", "h2/cpu:0"])

    def test_mistakes_are_told(self):
        for options, text in (
                (["--hosts", "h1,h1"], "h1 is named twice"),
                (["--hosts", "h1,;"], "';' is no name of a host"),
                (["--hosts", "h1", "--devices", "h2/cpu:0"], "h2 is none of the hosts"),
                (["--hosts", "h1,h2", "--devices", "h2/cpu:0"], "no device of h1 is listed"),
                (["--devices", "h2/cpu:0,cpu:0"], "name a host for each"),
                (["--devices", "h1/cpu:0,h2/cpu:0,h1/cpu:1"], "list those of h1 one after"),
                ([*TWO, "--launcher", "mpirun"], None),
                ([*TWO, "--launcher", "mpirun -n %n"], "%p, the program"),
                ([*TWO, "--launcher", "mpirun %x %p"], "only n, h, H, p"),
                ([*TWO, "--strategy", "tensor"], "hosts"),
                ([*TWO, "--strategy", "pipeline"], "hosts")):
            with self.subTest(options=options):
                if text is None:
                    self.good("train", *DATA, *SHORT, *options)
                else:
                    done = self.run_program("train", *DATA, *SHORT, *options)
                    self.assertNotEqual(done.returncode, 0, done.stdout)
                    self.assertIn(text, done.stderr)
                    self.assertEqual(done.stderr.count("\n"), 1, done.stderr)


class Changes(hosts_case.Case):
    ENDLESS = [*DATA, "--epochs", "100000"]

    def changes(self, run):
        return [change["what"] for change in self.good_json("show", str(run))["retunes"]]

    def test_live_changes(self):
        run = int(self.start_run(*self.ENDLESS, *THREE))
        self.ask("set_lr", run=run, lr=0.01)
        self.wait_for("its rate", lambda: self.changes(run) == ["lr"])
        self.ask("pause", run=run)
        self.wait_for("its pause", lambda: self.changes(run) == ["lr", "pause"])
        self.assertEqual(self.status_of(run), "paused")
        done = len(self.losses(str(run)))
        self.ask("unpause", run=run)
        self.wait_for("its end", lambda: self.changes(run)[2:] == ["resume"])
        self.wait_epochs(run, done + 1)
        self.ask("set_epochs", run=run, epochs=99999)
        self.wait_for("its epochs", lambda: "epochs" in self.changes(run))
        self.good("stop", str(run))
        self.wait_status(run, "stopped")
        self.wait_none_left()

    def test_ways_to_stop(self):
        for option in enough(([], ["--after-epoch"], ["--now"]), 2):
            with self.subTest(option=option):
                path = self.path("weights.safetensors")
                run = self.start_run(*self.ENDLESS, *TWO, "--save", path)
                self.good("stop", *option, run)
                self.wait_status(run, "stopped")
                self.assertEqual(os.path.exists(path), option != ["--now"])
                self.wait_none_left()
                self.good("train", "--resume", run, "--epochs",
                          str(len(self.losses(run)) + 2))
                os.remove(path)

    def test_a_launcher_that_ends_late_delays_the_next_part(self):
        late = 'sh -c "mpirun -n %n --host %H --map-by ppr:1:node --bind-to none %p; sleep 7"'
        self.good("train", *DATA, *TWO, "--epochs", "1", "--launcher", late)
        self.good("train", "--resume", "1", "--epochs", "2", "--launcher", "mpirun")
        self.assertEqual(len(self.losses("1")), 2)

    def test_a_paused_run_is_stopped(self):
        run = int(self.start_run(*self.ENDLESS, *TWO))
        self.ask("pause", run=run)
        self.wait_status(run, "paused")
        self.good("stop", str(run))
        self.wait_status(run, "stopped")
        self.wait_none_left()


if __name__ == "__main__":
    hosts_case.enter("namespaces.sh", 4)
    unittest.main()
