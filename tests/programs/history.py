#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs that are kept: lists, changes and exports of them, with and without an engine."""

import csv
import glob
import io
import json
import math
import os
import re
import signal
import sqlite3
import struct
import sys
import time
import unittest
import xml.etree.ElementTree

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../harness"))
import cli  # noqa: E402

DATA = ["--model", "linear", "--data", "random:200x10", "--batch", "20"]
SVG = "{http://www.w3.org/2000/svg}"


def crc32c(data):
    """From the polynomial's definition, bit by bit over the reversed bytes."""
    remainder = 0xffffffff
    for byte in data:
        for bit in range(8):
            top = (remainder & 1) ^ (byte >> bit & 1)
            remainder = (remainder >> 1) ^ (0x82f63b78 if top else 0)
    return remainder ^ 0xffffffff


def masked(data):
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + 0xa282ead8) & 0xffffffff


def records(data):
    """The records of a TFRecord file, whose checksums must be right."""
    at = 0
    while at < len(data):
        length, = struct.unpack_from("<Q", data, at)
        assert struct.unpack_from("<I", data, at + 8)[0] == masked(data[at:at + 8])
        body = data[at + 12:at + 12 + length]
        assert len(body) == length
        assert struct.unpack_from("<I", data, at + 12 + length)[0] == masked(body)
        yield body
        at += 16 + length


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7f) << shift
        shift += 7
        at += 1
        if data[at - 1] < 0x80:
            return value, at


