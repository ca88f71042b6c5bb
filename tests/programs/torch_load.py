#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Weight files go to PyTorch and come from it unchanged.

    python3 tests/programs/torch_load.py

For resnet18 and cifar-cnn:
    there   the program trains and saves; PyTorch loads the file with strict names and, evaluating
            the same test rows, finds the loss and the accuracy that the program reported
    back    a file written from PyTorch's state_dict, every name after `module.` as DataParallel
            leaves it, is taken by the program: the loss of its first step is that of PyTorch, and
            what it saves after a step with almost no learning rate has the same weights and the
            running statistics of PyTorch after one step
    refused a file that lacks an entry, has one too many or one of another shape
Needs torch, as well in another Python than this one: it is looked for in $PYTHON and python3.
"""

import array
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../harness"))

import parity_data  # noqa: E402
import program  # noqa: E402

try:
    import torch
    from torch.nn import functional

    import torch_nets
except ImportError:
    torch = None

# What the logits of a row may differ by, relative to the loss: f32 sums in another order.
LOSS = 1e-5
STATISTICS = 1e-5
TINY_RATE = 1e-30
LEAST = 1e-25  # TINY_RATE times any gradient is less

CASES = {
    "resnet18": {"model": "resnet18", "train_rows": 27, "test_rows": 33, "batch": 16, "lr": 0.002},
    "cifar-cnn": {"model": "cifar-cnn", "train_rows": 205, "test_rows": 131, "batch": 64,
                  "lr": 0.02},
}


def expect(condition, message):
    if not condition:
        raise program.Failure(message)


def near(what, got, want, relative):
    expect(abs(got - want) <= relative * max(1.0, abs(want)),
           f"{what}: the program has {got}, PyTorch {want}")


def rows(case, part):
    model = case["model"]
    shape = parity_data.MODELS[model]["shape"]
    return torch_nets.tensors(model, shape,
                              *parity_data.rows(model, part, case[part + "_rows"]))


def entries_of(path):
    return [(name, shape, values)
            for name, (shape, values) in parity_data.read_safetensors(path).items()]


def options(case, folder, **more):
    return {"model": case["model"], "data": os.path.join(folder, "rows"), "devices": "cpu:0",
            "order": "sequential", "deterministic": True, "dtype": "f32", "batch": case["batch"],
            "epochs": 1, "lr": case["lr"], **more}


def there(case, folder):
    saved = os.path.join(folder, "trained.safetensors")
    initial = os.path.join(folder, "initial.safetensors")
    parity_data.write_safetensors(initial, parity_data.initial_weights(case["model"]))
    events = program.train(options(case, folder, init=initial, momentum=0.9, save=saved))
    net = torch_nets.BUILD[case["model"]]()
    torch_nets.load_entries(net, entries_of(saved))
    order = list(net.state_dict())
    expect([name for name, _, _ in entries_of(saved)] == order,
           "the entries do not stand in the order of the state_dict")
    x, y = rows(case, "test")
    loss, correct, logits = torch_nets.evaluate(net, x, y)
    epoch = events["epoch"][-1]
    near("test_loss of the saved weights", epoch["test_loss"], loss, LOSS)
    best = logits.topk(2, 1).values
    close = int((best[:, 0] - best[:, 1] < 1e-4).sum())
    expect(abs(epoch["test_acc"] * len(y) - correct) <= close + 1e-6,
           f"test_acc {epoch['test_acc']}: PyTorch has {correct} of {len(y)} rows right")
    print(f"ok    {case['model']}: saved here, loaded there: test_loss {epoch['test_loss']:.7f}, "
          f"PyTorch {loss:.7f}", flush=True)


def torch_entries(net, prefix):
    for name, values in net.state_dict().items():
        kind = "q" if values.dtype == torch.int64 else "f"
        flat = array.array(kind, values.contiguous().numpy().tobytes())
        yield prefix + name, tuple(values.shape), flat


def back(case, folder):
    """Also returns the entries that PyTorch wrote."""
    torch.manual_seed(5)
    net = torch_nets.BUILD[case["model"]]()
    x, y = rows(case, "train")
    with torch.no_grad():
        for _ in range(2):  # running statistics of its own
            net(x * 0.5)
    initial = list(torch_entries(net, "module."))
    given = os.path.join(folder, "given.safetensors")
    saved = os.path.join(folder, "taken.safetensors")
    parity_data.write_safetensors(given, initial)
    # One step of all rows, so that the epoch's evaluation comes after exactly that step.
    events = program.train(options(case, folder, init=given, save=saved, batch=len(y),
                                   lr=TINY_RATE))
    logits = net(x)
    near("loss of the first step", events["step"][0]["loss"],
         float(functional.cross_entropy(logits, y)), LOSS)
    loss, _, _ = torch_nets.evaluate(net, *rows(case, "test"))
    near("test_loss with the given weights", events["epoch"][0]["test_loss"], loss, LOSS)
    taken = parity_data.read_safetensors(saved)
    state = net.state_dict()
    expect(set(taken) == set(state), "the saved names are not those of the state_dict")
    for name, (_, values) in taken.items():
        want = state[name].flatten()
        got = torch.frombuffer(values, dtype=want.dtype)
        if "running" in name:
            apart = float((got - want).abs().max() / want.abs().max().clamp(min=1e-3))
            expect(apart < STATISTICS, f"{name}: {apart:.2g} away from PyTorch's after one step")
        else:
            # Where a weight is zero, the almost absent learning rate is seen.
            apart = float((got - want).abs().max())
            expect(apart <= LEAST, f"{name}: {apart:.2g} away from what was given")
    print(f"ok    {case['model']}: written there, taken here: loss "
          f"{events['step'][0]['loss']:.7f}, and nothing changed on the way", flush=True)
    return initial


def refused(case, folder, entries):
    name, shape, values = entries[0]
    wrong = {
        "an entry is missing": entries[1:],
        "an entry too many": entries + [("module.extra", (1,), array.array("f", [0.0]))],
        "another shape": [(name, (1,) + shape, values)] + entries[1:],
    }
    path = os.path.join(folder, "wrong.safetensors")
    for what, content in wrong.items():
        parity_data.write_safetensors(path, content)
        try:
            program.train(options(case, folder, init=path))
        except program.Failure as failure:
            expect("wrong.safetensors" in str(failure).split("\n", 1)[-1],
                   f"{what}: the error does not name the file: {failure}")
            continue
        raise program.Failure(f"a weight file was taken although {what}")
    print(f"ok    {case['model']}: {len(wrong)} unfit files refused", flush=True)


def other_python():
    """A Python that has torch, or None."""
    for candidate in (os.environ.get("PYTHON"), "python3", "/usr/bin/python3"):
        if candidate and subprocess.run(
                [candidate, "-c", "import torch"], stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL, check=False).returncode == 0:
            return candidate
    return None


def main():
    for case in CASES.values():
        with tempfile.TemporaryDirectory(prefix="torch_load.") as folder:
            parity_data.write_rows(case, os.path.join(folder, "rows"))
            there(case, folder)
            refused(case, folder, back(case, folder))


if __name__ == "__main__":
    if torch is None:
        python = other_python() if "TORCH_LOAD_AGAIN" not in os.environ else None
        if python is None:
            program.skip("no Python here has PyTorch (Debian and Ubuntu: python3-torch)")
        os.environ["TORCH_LOAD_AGAIN"] = "1"
        os.execvp(python, [python] + sys.argv)
    try:
        main()
    except program.Failure as failure:
        sys.exit(f"FAIL  {failure}")
