#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`dpartui engine dial`: bytes from standard input to the engine, and from the engine to standard
output."""

import json
import os
import socket
import subprocess
import sys
import threading

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import cli  # noqa: E402

HELLO = b'{"jsonrpc":"2.0","id":1,"method":"hello","params":{"version":"any"}}\n'


class Dial(cli.Case):
    def dial(self, *options):
        child = subprocess.Popen([cli.PROGRAM, "engine", "dial", *options], env=self.env,
                                 stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE)
        self.addCleanup(self.drop, child)
        return child

    @staticmethod
    def drop(child):
        if child.poll() is None:
            child.kill()
            child.wait()
        for pipe in child.stdin, child.stdout, child.stderr:
            pipe.close()

    def finished(self, child, status=0):
        child.wait(timeout=cli.PATIENCE)
        self.assertEqual(child.returncode, status, child.stderr.read())

    def dial_us(self):
        """With the test in the engine's place."""
        os.makedirs(self.path("dpartui"), mode=0o700, exist_ok=True)
        server = socket.socket(socket.AF_UNIX)
        server.bind(self.path("dpartui/engine.sock"))
        server.listen(1)
        server.settimeout(cli.PATIENCE)
        child = self.dial()
        engine, _ = server.accept()
        self.addCleanup(engine.close)
        server.close()
        return child, engine

    def test_starts_an_engine_and_passes_its_answer_on(self):
        child = self.dial()
        child.stdin.write(HELLO)
        child.stdin.flush()
        answer = json.loads(child.stdout.readline())
        self.assertEqual((answer["id"], answer["result"]["protocol"]), (1, 1))
        self.assertEqual(answer["result"]["pid"], self.good_json("engine", "status")["pid"])
        child.stdin.close()
        self.finished(child)

    def test_input_that_ends_at_once_is_answered(self):
        done = subprocess.run([cli.PROGRAM, "engine", "dial"], env=self.env, input=HELLO,
                              capture_output=True, timeout=cli.PATIENCE, check=True)
        self.assertEqual(json.loads(done.stdout)["id"], 1)

    def test_ends_with_the_engine(self):
        self.good("engine", "start")
        child = self.dial("--running")
        child.stdin.write(HELLO)
        child.stdin.flush()
        child.stdout.readline()
        self.good("engine", "stop")
        self.finished(child)

    def test_starts_none_where_one_must_run(self):
        self.assertIn("no engine is running", self.bad(1, "engine", "dial", "--running"))
        self.assertFalse(self.good_json("engine", "status")["running"])

    def test_an_engine_that_hears_nothing_of_the_end_is_left(self):
        child, engine = self.dial_us()
        child.stdin.close()
        engine.settimeout(cli.PATIENCE)
        self.assertEqual(engine.recv(1), b"")
        self.finished(child)

    def test_all_bytes_come_through_in_order(self):
        """More than all buffers hold, both ways at once, with each side reading late."""
        sent = {way: os.urandom(3 << 20) for way in ("to", "from")}
        child, engine = self.dial_us()
        engine.settimeout(cli.PATIENCE)
        got = {}

        def feed():
            child.stdin.write(sent["to"])
            child.stdin.close()

        def answer():
            engine.sendall(sent["from"])

        def read():
            got["to"] = b"".join(iter(lambda: engine.recv(1000003), b""))

        def see():
            got["from"] = child.stdout.read()

        feed, answer, read, see = [threading.Thread(target=part)
                                   for part in (feed, answer, read, see)]
        for thread in feed, answer, read, see:
            thread.start()
        for thread in feed, answer, read:
            thread.join(cli.PATIENCE)
        # The end of what the engine says ends the whole, so it comes last.
        engine.shutdown(socket.SHUT_WR)
        see.join(cli.PATIENCE)
        self.assertTrue(got == sent, {way: len(got.get(way, b"")) for way in sent})
        self.finished(child)

    def test_a_viewer_that_is_gone_ends_it(self):
        self.good("engine", "start")
        child = self.dial()
        child.stdin.write(HELLO.replace(b'"hello"', b'"watch"').replace(b'"version":"any"',
                                                                        b'"interval":0.01'))
        child.stdin.flush()
        child.stdout.readline()
        child.stdout.close()
        self.finished(child)


if __name__ == "__main__":
    cli.unittest.main()
