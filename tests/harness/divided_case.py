# SPDX-License-Identifier: MIT
"""What tests of runs whose devices divide the network have in common, in whatever way."""

import glob
import hashlib
import os
import signal
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../programs"))
import cli  # noqa: E402

DATA = ["--model", "lenet", "--data", "glyphs", "--train-rows", "400", "--test-rows", "200",
        "--batch", "64", "--lr", "0.5", "--init", "default", "--cpu-threads", "1",
        "--momentum", "0.5"]


class Case(cli.Case):
    def losses(self, run):
        return [epoch["train_loss"] for epoch in self.good_json("show", run)["epochs"]]

    def same_losses(self, run, other):
        for loss, expected in zip(self.losses(run), self.losses(other), strict=True):
            self.assertAlmostEqual(loss, expected, delta=2e-5)

    def expect_evaluations_of_one_device(self, *options):
        rows = ["--epochs", "2", "--validation", "0.1", "--batch", "16", "--test-rows", "400"]
        self.good("train", *DATA, *rows, "--devices", "cpu:0")
        self.good("train", *DATA, *rows, *options)
        one, other = (self.good_json("show", run) for run in ("1", "2"))
        self.assertEqual(one["test_acc"], other["test_acc"])
        self.assertAlmostEqual(one["val_acc"], other["val_acc"], delta=1e-9)
        self.same_losses("2", "1")

    def expect_same_bits_after_a_kill(self, *options):
        paths = [self.path(name) for name in ("whole.safetensors", "killed.safetensors")]
        run = [*DATA, *options, "--epochs", "20", "--clip-norm", "0.5", "--seed", "5", "--save"]
        self.good("train", *run, paths[0])
        engine = self.good_json("engine", "status")["pid"]
        self.good("train", *run, paths[1], "--detach")
        # An epoch may be listed before its checkpoint is on the disk, whose weights come last.
        written = self.path("data/dpartui/checkpoints/2/step-*[0-9].safetensors")
        self.wait_for("a checkpoint", lambda: glob.glob(written))
        os.kill(engine, signal.SIGKILL)
        self.wait_gone(engine)
        self.assertFalse(os.path.exists(paths[1]), "it had ended before it was killed")
        self.good("train", "--resume", "2")
        digests = []
        for path in paths:
            with open(path, "rb") as file:
                digests.append(hashlib.sha256(file.read()).hexdigest())
        self.assertEqual(*digests)
