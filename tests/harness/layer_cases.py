# SPDX-License-Identifier: MIT
"""Small networks of layers that no shipped model of the parity tests has, with their PyTorch twins.

Each case: the layers as in a model file; the same as the arguments of nn.Sequential, so that both
name their parameters by position; and `options` of training with what PyTorch's cross_entropy calls
them. Rows and initial weights come from parity_data.py.
"""

import math
import os

import parity_data

ROWS = {"model": "layers", "train_rows": 40, "test_rows": 24}
BATCH, LR = 16, 0.1
parity_data.MODELS["layers"] = {"shape": (1, 12, 12)}

CASES = {
    "gelu": {
        "layers": 'CONV(6, 3, 2), "gelu", CONV(8, 3, 1), { type = "gelu"; approximate = "tanh"; }, '
                  '"flatten", LINEAR',
        "torch": "conv(1, 6, 3, 2), nn.GELU(), conv(6, 8, 3), nn.GELU(approximate='tanh'), "
                 "nn.Flatten(), nn.Linear(72, 10)"},
    "silu": {
        "layers": 'CONV(6, 3, 2), "batchnorm", "silu", CONV(8, 3, 1), "silu", "flatten", LINEAR',
        "torch": "conv(1, 6, 3, 2), nn.BatchNorm2d(6), nn.SiLU(), conv(6, 8, 3), nn.SiLU(), "
                 "nn.Flatten(), nn.Linear(72, 10)"},
    "avgpool": {
        "layers": 'CONV(6, 3, 1), { type = "avgpool"; kernel = 3; stride = 2; pad = 1; '
                  'count_include_pad = false; }, CONV(7, 2, 1), "tanh", { type = "avgpool"; '
                  'kernel = 2; stride = 1; pad = 1; }, "flatten", LINEAR',
        "torch": "conv(1, 6, 3), nn.AvgPool2d(3, 2, 1, count_include_pad=False), conv(6, 7, 2), "
                 "nn.Tanh(), nn.AvgPool2d(2, 1, 1), nn.Flatten(), nn.Linear(175, 10)"},
    "smoothing": {
        "layers": 'CONV(6, 3, 2), "tanh", "flatten", LINEAR',
        "torch": "conv(1, 6, 3, 2), nn.Tanh(), nn.Flatten(), nn.Linear(150, 10)",
        "options": {"label-smoothing": 0.1}, "cross_entropy": {"label_smoothing": 0.1}},
    "groupnorm": {
        "layers": 'CONV(12, 3, 2), { type = "groupnorm"; groups = 4; }, "relu", CONV(20, 3, 1), '
                  '{ type = "groupnorm"; groups = 1; eps = 0.01; }, "flatten", LINEAR',
        "torch": "conv(1, 12, 3, 2), nn.GroupNorm(4, 12), nn.ReLU(), conv(12, 20, 3), "
                 "nn.GroupNorm(1, 20, eps=0.01), nn.Flatten(), nn.Linear(180, 10)"},
    "dilation": {
        "layers": 'CONV(6, 3, 1, dilation = 2; pad = 2), "relu", CONV(8, 3, 2, dilation = [1, 3]; '
                  'bias = false), "batchnorm", CONV(20, 2, 1, dilation = 2), "flatten", LINEAR',
        "torch": "conv(1, 6, 3, dilation=2, padding=2), nn.ReLU(), "
                 "conv(6, 8, 3, 2, dilation=(1, 3), bias=False), nn.BatchNorm2d(8), "
                 "conv(8, 20, 2, dilation=2), nn.Flatten(), nn.Linear(60, 10)"},
    "groups": {
        "layers": 'CONV(12, 3, 1), "relu", CONV(12, 3, 2, groups = 12; pad = 1; bias = false), '
                  '"batchnorm", "relu", CONV(18, 1, 1, groups = 6), "silu", CONV(20, 3, 1, groups = 2; '
                  'dilation = 2), "flatten", LINEAR',
        "torch": "conv(1, 12, 3), nn.ReLU(), conv(12, 12, 3, 2, groups=12, padding=1, bias=False), "
                 "nn.BatchNorm2d(12), nn.ReLU(), conv(12, 18, 1, groups=6), nn.SiLU(), "
                 "conv(18, 20, 3, groups=2, dilation=2), nn.Flatten(), nn.Linear(20, 10)"},
    "depthwise": {
        "layers": 'CONV(24, 3, 1), CONV(24, 3, 1, groups = 24; pad = 1), "hardswish", CONV(48, 3, 2, '
                  'groups = 24; bias = false), "batchnorm", CONV(48, 3, 1, groups = 48), '
                  '"relu", "flatten", LINEAR',
        "torch": "conv(1, 24, 3), conv(24, 24, 3, groups=24, padding=1), nn.Hardswish(), "
                 "conv(24, 48, 3, 2, groups=24, bias=False), nn.BatchNorm2d(48), "
                 "conv(48, 48, 3, groups=48), nn.ReLU(), nn.Flatten(), nn.Linear(192, 10)"},
    "hardswish": {
        "layers": 'CONV(6, 3, 2), "hardswish", "flatten", { type = "linear"; outputs = 17; }, '
                  '"hardswish", LINEAR',
        "torch": "conv(1, 6, 3, 2), nn.Hardswish(), nn.Flatten(), nn.Linear(150, 17), "
                 "nn.Hardswish(), nn.Linear(17, 10)"},
}


def model_text(case):
    layers = CASES[case]["layers"].replace("LINEAR", '{ type = "linear"; outputs = "classes"; }')
    while "CONV(" in layers:
        before, rest = layers.split("CONV(", 1)
        numbers, rest = rest.split(")", 1)
        channels, kernel, stride, *more = numbers.split(",", 3)
        layers = (f'{before}{{ type = "conv"; channels = {channels}; kernel = {kernel}; '
                  f'stride = {stride}; {more[0] + ";" if more else ""} }}{rest}')
    return f"input = [ 1, 12, 12 ];\nclasses = 10;\nlayers = ( {layers} );\n"


def initial(case, name, shape):
    """The initial values of an entry of PyTorch's state_dict; None where the count of batches is."""
    key, count = f"{case} {name}", math.prod(shape)
    if not shape:
        return None
    if len(shape) > 1:
        fan_in = math.prod(shape[1:])
        return parity_data.floats(key, count, 2.0 ** math.floor(math.log2(math.sqrt(6 / fan_in))))
    norm = name.endswith(".weight") or name.endswith(".running_var")
    return parity_data.floats(key, count, 1 / 4, 1.0 if norm else 0.0)


def fixture_path():
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    return os.path.join(here, "fixtures", "layers.json")
