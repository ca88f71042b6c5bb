#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Hosts, launchers, lines and the engine that fail during a run over hosts: who it was is told,
nothing is left on any host, and the next run works.

    tests/hosts/failures.py                    each failure once
    tests/hosts/failures.py --repeat 20        so many times, with what it took
    tests/hosts/failures.py --repeat 20 Loss   those of a class alone
"""

import os
import signal
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../harness"))
import hosts_case  # noqa: E402
from terminal import Terminal  # noqa: E402
from hosts_case import DATA, LIMIT, OURS, RANK, cli, enough, on_host, processes, ranks  # noqa: E402

KILLED_SECONDS = 5  # for processes that were killed to be gone
HOSTS = ["h1", "h2", "h3"]
OVER = ["--hosts", ",".join(HOSTS), "--devices", "cpu:0", "--host-limit", LIMIT]
TWO = ["--hosts", "h1,h2", "--devices", "cpu:0", "--host-limit", LIMIT]
ENDLESS = [*DATA, "--epochs", "1000000", "--checkpoint-every", "1"]
SHORT = [*DATA, "--epochs", "1"]
MPIRUN = "mpirun -n %n --host %H --map-by ppr:1:node --bind-to none %p"


class Failures(hosts_case.Case):
    times = {}

    def told_in(self, run, what, begin):
        """The reason of its end, which comes some seconds after `begin`."""
        self.wait_end(run)
        self.times.setdefault(what, []).append(time.monotonic() - begin)
        shown = self.good_json("show", run)
        self.assertEqual(shown["status"], "interrupted", shown)
        return shown["error"]

    def expect_next_run(self):
        self.good("train", *SHORT, *OVER)
        self.wait_none_left()

    def lose(self, what, fail):
        """A run during which fail() happens: the reason that is told."""
        run = self.start_run(*ENDLESS, *OVER)
        self.wait_for("a checkpoint", lambda: self.good_json("show", run)["checkpoint"])
        begin = time.monotonic()
        fail()
        reason = self.told_in(run, what, begin)
        self.wait_none_left()
        return run, reason


def lost(*names):
    """(rank, name) of the hosts that are lost in turn: one of several that are alike, and the first,
    which is special."""
    return enough([(HOSTS.index(name), name) for name in names], 1)


class Loss(Failures):
    def test_a_process_is_killed(self):
        for rank, host in lost("h3", "h1"):
            with self.subTest(host=host):
                # mpirun ends the others, too: on a busy machine rank 0 may be silent for longer than
                # the limit before mpirun has told why.
                for _ in range(2):
                    run, reason = self.lose(
                        f"kill -9 of rank {rank}",
                        lambda host=host: os.kill(ranks()[host], signal.SIGKILL))
                    if f"rank {rank}" in reason:
                        break
                self.assertRegex(reason, rf"rank {rank}\b")
                self.assertIn(host, reason)
        done = len(self.losses(run))
        self.good("train", "--resume", run, "--epochs", str(done + 1))
        self.wait_none_left()

    def test_a_process_is_stopped(self):
        for rank, host in lost("h2", "h1"):
            with self.subTest(host=host):
                _, reason = self.lose(f"SIGSTOP of rank {rank}",
                                      lambda host=host: os.kill(ranks()[host], signal.SIGSTOP))
                self.assertRegex(reason, rf"^{host} \(rank {rank}\) has not been heard from for "
                                         r"\d s")
        self.expect_next_run()

    def test_a_line_goes_down(self):
        down, up = "ip link set net0 down", "ip link set net0 up"
        try:
            _, reason = self.lose("link of rank 2 down", lambda: on_host("h3", down))
        finally:
            on_host("h3", up)
        self.assertRegex(reason, r"^h3 \(rank 2\) has not been heard from|on node h3")
        self.expect_next_run()

    def test_the_launcher_is_killed(self):
        def kill():
            mpirun, = processes({"mpirun", "orterun"})
            os.kill(mpirun, signal.SIGKILL)
        _, reason = self.lose("kill -9 of mpirun", kill)
        # Without it nobody passes on what rank 0 says: whichever is seen first is the reason.
        self.assertRegex(reason, r"the launcher has ended by signal 9|^h1 \(rank 0\)")
        self.expect_next_run()

    def test_the_engine_is_killed(self):
        run = self.start_run(*ENDLESS, *OVER)
        begin = time.monotonic()
        engine = self.good_json("engine", "status")["pid"]
        os.kill(engine, signal.SIGKILL)
        self.wait_gone(engine)
        self.wait_none_left()
        self.times.setdefault("kill -9 of the engine, until nothing is left", []).append(
            time.monotonic() - begin)
        self.assertEqual(self.status_of(run), "interrupted")
        self.expect_next_run()


class Launchers(Failures):
    def script(self, text):
        path = self.path("launcher")
        with open(path, "w", encoding="ascii") as file:
            file.write("#!/bin/sh\n" + text)
        os.chmod(path, 0o700)
        return ["--launcher", f"{path} %p"]

    def failed(self, *options):
        said = self.bad(1, "train", *SHORT, *options)
        self.wait_ended()
        self.wait_none_left()
        return said

    def wait_ended(self):
        """The launcher's group has been killed, which takes a moment on a busy machine."""
        end = time.monotonic() + KILLED_SECONDS
        while set(processes({"sleep", "launcher"})) != self.sleeping:
            self.assertLess(time.monotonic(), end, processes({"sleep", "launcher"}))
            time.sleep(0.02)

    def setUp(self):
        super().setUp()
        self.sleeping = set(processes({"sleep"}))

    def test_it_is_missing(self):
        said = self.bad(1, "train", *SHORT, *OVER, "--launcher", "no-such-launcher %p")
        self.assertIn("failed: the launcher has ended: ", said)
        self.assertIn("no-such-launcher: not found", said)

    def test_it_starts_nothing(self):
        said = self.bad(1, "train", *SHORT, *OVER, "--launcher", "true %p")
        self.assertIn("the launcher has ended with exit status 0", said)

    def test_it_is_stuck(self):
        for text in "exec sleep 1000\n", "trap '' TERM\nsleep 1000\nsleep 1000\n":
            with self.subTest(text=text):
                said = self.bad(1, "train", *SHORT, *OVER, "--host-limit", "1", *self.script(text))
                self.assertIn("has not started dpartui-rank on h1,h2,h3 within 14 s", said)
                self.wait_ended()

    def test_a_process_crashes_as_it_starts(self):
        starts, other = self.path("starts"), "srun: error: h1: task 0: Exited with exit code 1"
        crash = "srun: error: h2: task 1: Segmentation fault"
        script = self.script(f'echo >>{starts}\ntest "$(wc -l <{starts})" -gt "$CRASHES" || {{\n'
                             f'sleep 1\necho "{other}\n{crash}" >&2\nexit 139\n}}\n'
                             "exec mpirun -n 3 --host h1:1,h2:1,h3:1 --map-by ppr:1:node "
                             '--bind-to none "$1"\n')
        self.env["CRASHES"] = "2"
        run = self.good("train", *SHORT, *OVER, *script, "--detach").strip()
        self.wait_for("the launcher", lambda: os.path.exists(starts))
        self.ask("set_epochs", run=int(run), epochs=1)
        self.wait_status(run, "done")
        shown = self.good_json("show", run)
        self.assertIn("the launcher was started again after a process had crashed: " + crash,
                      shown["warnings"])
        self.assertEqual(len(shown["epochs"]), 1)
        self.good("engine", "stop")
        self.env["CRASHES"] = "3"
        os.remove(starts)
        self.assertIn(f"started 3 times: the launcher has ended: {other}",
                      self.failed(*OVER, *script))
        with open(starts, encoding="ascii") as file:
            self.assertEqual(len(file.read()), 3)

    def test_a_stuck_one_is_stopped(self):
        run = self.good("train", *SHORT, *OVER, *self.script("exec sleep 1000\n"),
                        "--detach").strip()
        self.wait_for("it", lambda: set(processes({"sleep"})) != self.sleeping)
        self.good("stop", run)
        self.wait_status(run, "stopped")
        self.wait_ended()


