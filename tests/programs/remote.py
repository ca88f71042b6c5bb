#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""--host: commands about another host, which a script in the place of ssh makes of a folder."""

import json
import os
import signal
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../harness"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import cli  # noqa: E402
from fake_ssh import FakeSsh  # noqa: E402

# Answers every request as an engine of another version does.
OTHER_VERSION = """#!/bin/sh
read -r request
echo '{"jsonrpc":"2.0","id":1,"result":{"version":"9.8.7","pid":1,"protocol":%d}}'
read -r request
"""
TOO_OLD = """#!/bin/sh
echo "dpartui: engine 'dial': it is start, stop or status" >&2
exit 2
"""


class Remote(cli.Case):
    def setUp(self):
        super().setUp()
        self.ssh = FakeSsh(self.folder, cli.BUILD)
        self.home = self.ssh.add("gpu1")
        self.env["XDG_CONFIG_HOME"] = self.path("config")
        self.env.pop("DPARTUI_HOST", None)
        self.ssh.configure(self.path("config"))

    def tearDown(self):
        for name in os.listdir(self.ssh.hosts):
            there = dict(self.env, HOME=self.ssh.hosts + "/" + name,
                         XDG_RUNTIME_DIR=self.ssh.hosts + "/" + name)
            for variable in ("XDG_DATA_HOME", "XDG_STATE_HOME", "DPARTUI_HOST"):
                there.pop(variable, None)
            cli.subprocess.run([cli.PROGRAM, "engine", "stop", "--now"], env=there,
                               capture_output=True, timeout=cli.PATIENCE, check=False)
        super().tearDown()

    def there(self, *arguments):
        return self.good("--host", "me@gpu1", *arguments)

    def there_json(self, *arguments):
        return json.loads(self.there(*arguments, "--json"))

    def train(self, *arguments):
        return self.there("train", *cli.SHORT, *arguments)

    def refused(self, words, *arguments, status=1, lines=1):
        done = self.run_program("--host", "me@gpu1", *arguments)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        self.assertIn(words, done.stderr)
        self.assertEqual(done.stderr.count("\n"), lines, done.stderr)


class Commands(Remote):
    def test_runs_are_over_there(self):
        self.train("--note", "it's far")
        [run] = self.there_json("runs")
        self.assertEqual((run["status"], run["note"]), ("done", "it's far"))
        self.assertEqual(self.there_json("show", "1")["epochs"][-1]["epoch"], 3)
        self.assertEqual(len(self.there("export", "1", "--csv").splitlines()), 4)
        self.assertEqual(self.good_json("runs"), [])
        self.assertFalse(self.good_json("engine", "status")["running"])
        self.assertTrue(os.path.exists(self.home + "/.local/share/dpartui/runs.db"))

    def test_every_command_answers(self):
        weights = self.home + "/weights.safetensors"
        self.train("--save", weights)
        self.assertTrue(os.path.exists(weights))
        self.assertEqual(self.there_json("devices")[0]["device"], "cpu:0")
        self.assertEqual(self.there_json("model", "linear", "--data", "random:200x10")["classes"], 2)
        self.assertEqual(self.there_json("eval", "--run", "1")["test_rows"], 200)
        self.assertTrue(self.there_json("engine", "status")["running"])
        self.there("check")
        self.there("runs", "tag", "1", "+far")
        self.assertEqual(self.there_json("runs", "far")[0]["tags"], ["far"])
        self.assertIn("idle", self.there("screen"))
        self.assertIn("comparison 1", self.there("compare", *cli.SHORT[:-2], "--epochs", "1",
                                                 "--devices", "cpu:0", "--lr", "0.1,0.2"))
        self.assertEqual(self.there_json("compare", "--list")[0]["id"], "1")
        self.assertIn("ended", self.there("engine", "stop"))
        self.assertFalse(self.there_json("engine", "status")["running"])
        self.assertEqual(self.good_json("runs"), [])

    def test_predict_and_fetch_are_over_there(self):
        self.refused("cannot fetch", "fetch", "mnist", "--from", "file:///no/such/place")
        self.assertTrue(os.path.isdir(self.home + "/.local/share/dpartui/data"))
        self.refused("run 1 has no checkpoint in " + self.home, "predict", "--run", "1", "/no/such.png")

    def test_a_run_is_stopped_from_here(self):
        run = self.there("train", *cli.ENDLESS, "--detach").strip()
        self.wait_for("its begin", lambda: self.there_json("show", run)["status"] == "running")
        self.there("stop", run)
        self.wait_for("its end", lambda: self.there_json("show", run)["status"] == "stopped")

    def test_ctrl_c_stops_the_run_and_ssh_stays_until_it_has(self):
        child = self.start("--host", "gpu1", "train", *cli.ENDLESS)
        child.stdout.readline()
        child.send_signal(signal.SIGINT)
        _, err = self.finish(child, 1)
        self.assertIn("run 1 was stopped", err)
        self.assertEqual(self.there_json("show", "1")["status"], "stopped")

    def test_a_run_continues_when_the_line_is_lost(self):
        child = self.start("--host", "gpu1", "train", *cli.ENDLESS)
        child.stdout.readline()
        self.ssh.kill("gpu1")
        _, err = self.finish(child, 1)
        self.assertIn("the line to gpu1 is down", err)
        self.assertEqual(err.count("\n"), 1, err)
        self.assertEqual(self.there_json("show", "1")["status"], "running")

    def test_where_the_option_may_stand(self):
        self.train()
        for words in (["--host", "gpu1", "runs", "--json"], ["--host=gpu1", "runs", "--json"],
                      ["runs", "--json", "--host", "gpu1"], ["runs", "--host=me@gpu1", "--json"]):
            with self.subTest(words=words):
                self.assertEqual(len(json.loads(self.good(*words))), 1)
                self.assertTrue(self.ssh.calls()[-1].endswith("dpartui --host local runs --json"))
        self.env["DPARTUI_HOST"] = "gpu1"
        self.assertEqual(len(self.good_json("runs")), 1)
        for host in ("local", ""):
            self.assertEqual(self.good_json("--host", host, "runs"), [])
        self.good("completion", "bash")

    def test_passwords_may_be_asked_for(self):
        """Of a command: only connections under a screen have BatchMode."""
        self.there("devices")
        self.assertNotIn("BatchMode", self.ssh.calls()[0])
        self.assertIn("-T -o ServerAliveInterval=", self.ssh.calls()[0])

    def test_how_output_looks_is_taken_along(self):
        self.env["NO_COLOR"] = "it's 1"
        self.there("runs")
        self.assertIn(r"env NO_COLOR='it'\''s 1' dpartui --host local runs", self.ssh.calls()[0]
                      .replace(r"'NO_COLOR=it'\''s 1'", r"NO_COLOR='it'\''s 1'"))

    def test_input_is_left_to_others(self):
        """As in `while read run; do dpartui --host gpu1 show $run; done`."""
        done = cli.subprocess.run(["sh", "-c", f"{cli.PROGRAM} --host gpu1 runs >/dev/null; cat"],
                                  env=self.env, input="the rest\n", capture_output=True, text=True,
                                  timeout=cli.PATIENCE, check=True)
        self.assertEqual(done.stdout, "the rest\n")


