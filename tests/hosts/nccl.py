#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs over hosts with GPUs, which are simulated: NCCL joins those of all hosts, with the results of
as many GPUs in one process; a host that is lost is named, and nothing is left of the run."""

import json
import os
import shutil
import signal
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../harness"))
import hosts_case  # noqa: E402
import program  # noqa: E402
from hosts_case import DATA, LIMIT, cli, enough, ranks  # noqa: E402

# dpartui-rank with simulated GPUs, beside copies of the other programs, which look for it there.
RANK = os.path.join(os.path.abspath(cli.BUILD), "tests/hosts/dpartui-rank")
PROGRAMS = "/run/programs"
# Where ranks find each other, for the stand-in of NCCL: all hosts see it.
SHARED = "/run/nccl"
# A simulated GPU is slow: three steps, the last of which is short.
ROWS = ["--train-rows", "40", "--test-rows", "20"]
SHORT = [*DATA, *ROWS, "--epochs", "1", "--dtype", "f32"]
TWO, ONE_OF_TWO = "h1/cuda:0,h2/cuda:0", "h1/cuda:0-1"
THREE, ONE_OF_THREE = "h1/cuda:0-1,h2/cuda:0", "h1/cuda:0-2"
ENDLESS = [*DATA, *ROWS, "--epochs", "1000000", "--dtype", "f32", "--devices", THREE,
           "--checkpoint-every", "1", "--host-limit", LIMIT]


class Case(hosts_case.Case):
    def setUp(self):
        super().setUp()
        os.makedirs(SHARED, exist_ok=True)
        self.env["SIMGPU_NCCL_DIR"] = SHARED

    def tearDown(self):
        super().tearDown()
        self.assertEqual(os.listdir(SHARED), [])

    def train_on(self, devices, *options):
        """The run's event, that of its last epoch, and the SHA-256 of its weights."""
        path = self.path("weights.safetensors")
        said = self.good("train", *SHORT, "--devices", devices, "--save", path, "--json", *options)
        events = [json.loads(line) for line in said.splitlines()]
        epoch, = (event for event in events if event["event"] == "epoch")
        return events[0], epoch, hosts_case.digest(path)


class Results(Case):
    def test_gpus_of_all_hosts_are_those_of_one(self):
        for far, near, gpus, methods in (
                (TWO, ONE_OF_TWO, 2, ["allreduce"]),
                (THREE, ONE_OF_THREE, 3, ["allreduce", "central", "reduce-broadcast"])):
            alone, _, expected = self.train_on(near)
            self.assertRegex(alone["sync_algorithm"], r"^NCCL \d")
            for method in methods:
                with self.subTest(devices=far, method=method):
                    run, epoch, weights = self.train_on(far, "--sync", method)
                    self.assertEqual(weights, expected)
                    self.assertRegex(run["sync_algorithm"], r"^NCCL \d")
                    sent = run["sync_bytes_per_step"] * 2 * (gpus - 1) / gpus
                    self.assertAlmostEqual(epoch["network"]["bytes"], epoch["steps"] * sent)
                    self.assertGreater(epoch["network"]["seconds"], 0)

    def test_a_cpu_device_among_them(self):
        run, _, weights = self.train_on("h1/cuda:0,h2/cpu:0")
        self.assertRegex(run["sync_algorithm"], "^through host memory in the network's own order: ")
        self.assertEqual(self.train_on("h1/cuda:0,h1/cpu:0")[2], weights)

    def test_nccl_refuses(self):
        """Both hosts say that they are the same, with the same GPU."""
        self.env["NCCL_HOSTID"] = "one"
        run, _, _ = self.train_on(TWO)
        self.assertRegex(run["sync_algorithm"], r"^through host memory \(h1/cuda:0: NCCL: .*"
                                                "Duplicate GPU detected.*: each host sums")

    def test_settings_of_nccl_reach_all_hosts(self):
        line = self.path("line")
        self.env.update(NCCL_SOCKET_IFNAME="net0", NCCL_HOSTID="h1")
        self.good("train", *SHORT, "--devices", ONE_OF_TWO, "--launcher",
                  f"tee {line} | mpirun -n %n --host %H --map-by ppr:1:node --bind-to none %p")
        with open(line, encoding="utf8") as file:
            environment = json.loads(file.readline())["environment"]
        self.assertEqual(environment["NCCL_SOCKET_IFNAME"], "net0")
        self.assertNotIn("NCCL_HOSTID", environment)


class Loss(Case):
    def lose(self, number, host, says):
        """The run of which the process there got a signal; what is told of it says which it was."""
        run = self.start_run(*ENDLESS)
        begin = time.monotonic()
        os.kill(ranks()[host], number)
        self.wait_end(run)
        took = time.monotonic() - begin
        shown = self.good_json("show", run)
        self.assertEqual(shown["status"], "interrupted", shown)
        self.assertRegex(shown["error"], says)
        self.wait_none_left()
        print(f"signal {number} for {host}, told after {took:.1f} s: {shown['error']}")
        return run

    def test_a_process_is_killed(self):
        for rank, host in enough(((1, "h2"), (0, "h1")), 1):
            with self.subTest(host=host):
                run = self.lose(signal.SIGKILL, host, rf"(?s){host}.*rank {rank}\b|rank {rank}\b.*{host}")
        done = len(self.losses(run))
        self.good("train", "--resume", run, "--epochs", str(done + 1))

    def test_a_process_is_stopped(self):
        for rank, host in enough(((1, "h2"), (0, "h1")), 1):
            with self.subTest(host=host):
                self.lose(signal.SIGSTOP, host,
                          rf"^{host} \(rank {rank}\) has not been heard from for \d s")


if __name__ == "__main__":
    hosts_case.enter("namespaces.sh", 2)
    if not os.path.exists(RANK):
        program.skip("there is no dpartui-rank with simulated GPUs: see configure --enable-simulated-gpu")
    os.makedirs(PROGRAMS, exist_ok=True)
    for path in cli.PROGRAM, os.path.join(cli.BUILD, "dpartui-engine"), RANK:
        shutil.copy(path, PROGRAMS)
    cli.PROGRAM = os.path.join(PROGRAMS, "dpartui")
    unittest.main()