class Differences(Failures):
    def test_a_host_that_is_unknown(self):
        said = self.bad(1, "train", *SHORT, "--hosts", "h1,h9", "--devices", "cpu:0")
        self.assertIn("Could not resolve hostname h9", said)
        self.wait_none_left()

    def test_a_device_that_one_lacks(self):
        said = self.bad(1, "train", *SHORT, "--devices", "h1/cpu:0,h2/cuda:0")
        self.assertIn("h2/cuda:0", said)
        self.wait_none_left()

    def test_other_rows(self):
        folder = self.path("rows")
        sets = (("train-images-idx3-ubyte", b"\0\0\x08\x03\0\0\0\x40\0\0\0\x1c\0\0\0\x1c", 50176),
                ("train-labels-idx1-ubyte", b"\0\0\x08\x01\0\0\0\x40", 64))

        def make(host, byte):
            for name, head, count in sets:
                content = head + (bytes([byte]) * count if count > 64 else
                                  bytes(i % 8 for i in range(count)))
                # Those of temporary folders are seen on one host alone.
                with open("/run/rows", "wb") as file:
                    file.write(content)
                on_host(host, f"mkdir -p {folder} && cp /run/rows {folder}/{name} && "
                        f"cp /run/rows {folder}/{name.replace('train', 't10k')}")
        options = ["--model", "lenet", "--data", folder, "--train-rows", "64", "--test-rows", "64",
                   "--batch", "16", "--epochs", "1"]
        for host, byte, others in (("h1", 1, "h2: "), ("h2", 2, "h2 has other rows"),
                                   ("h2", 1, None)):
            make(host, byte)
            if others:
                self.assertIn(others, self.bad(1, "train", *options, *TWO))
            else:
                self.good("train", *options, *TWO)
            self.wait_none_left()

    def on_one(self, make, host="h2"):
        """What a run says while a host has another file for dpartui-rank, made by the function."""
        path = f"/run/other-{host}"
        make(path)
        on_host(host, f"mount --bind {path} {RANK}")
        try:
            return self.bad(1, "train", *SHORT, *TWO)
        finally:
            on_host(host, f"umount {RANK}")
            os.remove(path)
            self.wait_none_left()

    def test_another_version(self):
        version = self.good("--version").split()[1].encode()
        other = version[:-1] + (b"9" if version[-1:] != b"9" else b"8")

        def make(path):
            with open(RANK, "rb") as file, open(path, "wb") as to:
                to.write(file.read().replace(version, other))
            os.chmod(path, 0o700)
        said = self.on_one(make)
        self.assertIn(f"h2: dpartui-rank is version {other.decode()}, the engine "
                      f"{version.decode()}", said)
        said = self.on_one(make, "h1")
        self.assertIn(f"h1: dpartui-rank is version {other.decode()}", said)

    def test_it_is_missing_there(self):
        def make(path):
            with open(path, "w", encoding="ascii"):
                os.chmod(path, 0o600)
        said = self.on_one(make)
        self.assertIn("dpartui-rank", said)
        self.assertIn("Node: h2", said)

    def test_it_is_not_installed(self):
        child = self.start("train", *SHORT, *TWO, program=self.copy_without_rank())
        _, said = self.finish(child, 1)
        self.assertIn("dpartui-rank is not where dpartui-engine is: build it with MPI", said)
        self.assertEqual(said.count("\n"), 1, said)

    def copy_without_rank(self):
        folder = self.path("bin")
        os.mkdir(folder)
        for name in "dpartui", "dpartui-engine":
            with open(os.path.join(cli.BUILD, name), "rb") as file:
                with open(os.path.join(folder, name), "wb") as to:
                    to.write(file.read())
            os.chmod(os.path.join(folder, name), 0o700)
        return os.path.join(folder, "dpartui")


