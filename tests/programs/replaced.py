#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The run store is removed or replaced while an engine uses it: no run is lost."""

import errno
import os
import shutil
import sqlite3
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../harness"))
import cli  # noqa: E402

DATA = ["--model", "linear", "--data", "random:200x10", "--batch", "20"]


class Case(cli.Case):
    def setUp(self):
        super().setUp()
        self.folder_of_store = self.path("data/dpartui")
        self.store = self.path("data/dpartui/runs.db")

    def train(self, *arguments):
        return self.good("train", *DATA, *arguments)

    def wait_stored(self, numbers):
        """Once the engine has noticed: until then readers may see anything."""
        self.wait_for("the engine to go over", lambda: "stored there again" in self.log())
        self.wait_for(f"runs {numbers} in the store", lambda: self.stored() == numbers)

    def log(self):
        with open(self.path("dpartui/engine.log"), encoding="utf8") as file:
            return file.read()

    def start_long_run(self, *arguments):
        number = self.train("--epochs", "1000000", "--detach", *arguments).strip()
        count = f"SELECT count(*) FROM events WHERE run = {number} AND name = 'epoch'"
        self.wait_for("some epochs", lambda: (self.query(count) or [(0,)])[0][0] > 5)
        return number

    def check_all_epochs(self, number):
        """Without an engine: every epoch from the first to the last."""
        run = self.good_json("show", number)
        epochs = [epoch["epoch"] for epoch in run["epochs"]]
        self.assertEqual(epochs, list(range(1, run["epochs_done"] + 1)))
        self.assertGreater(len(epochs), 5)
        return run

    def remove_folder(self):
        """Again where the engine makes or removes a file meanwhile."""
        while True:
            try:
                return shutil.rmtree(self.folder_of_store)
            except OSError as error:
                if error.errno not in (errno.ENOTEMPTY, errno.ENOENT):
                    raise

    def check_whole(self):
        self.assertEqual(self.query("PRAGMA integrity_check"), [("ok",)])
        self.assertEqual(self.query("PRAGMA foreign_key_check"), [])


class Removed(Case):
    def test_the_folder_is_removed_while_a_run_trains(self):
        self.train("--epochs", "2", "--note", "before")
        self.good("runs", "tag", "1", "thesis")
        number = self.start_long_run("--checkpoint-every", "0.01m")
        self.remove_folder()
        self.wait_stored([1, 2])
        self.assertIn("was removed or replaced", self.log())
        self.wait_for("a checkpoint of it", lambda: self.good_json("show", number)["checkpoint"])
        warnings = self.good_json("show", number)["warnings"]
        self.assertEqual(sum("was removed or replaced" in text for text in warnings), 1, warnings)
        self.good("stop", number)
        self.wait_status(number, "stopped")
        self.good("engine", "stop")
        self.assertEqual([run["run"] for run in self.good_json("runs")], [1, 2])
        run = self.check_all_epochs(number)
        self.assertEqual(run["spec"]["model"], "linear")
        self.assertEqual(run["environment"]["devices"][0]["device"], "cpu:0")
        self.assertTrue(run["points"])
        before = self.good_json("show", "1")
        self.assertEqual((before["note"], before["tags"]), ("before", ["thesis"]))
        self.assertEqual(len(before["epochs"]), 2)
        self.check_whole()
        # It resumes, and new runs get new numbers.
        self.good("train", "--detach", "--resume", number)
        self.wait_for("more epochs", lambda: self.good_json("show", number)["epochs_done"] >
                      run["epochs_done"])
        self.good("stop", number)
        self.train("--epochs", "1")
        self.assertEqual([run["run"] for run in self.good_json("runs")], [1, 2, 3])

    def test_an_idle_engine_that_ends_stores_its_runs_again(self):
        self.train("--epochs", "2")
        self.remove_folder()
        self.good("engine", "stop")
        self.assertEqual(len(self.good_json("show", "1")["epochs"]), 2)

    def test_runs_of_earlier_engines_are_shown(self):
        self.train("--epochs", "3")
        self.good("engine", "stop")
        self.train("--epochs", "1")
        self.remove_folder()
        self.wait_stored([1, 2])
        self.assertEqual(len(self.good_json("show", "1")["epochs"]), 3)


