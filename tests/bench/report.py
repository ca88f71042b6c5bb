# SPDX-License-Identifier: MIT
"""The benchmark's results as Markdown, and their place in docs/benchmarks.md."""

import os
import statistics

BEGIN = "<!-- figures of `make bench`: begin -->"
END = "<!-- figures of `make bench`: end -->"


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


def comparison(title, results, columns, digits, ratio):
    """A table of results[row][column] = [a value of each round], with a line of ratios.

    `ratio` takes (best of ours, best of PyTorch) medians; rows of PyTorch begin with its name.
    """
    rows = [[name] + [spread(results[name].get(column, []), digits) for column in columns]
            for name in results]
    ratios = []
    for column in columns:
        medians = {name: statistics.median(by[column])
                   for name, by in results.items() if by.get(column)}
        ours = [value for name, value in medians.items() if not name.startswith("PyTorch")]
        theirs = [value for name, value in medians.items() if name.startswith("PyTorch")]
        ratios.append(f"{ratio(ours, theirs):.2f}" if ours and theirs else "-")
    rows.append(["as fast as the best of PyTorch, times"] + ratios)
    return table([title] + list(columns), rows)


def faster(ours, theirs):
    return max(ours) / max(theirs)


def shorter(ours, theirs):
    return min(theirs) / min(ours)


def screens(measured):
    """A table of the workbench: measured[(what, size)] = [results of ptymeter]."""
    rows = []
    for (what, size), results in measured.items():
        def figures(key, digits=0, results=results):
            return spread([result[key] for result in results], digits)
        rows.append([what, size, figures("first_frame_ms"), figures("first_frame_bytes"),
                     figures("bytes_per_s"), figures("updates_per_s", 1),
                     figures("cpu_percent", 2),
                     spread([result["resident_kib"] / 1024 for result in results], 1)])
    return table(["workbench", "size", "first frame, ms", "bytes of it", "bytes/s", "updates/s",
                  "CPU, %", "memory, MiB"], rows)


def write(path, text):
    """Put the text between the marks of the page; False when it cannot be written."""
    if not os.access(path, os.W_OK):
        return False
    with open(path, encoding="utf-8") as file:
        page = file.read()
    if BEGIN not in page or END not in page:
        raise ValueError(f"{path} lacks the marks between which the figures stand")
    head, rest = page.split(BEGIN, 1)
    tail = rest.split(END, 1)[1]
    with open(path + ".new", "w", encoding="utf-8") as file:
        file.write(f"{head}{BEGIN}\n\n{text}\n\n{END}{tail}")
    os.replace(path + ".new", path)
    return True
