#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What other users, links put in the way and inherited descriptors can do to the two programs.

Checks with a second user need root and are skipped without.
"""

import json
import os
import re
import shutil
import socket
import stat
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../harness"))
import plain_signals  # noqa: E402,F401

BUILD = os.path.abspath(os.environ.get("top_builddir", "."))
SOURCE = os.path.abspath(os.environ.get("top_srcdir", "."))
PROGRAM = os.path.join(BUILD, "dpartui")
PATIENCE = 60.0
SHORT = ["--model", "linear", "--data", "random:200x10", "--batch", "20", "--epochs", "1"]
LONG = ["--model", "linear", "--data", "random:2000x10", "--batch", "1", "--epochs", "100000"]
NOBODY = 65534
as_root = unittest.skipUnless(os.geteuid() == 0, "needs root, to be another user")


def mode(path):
    return stat.S_IMODE(os.lstat(path).st_mode)


def wait_for(what):
    end = time.monotonic() + PATIENCE
    while not what():
        if time.monotonic() > end:
            raise AssertionError("nothing happened")
        time.sleep(0.02)


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.run = os.path.join(self.folder, "dpartui")
        self.socket = os.path.join(self.run, "engine.sock")
        self.data = os.path.join(self.folder, "data")
        self.env = dict(os.environ, XDG_RUNTIME_DIR=self.folder, XDG_STATE_HOME=self.folder,
                        XDG_DATA_HOME=self.data, LC_ALL="C", DPARTUI_NVML="none")

    def tearDown(self):
        if os.path.exists(self.socket):
            os.chmod(self.run, 0o700)
            self.program("engine", "stop", "--now")
        shutil.rmtree(self.folder)

    def program(self, *arguments, **more):
        return subprocess.run([PROGRAM, *arguments], env=self.env, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=PATIENCE, check=False, **more)

    def good(self, *arguments, **more):
        done = self.program(*arguments, **more)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def refused(self, words, *arguments):
        """Ends with one line that holds the words, and nothing else."""
        done = self.program(*arguments)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(words, done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)

    def log(self):
        with open(os.path.join(self.run, "engine.log"), encoding="utf8") as file:
            return file.read()

    def engine(self):
        """Process number of the engine, which is started when there is none."""
        self.good("engine", "start")
        return int(re.findall(r"process (\d+), is ready", self.log())[-1])


class Folder(Case):
    def test_is_private(self):
        self.engine()
        self.assertEqual(mode(self.run), 0o700)
        self.assertEqual(mode(self.socket), 0o600)
        self.assertEqual(mode(os.path.join(self.run, "engine.lock")), 0o600)

    def test_link_is_refused(self):
        there = os.path.join(self.folder, "there")
        os.mkdir(there, 0o700)
        os.symlink(there, self.run)
        self.refused("not a directory", "engine", "start")
        self.assertEqual(os.listdir(there), [])

    def test_open_to_others_is_refused(self):
        for wrong in (0o755, 0o710, 0o701, 0o777):
            os.mkdir(self.run)
            os.chmod(self.run, wrong)
            self.refused("open to other users", "engine", "start")
            self.assertNotIn("engine.sock", os.listdir(self.run))
            shutil.rmtree(self.run)

    def test_lock_is_no_way_out(self):
        """A link at the lock's place is neither followed nor kept waiting for."""
        os.mkdir(self.run, 0o700)
        victim = os.path.join(self.folder, "victim")
        os.symlink(victim, os.path.join(self.run, "engine.lock"))
        self.assertNotEqual(self.program("engine", "start").returncode, 0)
        self.assertFalse(os.path.exists(victim))

    @as_root
    def test_of_another_user_is_refused(self):
        os.mkdir(self.run, 0o700)
        os.chown(self.run, NOBODY, NOBODY)
        self.refused("belongs to another user", "engine", "start")

    def test_one_place_in_tmp(self):
        """Only the runtime folder may lie in /tmp, where it is checked as above."""
        found = []
        for part in ("src", "ui", "engine"):
            for folder, _, names in os.walk(os.path.join(SOURCE, part)):
                for name in names:
                    if not name.endswith((".c", ".h", ".cu")):
                        continue  # what a build in the source leaves there
                    with open(os.path.join(folder, name), encoding="utf8") as file:
                        found += [(name, line) for line in file if '"/tmp' in line]
        self.assertEqual([name for name, _ in found], ["paths.c"], found)


