#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Long runs are shown and exported in memory that does not grow with them."""

import csv
import io
import json
import os
import re
import sqlite3
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../harness"))
import cli  # noqa: E402
import made_store  # noqa: E402
import program  # noqa: E402

SHORT, LONG = 2000, 15000  # epochs; the long one takes 75 MiB as JSON values
POINTS = 500
GROWTH = 8 << 10  # KiB


def most_memory(command, environment):
    """KiB that a command had resident at its most; no less than this process has."""
    with open(os.devnull, "wb") as nowhere:
        child = os.posix_spawn(command[0], command, environment, file_actions=[
            (os.POSIX_SPAWN_DUP2, nowhere.fileno(), 1)])
        _, status, usage = os.wait4(child, 0)
    if status != 0:
        raise program.Failure(f"wait status {status}: {' '.join(command)}")
    return usage.ru_maxrss


class Streaming(cli.Case):
    def setUp(self):
        super().setUp()
        self.store = None

    def use(self, epochs):
        """A store with run 1 of `epochs` epochs."""
        self.env["XDG_DATA_HOME"] = self.path(f"data-{epochs}")
        self.store = self.path(f"data-{epochs}/dpartui/runs.db")
        if not os.path.exists(self.store):
            made_store.make(self.store, 1, epochs, POINTS)
            self.good("runs")

    def peak(self, *arguments):
        return most_memory([cli.PROGRAM, *arguments], self.env)

    def test_memory_does_not_grow(self):
        if program.is_sanitized(cli.PROGRAM):
            self.skipTest("sanitizers keep what was freed")
        for arguments in (["show", "1"], ["show", "1", "--json"], ["export", "1", "--csv"],
                          ["export", "1", "--json"], ["export", "1", "--svg"],
                          ["export", "1", "--tensorboard", self.path("board")]):
            peaks = []
            for epochs in (SHORT, LONG):
                self.use(epochs)
                peaks.append(self.peak(*arguments))
            self.assertLess(peaks[1] - peaks[0], GROWTH, (arguments, peaks))

    def test_an_engine_does_not_grow_either(self):
        if program.is_sanitized(cli.PROGRAM):
            self.skipTest("sanitizers keep what was freed")
        epochs = 2 * LONG
        self.use(epochs)
        self.good("engine", "start")
        engine = self.good_json("engine", "status")["pid"]
        self.assertEqual(len(self.good("export", "1", "--csv").splitlines()), epochs + 1)
        with open(f"/proc/{engine}/status", encoding="ascii") as file:
            peak = int(re.search(r"VmHWM:\s+([0-9]+) kB", file.read()).group(1))
        # As much as 10,000 events take, and what is made of them.
        self.assertLess(peak, 120 << 10)

    def test_all_is_there(self):
        epochs = 1000
        self.use(epochs)
        lines = list(csv.DictReader(io.StringIO(self.good("export", "1", "--csv"))))
        self.assertEqual([int(line["epoch"]) for line in lines], list(range(1, epochs + 1)))
        points = list(csv.DictReader(io.StringIO(self.good("export", "1", "--csv", "--points"))))
        self.assertEqual(len(points), POINTS)
        shown = self.good_json("show", "1")
        self.assertEqual([epoch["epoch"] for epoch in shown["epochs"]],
                         list(range(1, epochs + 1)))
        self.assertEqual(len(shown["points"]), POINTS)
        self.assertEqual(json.loads(self.good("export", "1", "--json")), [shown])
        with sqlite3.connect(self.store) as db:
            kept = [json.loads(row[0]) for row in db.execute(
                "SELECT event FROM events WHERE name = 'epoch' ORDER BY number")]
        for got, want in zip(shown["epochs"], kept):
            self.assertEqual(got["step"], want["step"])
            self.assertAlmostEqual(got["train_loss"], want["train_loss"], 12)
        table = self.good("show", "1").splitlines()[-epochs - 1:]
        self.assertEqual(table[0].split()[0], "EPOCH")
        self.assertEqual(len({len(line) for line in table}), 1)
        self.assertEqual([int(line.split()[0]) for line in table[1:]],
                         list(range(1, epochs + 1)))

    def test_with_an_engine_the_rest_comes_from_the_store(self):
        """Its answer is a line of 1 MiB."""
        self.use(SHORT)
        without = self.good_json("show", "1")
        self.good("engine", "start")
        beside = self.good_json("show", "1")
        self.assertNotIn("thinned", beside)
        self.assertEqual(beside["epochs"], without["epochs"])
        self.assertEqual([point["step"] for point in beside["points"]],
                         [point["step"] for point in without["points"]])

    def test_a_reader_that_stands_still_does_not_hold_the_store(self):
        """The log of changes is moved into the file although somebody reads in a pager."""
        self.use(LONG)
        reader = subprocess.Popen([cli.PROGRAM, "export", "1", "--csv"], env=self.env,
                                  stdout=subprocess.PIPE)
        self.children.append(reader)
        begin = reader.stdout.read(1000)
        with sqlite3.connect(self.store) as db:
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("UPDATE runs SET note = 'changed'")
            db.commit()
            busy, length, moved = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        self.assertEqual((busy, length, moved), (0, 0, 0))
        rest = reader.stdout.read()
        self.assertEqual(reader.wait(), 0)
        self.assertEqual((begin + rest).count(b"\n"), LONG + 1)


if __name__ == "__main__":
    if not os.path.exists(cli.PROGRAM):
        sys.exit("build the programs first")
    unittest.main()
