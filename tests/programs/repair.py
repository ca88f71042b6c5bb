#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`dpartui check` and `dpartui runs repair`: what is damaged is found, and saved as far as it can be."""

import errno
import glob
import json
import os
import random
import shutil
import sqlite3
import sys
import unittest

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # tests
sys.path[:0] = [os.path.join(HERE, "harness"), os.path.join(HERE, "faults")]
import cli  # noqa: E402
from engine import Page, SHIM, is_sanitized  # noqa: E402

DATA = ["--model", "linear", "--data", "random:200x10", "--batch", "20"]
PAGE = 4096
SEEDS = 20


class Case(cli.Case):
    def setUp(self):
        super().setUp()
        self.store = self.path("data/dpartui/runs.db")

    def train(self, *arguments):
        self.good("train", *DATA, *arguments)

    def change(self, *statements):
        """The store, while no engine uses it."""
        store = sqlite3.connect(self.store)
        with store:
            for statement in statements:
                store.execute(statement)
        store.close()

    def read(self):
        with open(self.store, "rb") as file:
            return file.read()

    def write(self, content):
        for path in glob.glob(self.store + "*"):
            os.unlink(path)
        with open(self.store, "wb") as file:
            file.write(content)

    def check(self, status):
        done = self.run_program("check", "--json")
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        result = json.loads(done.stdout)
        self.assertEqual(result["whole"], status == 0)
        return result

    def problems(self):
        result = self.check(1)
        return " ".join(result["store"]["problems"] + result["checkpoints"]["problems"])

    def numbers(self):
        return [run["run"] for run in self.good_json("runs")]

    def three(self):
        for epochs in "2", "5", "3":
            self.train("--epochs", epochs)
        self.good("engine", "stop")

    def many(self, count):
        """A store of several hundred pages: copies of three runs with longer and longer events."""
        self.three()
        store = sqlite3.connect(self.store)
        columns = [row[1] for row in store.execute("PRAGMA table_info(runs)")
                   if row[1] not in ("number", "object", "submitted_at")]
        same = ", ".join(columns)
        with store:
            for number in range(4, count + 1):
                source = 1 + number % 3
                store.execute(f"INSERT INTO runs (number, object, submitted_at, {same}) SELECT ?1,"
                              " json_set(object, '$.run', ?1, '$.submitted_at', submitted_at + ?1),"
                              f" submitted_at + ?1, {same} FROM runs WHERE number = ?2",
                              (number, source))
                store.execute("INSERT INTO events (run, number, name, event) SELECT ?1, number,"
                              " name, json_set(event, '$.run', ?1) FROM events WHERE run = ?2",
                              (number, source))
                store.execute("INSERT INTO points SELECT ?1, step, steps, rows, epoch, train_loss,"
                              " train_acc, samples_per_s, lr FROM points WHERE run = ?2",
                              (number, source))
        epochs = store.execute("SELECT count(*) FROM events WHERE name = 'epoch'").fetchone()[0]
        store.close()
        return epochs


