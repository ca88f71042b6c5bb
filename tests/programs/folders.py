#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The folders of the source are as docs/design.md says: which there are, how large, what includes what.

Its table under "Folders" names each folder and what its files may include, besides their own folder
and src/base. An arrow that is not in the table fails, and so does one in the table that no file needs
any more. Folders that include each other in a circle are listed below the table as knots; no circle
may join others, and one that is gone leaves the list.

    tests/programs/folders.py           compare
    tests/programs/folders.py --sizes   print how many source files each folder has
"""

import os
import re
import sys
import unittest

ROOT = os.environ.get("top_srcdir") or os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                                    "../..")
DESIGN = os.path.join(ROOT, "docs/design.md")
TOPS = ("engine", "src", "ui")
FREE = "src/base"  # may be included everywhere, and includes nothing
MOST_SOURCES = 25  # that are compiled
MOST_FILES = 30  # with their headers
MOST_LINES = 400


def source_files():
    for top in TOPS:
        for folder, _, names in os.walk(os.path.join(ROOT, top)):
            for name in names:
                if name.endswith((".c", ".cu", ".h")):
                    yield os.path.relpath(os.path.join(folder, name), ROOT)


def text_of(path):
    with open(os.path.join(ROOT, path), encoding="utf8") as file:
        return file.read()


def arrows():
    """(folder, folder): one file with such an include."""
    files, found = set(source_files()), {}
    for path in sorted(files):
        for name in re.findall(r'^#\s*include "([^"]+)"', text_of(path), re.M):
            for target in (name, f"src/{name}"):
                ends = os.path.dirname(path), os.path.dirname(target)
                if target in files and ends[0] != ends[1]:
                    found.setdefault(ends, f"{path} includes {name}")
    return found


def sizes():
    """Of each folder: how many files are compiled."""
    count = {}
    for path in source_files():
        folder = os.path.dirname(path)
        count[folder] = count.get(folder, 0) + (not path.endswith(".h"))
    return count


def quoted(cell):
    return re.findall(r"`([^`]+)`", cell)


def table():
    """Of each folder in the table: what it may include."""
    rows = {}
    for folder, allowed in re.findall(r"^\| `([^`]+)` \|[^|]+\|([^|]*)\|$", text_of(DESIGN), re.M):
        rows[folder] = quoted(allowed)
    return rows


def listed_knots():
    return [quoted(line) for line in re.findall(r"^- Knot: (.*(?:\n  .*)*)", text_of(DESIGN), re.M)]


def circles(edges):
    """Sets of folders that reach each other (Tarjan's algorithm)."""
    order, low, stack, found = {}, {}, [], []

    def visit(node):
        order[node] = low[node] = len(order)
        stack.append(node)
        for a, b in edges:
            if a != node:
                continue
            if b not in order:
                visit(b)
                low[node] = min(low[node], low[b])
            elif b in stack:
                low[node] = min(low[node], order[b])
        if low[node] == order[node]:
            at = stack.index(node)
            if len(stack) - at > 1:
                found.append(set(stack[at:]))
            del stack[at:]

    for node in sorted({node for edge in edges for node in edge}):
        if node not in order:
            visit(node)
    return found


class Folders(unittest.TestCase):
    def test_table_has_every_folder(self):
        self.assertEqual(sorted(table()), sorted(sizes()))

    def test_arrows_are_those_of_the_table(self):
        found, rows = arrows(), table()
        for (a, b), example in found.items():
            self.assertTrue(b == FREE or b in rows[a],
                            f"{example}, but the table in docs/design.md has no arrow from {a} "
                            f"to {b}")
        for a, allowed in rows.items():
            for b in allowed:
                self.assertTrue((a, b) in found, f"no file in {a} includes one of {b} any more")
        self.assertEqual(rows[FREE], [])

    def test_includes_begin_at_the_top(self):
        """Others would make no arrow."""
        files = set(source_files())
        for path in files:
            for name in re.findall(r'^\s*#\s*include\s*"([^"]+)"', text_of(path), re.M):
                self.assertTrue(name == "config.h" or name.startswith("tests/simgpu/") or
                                files & {name, f"src/{name}"}, f"{path} includes {name}")

    def test_circles_are_those_listed(self):
        found = sorted(sorted(circle) for circle in circles(list(arrows())))
        self.assertEqual(found, sorted(sorted(knot) for knot in listed_knots()))

    def test_folders_and_files_are_small(self):
        for folder, count in sizes().items():
            self.assertLessEqual(count, MOST_SOURCES, folder)
        folders = [os.path.dirname(path) for path in source_files()]
        for folder in set(folders):
            self.assertLessEqual(folders.count(folder), MOST_FILES, folder)
        for path in source_files():
            self.assertLessEqual(text_of(path).count("\n"), MOST_LINES, path)

    def test_functions_have_no_blank_lines(self):
        for path in source_files():
            for body in re.findall(r"^\{\n(.*?)^\}", text_of(path), re.M | re.S):
                self.assertFalse("\n\n" in body, f"{path}: {body[:60]}...")

    def test_each_folder_has_a_fragment(self):
        makefile = text_of("Makefile.am")
        for folder in sizes():
            self.assertTrue(f"include $(top_srcdir)/{folder}/local.mk\n" in makefile,
                            f"Makefile.am does not include {folder}/local.mk")
        for path in source_files():
            folder, name = os.path.split(path)
            self.assertRegex(text_of(f"{folder}/local.mk"), rf"%D%/{re.escape(name)}\b", path)


if __name__ == "__main__":
    if sys.argv[1:] == ["--sizes"]:
        for name, number in sorted(sizes().items()):
            print(f"{number:4} {name}")
    else:
        unittest.main()
