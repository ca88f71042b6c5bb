#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The energy of runs, by the counters of a made-up machine: events, show, export and compare."""

import contextlib
import json
import os
import sys
import threading
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../harness"))
import cli  # noqa: E402

DATA = ["--model", "linear", "--data", "random:20000x100", "--batch", "20", "--epochs", "3"]
LESS = [*DATA, "--data", "random:4000x100"]
WATTS = 50


class Machine(threading.Thread):
    """Two CPU packages that use so many watts each, in the counters of a folder."""

    def __init__(self, root):
        super().__init__(daemon=True)
        self.over = threading.Event()
        self.files = []
        for number in range(2):
            zone = os.path.join(root, f"sys/class/powercap/intel-rapl:{number}")
            os.makedirs(zone)
            for name, text in (("name", f"package-{number}"), ("max_energy_range_uj", "262143328850"),
                               ("energy_uj", f"{0:012d}")):
                with open(os.path.join(zone, name), "w", encoding="ascii") as file:
                    file.write(text + "\n")
            package = os.path.join(root, f"sys/devices/system/cpu/cpu{number}/topology")
            os.makedirs(package)
            with open(os.path.join(package, "physical_package_id"), "w", encoding="ascii") as file:
                file.write(f"{number}\n")
            self.files.append(os.open(os.path.join(zone, "energy_uj"), os.O_WRONLY))

    def run(self):
        # Counters go on however busy the processors are.
        thread = threading.get_native_id()
        with contextlib.suppress(PermissionError):
            os.setpriority(os.PRIO_PROCESS, thread, -10)
            os.sched_setscheduler(thread, os.SCHED_FIFO, os.sched_param(1))
        begin = time.monotonic()
        while not self.over.wait(0.0005):
            used = int(1e6 * WATTS * (time.monotonic() - begin))
            for file in self.files:
                os.pwrite(file, b"%012d\n" % used, 0)

    def stop(self):
        self.over.set()
        self.join()
        for file in self.files:
            os.close(file)


class Energy(cli.Case):
    def setUp(self):
        super().setUp()
        self.env["DPARTUI_ENERGY_ROOT"] = self.path("machine")
        machine = Machine(self.path("machine"))
        machine.start()
        self.addCleanup(machine.stop)

    def test_of_every_epoch(self):
        text = self.good("train", *DATA, "--json", "--tensorboard", self.path("board"))
        events = [json.loads(line) for line in text.splitlines()]
        epochs = [event for event in events if event["event"] == "epoch"]
        self.assertEqual(len(epochs), 3)
        shares = [epoch["energy_j"] / (2 * WATTS * epoch["seconds"]) for epoch in epochs]
        # Counters of a busy machine may stand still for a while, and catch up in the next epoch.
        self.assertGreater(sum(shares), 1, shares)
        self.assertLess(min(shares), 1.2, shares)
        for epoch in epochs:
            self.assertAlmostEqual(epoch["samples_per_j"], 20000 / epoch["energy_j"], 4)
        kept = self.good_json("show", "1")["epochs"]
        self.assertEqual([epoch["energy_j"] for epoch in kept],
                         [epoch["energy_j"] for epoch in epochs])
        self.assertRegex(self.good("show", "1"), r"\nenergy: [0-9.]+ J/epoch, [0-9.k]+ samples/J\n")
        run, = self.good_json("runs")
        self.assertAlmostEqual(run["energy_j"], sum(e["energy_j"] for e in epochs[1:]) / 2, 6)
        self.assertAlmostEqual(run["samples_per_j"], 20000 / run["energy_j"], 4)
        self.assertRegex(self.good("runs", "--energy"), r" J/EPOCH +SAMPLES/J ")
        self.assertNotIn("J/EPOCH", self.good("runs"))
        header, *rows = self.good("export", "1", "--csv").splitlines()
        column = header.split(",").index("energy_j")
        for row, epoch in zip(rows, epochs):
            self.assertAlmostEqual(float(row.split(",")[column]), epoch["energy_j"], 6)
        board, = (os.path.join(folder, name) for folder, _, names in os.walk(self.path("board"))
                  for name in names)
        with open(board, "rb") as file:
            self.assertIn(b"energy_j", file.read())
        self.good("train", "--resume", "1", "--epochs", "4")
        run, = self.good_json("runs")
        epochs = self.good_json("show", "1")["epochs"]
        self.assertAlmostEqual(run["energy_j"], sum(e["energy_j"] for e in epochs[1:]) / 3, 6)

    def test_compare(self):
        arguments = ["compare", *LESS, "--devices", "cpu:0-1"]
        text = self.good(*arguments)
        self.assertRegex(text, r" J/EPOCH +SAMPLES/J ")
        self.assertIn("of whole CPU packages", " ".join(text.split()))
        for row in self.good_json(*arguments)["rows"]:
            self.assertEqual(row["energy_j"]["count"], 2)
            self.assertAlmostEqual(row["samples_per_j"]["max"], 4000 / row["energy_j"]["min"], 4)
        header, first, *_ = self.good(*arguments, "--csv").splitlines()
        self.assertGreater(float(first.split(",")[header.split(",").index("energy_j")]), 0)

    def test_what_is_not_known_is_absent(self):
        self.env["DPARTUI_ENERGY_ROOT"] = "none"
        self.good("train", *LESS)
        for epoch in self.good_json("show", "1")["epochs"]:
            self.assertFalse({"energy_j", "samples_per_j"} & epoch.keys())
        self.assertNotIn("energy", self.good("show", "1"))
        self.assertNotIn("energy_j", self.good_json("runs")[0])
        self.assertRegex(self.good("runs", "--energy"), r"(?m) - +- *$")
        arguments = ["compare", *LESS, "--devices", "cpu:0-1"]
        self.assertNotIn("J/EPOCH", self.good(*arguments))
        for row in self.good_json(*arguments)["rows"]:
            self.assertNotIn("energy_j", row)


if __name__ == "__main__":
    unittest.main()
