#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""An engine whose places are all taken, or that is stopped: commands reach it, or do without it."""

import contextlib
import json
import os
import shutil
import signal
import socket
import sqlite3
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../harness"))
import cli  # noqa: E402
import terminal  # noqa: E402

PLACES = 64
DATA = ["--model", "linear", "--data", "random:200x10", "--batch", "20"]


class Case(cli.Case):
    def setUp(self):
        super().setUp()
        self.sockets = []
        self.storms = []
        self.good("engine", "start")
        self.engine = self.good_json("engine", "status")["pid"]

    def tearDown(self):
        for storm in self.storms:
            os.kill(storm, signal.SIGKILL)
            os.waitpid(storm, 0)
        for sock in self.sockets:
            sock.close()
        super().tearDown()

    def connect(self, blocking=True):
        sock = socket.socket(socket.AF_UNIX)
        self.sockets.append(sock)
        sock.setblocking(blocking)
        sock.connect(self.path("dpartui/engine.sock"))
        return sock

    def take_all_places(self):
        for _ in range(PLACES):
            self.connect()

    def fill_queue(self):
        """Of connections that a stopped engine does not accept."""
        try:
            while True:
                self.connect(blocking=False)
        except BlockingIOError:
            pass

    def train(self):
        """One run that has ended, in the store."""
        self.good("train", *DATA, "--epochs", "2")
        self.good("runs", "note", "1", "kept")
        self.wait_stored("note = 'kept' AND status = 'done'")

    def wait_stored(self, condition, count=1):
        """The engine writes a moment after it has answered."""
        path = os.path.join(self.folder, "data", "dpartui", "runs.db")
        with contextlib.closing(sqlite3.connect(path)) as store:
            self.wait_for(condition, lambda: store.execute(
                "SELECT count(*) FROM runs WHERE " + condition).fetchone()[0] == count)

    def run_together(self, commands):
        """(arguments, exit status, stdout, stderr) of each; they all wait for the engine."""
        children = [self.start(*arguments) for arguments in commands]
        for arguments, child in zip(commands, children):
            out, err = child.communicate(timeout=cli.PATIENCE)
            yield arguments, child.returncode, out, err

    def stop_engine(self, number=signal.SIGSTOP):
        os.kill(self.engine, number)
        self.wait_for("state T", lambda: self.state() == "T")

    def state(self):
        with open(f"/proc/{self.engine}/stat", encoding="latin1") as file:
            return file.read().rpartition(")")[2].split()[0]


class Full(Case):
    def test_idle_connections_lock_nobody_out(self):
        run = self.good("train", *cli.ENDLESS, "--detach").strip()
        self.wait_status(run, "running")
        self.take_all_places()
        for arguments in (["engine", "status"], ["runs"], ["show", run], ["runs", "note", run, "x"],
                          ["runs", "tag", run, "+y"], ["stop", run]):
            done = self.run_program(*arguments)
            self.assertEqual((done.returncode, done.stderr), (0, ""), arguments)
        self.wait_status(run, "stopped")
        # Who had to go was told why, in one line.
        said = self.sockets[0].recv(4096)
        self.assertEqual(json.loads(said)["error"]["code"], -32002)
        self.assertEqual(said.count(b"\n"), 1)
        self.assertEqual(self.sockets[0].recv(4096), b"")

    def test_a_storm_of_connections_locks_nobody_out(self):
        run = self.good("train", *cli.ENDLESS, "--detach").strip()
        self.take_all_places()
        child = os.fork()
        if child == 0:
            try:
                signal.alarm(300)
                while True:
                    while self.sockets:
                        self.sockets.pop().close()
                    for _ in range(500):
                        try:
                            self.connect(blocking=False)
                        except OSError:
                            pass
            finally:
                os._exit(0)
        self.storms.append(child)
        time.sleep(0.5)
        for arguments in (["engine", "status"], ["runs", "note", run, "x"], ["stop", run]):
            done = self.run_program(*arguments)
            self.assertEqual((done.returncode, done.stderr), (0, ""), arguments)

    def test_who_follows_stays(self):
        run = self.good("train", *cli.ENDLESS, "--detach").strip()
        follower = self.connect()
        follower.sendall(b'{"jsonrpc":"2.0","id":1,"method":"watch","params":{"interval":0.5}}\n')
        self.take_all_places()
        for _ in range(5):
            self.connect()
            self.good("engine", "status")
        self.good("stop", run)
        heard, deadline = b"", time.monotonic() + cli.PATIENCE
        while b'"event":"end"' not in heard:
            more = follower.recv(1 << 16)
            self.assertTrue(more and time.monotonic() < deadline, heard[-1000:])
            heard += more