class Peers(Case):
    @as_root
    def test_viewer_of_another_user_is_refused(self):
        self.engine()
        # The doors before it, folder and socket, are opened for this.
        os.chmod(self.run, 0o755)
        os.chmod(self.socket, 0o666)
        child = ("import os, socket, sys\n"
                 "os.chdir(sys.argv[1])\n"  # folders above may be closed
                 f"os.setgroups([]); os.setgid({NOBODY}); os.setuid({NOBODY})\n"
                 "s = socket.socket(socket.AF_UNIX)\n"
                 "s.connect('engine.sock')\n"
                 "try:\n"
                 "    s.sendall(b'{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"status\"}\\n')\n"
                 "    print(repr(s.recv(1000)))\n"
                 "except (BrokenPipeError, ConnectionResetError):\n"
                 "    print(repr(b''))\n")
        done = subprocess.run([sys.executable, "-c", child, self.run], capture_output=True,
                              text=True, timeout=PATIENCE, check=False)
        self.assertEqual(done.stdout, "b''\n", done.stderr)
        wait_for(lambda: f"belongs to user {NOBODY}, not to you" in self.log())

    @as_root
    def test_engine_of_another_user_is_not_talked_to(self):
        os.mkdir(self.run, 0o700)
        server = socket.socket(socket.AF_UNIX)
        server.bind(self.socket)
        child = os.fork()
        if child == 0:
            os.setuid(NOBODY)
            server.listen(5)  # it is who listens that the viewer sees
            time.sleep(PATIENCE)
            os._exit(0)
        try:
            # "connection refused" until the child listens
            wait_for(lambda: "LISTEN" in unix_state(self.socket))
            self.refused(f"belongs to user {NOBODY}", "engine", "status")
            # A viewer that needs an engine has one of its own take the place.
            self.engine()
        finally:
            os.kill(child, 9)
            os.waitpid(child, 0)
            server.close()


def unix_state(path):
    """"LISTEN" when something listens at that place, by /proc/net/unix."""
    with open("/proc/net/unix", encoding="utf8") as file:
        for line in file:
            words = line.split()
            if words[-1] == path and int(words[3], 16) & 0x10000:
                return "LISTEN"
    return ""


class Descriptors(Case):
    def check(self, process, strangers):
        """All but 0 to 2 end with an exec, and none is one that somebody else had open."""
        folder = f"/proc/{process}/fd"
        for name in os.listdir(folder):
            try:
                target = os.readlink(os.path.join(folder, name))
                with open(f"/proc/{process}/fdinfo/{name}", encoding="utf8") as file:
                    flags = int(re.search(r"flags:\s*(\d+)", file.read()).group(1), 8)
            except FileNotFoundError:
                continue  # closed meanwhile
            self.assertNotIn(target, strangers)
            self.assertFalse(target.startswith("/dev/pts"), target)
            if int(name) > 2:
                self.assertTrue(flags & os.O_CLOEXEC, f"{name}: {target}")

    def test_engine_inherits_none(self):
        stranger = os.path.join(self.folder, "stranger")
        with open(stranger, "w", encoding="utf8") as file:
            reader, writer = os.pipe()
            strangers = [stranger, os.readlink(f"/proc/self/fd/{reader}")]
            for descriptor in (file.fileno(), reader, writer):
                os.set_inheritable(descriptor, True)
            self.good("engine", "start", close_fds=False)
            self.check(self.engine(), strangers)
            self.good("train", *LONG, "--detach", close_fds=False)
            wait_for(lambda: json.loads(self.good("runs", "--json"))[-1]["status"] == "running")
            self.check(self.engine(), strangers)
            os.close(reader)
            os.close(writer)

    def test_private_engine_inherits_its_socket_only(self):
        stranger = os.path.join(self.folder, "stranger")
        with open(stranger, "w", encoding="utf8") as file:
            os.set_inheritable(file.fileno(), True)
            with subprocess.Popen([PROGRAM, "train", "--foreground", *LONG], env=self.env,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, close_fds=False) as viewer:
                def children():
                    with open(f"/proc/{viewer.pid}/task/{viewer.pid}/children",
                              encoding="utf8") as listed:
                        return [int(word) for word in listed.read().split()]

                def trains():
                    return children() and len(os.listdir(f"/proc/{children()[0]}/task")) > 3

                wait_for(trains)
                self.check(children()[0], [stranger])
                viewer.terminate()
                viewer.communicate(timeout=PATIENCE)

    def test_environment(self):
        self.env.update(OMP_NUM_THREADS="3", OMP_PLACES="cores", DPARTUI_DATA_DIR="/nowhere")
        with open(f"/proc/{self.engine()}/environ", "rb") as file:
            names = {entry.split(b"=")[0].decode() for entry in file.read().split(b"\0")}
        self.assertFalse(names & {"OMP_NUM_THREADS", "OMP_PLACES", "DPARTUI_DATA_DIR"})
        self.assertIn("OMP_WAIT_POLICY", names)


