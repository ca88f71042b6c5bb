#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""No source, screen, manual or document has a phrase that was replaced by a plainer one.

Phrases are found over line ends too, of comments and of strings that are written in parts.

    tests/programs/words.py          compare
    tests/programs/words.py PHRASE   print where a phrase (a regular expression) is
"""

import functools
import os
import re
import sys
import unittest

ROOT = os.environ.get("top_srcdir") or os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                                    "../..")
PLACES = ("engine", "src", "ui", "tests", "man", "docs", "etc", "build-aux", "README.md",
          "CONTRIBUTING.md", "bootstrap")
ENDINGS = (".c", ".cu", ".h", ".py", ".sh", ".mk", ".md", ".1", ".5", ".7", ".8", ".conf", ".txt",
           ".fish")
WITHOUT_ENDING = ("bootstrap", "cuda-packages", "run", "nvml", "environment", "_dpartui", "dpartui")

BANNED = {  # a regular expression for whole words: what to write
    "lest": "so that ... not",
    "in vain": "without success, for nothing",
    "thereby|hence|whence|wherein|upon": "a plain word",
    "look(s|ed|ing)? after": "handle, own, watch",
    "anew|made again": "again, recomputed, rebuilt, rewritten",
    "at work": "in use, in progress, running",
    "(lets?|letting) go": "release, drop",
    "going on": "running, in progress, continuing",
    "tells? of": "report, say",
    "(is|are) to be": "should be, must be, has to be",
    "for want of": "without; when memory runs out",
    "held equal": "the same in all runs",
    "without a word": "crashed or was killed",
    "rendezvous": "barrier",
    "reshare|resharing": "load balancing",
    "queue_inside": "queue_internal",
    "(goes|went|gone) on|go on (with|from|without)": "continue, resume, run",
    "same bits": "deterministic, bit-identical",
    "forget(s|ting)? (a|the|this|that|one) run": "delete",
    "behind (the|each|every|this|that) (pass|step|epoch|barrier|convolution|header|last)": "after",
    "(within|at least|at most|up to) so many": "N, this many, that number of",
}


def source_files():
    for place in PLACES:
        path = os.path.join(ROOT, place)
        if os.path.isfile(path):
            yield place
        for folder, folders, names in os.walk(path):
            folders[:] = [name for name in folders if not name.endswith(".home")]
            for name in names:
                if name.endswith(ENDINGS) or name in WITHOUT_ENDING:
                    yield os.path.relpath(os.path.join(folder, name), ROOT)


def flowing(text):
    """The text as one line: without the ends of lines and what begins the next one."""
    text = re.sub(r'"\s*\n\s*"', "", text)
    return re.sub(r"\s*\n[ \t]*(?:\*(?!/)|#|//|dnl\b|\.\\\")?\s*", " ", text)


@functools.lru_cache
def texts():
    """(path, flowing text) of each file."""
    found = []
    for path in sorted(source_files()):
        with open(os.path.join(ROOT, path), encoding="utf8", errors="replace") as file:
            found.append((path, flowing(file.read())))
    return found


def uses(phrase):
    """Where the phrase is, as lines."""
    pattern = re.compile(rf"(?<![\w-])(?:{phrase})(?![\w-])", re.I)
    here = os.path.relpath(os.path.abspath(__file__), os.path.abspath(ROOT))
    return [f"{path}: ...{text[max(0, use.start() - 40):use.end() + 40]}..."
            for path, text in texts() if path != here for use in pattern.finditer(text)]


class Words(unittest.TestCase):
    def test_files_are_found(self):
        files = set(source_files())
        for path in ("README.md", "man/dpartui.1", "engine/main.c", "etc/dpartui.conf"):
            self.assertIn(path, files)

    def test_phrases_over_line_ends_are_found(self):
        for text in ("in\n * vain", "in\n# vain", 'f("in "\n   "vain")', "in\nvain"):
            self.assertIn("in vain", flowing(text))

    def test_no_phrase_is_banned(self):
        # One search for all phrases; one by one only where it has found something.
        for phrase, instead in BANNED.items() if uses("|".join(BANNED)) else ():
            with self.subTest(phrase=phrase):
                found = uses(phrase)
                if found:
                    self.fail(f"write: {instead}\n" + "\n".join(found))


if __name__ == "__main__":
    if sys.argv[1:2] and not sys.argv[1].startswith("-"):
        print("\n".join(uses(sys.argv[1])))
    else:
        unittest.main()