class Silent(Case):
    def expect_store(self):
        """What only reads comes from the store and says so in one line."""
        line = (rf"^dpartui: the engine \(pid {self.engine}\) does not answer: this is what its "
                r"store has, as of \d{4}-\d\d-\d\d \d\d:\d\d:\d\d\n$")
        commands = (["runs"], ["export", "1", "--csv"], ["show", "1", "--json"])
        for arguments, status, out, err in self.run_together(commands):
            self.assertEqual(status, 0, arguments)
            self.assertRegex(err, line)
            self.assertTrue(out)
        run = json.loads(out)
        self.assertEqual((run["status"], run["note"], len(run["epochs"])), ("done", "kept", 2))

    def expect_refusals(self):
        """What changes something, or needs the engine, says what is wrong and what to do."""
        commands = (["stop", "1"], ["runs", "note", "1", "lost"], ["engine", "status"],
                    ["engine", "stop"], ["devices"], ["train", *cli.SHORT, "--detach"])
        for arguments, status, _, err in self.run_together(commands):
            self.assertEqual(
                (status, err), (1, f"dpartui: the engine (pid {self.engine}) is stopped by a "
                                   f"signal: 'kill -CONT {self.engine}' continues it, "
                                   "'dpartui engine stop --now' ends it\n"), arguments)

    def test_stopped(self):
        self.train()
        self.stop_engine()
        self.expect_store()
        self.expect_refusals()
        # What was given up does not happen later.
        os.kill(self.engine, signal.SIGCONT)
        self.assertEqual(self.good_json("engine", "status")["pid"], self.engine)
        self.assertEqual([run["note"] for run in self.good_json("runs")], ["kept"])

    def test_stopped_and_full(self):
        self.train()
        self.stop_engine()
        self.fill_queue()
        self.expect_store()
        self.expect_refusals()
        self.assertEqual(self.state(), "T")
        self.assertIn("ended", self.good("engine", "stop", "--now"))
        self.wait_gone(self.engine)

    def test_a_run_of_a_stopped_engine_is_not_called_lost(self):
        run = self.good("train", *cli.ENDLESS, "--detach").strip()
        self.wait_status(run, "running")
        self.wait_stored("status = 'running'")
        self.stop_engine()
        self.assertEqual(self.good_json("show", run)["status"], "running")
        self.assertEqual([one["status"] for one in self.good_json("runs")], ["running"])

    def test_a_comparison_is_shown(self):
        said = self.good("compare", *DATA, "--epochs", "1", "--lr", "0.1,0.2", "--devices", "cpu:0")
        name = said.split("comparison ")[1].split(":")[0]
        self.wait_stored("status = 'done'", 2)
        with_engine = self.good("compare", "--show", name)
        self.stop_engine()
        done = self.run_program("compare", "--show", name)
        self.assertEqual((done.returncode, done.stdout), (0, with_engine), done.stderr)
        self.assertEqual(done.stderr.count("this is what its store has"), 1)

    def test_who_follows_a_run_is_told_once(self):
        # Few epochs a second: nobody reads what it prints about them.
        follower = self.start("train", "--model", "linear", "--data", "random:200000x10", "--batch",
                              "10", "--epochs", "1000000")
        self.wait_for("run 1", lambda: [run["status"] for run in self.good_json("runs")]
                      == ["running"])
        self.stop_engine()
        said = self.first_line(follower.stderr)
        self.assertIn(f"'kill -CONT {self.engine}' continues it", said)
        os.kill(self.engine, signal.SIGCONT)
        self.good("stop", "1")
        self.assertNotIn("kill -CONT", self.finish(follower, 1)[1])

    def test_without_a_store(self):
        self.stop_engine()
        shutil.rmtree(os.path.join(self.folder, "data"))
        self.assertIn("kill -CONT", self.bad(1, "runs"))

    def test_workbench(self):
        self.stop_engine()
        self.fill_queue()
        screen = terminal.Terminal([os.path.abspath(cli.PROGRAM)], self.folder, columns=120,
                                   XDG_STATE_HOME=self.folder, XDG_CONFIG_HOME=self.folder,
                                   XDG_DATA_HOME=os.path.join(self.folder, "data"))
        self.addCleanup(screen.close)
        screen.expect("stopped by a signal")
        # It is no reason to start another one, and no freeze.
        screen.keys("?")
        screen.expect("Help")
        screen.keys("Esc")
        os.kill(self.engine, signal.SIGCONT)
        for sock in self.sockets:
            sock.close()
        screen.wait(lambda: "stopped by a signal" not in screen.screen.dump(), "the engine")
        screen.keys("q")
        self.assertEqual(screen.exit_status(), 0)


if __name__ == "__main__":
    unittest.main()
