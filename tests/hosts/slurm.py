#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs in allocations of a real Slurm: started without an option, and ended by its signals."""

import os
import signal
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../harness"))
import hosts_case  # noqa: E402
from hosts_case import DATA, LIMIT, cli, digest, ranks  # noqa: E402

SHORT = [*DATA, "--epochs", "2"]
ENDLESS = [*DATA, "--epochs", "1000000", "--host-limit", LIMIT]


class Slurm(hosts_case.Case):
    def tearDown(self):
        self.end_jobs()
        super().tearDown()

    def end_jobs(self):
        """Until Slurm has cleared up: it gives no new job a host where it still does."""
        subprocess.run(["scancel", "--user", "root"], check=True)
        self.wait_for("the end of all jobs", lambda: not subprocess.run(
            ["squeue", "--noheader"], stdout=subprocess.PIPE, check=True).stdout)

    def allocate(self, *command, hosts=2):
        """What dpartui prints within an allocation, of the first hosts."""
        self.end_jobs()
        done = subprocess.run(["salloc", "-Q", "-N", str(hosts), *command], env=self.env,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=cli.PATIENCE, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def batch(self, *options, script_options=()):
        """The numbers of a job that has trained its first epoch and of its run."""
        path = self.path("job")
        words = " ".join(f"'{word}'" for word in (os.path.abspath(cli.PROGRAM), "train", *options))
        with open(path, "w", encoding="ascii") as file:
            file.write(f"#!/bin/sh\nexec {words} >{self.path('out')} 2>{self.path('errors')}\n")
        run = max(self.stored() or [0]) + 1
        self.end_jobs()  # else it may begin on another host, which has no such file
        done = subprocess.run(["sbatch", "--parsable", "-o", "/dev/null", "-N", "2", *script_options,
                               path],
                              env=self.env, capture_output=True, text=True, check=True)
        self.wait_epochs(run)
        return done.stdout.strip(), run

    def test_without_an_option(self):
        path = self.path("slurm.safetensors")
        text = self.allocate(cli.PROGRAM, "train", *SHORT, "--devices", "cpu:0", "--save", path)
        self.assertIn("on [h1/cpu:0, h2/cpu:0]", text)
        self.assertRegex(self.good_json("show", "1")["spec"]["launcher"], r"^srun:\d+$")
        self.assertEqual(digest(path), self.train("--epochs", "2", "--devices", "cpu:0-1"))
        self.wait_none_left()

    def test_an_engine_outlives_its_job(self):
        """What Slurm told the engine when it was started is of a job that is over."""
        train = [cli.PROGRAM, "train", *SHORT, "--devices", "cpu:0"]
        self.allocate(*train)
        engine = self.good_json("engine", "status")["pid"]
        with open(f"/proc/{engine}/environ", "rb") as file:
            self.assertIn(b"\0SLURM_JOB_ID=", file.read())
        # With fewer processors and other limits than the first one had.
        done = self.allocate("-c", "1", "--time", "5", *train)
        self.assertIn("on [h1/cpu:0, h2/cpu:0]", done)
        self.assertEqual(self.good_json("engine", "status")["pid"], engine)
        self.assertEqual(self.losses("2"), self.losses("1"))
        self.wait_none_left()

    def test_hosts_of_it_that_are_named(self):
        text = self.allocate(cli.PROGRAM, "train", *SHORT, "--devices", "h2/cpu:0-1,h1/cpu:0",
                             "--launcher", "srun")
        self.assertIn("[h2/cpu:0, h2/cpu:1, h1/cpu:0]", text)

    def test_a_host_that_is_not_in_it(self):
        done = subprocess.run(["salloc", "-Q", "-N", "1", "-w", "h1", cli.PROGRAM, "train", *SHORT,
                               "--hosts", "h1,h2", "--devices", "cpu:0", "--launcher", "srun"],
                              env=self.env, capture_output=True, text=True, timeout=cli.PATIENCE,
                              check=False)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("srun: error: ", done.stderr)
        self.wait_none_left()

    def test_signals_write_a_checkpoint(self):
        for name in "USR1", "TERM":
            with self.subTest(signal=name):
                path = self.path(f"{name}.safetensors")
                job, number = self.batch(*ENDLESS, "--devices", "cpu:0", "--save", path)
                # To the steps of a job, which Slurm sends it before the job's time is up, too.
                subprocess.run(["scancel", f"--signal={name}", job], check=True)
                self.expect_stopped(number, path)
                subprocess.run(["scancel", job], check=True)

    def test_its_time_is_up(self):
        # Slurm sends the signal up to half a minute early: no sooner than 20 s after the start, or
        # not at all before the time is up, at which it ends the job by SIGTERM. The run is paused,
        # which spares the processor until then: signals to one that trains are tested above.
        path = self.path("late.safetensors")
        job, number = self.batch(*ENDLESS, "--devices", "cpu:0", "--save", path,
                                 script_options=["--signal=USR1@10", "--time=1"])
        self.ask("pause", run=number)
        self.wait_status(number, "paused")
        self.expect_stopped(number, path)
        subprocess.run(["scancel", job], check=True)

    def test_another_job_resumes_it(self):
        """By the engine that the first job has started, if Slurm has left it alone."""
        job, number = self.batch(*DATA, "--epochs", "1000000", "--devices", "cpu:0")
        subprocess.run(["scancel", "--signal=USR1", job], check=True)
        self.wait_status(number, "stopped")
        first = self.good_json("show", str(number))
        self.end_jobs()
        self.wait_none_left()
        done = len(first["epochs"])
        text = self.allocate(cli.PROGRAM, "train", "--resume", str(number), "--epochs",
                             str(done + 2))
        self.assertIn("on [h1/cpu:0, h2/cpu:0]", text)
        run = self.good_json("show", str(number))
        self.assertEqual((run["status"], len(run["epochs"])), ("done", done + 2))
        self.assertRegex(run["spec"]["launcher"], r"^srun:\d+$")
        self.assertNotEqual(run["spec"]["launcher"], first["spec"]["launcher"])
        # On other hosts, and on more of them.
        for count, (hosts, devices) in enumerate((
                ("h1,h3", "[h1/cpu:0, h3/cpu:0]"), ("h1,h2,h3", "[h1/cpu:0, h2/cpu:0, h3/cpu:0]"))):
            text = self.allocate("-w", hosts, cli.PROGRAM, "train", "--resume", str(number),
                                 "--epochs", str(done + 3 + count), hosts=len(hosts.split(",")))
            self.assertIn(f"on {devices}", text)
        self.wait_none_left()

    def test_a_run_of_one_host_stays_there(self):
        self.good("train", *SHORT, "--devices", "cpu:0-1", "--strategy", "pipeline")
        # Nor is Slurm asked for the job's hosts.
        os.mkdir(self.path("bin"))
        with open(self.path("bin/scontrol"), "w", encoding="ascii") as file:
            file.write("#!/bin/sh\nexit 1\n")
        os.chmod(self.path("bin/scontrol"), 0o755)
        usual = self.env
        self.env = dict(usual, PATH=self.path("bin") + ":" + usual["PATH"])
        text = self.allocate(cli.PROGRAM, "train", "--resume", "1", "--epochs", "3")
        self.assertIn("on [cpu:0, cpu:1]", text)
        self.env = usual
        text = self.allocate(cli.PROGRAM, "train", *SHORT, "--devices", "cpu:0", "--hosts", "")
        self.assertIn("on [cpu:0]", text)

    def expect_stopped(self, number, path):
        """The run continues from where it was, also without Slurm."""
        self.wait_status(number, "stopped")
        run = self.good_json("show", str(number))
        steps = 7 * len(run["epochs"])
        self.assertIn(run["checkpoint"]["steps"], range(steps, steps + 8))
        self.assertTrue(os.path.exists(path))
        self.wait_none_left()
        self.good("train", "--resume", str(number), "--epochs", str(len(run["epochs"]) + 1),
                  "--devices", "cpu:0-1", "--hosts", "")
        self.assertEqual(len(self.losses(str(number))), len(run["epochs"]) + 1)

    def test_a_killed_process(self):
        job, number = self.batch(*ENDLESS, "--devices", "cpu:0")
        for host in "h2", "h1":
            os.kill(ranks()[host], signal.SIGKILL)
            self.wait_status(number, "interrupted")
            self.assertIn(host, self.good_json("show", str(number))["error"])
            self.wait_none_left()
            subprocess.run(["scancel", job], check=True)
            if host == "h2":
                job, number = self.batch(*ENDLESS, "--devices", "cpu:0")


if __name__ == "__main__":
    hosts_case.enter("slurm.sh", 3)
    unittest.main()
