"""The CTC loss and the CTC decoders."""

import math

import numpy as np

from tests.ops.case import Case, array, f32, f64

LENGTHS = array([5, 4], "int32")
INDICES = array([[0, 0], [0, 1], [0, 2], [1, 0], [1, 1]], "int64")
VALUES = array([0, 1, 1, 2, 0], "int32")
REPEATED = array([2, 2, 0, 1, 1], "int32")
LABELS = (INDICES, VALUES, LENGTHS)

# TensorFlow adds logarithms in single precision, whatever the type.
SINGLE = {"rtol": 1e-5, "atol": 1e-6, "outputs": (0,), "numeric": False}

CASES: list[Case] = []
for options in (
    {},
    {"preprocess_collapse_repeated": True},
    {"ctc_merge_repeated": False},
    {"preprocess_collapse_repeated": True, "ctc_merge_repeated": False},
):
    label = "-".join(sorted(options)) or "classic"
    CASES += [
        Case("CTCLoss", (f32(5, 2, 4), *LABELS), options, label=label, outputs=(0, 1), grad=False),
        Case("CTCLoss", (f64(5, 2, 4), *LABELS), options, label=f"{label} f64", **SINGLE),
        Case(
            "CTCLoss",
            (f64(6, 2, 4), INDICES, REPEATED, array([6, 6], "int32")),
            options,
            label=f"{label} repeated",
            **SINGLE,
        ),
    ]
CASES += [
    Case("CTCLoss", (f32(5, 2, 4, lo=-40, hi=40), *LABELS), label="steep", grad=False, rtol=1e-4),
    Case(
        "CTCLoss",
        (f32(5, 3, 4), INDICES, VALUES, array([5, 2, 0], "int32")),
        {"ignore_longer_outputs_than_inputs": True},
        label="no labels",
        fails=True,
    ),
    Case(
        "CTCLoss",
        (f32(5, 2, 4), INDICES, VALUES, array([2, 3], "int32")),
        {"ignore_longer_outputs_than_inputs": True},
        label="longer ignored",
        grad=False,
    ),
    Case("CTCLoss", (f32(5, 2, 4), INDICES, VALUES, array([2, 3], "int32")), fails=True),
    Case("CTCLoss", (f32(5, 2, 4), INDICES, VALUES, array([6, 3], "int32")), fails=True),
    Case("CTCLoss", (f32(5, 2, 4), INDICES, VALUES, array([3], "int32")), fails=True),
    Case("CTCLoss", (f32(5, 2), *LABELS), label="matrix", fails=True),
    Case("CTCLoss", (f32(5, 1, 4), INDICES, VALUES, array([5], "int32")), fails=True),
    Case("CTCLoss", (f32(5, 2, 4), INDICES, VALUES[:3], LENGTHS), label="rows", fails=True),
    Case("CTCLoss", (f32(5, 2, 4), INDICES, VALUES - 1, LENGTHS), label="negative", fails=True),
    Case(
        "CTCLoss",
        (f32(5, 2, 4), INDICES, array([3, 1, 1, 2, 0], "int32"), LENGTHS),
        label="label after blank",
        fails=True,
    ),
    Case(
        "CTCLoss",
        (f32(5, 2, 4), INDICES, array([0, 1, 3, 2, 3], "int32"), LENGTHS),
        label="blank ends",
        grad=False,
    ),
    # Only GPUs have a kernel in TensorFlow; here class 0 is blank.
    Case(
        "CTCLossV2",
        (
            array(np.zeros((1, 1, 2)), "float32"),
            array([[0, 0]], "int64"),
            array([1], "int32"),
            array([1], "int32"),
        ),
        expected=(array([math.log(2)], "float32"), array([[[0.5, -0.5]]], "float32")),
        grad=False,
    ),
]
for merge in (True, False):
    options = {"merge_repeated": merge}
    CASES += [
        Case("CTCGreedyDecoder", (f32(9, 3, 3), array([9, 0, 6], "int32")), options),
        Case("CTCGreedyDecoder", (f64(9, 2, 3), array([8, 9], "int32")), options),
        Case(
            "CTCGreedyDecoder",
            (f32(9, 2, 3), array([8, 9], "int32")),
            {**options, "blank_index": 0},
        ),
        Case(
            "CTCBeamSearchDecoder",
            (f32(7, 2, 4), array([7, 5], "int32")),
            {**options, "beam_width": 10, "top_paths": 3},
        ),
        Case(
            "CTCBeamSearchDecoder",
            (f64(12, 3, 3), array([12, 1, 0], "int32")),
            {**options, "beam_width": 4, "top_paths": 1},
            rtol=1e-6,
        ),
        Case(
            "CTCBeamSearchDecoder",
            (f32(20, 2, 6, lo=-3, hi=3), array([20, 17], "int32")),
            {**options, "beam_width": 30, "top_paths": 5},
        ),
    ]
BEAM = {"beam_width": 2, "top_paths": 1}
CASES += [
    Case("CTCGreedyDecoder", (f32(3, 2, 4), array([4, 2], "int32")), label="time", fails=True),
    Case("CTCGreedyDecoder", (f32(3, 2, 4), array([2], "int32")), label="batch", fails=True),
    Case("CTCGreedyDecoder", (f32(3, 2), array([2], "int32")), label="rank", fails=True),
    Case("CTCBeamSearchDecoder", (f32(3, 2, 4), array([4, 2], "int32")), BEAM, fails=True),
    Case(
        "CTCBeamSearchDecoder",
        (f32(3, 2, 4), array([2, 3], "int32")),
        {"beam_width": 2, "top_paths": 3},
        label="paths",
        fails=True,
    ),
    Case(
        "CTCBeamSearchDecoder",
        (f32(1, 1, 2), array([1], "int32")),
        {"beam_width": 9, "top_paths": 8},
        label="few leaves",
        fails=True,
    ),
]
