#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the kernels take of a multiprocessor, and how they reach memory, by the CUDA compiler.

Reads what ptxas said when `make` compiled each .cu file (engine/device/cuda/kernels/*.ptxas, for each
architecture of NVCC_GENCODE) and compares it with tests/engine/device/cuda/kernels/ptxas.tsv. Spills and stack frames are mistakes wherever
they are found. Registers above the table's are, with the release of nvcc that the table is of;
fewer resident blocks than the table says are with any release. Where cuobjdump is found, the
machine code must have the 128-bit loads and stores that the table tells, and no local memory.

    tests/engine/device/cuda/kernels/ptxas.py            compare
    tests/engine/device/cuda/kernels/ptxas.py --update   rewrite the table (make update-ptxas)

A row is a kernel with all its template instances, but each work of each_pack has its own. `threads`
of a block are kept by --update: write them by hand for a new kernel that has not 256. `blocks` is
how many of them a multiprocessor holds on the architecture that holds fewest, `wide` which accesses
of all its bf16 instances are of 128 bits or more.
"""
import glob
import os
import re
import shutil
import subprocess
import sys

SOURCE = os.environ.get("top_srcdir", ".")
BUILD = os.environ.get("top_builddir", ".")
KERNELS = "engine/device/cuda/kernels"
TABLE = os.path.join(SOURCE, "tests/engine/device/cuda/kernels/ptxas.tsv")
# Of a multiprocessor: sm_80, sm_90 and sm_100 have the same registers, threads and blocks.
REGISTERS, THREADS, BLOCKS = 65536, 2048, 32
SHARED = {"sm_80": 164 << 10, "sm_90": 228 << 10, "sm_100": 228 << 10}
SHARED_OF_BLOCK = 1 << 10  # that the system takes
FIELDS = ["threads", "blocks", "wide"]


def kernel_name(demangled):
    """each_pack<norm_apply_work<unsigned short, true> >(...): each_pack<norm_apply_work>"""
    name = re.sub(r"^(void|static) ", "", demangled)
    name = re.sub(r"\(anonymous namespace\)::", "", name)
    found = re.match(r"(\w+)(?:<([a-z]\w*))?", name)
    work = found[2] not in (None, "unsigned", "float", "int", "bool", "true", "false")
    return f"{found[1]}<{found[2]}>" if work else found[1]


def demangle(names):
    if not shutil.which("c++filt"):
        skip("no c++filt")
    done = subprocess.run(["c++filt"], input="\n".join(names), text=True, check=True,
                          stdout=subprocess.PIPE)
    return dict(zip(names, done.stdout.split("\n")))


def skip(why):
    print(why)
    sys.exit(77)


def read_log(path, instances):
    """Adds what ptxas said of each kernel: (mangled name, architecture): resources."""
    with open(path, encoding="utf-8") as log:
        flags = log.readline()
        text = log.read()
    if "-O3" not in flags:
        skip(f"the kernels were not compiled with -O3, but with {flags.rstrip()}")
    for part in text.split("Compiling entry function ")[1:]:
        mangled, arch = re.match(r"'([^']+)' for '(\w+)'", part).groups()
        local = [int(n) for n in re.search(
            r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads",
            part).groups()]
        shared = re.search(r"(\d+) bytes smem", part)
        instances[mangled, arch] = {
            "registers": int(re.search(r"Used (\d+) registers", part)[1]),
            "stack": local[0], "spilled": local[1] + local[2],
            "shared": int(shared[1]) if shared else 0}
    return re.search(r"release (\d+\.\d+)", text)[1]


def read_logs():
    sources = sorted(glob.glob(os.path.join(SOURCE, KERNELS, "*.cu")))
    logs = [os.path.join(BUILD, KERNELS, os.path.basename(s)[:-3] + ".ptxas") for s in sources]
    there = [log for log in logs if os.path.exists(log)]
    if not there:
        skip("no CUDA compiler: the kernels' registers are not known")
    missing = set(logs) - set(there)
    if missing:
        sys.exit(f"{sorted(missing)[0]} is missing: make clean")
    instances = {}
    releases = {read_log(log, instances) for log in there}
    return instances, releases.pop()


def resident(threads, resources, arch):
    """Blocks that a multiprocessor holds; registers are given out by 256 to a warp."""
    warps = (threads + 31) // 32
    of_warp = (resources["registers"] * 32 + 255) // 256 * 256
    by_registers = REGISTERS // of_warp // warps
    by_shared = SHARED.get(arch, SHARED["sm_80"]) // (resources["shared"] + SHARED_OF_BLOCK)
    return min(by_registers, by_shared, THREADS // (warps * 32), BLOCKS)


def read_table():
    if not os.path.exists(TABLE):
        return None, [], {}
    with open(TABLE, encoding="utf-8") as table:
        lines = [line.rstrip("\n") for line in table]
    release = re.search(r"nvcc (\d+\.\d+)", lines[0])[1]
    rows = [line.split("\t") for line in lines if line and not line.startswith("#")]
    archs = rows[0][1 + len(FIELDS):]
    return release, archs, {r[0]: dict(zip(FIELDS + archs, r[1:])) for r in rows[1:]}


def find_tool():
    nvcc = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    return shutil.which("cuobjdump") or shutil.which(
        os.path.join(os.path.dirname(os.path.realpath(nvcc)), "cuobjdump"))


def read_code(tool):
    """(mangled name, architecture): {"load", "store", "local"} that the machine code has."""
    code = {}
    for path in sorted(glob.glob(os.path.join(BUILD, KERNELS, "*.o"))):
        arch = now = None
        text = subprocess.run([tool, "-sass", path], text=True, check=True,
                              stdout=subprocess.PIPE).stdout
        for line in text.split("\n"):
            if line.startswith("arch = "):
                arch = line.split()[2]
            elif "Function : " in line:
                now = code.setdefault((line.split()[-1], arch), set())
            elif now is not None:
                now.update(word for word, pattern in (
                    ("load", r"\bLDG\.E\S*\.(128|256)\b"), ("store", r"\bSTG\.E\S*\.(128|256)\b"),
                    ("local", r"\b(LDL|STL)\b")) if re.search(pattern, line))
    return code


def gather(instances, code, old):
    """One row for each kernel: the most of its instances."""
    names = demangle(sorted({mangled for mangled, _ in instances}))
    rows = {}
    for (mangled, arch), resources in sorted(instances.items()):
        kernel = kernel_name(names[mangled])
        row = rows.setdefault(kernel, {"threads": old.get(kernel, {}).get("threads", "256"),
                                       "blocks": BLOCKS, "wide": None})
        row[arch] = max(row.get(arch, 0), resources["registers"])
        row["blocks"] = min(row["blocks"], resident(int(row["threads"]), resources, arch))
        if code and "unsigned short" in names[mangled]:
            found = code.get((mangled, arch), set()) & {"load", "store"}
            row["wide"] = found if row["wide"] is None else row["wide"] & found
    for kernel, row in rows.items():
        row["wide"] = "+".join(sorted(row["wide"] or ())) or "-"
        if not code:
            row["wide"] = old.get(kernel, {}).get("wide", "-")
    return rows, names


def write_table(rows, archs, release):
    with open(TABLE, "w", encoding="utf-8") as table:
        table.write(f"# Registers of the kernels by nvcc {release}; see tests/engine/device/cuda/kernels/ptxas.py. "
                    "Written by make update-ptxas.\n")
        table.write("\t".join(["kernel"] + FIELDS + archs) + "\n")
        for kernel, row in sorted(rows.items()):
            table.write("\t".join([kernel] + [str(row[f]) for f in FIELDS + archs]) + "\n")
    print(f"{TABLE}: {len(rows)} kernels")


def problems_of_instances(instances, code, names):
    for (mangled, arch), resources in sorted(instances.items()):
        what = f"{names[mangled].split('(')[0]}, {arch}"
        if resources["spilled"]:
            yield f"{what}: {resources['spilled']} bytes of registers are spilled, allowed are none"
        if resources["stack"]:
            yield f"{what}: a stack frame of {resources['stack']} bytes, allowed is none"
        if "local" in code.get((mangled, arch), ()):
            yield f"{what}: the machine code reads or writes local memory (LDL, STL)"


def problems_of_rows(rows, table, archs, same_release):
    for kernel, row in sorted(rows.items()):
        wanted = table.get(kernel)
        if not wanted:
            yield f"{kernel}: not in {TABLE}: make update-ptxas"
            continue
        for arch in archs:
            if same_release and row.get(arch, 0) > int(wanted[arch]):
                yield f"{kernel}, {arch}: {row[arch]} registers, allowed are {wanted[arch]}"
        if row["blocks"] < int(wanted["blocks"]):
            yield (f"{kernel}: a multiprocessor holds {row['blocks']} blocks of {row['threads']} "
                   f"threads, wanted are {wanted['blocks']}")
        lost = set(wanted["wide"].split("+")) - set(row["wide"].split("+")) - {"-"}
        if lost:
            yield f"{kernel}: no {' and '.join(sorted(lost))} of 128 bits in a bf16 instance"
    for kernel in sorted(set(table) - set(rows)):
        yield f"{kernel}: in {TABLE}, but not in the sources: make update-ptxas"


def main():
    instances, release = read_logs()
    table_release, archs, table = read_table()
    tool = find_tool()
    code = read_code(tool) if tool else {}
    rows, names = gather(instances, code, table)
    if "--update" in sys.argv[1:]:
        known = sorted({arch for _, arch in instances}, key=lambda a: int(a[3:]))
        if set(archs) - set(known):
            sys.exit(f"the kernels were compiled for {', '.join(known)}, the table is of "
                     f"{', '.join(archs)}: configure without NVCC_GENCODE")
        write_table(rows, known, release)
    table_release, archs, table = read_table()
    problems = list(problems_of_instances(instances, code, names))
    problems += problems_of_rows(rows, table, archs, release == table_release)
    for problem in problems:
        print(problem)
    print(f"{len(rows)} kernels, {len(instances)} instances, nvcc {release}"
          + ("" if release == table_release else f": registers are not compared, as "
             f"{TABLE} is of {table_release}")
          + ("" if tool else "; machine code not looked at: no cuobjdump"))
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
