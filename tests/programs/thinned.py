#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A run of which the store has not all epochs: whatever shows it says how many of how many."""

import csv
import io
import json
import os
import sqlite3
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../harness"))
import cli  # noqa: E402

KEPT = [1, 2, 4, 8, 9]


class Thinned(cli.Case):
    def setUp(self):
        super().setUp()
        self.good("train", "--model", "linear", "--data", "random:200x10", "--batch", "20",
                     "--devices", "cpu:0", "--epochs", "9")
        self.good("engine", "stop")
        store = sqlite3.connect(self.path("data/dpartui/runs.db"))
        with store:
            store.execute("DELETE FROM events WHERE name = 'epoch' AND"
                          f" json_extract(event, '$.epoch') NOT IN {tuple(KEPT)}")
        store.close()

    def test_all_forms_say_so(self):
        run = json.loads(self.good("show", "1", "--json"))
        self.assertEqual(run["thinned"], {"kept": 5, "of": 9})
        self.assertEqual([one["epoch"] for one in run["epochs"]], KEPT)
        run, = json.loads(self.good("export", "1", "--json"))
        self.assertEqual(run["thinned"], {"kept": 5, "of": 9})
        self.assertIn("\nthinned: 5 of 9 epochs are kept", self.good("show", "1"))
        table = list(csv.DictReader(io.StringIO(self.good("export", "1", "--csv"))))
        self.assertEqual([int(line["left_out"]) for line in table], [0, 0, 1, 3, 0])
        self.assertNotIn("left_out", self.good("export", "1", "--csv", "--points"))

    def test_an_engine_says_so(self):
        self.good("engine", "start")
        run = json.loads(self.good("show", "1", "--json"))
        self.assertEqual(run["thinned"], {"kept": 5, "of": 9})
        self.assertEqual([one["epoch"] for one in run["epochs"]], KEPT)

    def test_whole_runs_say_nothing(self):
        self.good("train", "--model", "linear", "--data", "random:200x10", "--devices", "cpu:0",
                     "--epochs", "3")
        self.assertNotIn("thinned", self.good("show", "2"))
        self.assertNotIn("thinned", json.loads(self.good("show", "2", "--json")))
        table = list(csv.DictReader(io.StringIO(self.good("export", "2", "--csv"))))
        self.assertEqual([line["left_out"] for line in table], ["0"] * 3)


if __name__ == "__main__":
    unittest.main()