class Failures(Remote):
    def test_hosts_that_are_not_reached(self):
        self.ssh.set_down("gpu1")
        for command in (["devices"], ["runs"], ["train", *cli.SHORT]):
            # What ssh says, and what that means.
            self.refused("gpu1 is not reached", *command, lines=2)
            self.refused("No route to host", *command, lines=2)

    def test_no_program_there(self):
        self.ssh.replace_program("gpu1", None)
        for command in (["devices"], ["runs"]):
            self.refused("gpu1: there is no dpartui in the PATH", *command, lines=2)

    def test_a_program_that_is_too_old(self):
        self.ssh.replace_program("gpu1", TOO_OLD)
        self.refused("gpu1: its dpartui has no 'engine dial'", "devices", lines=2)

    def test_another_version_that_is_not_understood(self):
        self.ssh.replace_program("gpu1", OTHER_VERSION % 2)
        self.refused("gpu1 has version 9.8.7, which this one", "devices")

    def test_another_version_that_is(self):
        self.ssh.replace_program("gpu1", OTHER_VERSION % 1)
        # Its end after one answer, and before that a word about the version.
        self.refused("gpu1 has version 9.8.7, this host", "devices", lines=2)

    def test_no_ssh_here(self):
        with open(self.path("config/dpartui/dpartui.conf"), "w", encoding="ascii") as file:
            file.write('ssh = "/no/such/ssh -v";\n')
        for command in (["devices"], ["runs"]):
            self.refused("cannot start /no/such/ssh", *command)

    def test_an_engine_that_cannot_start_there(self):
        os.makedirs(self.home + "/dpartui", mode=0o755)
        os.chmod(self.home + "/dpartui", 0o777)
        self.refused("open to other users", "devices", lines=2)

    def test_what_makes_no_sense(self):
        for words, says in ((["--host", "-oProxyCommand=x", "runs"], "does not begin with '-'"),
                            (["--host", "a b", "runs"], "no name that ssh takes"),
                            (["--host"], "--host needs an argument"),
                            (["runs", "--host"], "--host needs an argument"),
                            (["runs", "--host", "a", "--host", "b"], "twice"),
                            (["--host", "gpu1", "engine", "dial"], "this machine only"),
                            (["--host", "gpu1", "completion", "bash"], "this machine only"),
                            (["--host", "gpu1", "train", "--foreground"], "--foreground"),
                            (["--host", "gpu1", "train", "--save", "w"], "whole path"),
                            (["--host", "gpu1", "eval", "w"], "whole path"),
                            (["--host", "gpu1", "runs", "--no-such"], "--no-such")):
            with self.subTest(words=words):
                self.assertIn(says, self.bad(2, *words))
        self.assertEqual(self.ssh.calls(), [])
        self.env["DPARTUI_HOST"] = "-v"
        self.assertIn("DPARTUI_HOST", self.bad(2, "runs"))

    def test_the_exit_status_is_that_of_the_command_there(self):
        self.refused("there is no run 7", "show", "7")
        self.refused("'one'", "show", "one", status=2)

    def test_folders_of_the_data_here_are_not_looked_for_there(self):
        self.env["DPARTUI_DATA_DIR"] = "/only/here"
        self.refused(self.home, "train", "--data", "cifar10", status=2)


if __name__ == "__main__":
    cli.unittest.main()
