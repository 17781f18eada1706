"""Activation functions and biases."""

import numpy as np

from tests.ops.case import Case, array, bf16, c64, f16, f32, f64, i32, i64, ints, u8

EDGES = array([-np.inf, -700, -1, -1e-6, 0, 1e-6, 1, 6, 7, 100, np.inf], "float32")
FUNCTIONS = ("Relu", "Relu6", "LeakyRelu", "Elu", "Selu", "Softplus", "Softsign")
GRADIENTS = ("ReluGrad", "Relu6Grad", "LeakyReluGrad", "EluGrad", "SeluGrad", "SoftplusGrad")


def _functions() -> list[Case]:
    cases = []
    for op in FUNCTIONS:
        finite = EDGES[1:-1] if op == "Softsign" else EDGES
        cases += [
            Case(op, (f32(2, 3),)),
            Case(op, (f64(3, 4, lo=-8, hi=8),)),
            Case(op, (f16(5),)),
            Case(op, (bf16(5),)),
            Case(op, (f32(0, 3),), label="empty"),
            Case(op, (f64(),), label="scalar"),
            Case(op, (finite,), label="edges", grad=False),
        ]
    return cases


def _gradients() -> list[Case]:
    cases = []
    for op in (*GRADIENTS, "SoftsignGrad"):
        # SoftplusGrad is differentiated by TensorFlow's Python alone, with the same formula.
        cases += [
            Case(op, (f32(2, 3), f32(2, 3))),
            Case(op, (f64(3, 4), f64(3, 4)), numeric=False),
            Case(op, (f16(5), f16(5)), grad=False),
            Case(op, (f32(3), f32(4)), label="sizes differ", fails=True),
        ]
    return cases


CASES = [
    *_functions(),
    *_gradients(),
    Case("Relu", (i32(-5, 5, 4),)),
    Case("Relu", (u8(0, 9, 4),)),
    Case("Relu", (ints("int8", -5, 5, 4),)),
    Case("Relu", (ints("uint16", 0, 9, 4),)),
    Case("Relu6", (i64(-9, 9, 6),)),
    Case("Relu6", (ints("uint16", 0, 9, 6),)),
    Case("ReluGrad", (i32(-5, 5, 4), i32(-5, 5, 4))),
    Case("Relu6Grad", (i32(-5, 5, 6), i32(-9, 9, 6))),
    Case("LeakyRelu", (f32(6),), {"alpha": 0.5}, label="half slope"),
    Case("LeakyRelu", (f32(6),), {"alpha": 2.0}, label="steep", grad=False),
    Case("LeakyReluGrad", (f32(6), f32(6)), {"alpha": 0.5}, label="half slope"),
    Case("BiasAdd", (f32(2, 3), f32(3))),
    Case("BiasAdd", (f64(2, 4, 5, 3), f64(3))),
    Case("BiasAdd", (f64(2, 3, 4, 5), f64(3)), {"data_format": "NCHW"}, label="NCHW"),
    Case("BiasAdd", (f32(2, 3, 4), f32(3)), {"data_format": "NCHW"}, label="NCHW of rank 3"),
    Case("BiasAdd", (c64(2, 3), c64(3))),
    Case("BiasAdd", (i32(-9, 9, 2, 3), i32(-9, 9, 3))),
    Case("BiasAdd", (f16(0, 3), f16(3)), label="empty"),
    Case("BiasAdd", (f32(2, 3), f32(4)), label="sizes differ", fails=True),
    Case("BiasAdd", (f32(2, 3), f32(1)), label="does not broadcast", fails=True),
    Case("BiasAdd", (f32(3), f32(3)), label="of a vector", fails=True),
    Case("BiasAdd", (f32(2, 3), f32(3, 1)), label="by a matrix", fails=True),
    Case("BiasAddV1", (f64(2, 4, 3), f64(3))),
    Case("BiasAddV1", (f32(2, 3), f32(4)), label="sizes differ", fails=True),
    Case("BiasAddGrad", (f32(2, 3),)),
    Case("BiasAddGrad", (f64(2, 4, 5, 3),)),
    Case("BiasAddGrad", (f64(2, 3, 4, 5),), {"data_format": "NCHW"}, label="NCHW"),
    Case("BiasAddGrad", (f32(0, 3),), label="empty"),
    Case("BiasAddGrad", (f32(3),), label="of a vector", fails=True),
]