class Replaced(Case):
    def backup(self):
        """A copy of the store with two runs; the engine ends for it."""
        self.train("--epochs", "2")
        self.train("--epochs", "3")
        self.good("engine", "stop")
        copy = self.path("backup.db")
        shutil.copy(self.store, copy)
        return copy

    def replace(self, by):
        """As `mv` does it; the store that was in use is still at another name."""
        os.rename(self.store, self.path("data/dpartui/before.db"))
        os.rename(by, self.store)

    def test_an_older_copy_takes_its_place(self):
        copy = self.backup()
        self.train("--epochs", "4", "--note", "later")
        self.good("runs", "note", "1", "changed later")
        number = self.start_long_run()
        self.replace(copy)
        self.wait_stored([1, 2, 3, 4])
        self.check_whole()
        self.good("stop", number)
        self.wait_status(number, "stopped")
        self.good("engine", "stop")
        self.check_all_epochs(number)
        self.assertEqual(self.good_json("show", "3")["note"], "later")
        self.assertEqual(self.good_json("show", "1")["note"], "changed later")
        self.assertEqual(len(self.good_json("show", "2")["epochs"]), 3)
        self.check_whole()
        # What was committed is in the file that was moved away, without its log.
        before = self.path("data/dpartui/before.db")
        self.assertEqual(self.query("PRAGMA integrity_check", before), [("ok",)])
        self.assertGreater(self.query("SELECT count(*) FROM events WHERE run = 4", before)[0][0], 5)

    def test_a_reader_does_not_spoil_the_copy(self):
        copy = self.backup()
        store = sqlite3.connect(copy)
        others = list(range(101, 131))
        with store:
            for number in others:
                store.execute("INSERT INTO runs (number, status, object) SELECT ?1, status,"
                              " json_set(object, '$.run', ?1) FROM runs WHERE number = 1",
                              (number,))
        store.close()
        # Its log has pages that the copy has, too, with other things in them.
        self.train("--epochs", "2")
        self.replace(copy)
        # At once, before the idle engine has noticed.
        for _ in range(3):
            self.run_program("runs")
        self.wait_stored([1, 2, 3] + others)
        self.check_whole()

    def test_other_runs_of_the_copy_get_new_numbers(self):
        copy = self.backup()
        with sqlite3.connect(copy) as store:
            store.execute("UPDATE runs SET submitted_at = 1e9, note = 'of another history', object ="
                          " json_set(object, '$.submitted_at', 1e9, '$.note', 'of another history')"
                          " WHERE number = 2")
            store.execute("UPDATE sqlite_sequence SET seq = 7 WHERE name = 'runs'")
        store.close()
        self.good("runs", "note", "2", "ours")
        self.replace(copy)
        self.wait_stored([1, 2, 8])
        self.wait_for("a word about it", lambda: "1 run is renumbered" in self.log())
        self.train("--epochs", "1")
        self.good("engine", "stop")
        runs = self.good_json("runs")
        self.assertEqual([(run["run"], run["note"]) for run in runs],
                         [(1, None), (2, "ours"), (8, "of another history"), (9, None)])
        for number in ("2", "8"):
            run = self.good_json("show", number)
            self.assertEqual([epoch["run"] for epoch in run["epochs"]], [int(number)] * 3)
        self.check_whole()

    def test_a_deleted_run_that_the_copy_brings_back_is_there_again(self):
        copy = self.backup()
        self.good("engine", "start")
        self.good("runs", "delete", "1", "--yes")
        self.wait_for("its end in the store", lambda: self.stored() == [2])
        self.bad(1, "show", "1")
        self.replace(copy)
        self.wait_stored([1, 2])
        self.assertEqual(len(self.good_json("show", "1")["epochs"]), 2)
        self.good("runs", "note", "1", "back")
        self.assertEqual(self.good_json("show", "1")["note"], "back")
        self.good("runs", "delete", "1", "--yes")
        self.wait_for("its end in the copy", lambda: self.stored() == [2])
        self.bad(1, "show", "1")

    def test_a_run_that_the_copy_has_as_running_is_interrupted(self):
        copy = self.backup()
        with sqlite3.connect(copy) as store:
            store.execute("INSERT INTO runs (number, status, object, spec) SELECT 5, 'running',"
                          " json_set(object, '$.run', 5, '$.status', 'running', '$.submitted_at',"
                          " 1), spec FROM runs WHERE number = 1")
        store.close()
        self.good("engine", "start")
        self.replace(copy)
        self.wait_stored([1, 2, 5])
        self.assertEqual(self.query("SELECT status FROM runs WHERE number = 5"), [("interrupted",)])
        self.assertEqual(self.good_json("show", "5")["status"], "interrupted")

    def test_garbage_is_set_aside(self):
        self.train("--epochs", "2")
        number = self.start_long_run()
        with open(self.path("garbage"), "wb") as file:
            file.write(b"no store at all, and longer than a header would be " * 100)
        self.replace(self.path("garbage"))
        self.wait_stored([1, 2])
        self.assertIn("set aside", self.log())
        self.good("stop", number)
        self.wait_status(number, "stopped")
        self.good("engine", "stop")
        self.check_all_epochs(number)
        aside = [name for name in os.listdir(self.folder_of_store) if ".damaged-" in name]
        self.assertEqual(len(aside), 1, aside)

    def test_a_folder_in_its_place_is_waited_out(self):
        self.train("--epochs", "2")
        number = self.start_long_run()
        os.unlink(self.store)
        os.mkdir(self.store)
        self.wait_for("a reason", lambda: "is a directory" in self.log())
        done = self.good_json("show", number)["epochs_done"]
        self.wait_for("more epochs",
                      lambda: self.good_json("show", number)["epochs_done"] > done)
        os.rmdir(self.store)
        self.wait_stored([1, 2])
        self.good("stop", number)
        self.wait_status(number, "stopped")
        self.good("engine", "stop")
        self.check_all_epochs(number)

    def test_the_store_of_another_engine_is_left_alone(self):
        self.train("--epochs", "2")
        ours = dict(self.env)
        self.remove_folder()
        os.makedirs(self.path("other"))
        # Its engine has the lock before ours looks, or after; then ours has it.
        self.env["XDG_RUNTIME_DIR"] = self.env["XDG_STATE_HOME"] = self.path("other")
        self.good("train", *DATA, "--epochs", "1")
        self.good("engine", "stop")
        self.env = ours
        self.wait_for("our run", lambda: 1 in self.stored())
        self.good("engine", "stop")
        self.assertEqual(len(self.good_json("show", "1")["epochs"]), 2)
        self.check_whole()

    def test_the_lock_of_another_engine_holds(self):
        self.train("--epochs", "2")
        ours = dict(self.env)
        theirs = dict(ours, XDG_RUNTIME_DIR=self.path("other"), XDG_STATE_HOME=self.path("other"))
        os.makedirs(self.path("other"))
        self.remove_folder()
        self.env = theirs
        other = self.train("--epochs", "1000000", "--detach").strip()
        self.wait_status(other, "running")
        self.env = ours
        # Ours has the new store already, or tries again and again while the other one trains.
        if "another engine keeps its runs there" in self.log():
            time.sleep(3)
            self.assertNotIn("stored there again", self.log())
        self.env = theirs
        self.good("stop", "--now", other)
        self.wait_status(other, "stopped")
        self.good("engine", "stop")
        self.env = ours
        self.wait_for("our run", lambda: len(self.stored()) >= 1)
        self.good("engine", "stop")
        self.check_whole()


if __name__ == "__main__":
    if not os.path.exists(cli.PROGRAM):
        sys.exit("build the programs first")
    unittest.main()