class Files(Case):
    def test_what_is_kept_is_private(self):
        os.umask(0o022)
        self.good("train", *SHORT)
        kept = os.path.join(self.data, "dpartui")
        self.assertEqual(mode(kept), 0o700)
        store = os.path.join(kept, "runs.db")
        self.assertEqual(mode(store), 0o600)
        self.assertEqual(mode(store + ".lock"), 0o600)
        self.assertEqual(mode(os.path.join(self.run, "engine.log")), 0o600)
        for name in os.listdir(kept):
            if os.path.isdir(os.path.join(kept, name)):
                self.assertEqual(mode(os.path.join(kept, name)), 0o700)

    def victim(self):
        path = os.path.join(self.folder, "victim")
        with open(path, "w", encoding="utf8") as file:
            file.write("precious")
        return path

    def test_save_replaces_a_link(self):
        victim, link = self.victim(), os.path.join(self.folder, "link.safetensors")
        os.symlink(victim, link)
        self.good("train", *SHORT, "--save", link)
        with open(victim, encoding="utf8") as file:
            self.assertEqual(file.read(), "precious")
        self.assertFalse(os.path.islink(link))

    def test_own_link_of_log_is_followed(self):
        victim, link = self.victim(), os.path.join(self.folder, "link.jsonl")
        os.symlink(victim, link)
        self.good("train", *SHORT, "--log", link)
        with open(victim, encoding="utf8") as file:
            self.assertEqual(json.loads(file.readline())["event"], "run")

    @as_root
    def test_link_of_another_user_is_not(self):
        victim, link = self.victim(), os.path.join(self.folder, "link.jsonl")
        os.symlink(victim, link)
        os.lchown(link, NOBODY, NOBODY)
        self.assertNotEqual(self.program("train", *SHORT, "--log", link).returncode, 0)
        with open(victim, encoding="utf8") as file:
            self.assertEqual(file.read(), "precious")

    def test_link_at_the_lock_of_the_store(self):
        victim = os.path.join(self.folder, "victim")
        os.makedirs(os.path.join(self.data, "dpartui"), 0o700)
        os.symlink(victim, os.path.join(self.data, "dpartui", "runs.db.lock"))
        self.good("train", *SHORT)  # which is not kept, as the log says
        self.assertFalse(os.path.exists(victim))
        self.assertIn("runs.db.lock", self.log())

    def test_passwords_in_addresses(self):
        self.engine()
        done = self.program("fetch", "mnist", "--from", "http://me:hush@127.0.0.1:9/")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("http://***@127.0.0.1:9/", done.stderr)
        self.assertNotIn("hush", done.stderr + done.stdout + self.log())


if __name__ == "__main__":
    unittest.main(verbosity=2)
