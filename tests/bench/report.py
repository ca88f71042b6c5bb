# SPDX-License-Identifier: MIT
"""The benchmark's results as Markdown, and their place in docs/benchmarks.md."""

import collections
import os
import statistics

MARK = "<!-- figures of `make bench`, {}: {} -->"

# Of the workbench: (what, size): (first frame in ms, its bytes, bytes/s, CPU in %, memory in MiB).
BUDGETS = {
    ("idle", "80x24"): (30, 3500, 5, "", 6),
    ("2 devices", "80x24"): (30, 3500, 350, 0.2, 6),
    ("2 devices", "200x50"): (30, "", 600, 0.2, 6),
    ("8 devices", "80x24"): (30, 3500, 350, 0.5, 6),
    ("8 devices", "200x50"): (30, "", 600, 0.5, 6),
}
BUDGET_KEY_MS = 50

# A line of the summary, as text: ours, what it is compared with, whose that is, and how many times
# as good ours is.
Figure = collections.namedtuple("Figure", "ours other whose times")
SUMMARY = "summary"
GOALS = {  # what should be reached, in the order of the summary
    "resnet18 training, batch 256, samples/s": "3",
    "resnet18 training, batch 64, samples/s": "2.5",
    "resnet18 training in bf16, batch 256, samples/s": "2",
    "resnet18 training in bf16 beside f32, batch 256, samples/s": "1.3",
    "resnet18 training, batch 256, 2 devices x 1 thread, samples/s": "1.97",
    "resnet18 evaluation, batch 256, samples/s": "3",
    "resnet18 evaluation in bf16, batch 256, samples/s": "2",
    "lenet training, batch 128, samples/s": "6",
    "lenet training, batch 256, samples/s": "6",
    "cifar-cnn training, batch 128, samples/s": "6",
    "cifar-cnn training, batch 256, samples/s": "6",
    "resnet18 training, batch 256, outside the operations, %": "at most 1 %",
    "resnet18 training, batch 256, most memory, MiB": "2",
    "resnet18 training in bf16 beside f32, batch 256, most memory, MiB": "1.67",
    "resnet18 training, 2 devices, pipeline, 8 micro-batches, samples/s": "1.6",
    "resnet18 training, 2 devices, pipeline, 16 micro-batches, samples/s": "1.7",
    "resnet18 training, 2 hosts, samples/s": "0.9",
    "resnet18 training, 2 hosts at 1 Gbit/s, all-reduce hidden, %": "60 %",
}


def spread(values, digits=0):
    """median (least-most), or - for nothing."""
    values = [value for value in values if value is not None]
    if not values:
        return "-"
    middle = f"{statistics.median(values):.{digits}f}"
    if len(values) == 1:
        return middle
    return f"{middle} ({min(values):.{digits}f}-{max(values):.{digits}f})"


def table(head, rows):
    """Markdown, with the columns aligned so that it reads well as text, too."""
    cells = [[str(cell) for cell in row] for row in [head] + rows]
    widths = [max(len(row[i]) for row in cells) for i in range(len(head))]
    lines = ["| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |"
             for row in cells]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(lines)


def screens(measured):
    """What viewers cost: measured[(what, program, (columns, rows))] = [results of each round]."""
    rows = []
    for (what, name, (columns, lines)), results in sorted(
            measured.items(), key=lambda item: (list_of(measured, 0).index(item[0][0]),
                                                item[0][2], list_of(measured, 1).index(item[0][1]))):
        def figures(key, digits=0, results=results):
            return spread([result[key] for result in results], digits)
        size = f"{columns}x{lines}"
        budget = BUDGETS.get((what, size))
        if budget and name == "dpartui":
            frame, of_it, rate, cpu, memory = budget
            rows.append([what, size, "budget", frame, of_it, rate, "", cpu, memory])
        rows.append([what, size, name, figures("first_frame_ms"), figures("first_frame_bytes"),
                     figures("bytes_per_s"), figures("updates_per_s", 1),
                     figures("cpu_percent", 2),
                     spread([result["resident_kib"] / 1024 for result in results], 1)])
    return table(["screen", "size", "program", "first frame, ms", "bytes of it", "bytes/s",
                  "updates/s", "CPU, %", "memory, MiB"], rows)


def list_of(measured, index):
    """The different values at that place of the keys, as they came first."""
    return list(dict.fromkeys(key[index] for key in measured))


def keys(measured):
    """How fast keys are answered: measured[what] = [milliseconds or None of each key]."""
    rows = [["budget", "", BUDGET_KEY_MS, BUDGET_KEY_MS, 0]]
    for what, times in measured.items():
        name = what if isinstance(what, str) else ", ".join(what)
        answered = [value for value in times if value is not None]
        rows.append([name, len(times), f"{statistics.median(answered):.1f}" if answered else "-",
                     f"{max(answered):.1f}" if answered else "-", len(times) - len(answered)])
    return table(["key to the screen's change, ms", "keys", "median", "most", "unanswered"], rows)


def blocks(measured):
    """What comes after a block: measured[(program, how)] = [bytes of each round]."""
    rows = [[name] + [spread(measured.get((name, how), [])) for how in ("not read", "stopped")]
            for name in list_of(measured, 0)]
    return table(["after 10 s of a blocked terminal, bytes", "not read", "stopped (Ctrl-S)"], rows)


def summary(text, figures):
    """The new summary: `text` is what stands there, `figures` {work: Figure} what was measured."""
    lines = {}
    for line in text.strip().splitlines()[2:]:
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        lines[cells[0]] = cells[1:-1]
    lines.update((work, list(figure)) for work, figure in figures.items())
    order = [work for work in GOALS if work in lines] + [work for work in lines
                                                         if work not in GOALS]
    return table(["work", "dpartui", "against", "which is of", "times as good", "goal"],
                 [[work, *lines[work], GOALS.get(work, "-")] for work in order])


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def split(path, part):
    """The page before, between and after the marks of the part."""
    page = read(path)
    begin, end = MARK.format(part, "begin"), MARK.format(part, "end")
    if begin not in page or end not in page:
        raise ValueError(f"{path} lacks the marks between which the figures of {part} stand")
    head, rest = page.split(begin, 1)
    between, tail = rest.split(end, 1)
    return head + begin, between, end + tail


def write(path, part, text):
    """Put the text between the marks of the part; False when it cannot be written."""
    if not os.access(path, os.W_OK):
        return False
    head, _, tail = split(path, part)
    with open(path + ".new", "w", encoding="utf-8") as file:
        file.write(f"{head}\n\n{text}\n\n{tail}")
    os.replace(path + ".new", path)
    return True


def add_to_summary(path, figures):
    return write(path, SUMMARY, summary(split(path, SUMMARY)[1], figures))
