#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The model that predicts steps on several GPUs: cases known by hand, and what must never happen.

    python3 tests/bench/scaling_prediction.py
"""

import dataclasses
import io
import json
import os
import random
import sys
import tempfile
import unittest
from contextlib import redirect_stdout

sys.dont_write_bytecode = True

import scaling_model as model  # noqa: E402
from scaling_profile import BadInput, Operation, Profile  # noqa: E402

MIB = 1 << 18  # numbers in one
NOTHING = model.Links(1e30, 0, 1e30, 0, 0, "ring")
# 1 MiB takes a second between two GPUs, and there is no other cost.
SLOW = model.Links(1 << 20, 0, 1, 0, 0, "ring")


def profile(*operations, update_s=0.0):
    return Profile("made up", 100, tuple(Operation(*one) for one in operations), update_s)


def step(what, links, **changes):
    return model.step_s(what, model.FREE_HOST, links, **changes)


def run(*arguments):
    out = io.StringIO()
    with redirect_stdout(out):
        model.main(list(arguments))
    return out.getvalue()


class Step(unittest.TestCase):
    def test_alone_a_step_is_its_operations(self):
        self.assertAlmostEqual(step(profile(("a", 2.0), ("b", 3.0, MIB), update_s=0.5), SLOW), 5.5)

    def test_gradients_that_cost_nothing_cost_nothing(self):
        what = profile(("a", 2.0), ("b", 3.0, 4 * MIB), update_s=0.5)
        for hosts, gpus in ((1, 2), (1, 8), (2, 8)):
            self.assertAlmostEqual(step(what, NOTHING, gpus=gpus, hosts=hosts), 5.5)

    def test_gradients_behind_the_pass_are_all_waited_for(self):
        """2 MiB complete with the last operation: 2 s of 1 x 2 (2 - 1) / 2 each."""
        self.assertAlmostEqual(step(profile(("a", 2.0), ("b", 3.0, 2 * MIB)), SLOW, gpus=2), 7.0)
        self.assertAlmostEqual(step(profile(("a", 2.0), ("b", 3.0, 2 * MIB)), SLOW, gpus=4), 8.0)

    def test_gradients_beside_the_pass_are_hidden(self):
        """4 MiB are buckets of 1, 1.5 and 1.5 MiB. The first is summed from 2 to 3 s, the second
        from 3 to 4.5, beside the pass; the last waits for its operation, which ends at 6 s."""
        self.assertEqual(model.buckets(4 * MIB), [MIB, 2.5 * MIB, 4 * MIB])
        what = profile(("a", 1.0), ("b", 1.0, MIB), ("c", 1.0, 3 * MIB // 2),
                       ("d", 3.0, 3 * MIB // 2))
        self.assertAlmostEqual(step(what, SLOW, gpus=2), 7.5)
        # Half as fast: 2 to 4, 4 to 7, 7 to 10 s; nothing but the last second and a half is new.
        half = dataclasses.replace(SLOW, bus=SLOW.bus / 2)
        self.assertAlmostEqual(step(what, half, gpus=2), 10.0)

    def test_computing_is_slower_beside_sums(self):
        """From 1 to 2 s 1 MiB is summed, meanwhile half a second of work is done."""
        what = profile(("a", 1.0, MIB), ("b", 3.0, 0), ("c", 0.0, 3 * MIB))
        free = model.Links(1 << 20, 0, 1, 0, 0, "ring")
        self.assertAlmostEqual(step(what, free, gpus=2, slower=1.0) -
                               step(what, free, gpus=2), 0.5)

    def test_the_slowest_device_is_waited_for(self):
        what = profile(("a", 1.0, MIB))
        fastest = step(what, NOTHING, gpus=2)
        spread = step(what, NOTHING, gpus=2, spread=0.1)
        self.assertAlmostEqual(spread / fastest, 1 + 0.1 * 0.6744897501960817)

    def test_waiting_hosts_cost_what_they_wait(self):
        """Nothing is hidden but the update, while the thread goes to the owner and back."""
        host = model.Host("waiting", 0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0)
        what = profile(("a", 1.0, MIB), update_s=0.1)
        alone = 0.01 + 0.02 + 1.0 + 0.16 + 0.08 + 0.32
        self.assertAlmostEqual(model.step_s(what, host, NOTHING), alone)
        self.assertAlmostEqual(model.step_s(what, host, NOTHING, gpus=2), alone + 2 * 0.16)

    def test_an_all_reduce_waits_for_its_host(self):
        """Which has started it after 3 s; it takes one."""
        host = model.Host("waiting", 0, 0, 3.0, 0, 0, 0, 0)
        self.assertAlmostEqual(model.step_s(profile(("a", 1.0, MIB)), host, SLOW, gpus=2), 4.0)

    def test_a_host_goes_no_further_ahead_than_it_may(self):
        host = model.Host("queued", 0, 0.3, 0, 0, 0.1, 0, 1)
        what = profile(("a", 1.0, MIB))
        self.assertAlmostEqual(model.step_s(what, host, NOTHING), 1.4)
        self.assertAlmostEqual(model.step_s(what, dataclasses.replace(host, ahead=2), NOTHING), 1)

    def test_steps_queued_ahead_hide_the_host(self):
        host = model.Host("queued", 0.1, 0.1, 0.1, 0.1, 0.1, 9.9, 2)
        self.assertAlmostEqual(model.step_s(profile(("a", 1.0, MIB)), host, NOTHING, gpus=2), 1.0)
        # Unless it has more to do than the device.
        self.assertAlmostEqual(model.step_s(profile(("a", 0.1, MIB)), host, NOTHING), 0.3)

    def test_hosts_sum_their_parts(self):
        """8 MiB: 2 x 3/4 x 8 inside, and between two hosts 2 x 1/2 x 8 / 4 on each GPU's way."""
        links = model.Links(1 << 20, 0.5, 1 << 21, 0.25, 0.125, "ring")
        self.assertAlmostEqual(links.all_reduce_s(8 << 20, 4, 2),
                               0.125 + 12 + 6 * 0.5 + 1 + 2 * 0.25)
        tree = dataclasses.replace(links, algorithm="tree")
        self.assertAlmostEqual(tree.all_reduce_s(8 << 20, 4, 1), 0.125 + 12 + 4 * 0.5)
        self.assertEqual(links.all_reduce_s(8 << 20, 1, 1), 0)

    def test_more_is_never_less(self):
        """Random steps: better links and fewer costs never take longer, more devices never less."""
        draw = random.Random(3)
        for _ in range(60):
            parts = [(str(i), draw.uniform(1e-5, 1e-3), draw.choice((0, MIB // 3, 2 * MIB)))
                     for i in range(draw.randint(1, 12))] + [("last", 1e-4, MIB)]
            what = profile(*parts, update_s=1e-4)
            links = model.Links(draw.uniform(1e9, 4e11), draw.uniform(0, 1e-5), 2e10, 1e-5, 1e-5,
                                "best")
            host = model.Host("", 1e-5, 1e-5, draw.uniform(0, 1e-4), 1e-5, 1e-5, 1e-5,
                              draw.choice((0, 1, 2)))
            before = model.step_s(what, host, links, 4)
            faster = dataclasses.replace(links, bus=2 * links.bus)
            self.assertLessEqual(model.step_s(what, host, faster, 4), before * (1 + 1e-9))
            later = dataclasses.replace(links, hop_s=links.hop_s + 1e-5)
            self.assertGreaterEqual(model.step_s(what, host, later, 4), before * (1 - 1e-9))
            dearer = dataclasses.replace(host, reduce_s=host.reduce_s + 1e-4)
            self.assertGreaterEqual(model.step_s(what, dearer, links, 4), before * (1 - 1e-9))
            self.assertGreaterEqual(model.step_s(what, host, links, 8), before * (1 - 1e-9))
            self.assertGreaterEqual(before, what.seconds * (1 - 1e-9))


class Buckets(unittest.TestCase):
    def test_they_are_the_engines(self):
        """As engine/train/sync/sync.c cuts them; resnet18 first."""
        for ends in ([262144, 5720352, 8449456, 9814016, 10496288, 10837424, 11178560],
                     [262144, 6815744, 13369344, 19922944, 26476544, 33030144, 36515072, 38257536,
                      39128768, 39564384, 40000000],
                     [262144, 1131072, 1565536, 2000000], [262144], [1000]):
            self.assertEqual(model.buckets(ends[-1]), ends)
        self.assertEqual(model.buckets(0), [])

    def test_segments_end_where_buckets_are_complete(self):
        what = profile(("a", 1.0), ("b", 2.0, MIB), ("c", 3.0), ("d", 4.0, 3 * MIB), ("e", 5.0))
        self.assertEqual(model.segments(what),
                         [(3.0, [4 * MIB]), (7.0, [6 * MIB, 6 * MIB]), (5.0, [])])


class Command(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def write(self, name, content):
        path = os.path.join(self.folder.name, name)
        with open(path, "w", encoding="utf8") as file:
            file.write(content if isinstance(content, str) else json.dumps(content))
        return path

    def test_the_measured_profile_adds_up(self):
        out = json.loads(run("--json"))
        self.assertIn("measured", out["source"])
        self.assertAlmostEqual(out["profile_ms"], 7.97, places=2)
        self.assertEqual(out["gradients"], 11175818)  # as dpartui model resnet18 says
        self.assertEqual(len(out["bucket_mb"]), 7)
        self.assertEqual(len(out["lines"]), 20)
        for line in out["lines"]:
            self.assertLessEqual(line["queued"]["efficiency"], 1 + 1e-9)
            self.assertLess(line["waiting"]["efficiency"], line["queued"]["efficiency"])
            self.assertAlmostEqual(line["queued"]["step_ms"], line["compute_ms"] +
                                   line["sync_ms"] + line["queued"]["host_ms"], places=6)

    def test_tables(self):
        text = run("--rows", "512", "--devices", "1,2x4")
        self.assertTrue(text.startswith("PREDICTION"))
        self.assertIn("bus 360", text)
        self.assertIn("settle 90", text)
        self.assertEqual([line.split()[0] for line in text.splitlines()[-2:]], ["512", "512"])
        self.assertIn("2 x 4", text.splitlines()[-1])
        # With room for what is measured.
        self.assertRegex(run("--markdown", "--rows", "8").splitlines()[-1], r"%( +\| ){2} +\|$")

    def test_gpus_share_the_line_of_their_host(self):
        """100 Gbit/s are 12.5 GB/s, of which each of five GPUs has 2.5."""
        def steps(*arguments):
            out = json.loads(run("--json", "--rows", "128", "--devices", "4x5", *arguments))
            return [(one["line"], one["queued"]["step_ms"]) for one in out["lines"]]
        (_, own), = steps("--network", "2.5")
        slow, fast = steps("--line", "100,400")
        self.assertEqual(slow, (100, own))
        self.assertLess(fast[1], slow[1])
        text = run("--rows", "128", "--devices", "2x8", "--line", "100")
        self.assertEqual(text.splitlines()[-1].split()[:2], ["100", "128"])

    EVENT = {"event": "profile", "steps": 10,
             "devices": [{"device": "cuda:0", "rows": 1000, "passes_only": False, "input_s": 0.1,
                          "loss_s": 0.2, "optimizer_s": 0.3}],
             "operations": [
                 {"layer": "a", "kind": "conv", "direction": "forward", "seconds": [1.0]},
                 {"layer": "a", "kind": "conv", "direction": "weight gradient", "seconds": [2.0]},
                 {"layer": "b", "kind": "linear", "direction": "forward", "seconds": [3.0]},
                 {"layer": "b", "kind": "linear", "direction": "data gradient", "seconds": [4.0]},
                 {"layer": "b", "kind": "linear", "direction": "weight gradient",
                  "seconds": [5.0]}]}
    MODEL = {"layers": [{"name": "a", "params": 7}, {"name": "b", "params": 9}]}

    def test_a_real_profile(self):
        got = model.read_profile(self.write("profile", self.EVENT), self.write("model", self.MODEL))
        self.assertEqual((got.rows, got.update_s), (100, 0.03))
        self.assertEqual([(one.name, round(one.seconds, 9), one.gradients)
                          for one in got.operations],
                         [("input", 0.01, 0), ("a conv forward", 0.1, 0),
                          ("b linear forward", 0.3, 0), ("loss", 0.02, 0),
                          ("b linear weight gradient", 0.5, 9), ("b linear data gradient", 0.4, 0),
                          ("a conv weight gradient", 0.2, 7)])
        text = run("--profile", self.write("profile", self.EVENT), "--layers",
                   self.write("model", self.MODEL))
        self.assertIn("1560.00 ms at 100 rows", text)
        self.assertNotIn("ESTIMATES", text)

    def test_rows_change_what_is_above_the_floor(self):
        what = model.at_rows(profile(("a", 3.0), ("b", 0.5)), 50, 1.0)
        self.assertEqual([one.seconds for one in what.operations], [2.0, 0.5])

    def test_mistakes_are_one_line(self):
        good, layers = self.write("profile", self.EVENT), self.write("model", self.MODEL)
        other = self.write("other", {"layers": [{"name": "a", "params": 7}]})
        passes = dict(self.EVENT, devices=[dict(self.EVENT["devices"][0], passes_only=True)])
        cpu = dict(self.EVENT, devices=[dict(self.EVENT["devices"][0], device="cpu:0")])
        negative = dict(self.EVENT, devices=[dict(self.EVENT["devices"][0], loss_s=-1)])
        for arguments, says in (
                (["--profile", good], "--layers"),
                (["--profile", "/no/such", "--layers", layers], "/no/such"),
                (["--profile", self.write("x", "{"), "--layers", layers], "cannot read"),
                (["--profile", self.write("y", "[]"), "--layers", layers], "not a profile"),
                (["--profile", layers, "--layers", layers], "model is not a profile"),
                (["--profile", good, "--layers", good], "profile is not the output of dpartui mo"),
                (["--profile", self.write("c", cpu), "--layers", layers], "of cpu:0"),
                (["--profile", self.write("n", negative), "--layers", layers], "not a profile"),
                (["--json", "--markdown"], "not allowed"),
                (["--profile", self.write("z", passes), "--layers", layers], "apart"),
                (["--profile", good, "--layers", other], "no layer 'b'"),
                (["--rows", "0"], "--rows"), (["--rows", "few"], "--rows"),
                (["--devices", "2x"], "--devices"), (["--devices", "0"], "--devices"),
                (["--bus", "0"], "--bus"), (["--hop", "-1"], "--hop"), (["--hop", "nan"], "--hop"),
                (["--ahead", "0"], "--ahead"), (["--line", "0"], "--line"), (["more"], "more")):
            with self.subTest(arguments=arguments), self.assertRaises(BadInput) as caught:
                run(*arguments)
            self.assertIn(says, str(caught.exception))
            self.assertNotIn("\n", str(caught.exception))


if __name__ == "__main__":
    unittest.main(verbosity=2)