class Check(Case):
    def test_without_anything_there_is_nothing_wrong(self):
        self.assertIn("there is none yet", self.good("check"))
        self.assertFalse(self.check(0)["store"]["exists"])

    def test_whole_beside_an_engine_and_without(self):
        self.good("train", *DATA, "--epochs", "1000000", "--checkpoint-every", "0.01m", "--detach")
        self.wait_for("a checkpoint", lambda: self.good_json("show", "1")["checkpoint"])
        self.assertIn("run store: whole, 1 run\n", self.good("check"))
        self.good("stop", "1")
        self.wait_status(1, "stopped")
        self.good("engine", "stop")
        result = self.check(0)
        self.assertEqual(result["store"]["runs"], 1)
        self.assertGreaterEqual(result["checkpoints"]["files"], 2)
        self.assertEqual(result["checkpoints"]["notes"], [])

    def test_problems_of_the_store(self):
        self.three()
        whole = self.read()
        for statements, says in (
                (["UPDATE runs SET object = '{' WHERE number = 2"], "run 2: its record"),
                (["UPDATE runs SET object = json_set(object, '$.run', 3) WHERE number = 2"],
                 "run 2: its record"),
                (["UPDATE runs SET spec = 'x' WHERE number = 2"], "run 2: its settings"),
                (["UPDATE events SET event = '[' WHERE run = 1 AND number = 1"],
                 "run 1: event 1"),
                (["INSERT INTO tags VALUES (77, 'orphan')"], "tags: row of a run that is not"),
                (["DROP INDEX runs_by_status"], "index runs_by_status is missing"),
                (["DROP INDEX runs_listed", "ALTER TABLE runs DROP COLUMN best_test_acc"],
                 "column best_test_acc is missing"),
                # An engine would bring it up to date, and fail.
                (["PRAGMA user_version = 1"], "not those of its version 1"),
                (["PRAGMA application_id = 7"], "no run store")):
            with self.subTest(says=says):
                self.write(whole)
                self.change(*statements)
                self.assertIn(says, self.problems())
                self.assertIn("runs repair", self.run_program("check").stdout)
        self.write(b"")
        self.assertIn("0 bytes", self.problems())
        os.unlink(self.store)
        os.mkdir(self.store)
        self.assertIn("no regular file", self.problems())
        os.rmdir(self.store)

    def test_a_newer_store_is_not_judged(self):
        self.three()
        self.change("PRAGMA user_version = 99")
        self.assertIn("newer version", self.bad(1, "check"))

    def test_damaged_pages(self):
        self.many(60)
        whole = self.read()
        for page in range(1, len(whole) // PAGE, 20):
            self.write(whole[:page * PAGE] + bytes(PAGE) + whole[(page + 1) * PAGE:])
            self.problems()

    def test_a_pipe_is_no_store(self):
        os.makedirs(os.path.dirname(self.store))
        os.mkfifo(self.store)
        said = self.run_program("runs")
        self.assertNotEqual(said.returncode, 0)
        self.assertIn("runs.db: is no regular file", said.stderr)

    def test_problems_of_checkpoints(self):
        self.train("--epochs", "2", "--momentum", "0.9")
        self.good("engine", "stop")
        folder = self.path("data/dpartui/checkpoints/1")
        older, newest = sorted(glob.glob(folder + "/step-*[0-9].safetensors"))
        momentum = newest.replace(".safetensors", ".momentum.safetensors")
        self.check(0)
        os.rename(momentum, momentum + "-away")
        self.assertIn(momentum, self.problems())
        os.rename(momentum + "-away", momentum)
        os.rename(newest, newest + "-away")
        shutil.copy(older, newest)
        self.assertIn("is the checkpoint of step", self.problems())
        os.rename(newest + "-away", newest)
        with open(newest, "r+b") as file:
            file.seek(-1, os.SEEK_END)
            last = file.read(1)[0]
            file.seek(-1, os.SEEK_END)
            file.write(bytes([last ^ 1]))
        self.assertIn(newest, self.problems())
        self.assertIn("a run resumes from its newest whole one", self.run_program("check").stdout)
        with open(newest, "r+b") as file:
            file.truncate(30)
        self.assertIn(newest, self.problems())
        os.unlink(newest)
        os.rename(folder, self.path("data/dpartui/checkpoints/9"))
        notes = " ".join(self.check(0)["checkpoints"]["notes"])
        self.assertIn("momentum without weights", notes)
        self.assertIn("of a run that the store does not have", notes)


@unittest.skipUnless(shutil.which("sqlite3"), "needs the program sqlite3")
class Repair(Case):
    def test_damage_at_random_places(self):
        """Whatever is hit: most is saved, nothing crashes, and the result is whole."""
        epochs = self.many(60)
        whole = self.read()
        saved = []
        for seed in range(SEEDS):
            chance = random.Random(seed)
            content = bytearray(whole)
            for _ in range(chance.choice((1, 3, 10))):
                page = chance.randrange(len(whole) // PAGE) * PAGE
                if chance.randrange(2):
                    content[page:page + PAGE] = bytes(PAGE)
                else:
                    content[page:page + PAGE] = chance.randbytes(PAGE)
            self.write(bytes(content))
            with self.subTest(seed=seed):
                self.check(1)
                result = self.good_json("runs", "repair")
                self.check(0)
                self.assertEqual(len(self.numbers()), result["runs"])
                self.assertTrue(os.path.exists(result["kept"]))
                saved.append((result["runs"], result["epochs"]))
        self.assertEqual(len(saved), SEEDS)
        # Ten pages of some two hundred hold a twentieth of all.
        self.assertGreaterEqual(min(runs for runs, _ in saved), 50, saved)
        self.assertGreaterEqual(min(count for _, count in saved), epochs * 7 // 10, saved)

    def test_the_first_page_is_lost(self):
        epochs = self.many(60)
        content = self.read()
        self.write(bytes(PAGE) + content[PAGE:])
        result = self.good_json("runs", "repair")
        self.assertGreaterEqual(result["runs"], 55, result)
        self.assertEqual(result["rebuilt"], 0, result)
        self.assertGreaterEqual(result["epochs"], epochs * 8 // 10, result)
        self.check(0)
        self.train("--epochs", "1")
        self.assertEqual(self.numbers()[-1], 61, "a number was given twice")

    def test_what_an_engine_does_not_repair(self):
        self.three()
        self.change("DROP INDEX runs_listed", "ALTER TABLE runs DROP COLUMN best_test_acc",
                    "UPDATE runs SET object = '{' WHERE number = 2")
        before = self.good_json("show", "1")
        out = self.good("runs", "repair")
        self.assertIn("3 runs and 10 epochs were saved", out)
        self.assertIn("1 of the runs lost their settings", out)
        self.check(0)
        self.assertEqual(self.good_json("show", "1"), before)
        run = self.good_json("show", "2")
        self.assertIn("could be saved", run["error"])
        self.assertEqual((run["status"], run["model"], len(run["epochs"])), ("done", "linear", 5))
        self.good("engine", "start")
        self.assertIn("could be saved", self.good("show", "2"))

    def test_a_run_whose_row_is_lost_is_rebuilt(self):
        self.three()
        self.change("DELETE FROM runs WHERE number = 2")
        self.assertIn("row of a run that is not there", self.problems())
        result = self.good_json("runs", "repair")
        self.assertEqual((result["runs"], result["rebuilt"], result["epochs"]), (3, 1, 10))
        run = self.good_json("show", "2")
        self.assertEqual((run["model"], run["epochs_done"], run["batch"]), ("linear", 5, 20))
        self.check(0)

    def test_what_is_in_the_log_counts(self):
        self.many(30)
        self.train("--epochs", "1000000", "--detach")
        self.wait_for("some epochs", lambda: self.good_json("show", "31")["epochs_done"] > 20)
        engine = self.good_json("engine", "status")["pid"]
        os.kill(engine, 9)
        self.wait_gone(engine)
        self.assertGreater(os.path.getsize(self.store + "-wal"), 0)
        # The log has pages that are newer than these.
        with open(self.store, "r+b") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(PAGE)
            file.write(b"\xff" * (size - PAGE))
        self.check(1)
        self.assertGreater(self.good_json("runs", "repair")["epochs"], 5)
        self.assertIn(31, self.numbers())
        self.check(0)

    def test_a_whole_store_is_left_alone(self):
        self.three()
        before = self.read()
        done = self.run_program("runs", "repair")
        self.assertEqual(done.returncode, 0)
        self.assertIn("nothing to repair", done.stderr)
        self.assertEqual(self.read(), before)

    def test_what_cannot_be_done(self):
        self.assertIn("no run store yet", self.bad(1, "runs", "repair"))
        self.three()
        self.good("engine", "start")
        self.change("PRAGMA user_version = 1")
        self.assertIn("dpartui engine stop", self.bad(1, "runs", "repair"))
        self.good("engine", "stop")
        damaged = self.read()
        path = self.env["PATH"]
        self.env["PATH"] = self.folder
        self.assertIn("apt install sqlite3", self.bad(1, "runs", "repair"))
        self.env["PATH"] = path
        self.assertIn("one FILE", self.bad(2, "runs", "repair", "a", "b"))
        self.assertIn("no-such", self.bad(1, "runs", "repair", "no-such"))
        self.assertEqual(self.read(), damaged)
        self.write(b"no store at all, and longer than a header would be " * 200)
        self.assertIn("not a database", self.bad(1, "runs", "repair"))
        self.assertEqual(glob.glob(self.store + ".*repair*"), [])

    def test_runs_that_cannot_be_read_are_told(self):
        """With and without an engine, by 'runs' and to the workbench, until they are repaired."""
        self.three()
        words = "run 2 cannot be read: 'dpartui runs repair' rebuilds what can be read"
        self.assertEqual(self.run_program("runs").stderr, "")
        store = sqlite3.connect(self.store)
        with store:
            store.execute("UPDATE runs SET object = '{' WHERE number = 2")
        store.close()
        for _ in range(2):
            self.assertEqual(self.run_program("runs").stderr.count(words), 1)
            self.good("engine", "start")
        self.assertIn(words, self.good_json("engine", "status")["store"])
        self.good("engine", "stop")
        self.good("runs", "repair")
        self.assertEqual(self.run_program("runs").stderr, "")

    def test_after_a_failure_the_store_is_as_it_was(self):
        """When the new file cannot take its place, the second of two names that are changed."""
        if is_sanitized() or not os.path.exists(SHIM) or os.path.getsize(SHIM) == 0:
            self.skipTest("calls cannot be made to fail here")
        self.three()
        log = self.store + "-wal"
        store = sqlite3.connect(self.store)
        with store:
            store.execute("UPDATE runs SET object = '{' WHERE number = 2")
        for path in self.store, log:
            shutil.copy(path, path + ".left")
        store.close()
        for path in self.store, log:
            shutil.copy(path + ".left", path)
        page = Page(self.folder)
        self.env.update(LD_PRELOAD=SHIM, FAULT_PAGE=page.path, FAULT_CALL="rename", FAULT_AT="2",
                        FAULT_ERRNO=str(errno.EIO))
        self.assertIn("cannot be replaced", self.bad(1, "runs", "repair"))
        self.assertEqual(page.fired(), 1)
        for path in self.store, log:
            with open(path, "rb") as now, open(path + ".left", "rb") as before:
                self.assertEqual(now.read(), before.read(), path)
        self.assertEqual(glob.glob(self.store + ".damaged-*"), [])
        del self.env["LD_PRELOAD"]
        self.assertIn("3 runs and 10 epochs were saved", self.good("runs", "repair"))

    def test_what_was_set_aside_is_added(self):
        self.many(30)
        content = self.read()
        self.write(content[:100] + bytes(PAGE - 100) + content[PAGE:])
        self.train("--epochs", "1", "--note", "new")
        self.good("engine", "stop")
        # Not the numbers of checkpoints that are still there.
        self.assertEqual(self.numbers(), [4])
        aside = self.check(0)["set_aside"]
        self.assertEqual(len(aside), 1)
        self.assertIn(aside[0], self.good("check"))
        out = self.good("runs", "repair", aside[0])
        self.assertIn("added, 1 of them under new numbers", out)
        self.check(0)
        runs = self.good_json("runs")
        self.assertEqual([run["note"] for run in runs if run["run"] == 4], ["new"])
        self.assertGreaterEqual(len(runs), 27)
        self.assertGreater(runs[-1]["run"], 30)
        # Twice is as good as once, and the file is still there.
        self.assertEqual(self.good_json("runs", "repair", aside[0])["added"], 0)
        self.assertEqual(self.good_json("runs"), runs)
        shutil.move(aside[0], self.path("aside.db"))
        for path in glob.glob(self.store + "*"):
            os.unlink(path)
        self.good("runs", "repair", self.path("aside.db"))
        self.assertGreaterEqual(len(self.numbers()), 27)


if __name__ == "__main__":
    if not os.path.exists(cli.PROGRAM):
        sys.exit("build the programs first")
    unittest.main()