def fields(data):
    """(number, value) of a message of protocol buffers."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        wire = key & 7
        if wire == 0:
            value, at = varint(data, at)
        else:
            length = {1: 8, 5: 4}.get(wire)
            if wire == 2:
                length, at = varint(data, at)
            value = data[at:at + length]
            at += length
        yield key >> 3, value


def board_events(path):
    """[(wall time, step, {tag: value})] of an event file, without its first record."""
    with open(path, "rb") as file:
        messages = [dict(fields(body)) for body in records(file.read())]
    assert messages[0][3] == b"brain.Event:2"
    events = []
    for message in messages[1:]:
        values = {}
        for number, value in fields(message[5]):
            assert number == 1
            parts = dict(fields(value))
            if 2 in parts:
                values[parts[1].decode()] = struct.unpack("<f", parts[2])[0]
        if values:
            events.append((struct.unpack("<d", message[1])[0], message.get(2, 0), values))
    return events


def board_settings(path):
    """The hyperparameters of an event file: {name: word or number}."""
    with open(path, "rb") as file:
        messages = [dict(fields(body)) for body in records(file.read())]
    for message in messages[1:]:
        parts = dict(fields(dict(fields(message[5]))[1]))
        if parts[1] != b"_hparams_/session_start_info":
            continue
        plugin = dict(fields(dict(fields(parts[9]))[1]))
        assert plugin[1] == b"hparams"
        session = dict(fields(plugin[2]))[3]
        settings = {}
        for number, value in fields(session):
            if number != 1:
                continue
            entry = dict(fields(value))
            (kind, data), = fields(entry[2])
            settings[entry[1].decode()] = (data.decode() if kind == 3
                                           else struct.unpack("<d", data)[0])
        return settings
    return None


class Case(cli.Case):
    def setUp(self):
        super().setUp()
        self.env["LC_ALL"] = "C.UTF-8"

    def numbers(self, *arguments):
        return [run["run"] for run in self.good_json("runs", *arguments)]

    def train(self, *arguments):
        self.good("train", *DATA, *arguments)

    def kill_engine(self):
        engine = self.good_json("engine", "status")["pid"]
        os.kill(engine, signal.SIGKILL)
        self.wait_gone(engine)


class Runs(Case):
    def three(self):
        self.train("--epochs", "2", "--note", "first <&> \u00fc")
        self.train("--epochs", "1", "--lr", "0.5", "--devices", "cpu:0-1")
        self.train("--epochs", "3", "--lr", "0.001")

    def test_lists_are_filtered_and_sorted(self):
        self.three()
        self.assertEqual(self.numbers(), [1, 2, 3])
        self.assertEqual(self.numbers("--sort", "-lr"), [2, 1, 3])
        self.assertEqual(self.numbers("--sort", "epochs"), [2, 1, 3])
        self.assertEqual(self.numbers("--sort", "-date", "--limit", "2"), [3, 2])
        self.assertEqual(self.numbers("--limit", "2"), [2, 3])
        accuracies = [run["test_acc"] for run in self.good_json("runs", "--sort", "-acc")]
        self.assertEqual(accuracies, sorted(accuracies, reverse=True))
        self.assertEqual(self.numbers("--devices", "cpu:0,cpu:1"), [2])
        self.assertEqual(self.numbers("CPU:0-1"), [2])
        self.assertEqual(self.numbers("linear", "first"), [1])
        self.assertEqual(self.numbers("--model", "Linear", "--status", "done"), [1, 2, 3])
        self.assertEqual(self.numbers("--status", "failed"), [])
        self.assertEqual(self.numbers("--since", "1h"), [1, 2, 3])
        self.assertEqual(self.numbers("--until", "1h"), [])
        today = time.strftime("%Y-%m-%d")
        self.assertEqual(self.numbers("--until", "2001-01-01"), [])
        self.assertIn(today[:8], self.good("runs"))
        self.assertEqual(self.run_program("runs", "elephant").stderr, "dpartui: no run matches\n")
        for comparison in "bacth=64", "run=3", "run<=7":
            self.assertRegex(self.run_program("runs", comparison).stderr,
                             "^dpartui: no run matches: .* the workbench's filter; .*--model")
        for arguments, says in ((["--sort", "spede"], "speed"), (["--since", "never"], "never"),
                                (["--limit", "0"], "--limit"), (["--until", "2026-02-30"], "02-30")):
            self.assertIn(says, self.bad(2, "runs", *arguments))

    def test_a_learning_rate_that_changes_has_a_column(self):
        data = ["train", "--model", "linear", "--data", "random:200x10", "--epochs", "3",
                "--batch", "20", "--lr", "0.1"]
        self.good(*data)
        self.assertRegex(self.good("show", "1"), r"\nEPOCH  TRAIN LOSS  TRAIN ACC  TEST LOSS ")
        self.good(*data, "--lr-schedule", "step:1:0.5")
        table = self.good("show", "2").rpartition("EPOCH")[2].splitlines()
        self.assertRegex(table[0], "^ +LR  TRAIN LOSS  TRAIN ACC  TEST LOSS ")
        self.assertEqual([line.split()[:2] for line in table[1:]],
                         [["1", "0.1"], ["2", "0.05"], ["3", "0.025"]])

    def settle(self):
        """What was changed last is in the store a moment later."""
        self.wait_for("the tags in the store",
                      lambda: self.query("SELECT count(*) FROM tags") == [(2,)])
        self.wait_for("the note in the store",
                      lambda: self.query("SELECT note FROM runs WHERE number = 3 AND note"
                                         " IS NOT NULL"))

    def test_an_unknown_status_is_refused(self):
        self.assertIn("must be one of queued, running", self.bad(2, "runs", "--status", "doone"))
        self.assertEqual(self.numbers("--status", "DONE"), [])

    def test_notes_tags_and_deletion(self):
        self.three()
        self.good("runs", "tag", "1", "thesis", "+old")
        self.good("runs", "tag", "2", "thesis")
        self.good("runs", "tag", "1", "-old")
        self.good("runs", "note", "3", "slow \u00e9")
        self.assertEqual(self.good_json("show", "1")["tags"], ["thesis"])
        self.assertIn("tags: thesis\n", self.good("show", "1"))
        self.assertRegex(self.good("runs"), r"(?m)^ *2 .* #thesis$")
        self.assertEqual(self.numbers("--tag", "Thesis"), [1, 2])
        self.assertEqual(self.numbers("slow"), [3])
        self.assertIn("--yes", self.bad(2, "runs", "delete", "1", "2"))
        self.assertIn("no run 9", self.bad(1, "runs", "delete", "9"))
        self.assertIn("RUN", self.bad(2, "runs", "delete"))
        self.assertIn("quotes", self.bad(2, "runs", "note", "1", "two", "words"))
        self.bad(2, "runs", "tag", "1", "two words")
        most = [f"tag{i}" for i in range(19)]
        self.good("runs", "tag", "1", *most)
        self.assertIn("run 1 would have 21 tags: at most 20", self.bad(2, "runs", "tag", "1", "more"))
        self.assertEqual(self.good_json("show", "1")["tags"], sorted([*most, "thesis"]))
        self.good("runs", "tag", "1", *(f"-{tag}" for tag in most))
        self.settle()
        self.kill_engine()
        self.assertEqual(self.numbers("--tag", "thesis"), [1, 2])
        said = self.bad(1, "runs", "delete", "1", "3", "9", "--yes")
        self.assertRegex(said, r": nothing was deleted: there is no run 9$")
        self.assertEqual(self.numbers(), [1, 2, 3])
        self.good("runs", "delete", "1", "3", "1", "--yes")
        self.assertEqual(self.numbers(), [2])
        self.kill_engine()
        self.assertEqual(self.numbers(), [2])
        self.assertIn("no run 1", self.bad(1, "show", "1"))
        self.train("--epochs", "1")
        self.assertEqual(self.numbers(), [2, 4], "a number was given twice")

    def test_runs_older_than_those_at_hand_are_changed_too(self):
        self.three()
        self.good("engine", "stop")
        db = sqlite3.connect(os.path.join(self.folder, "data", "dpartui", "runs.db"))
        columns = "status, model, data, devices, batch, lr, submitted_at, spec"
        with db:
            db.executemany(f"INSERT INTO runs (number, object, {columns}) SELECT ?, "
                           f"json_set(object, '$.run', ?), {columns} FROM runs WHERE number = 2",
                           [(number, number) for number in range(4, 1104)])
        db.close()
        self.good("engine", "start")
        screen = ["screen", "--view", "runs", "--size", "100x30"]
        self.assertIn("newest 1000 of 1103 runs,", self.good(*screen))
        self.train("--epochs", "1")
        self.good("runs", "tag", "1", "ancient")
        self.good("runs", "note", "1", "where it began")
        self.good("runs", "note", "2", "the second")
        self.good("runs", "delete", "3", "--yes")
        self.bad(1, "runs", "note", "3", "again")
        self.good("runs", "delete", *map(str, range(900, 1100)), "--yes")
        self.assertRegex(self.good(*screen), r"newest 80\d of 903 runs,")
        shown = self.good_json("show", "1")
        self.assertEqual((shown["tags"], shown["note"]), (["ancient"], "where it began"))
        self.assertEqual(len(shown["epochs"]), 2)
        self.good("engine", "stop")
        self.assertEqual(self.numbers("--tag", "ancient"), [1])
        self.assertEqual(self.numbers("began"), [1])
        self.assertEqual(self.numbers("the", "second"), [2])
        self.assertEqual(self.numbers()[:3], [1, 2, 4])

    def told_interrupted(self, **asks):
        """What the engine answers to who watches from now on."""
        return self.ask("watch", **asks).get("interrupted")

    def test_a_killed_engine_loses_no_epoch_that_was_told(self):
        self.train("--epochs", "1000000", "--detach")
        self.wait_for("the run", self.numbers)
        self.wait_for("some epochs", lambda: self.good_json("show", "1")["epochs_done"] > 20)
        known = self.good_json("show", "1")["epochs_done"]
        self.wait_for("them in the store", lambda: self.query(
            "SELECT count(*) FROM events WHERE run = 1 AND name = 'epoch'") >= [(known,)])
        self.kill_engine()
        run = self.good_json("show", "1")
        self.assertGreaterEqual(len(run["epochs"]), known)
        self.assertEqual([epoch["epoch"] for epoch in run["epochs"]],
                         list(range(1, len(run["epochs"]) + 1)))
        # Before there is an engine to write it down, and after.
        self.wait_for("the end of its last thread",
                      lambda: self.good_json("show", "1")["status"] == "interrupted")
        self.assertIn("crashed or was killed", self.good("show", "1"))
        self.assertEqual(self.numbers("--status", "interrupted"), [1])
        self.good("engine", "start")
        self.assertEqual(self.good_json("runs")[0]["status"], "interrupted")
        self.assertEqual(self.numbers("--status", "interrupted"), [1])
        # Pictures and other programs that watch do not take it away from the workbench.
        self.good("screen")
        self.assertIsNone(self.told_interrupted())
        self.assertEqual(self.told_interrupted(interrupted=True), [1])
        self.assertIsNone(self.told_interrupted(interrupted=True))
        self.good("engine", "stop")
        self.good("engine", "start")
        self.assertIsNone(self.told_interrupted(interrupted=True))

    def test_runs_that_a_crash_has_ended_are_followed_to_their_end(self):
        for _ in range(2):
            self.train("--epochs", "1000000", "--detach")
        self.wait_for("epochs in the store", lambda: self.query(
            "SELECT count(*) FROM events WHERE run = 1 AND name = 'epoch'") > [(2,)])
        self.wait_for("both runs in the store",
                      lambda: self.query("SELECT count(*) FROM runs") == [(2,)])
        self.kill_engine()
        self.good("engine", "start")
        for _ in range(2):
            self.assertIn("run 1 was interrupted: the engine ", self.bad(1, "follow", "1"))
            self.assertIn("before the run began", self.bad(1, "follow", "2"))
        done = self.run_program("follow", "1", "--json")
        end = json.loads(done.stdout.splitlines()[-1])
        self.assertEqual((end["event"], end["status"]), ("end", "interrupted"))
        epoch = self.good_json("show", "1")["epochs"][-1]
        self.assertGreater(epoch["step"], 0)
        self.assertEqual(end["epochs"], epoch["epoch"])
        self.assertGreaterEqual(end["steps"], epoch["step"])

    def test_a_dying_engine_is_waited_for(self):
        self.good("train", "--detach", *DATA, "--epochs", "1000000", "--checkpoint-every", "0.01m")
        kept = self.path("data/dpartui/checkpoints/1/step-*.safetensors")
        for _ in range(6):
            self.wait_for("a checkpoint", lambda: glob.glob(kept))
            os.kill(self.good_json("engine", "status")["pid"], signal.SIGKILL)
            self.good("train", "--detach", "--resume", "1")
        # It is not interrupted any more; the last engine may have ended before it trained at all.
        self.assertFalse(self.told_interrupted(interrupted=True))

    def test_everything_of_a_run_is_shown_without_an_engine(self):
        self.train("--epochs", "2", "--devices", "cpu:0-1", "--note", "here")
        before = self.good("show", "1")
        self.good("engine", "stop")
        shown = self.good("show", "1")
        self.assertEqual(shown, before)
        for text in ("note: here", "host ", "cpu:0 ", "submitted ", "EPOCH", "version "):
            self.assertIn(text, shown)
        run = self.good_json("show", "1")
        self.assertRegex(" ".join(run["environment"]["libraries"]), r"^oneDNN \d+\.\d+")
        self.assertEqual([device["device"] for device in run["environment"]["devices"]],
                         ["cpu:0", "cpu:1"])
        self.assertEqual(len(run["epochs"]), 2)
        noise = [epoch["noise_scale"] for epoch in run["epochs"] if epoch["noise_scale"]][-1]
        found = re.search(r"^Noise scale (\d+): batches up to about \1 rows", shown, re.M)
        self.assertAlmostEqual(float(found[1]) / noise, 1, 1)
        self.assertFalse(self.good_json("engine", "status")["running"])

    def test_two_runs_are_shown_side_by_side(self):
        self.train("--epochs", "2", "--note", "first")
        self.train("--epochs", "1", "--lr", "0.5", "--devices", "cpu:0-1")
        shown = self.good("show", "2", "1")
        self.assertRegex(shown, r"(?m)^ +RUN 2 +RUN 1$")
        self.assertRegex(shown, r"(?m)^epochs done +1 +2$")
        self.assertRegex(shown, r"(?m)^lr +0\.5 +0\.1$")
        self.assertRegex(shown, r"(?m)^devices +cpu:0-1 +cpu:0$")
        self.assertNotIn("momentum", shown)
        pair = self.good_json("show", "2", "1")
        self.assertEqual(pair["runs"], [2, 1])
        self.assertEqual(pair["results"]["epochs_done"], [1, 2])
        self.assertEqual(pair["settings"]["lr"], [0.5, 0.1])
        self.assertNotIn("momentum", pair["settings"])
        self.assertEqual(pair["retunes"], [[], []])
        self.assertIn("all settings are the same", self.good("show", "1", "1"))
        self.bad(2, "show", "1", "2", "--profile")
        self.bad(1, "show", "1", "9")
        self.bad(2, "show", "1", "2", "1")

    def test_a_store_that_cannot_be_read(self):
        self.assertEqual(self.numbers(), [])
        os.makedirs(self.path("data/dpartui"))
        store = self.path("data/dpartui/runs.db")
        with open(store, "wb") as file:
            file.write(b"no store at all, and longer than a header would be " * 100)
        for arguments in (["runs"], ["show", "1"], ["export", "1", "--csv"]):
            self.assertIn("runs.db", self.bad(1, *arguments))
        with open(store, "rb") as file:
            self.assertTrue(file.read().startswith(b"no store at all"), "it was written to")
        aside = re.search(r"warning: .*(runs\.db\.damaged[-\w]*)", self.good("train", *DATA, "--epochs", "1"))
        with open(self.path("data/dpartui/" + aside[1]), "rb") as file:
            self.assertTrue(file.read().startswith(b"no store at all"), "it was not kept")
        self.assertNotIn("warning", self.good("train", *DATA, "--epochs", "1"))
        self.assertEqual(len(self.numbers()), 2)

    def test_owners_of_runs_that_are_not_kept_are_told(self):
        self.train("--epochs", "1")
        self.good("engine", "stop")
        with sqlite3.connect(self.path("data/dpartui/runs.db")) as store:
            store.execute("PRAGMA user_version = 99")
        for _ in range(2):
            self.assertRegex(self.good("train", *DATA, "--epochs", "1"),
                             r"warning: this run is not kept.*newer version")

    def test_a_home_behind_a_link_keeps_runs(self):
        os.mkdir(self.path("real"))
        os.symlink(self.path("real"), self.path("home"))
        for variable in ("XDG_DATA_HOME", "XDG_STATE_HOME"):
            del self.env[variable]
        self.env["HOME"] = self.path("home")
        self.assertNotIn("warning", self.good("train", *DATA, "--epochs", "1"))
        self.assertTrue(os.path.exists(self.path("real/.local/share/dpartui/runs.db")))
        self.good("engine", "stop")
        self.assertEqual(self.numbers(), [1])

    def test_without_a_home_runs_are_trained_with_a_warning(self):
        for variable in ("XDG_DATA_HOME", "XDG_STATE_HOME"):
            del self.env[variable]
        for home, reason in (("", "neither XDG_DATA_HOME nor HOME"), ("here", "nor HOME"),
                             ("/proc", "cannot make this directory")):
            self.env["HOME"] = home
            out = self.good("train", *DATA, "--epochs", "1")
            self.assertRegex(out, "warning: this run is not kept.*" + reason)
            self.assertEqual(out.count("warning"), 1, out)
            with open(self.path("dpartui/engine.log"), encoding="utf8") as file:
                self.assertIn(reason, file.read())
            self.good("engine", "stop")


class Export(Case):
    def test_tables(self):
        self.train("--epochs", "2")
        self.train("--epochs", "3")
        text = self.good("export", "1", "2", "--csv")
        self.assertEqual(self.good("export", "1", "2"), text)
        table = list(csv.DictReader(io.StringIO(text)))
        self.assertEqual([(row["run"], row["epoch"]) for row in table],
                         [("1", "1"), ("1", "2"), ("2", "1"), ("2", "2"), ("2", "3")])
        epochs = self.good_json("show", "2")["epochs"]
        for row, epoch in zip(table[2:], epochs):
            for key in ("train_loss", "test_acc", "seconds", "rows", "lr"):
                self.assertEqual(float(row[key]), epoch[key])
        points = list(csv.DictReader(io.StringIO(self.good("export", "2", "--csv", "--points"))))
        self.assertEqual(sum(int(row["steps"]) for row in points), 30)

    def test_json_holds_all(self):
        self.train("--epochs", "2")
        self.good("engine", "stop")
        runs = self.good_json("export", "1")
        self.assertEqual(len(runs), 1)
        for member in ("spec", "environment", "epochs", "points", "retunes", "events", "tags",
                       "device_figures", "submitted_at"):
            self.assertIn(member, runs[0])

    def members_once(self, pairs):
        names = [name for name, _ in pairs]
        self.assertEqual(len(set(names)), len(names), names)
        return dict(pairs)

    def test_json_has_each_member_once(self):
        self.train("--epochs", "2")
        for place in "an engine", "the store":
            for command in ("show", "export"):
                json.loads(self.good(command, "1", "--json"), object_pairs_hook=self.members_once)
            self.good("engine", "stop")

    def test_pictures(self):
        self.train("--epochs", "4", "--note", "a <b> & \"c\"")
        self.train("--epochs", "1")
        picture = self.path("curves.svg")
        self.good("export", "1", "2", "--output", picture)
        root = xml.etree.ElementTree.parse(picture).getroot()
        self.assertEqual(root.tag, SVG + "svg")
        texts = ["".join(text.itertext()) for text in root.iter(SVG + "text")]
        self.assertIn("run 1: cpu:0, batch 20, lr 0.1, a <b> & \"c\"", texts)
        self.assertIn("epoch", texts)
        groups = [group for group in root.iter(SVG + "g") if group.find(SVG + "title") is not None]
        self.assertEqual(len(groups), 2)
        dots = [len(group.findall(SVG + "circle")) for group in groups]
        self.assertEqual(dots, [4, 1])
        path = groups[0].find(SVG + "path").get("d")
        self.assertEqual(len(re.findall("[ML]", path)), 4)
        heights = [float(y) for y in re.findall(r"[ML][\d.]+ ([\d.]+)", path)]
        accuracies = [epoch["test_acc"] for epoch in self.good_json("show", "1")["epochs"]]
        for i in range(3):  # higher is nearer to the top
            self.assertEqual(heights[i] > heights[i + 1], accuracies[i] < accuracies[i + 1])
        self.assertNotEqual(groups[0].get("class"), groups[1].get("class"))
        self.assertNotRegex(self.good("export", "1", "--svg"), r"(href|src)=")
        # What is not common to all is said of each.
        self.train("--epochs", "1", "--data", "glyphs", "--train-rows", "40", "--test-rows", "20")
        self.assertIn("run 3: glyphs, cpu:0,", self.good("export", "1", "3", "--svg"))
        for figure in ("train_loss", "lr", "samples_per_s", "seconds"):
            xml.etree.ElementTree.fromstring(
                self.good("export", "1", "2", "--svg", "--figure", figure).encode())

    def test_a_rate_that_was_changed_is_that_of_the_list(self):
        def listed(member):
            return self.good_json("runs")[0][member]

        self.good("train", *cli.ENDLESS, "--lr", "0.1", "--detach")
        self.wait_for("its begin", lambda: listed("status") == "running")
        self.ask("set_lr", run=1, lr=0.05)
        self.wait_for("the change", lambda: listed("retunes") == 1)
        self.good("stop", "1", "--now")
        self.wait_for("its end", lambda: listed("status") == "stopped")
        for _ in range(2):
            self.assertEqual(listed("lr"), 0.05)
            self.assertIn(">run 1: cpu:0, batch 20, lr 0.05<", self.good("export", "1", "--svg"))
            self.good("engine", "stop")  # then the store says it

    def test_mistakes(self):
        self.train("--epochs", "1")
        for arguments, says in ((["--figure", "lr"], "--svg"), (["--csv", "--svg"], "exclude"),
                                (["--json", "--points"], "--csv"),
                                (["--csv", "--figure", "lr"], "--svg"),
                                (["--svg", "--figure", "tset_acc"], "test_acc"),
                                (["--csv", "--tensorboard", "x"], "exclude")):
            self.assertIn(says, self.bad(2, "export", "1", *arguments))
        self.assertIn("no run 7", self.bad(1, "export", "1", "7", "--csv"))
        self.assertIn("/no/such", self.bad(1, "export", "1", "--csv", "--output", "/no/such/file"))
        self.assertIn("file to write is empty", self.bad(2, "export", "1", "--csv", "--output", ""))
        self.assertIn("picture", self.bad(2, "export", *["1"] * 31, "--svg"))

    def test_a_file_appears_whole_or_not_at_all(self):
        self.train("--epochs", "1")
        table = self.path("table.csv")
        with open(table, "w", encoding="ascii") as file:
            file.write("before\n")
        self.bad(1, "export", "9", "--csv", "--output", table)
        with open(table, encoding="ascii") as file:
            self.assertEqual(file.read(), "before\n")
        self.good("export", "1", "--csv", "--output", table)
        with open(table, encoding="ascii") as file:
            self.assertTrue(file.read().startswith("run,epoch,"))
        self.assertEqual(glob.glob(self.path("table*")), [table])


class TensorBoard(Case):
    def check(self, folder, epochs):
        """An event file in `folder` that tells the same as the epochs."""
        files = glob.glob(os.path.join(folder, "events.out.tfevents.*"))
        self.assertEqual(len(files), 1)
        events = board_events(files[0])
        tested = [(step, values) for _, step, values in events if "test/loss" in values]
        self.assertEqual([step for step, _ in tested], [epoch["step"] for epoch in epochs])
        for (_, values), epoch in zip(tested, epochs):
            self.assertAlmostEqual(values["test/accuracy"], epoch["test_acc"], 6)
            self.assertAlmostEqual(values["test/loss"], epoch["test_loss"], 5)
        trained = [(step, values) for _, step, values in events if "train/loss" in values]
        steps = [step for step, _ in trained]
        self.assertEqual(steps, sorted(set(steps)))
        self.assertEqual(steps[-1], epochs[-1]["step"])
        self.assertEqual({round(values["learning_rate"], 6) for _, values in trained}, {0.1})
        times = [when for when, _, _ in events]
        self.assertEqual(times, sorted(times))
        self.assertLess(abs(times[-1] - time.time()), 600)
        return files[0], trained

    def test_a_detached_run_writes_them(self):
        number = self.good("train", *DATA, "--epochs", "3", "--detach", "--tensorboard", "board",
                           cwd=self.folder).strip()
        self.wait_for("its end", lambda: self.good_json("show", number)["status"] == "done")
        run = self.good_json("show", number)
        _, trained = self.check(self.path("board/run-1"), run["epochs"])
        self.assertEqual([step for step, _ in trained], list(range(1, 31)))
        losses = [values["train/loss"] for _, values in trained]
        for epoch in run["epochs"]:
            mean = sum(losses[epoch["step"] - 10:epoch["step"]]) / 10
            self.assertAlmostEqual(mean, epoch["train_loss"], 5)

    def test_they_have_settings_and_the_rate_of_each_step(self):
        """Live and exported; the rates by the formulas of the schedule."""
        self.train("--epochs", "3", "--optimizer", "adam", "--lr", "0.01", "--lr-schedule",
                   "cosine", "--warmup", "1", "--label-smoothing", "0.1", "--clip-norm", "1",
                   "--tensorboard", self.path("board"))
        run = self.good_json("show", "1")
        self.good("export", "1", "--tensorboard", self.path("kept"))
        for folder in ("board", "kept"):
            path, = glob.glob(self.path(folder + "/run-1/events.out.tfevents.*"))
            settings = board_settings(path)
            for key, value in run["spec"].items():
                if isinstance(value, bool):
                    self.assertEqual(settings[key], "yes" if value else "no")
                elif isinstance(value, (str, int, float)):
                    self.assertEqual(settings[key], value)
            self.assertEqual((settings["optimizer"], settings["lr_schedule"], settings["warmup"],
                              settings["label_smoothing"], settings["beta2"]),
                             ("adam", "cosine", 1, 0.1, 0.999))
            rates = {step: values["learning_rate"] for _, step, values in board_events(path)
                     if "learning_rate" in values}
            self.assertGreaterEqual(len(rates), 3)
            for step, rate in rates.items():
                done = step - 1
                wanted = (0.01 * (done + 1) / 11 if done < 10 else
                          0.005 * (1 + math.cos(math.pi * (done - 10) / 20)))
                self.assertAlmostEqual(rate, wanted, 8, (folder, step))
        exported = self.good_json("export", "1", "--json")
        exported = exported[0] if isinstance(exported, list) else exported
        self.assertEqual(exported["spec"]["lr_schedule"], "cosine")
        self.assertEqual(exported["spec"]["origins"]["lr"], "given")
        rows = list(csv.DictReader(io.StringIO(self.good("export", "1", "--csv"))))
        self.assertEqual([float(row["lr"]) for row in rows],
                         [epoch["lr"] for epoch in run["epochs"]])
        norms = [epoch["grad_norm"] for epoch in run["epochs"]]
        self.assertEqual([float(row["grad_norm"]) for row in rows], norms)
        shown = [values["gradient_norm"] for _, _, values in board_events(path)
                 if "gradient_norm" in values]
        self.assertEqual(len(shown), 3)
        for value, norm in zip(shown, norms):
            self.assertAlmostEqual(value / norm, 1, 6)

    def test_many_steps_are_summed_up(self):
        self.train("--epochs", "300", "--tensorboard", self.path("board"))
        run = self.good_json("show", "1")
        _, trained = self.check(self.path("board/run-1"), run["epochs"])
        self.assertLess(len(trained), 2000)
        self.assertGreater(len(trained), 500)

    def test_runs_of_the_same_number_do_not_mix(self):
        for _ in range(2):
            self.train("--epochs", "1", "--foreground", "--tensorboard", self.path("board"))
        self.assertEqual(sorted(os.listdir(self.path("board"))), ["run-1", "run-1.2"])

    def test_kept_runs_become_event_files(self):
        self.train("--epochs", "3")
        self.good("engine", "stop")
        self.good("export", "1", "--tensorboard", self.path("board"))
        self.check(self.path("board/run-1"), self.good_json("show", "1")["epochs"])

    def test_tensorboard_reads_them(self):
        try:
            from tensorboard.backend.event_processing import event_accumulator
        except ImportError:
            self.skipTest("there is no TensorBoard")
        self.train("--epochs", "3", "--tensorboard", self.path("board"))
        read = event_accumulator.EventAccumulator(self.path("board/run-1"))
        read.Reload()
        self.assertEqual([scalar.step for scalar in read.Scalars("test/accuracy")], [10, 20, 30])

    def test_a_folder_that_cannot_be_made_is_refused(self):
        with open(self.path("file"), "w", encoding="ascii"):
            pass
        self.assertIn("tensorboard", self.bad(2, "train", *DATA, "--tensorboard",
                                              self.path("file/board")))
        self.assertIn("tensorboard", self.bad(2, "train", *DATA, "--tensorboard",
                                              self.path("file")))


if __name__ == "__main__":
    if not os.path.exists(cli.PROGRAM):
        sys.exit("build the programs first")
    unittest.main()