class Restarts(Failures):
    ROWS = "500" if cli.program.is_sanitized() else "2000"  # an epoch takes long enough for a kill
    OPTIONS = [*DATA, "--train-rows", ROWS, "--epochs", "6", "--checkpoint-every", "1"]

    def test_it_goes_on_by_itself(self):
        path = self.path("restarted.safetensors")
        # Two hosts are two devices, bit by bit.
        whole = self.train(*self.OPTIONS, "--devices", "cpu:0-1")
        follower = self.start("train", *self.OPTIONS, *TWO, "--restarts", "2", "--save", path)
        for done in 1, 3:
            self.wait_epochs("2", done)
            os.kill(ranks()["h2"], signal.SIGKILL)
            self.wait_for("the restart", lambda: len(self.good_json("show", "2")["warnings"]) and
                          "h2" in ranks())
        out, said = self.finish(follower, 0)
        self.assertEqual(said, "")
        self.assertEqual(hosts_case.digest(path), whole)
        run = self.good_json("show", "2")
        self.assertEqual([epoch["epoch"] for epoch in run["epochs"]], [1, 2, 3, 4, 5, 6])
        self.assertEqual(run["status"], "done")
        self.assertIn("restart 2 of 2, from the checkpoint of step ", " ".join(run["warnings"]))
        for epoch in range(1, 7):
            self.assertIn(f"epoch {epoch}/6", out)
        self.wait_none_left()

    def test_a_workbench_shows_the_last_restart_and_the_end(self):
        run = self.start_run(*ENDLESS, *OVER, "--restarts", "1")
        screen = Terminal([os.path.abspath(cli.PROGRAM)], self.env["XDG_RUNTIME_DIR"], 40, 120,
                          **self.env)
        self.addCleanup(screen.close)
        screen.expect(">h2/cpu:0")
        os.kill(ranks()["h2"], signal.SIGKILL)
        screen.expect(f"run {run}: ")
        said = "restart 1 of 1, from the checkpoint of"  # wherever the line is broken
        screen.wait(lambda: said in " ".join(screen.screen.dump().split()), said)
        done = len(self.losses(run))
        self.wait_epochs(run, done + 2)
        texts = f"run {run}  lenet", ">h1/cpu:0", ">h2/cpu:0", ">h3/cpu:0", "running"
        screen.wait(lambda: all(text in screen.screen.dump() for text in texts), texts)
        os.kill(ranks()["h2"], signal.SIGKILL)
        screen.expect("interrupted")
        self.wait_status(run, "interrupted")
        self.wait_none_left()


def main():
    count = 1
    if "--repeat" in sys.argv:
        at = sys.argv.index("--repeat")
        count = int(sys.argv[at + 1])
        del sys.argv[at:at + 2]
    failed = False
    for _ in range(count):
        done = unittest.main(exit=False, verbosity=1 if count == 1 else 0)
        failed = failed or not done.result.wasSuccessful()
    for what, times in Failures.times.items():
        print(f"{what}: {len(times)} times, told after {min(times):.1f} to {max(times):.1f} s")
    print(f"{len(processes(OURS))} processes left")
    sys.exit(failed)


if __name__ == "__main__":
    hosts_case.enter("namespaces.sh", len(HOSTS))
    main()
