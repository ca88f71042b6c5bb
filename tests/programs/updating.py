#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Stores of an older version are brought up to date once, visibly, and wholly or not at all."""

import hashlib
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../harness"))
import cli  # noqa: E402
import made_store  # noqa: E402

RUNS, EPOCHS = 8000, 1
TRIES = 20
OLD = "number, status, model, data, devices, note, submitted_at, test_acc, object, spec"


class Case(cli.Case):
    runs = 20

    def setUp(self):
        super().setUp()
        self.store = self.path("data/dpartui/runs.db")
        self.old = self.path("old.db")
        made_store.make(self.old, self.runs, EPOCHS)
        os.makedirs(os.path.dirname(self.store), mode=0o700, exist_ok=True)
        self.put_back()

    def put_back(self):
        for end in ("", "-wal", "-shm", ".lock", ".check"):
            if os.path.exists(self.store + end):
                os.unlink(self.store + end)
        shutil.copyfile(self.old, self.store)

    def content(self):
        with open(self.store, "rb") as file:
            return file.read()


class Updating(Case):
    runs = RUNS

    def state(self):
        """(version, what the first version held, problems)."""
        with sqlite3.connect(self.store) as db:
            version, = db.execute("PRAGMA user_version").fetchone()
            rows = hashlib.sha256()
            for row in db.execute(f"SELECT {OLD} FROM runs ORDER BY number"):
                rows.update(repr(row).encode())
            for row in db.execute("SELECT * FROM events ORDER BY run, number"):
                rows.update(repr(row).encode())
            problems = db.execute("PRAGMA quick_check").fetchall()
        db.close()
        return version, rows.hexdigest(), problems

    def signed(self):
        """How far the process that has the lock says it is; None: nothing of it."""
        try:
            with open(self.store + ".lock", encoding="ascii") as file:
                found = re.search("up to date: ([0-9]+) %", file.read())
        except FileNotFoundError:
            return None
        return int(found.group(1)) if found else None

    def start(self, *arguments):
        child = subprocess.Popen([cli.PROGRAM, *arguments], env=self.env, text=True,
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE)
        self.children.append(child)
        return child

    def kill_on_the_way(self, percent):
        """Was it killed after it had changed so much?"""
        child = self.start("runs", "--limit", "1")
        while child.poll() is None and (self.signed() or -1) < percent:
            time.sleep(0.0005)
        child.send_signal(signal.SIGKILL)
        child.communicate()
        return child.returncode == -signal.SIGKILL

    def test_a_process_that_is_killed_leaves_the_old_one_whole(self):
        version, before, problems = self.state()
        self.assertEqual((version, problems), (1, [("ok",)]))
        killed = 0
        for i in range(TRIES):
            if self.kill_on_the_way(10 + 20 * (i % 5)):
                got, rows, problems = self.state()
                self.assertEqual((rows, problems), (before, [("ok",)]))
                killed += got == 1
                if killed == 3:
                    break
            self.put_back()
        self.assertGreater(killed, 0, "it never got killed on the way")
        self.assertIn(str(RUNS), self.good("runs", "--limit", "1"))
        version, after, problems = self.state()
        self.assertGreater(version, 1)
        self.assertEqual((after, problems), (before, [("ok",)]))
        best = self.good_json("runs", "--sort", "-best", "--limit", "3")
        with sqlite3.connect(self.old) as db:
            want = [number for number, in db.execute(
                "SELECT number FROM runs ORDER BY json_extract(object, '$.best_test_acc') DESC,"
                " number LIMIT 3")]
        db.close()
        self.assertEqual([run["run"] for run in best], want)

    def test_progress_is_shown_once(self):
        shown = self.run_program("runs", "--limit", "1").stderr
        percents = [int(text) for text in re.findall("up to date: ([0-9]+) %", shown)]
        self.assertEqual(percents, sorted(percents))
        self.assertEqual((percents[0], percents[-1]), (0, 100), shown)
        self.assertEqual(self.run_program("runs", "--limit", "1").stderr, "")

    def test_who_waits_is_shown_the_progress(self):
        """Of another process, here this one, that has the lock."""
        script = ("import fcntl, os, sys, time\n"
                  "file = open(sys.argv[1] + '.lock', 'w+')\n"
                  "fcntl.flock(file, fcntl.LOCK_EX)\n"
                  "for percent in (10, 60):\n"
                  "    text = f'{os.getpid()} brings it up to date: {percent} %'\n"
                  "    os.pwrite(file.fileno(), text.ljust(63).encode() + b'\\n', 0)\n"
                  "    print(flush=True)\n"
                  "    sys.stdin.readline()\n")
        other = subprocess.Popen([sys.executable, "-c", script, self.store], text=True,
                                 stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.children.append(other)
        other.stdout.readline()
        waits = self.start("runs", "--limit", "1")
        self.assertIn("10 %", waits.stderr.readline())
        other.stdin.write("\n")
        other.stdin.flush()
        self.assertIn("60 %", waits.stderr.readline())
        other.communicate("\n")
        out, err = waits.communicate(timeout=cli.PATIENCE)
        self.assertEqual(waits.returncode, 0, err)
        self.assertIn(str(RUNS), out)

    def test_an_engine_logs_it(self):
        log = self.path("log")
        engine = subprocess.Popen([cli.ENGINE, "--foreground", "--log", log], env=self.env)
        self.children.append(engine)
        end = time.monotonic() + cli.PATIENCE
        while time.monotonic() < end and not self.run_program("engine", "status").stdout.startswith(
                "engine "):
            time.sleep(0.05)
        with open(log, encoding="utf8") as file:
            text = file.read()
        self.assertIn("is brought up to date: 0 %", text)
        self.assertIn("is brought up to date: 100 %", text)


class Keeping(Case):
    """What a command must not do to a store of an older version."""

    def damage(self):
        with sqlite3.connect(self.store) as db:
            root, = db.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'runs'").fetchone()
            size, = db.execute("PRAGMA page_size").fetchone()
        db.close()
        with open(self.store, "r+b") as file:
            file.seek((root - 1) * size)
            file.write(b"\xff" * size)

    def test_no_command_sets_a_damaged_one_aside(self):
        self.damage()
        before = self.content()
        for words in (["runs"], ["show", "1"], ["export", "1", "--json"]):
            done = self.run_program(*words)
            self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)
            self.assertRegex(done.stderr, r"\Adpartui: .*/runs\.db: is damaged; "
                                          r"'dpartui runs repair' saves [^\n]*\n\Z")
            self.assertEqual(self.content(), before)
        self.run_program("completion", "words", "runs")
        self.assertEqual(self.content(), before)

    def test_a_repair_from_a_file_reports_what_it_set_aside(self):
        self.damage()
        done = self.run_program("runs", "repair", self.old)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, r"\Adpartui: .*/runs\.db was damaged [^\n]* set aside as "
                                      r"[^\n]*\.damaged-[^\n]*\n\Z")
        self.assertEqual(len(self.good_json("runs")), self.runs)

    def test_check_changes_nothing(self):
        os.makedirs(self.path("data/dpartui/checkpoints/7"), mode=0o700)
        os.makedirs(self.path("data/dpartui/checkpoints/77"), mode=0o700)
        before = self.content()
        done = self.run_program("check")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("/77: of a run that the store does not have", done.stdout)
        self.assertNotIn("/7: of a run", done.stdout)
        self.assertEqual(self.content(), before)

    def test_completion_neither_waits_nor_changes_anything(self):
        before = self.content()
        done = self.run_program("completion", "words", "runs")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        self.assertEqual(self.content(), before)
        self.good("runs")
        self.assertEqual(self.good("completion", "words", "runs").count("\n"), self.runs)


if __name__ == "__main__":
    if not os.path.exists(cli.PROGRAM):
        sys.exit("build the programs first")
    unittest.main()
