"""Training programs, one per optimizer setting, written for any `tf` module.

`record_optimizers.py` runs them in TensorFlow and stores what it built and computed;
`test_optimizers.py` runs them in Penstock and compares.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.train import user_optimizers

STEPS = 5
RECORDED_STEPS = (1, 2, 5)
ROWS, COLUMNS = 4, 3
LOOKED_UP = (2, 0, 2, 3, 0)  # rows that a step looks up: some twice, and row 1 never

MakeOptimizer = Callable[[Any], Any]

# Settings of every optimizer, as functions of the `tf` module.
OPTIMIZERS: dict[str, dict[str, MakeOptimizer]] = {
    "gradient_descent": {
        "plain": lambda tf: tf.train.GradientDescentOptimizer(0.1),
        "tensor_rate": lambda tf: tf.train.GradientDescentOptimizer(
            tf.constant(0.25, name="rate"), use_locking=True, name="Descent"
        ),
        "callable_rate": lambda tf: tf.train.GradientDescentOptimizer(lambda: 0.5),
    },
    "momentum": {
        "plain": lambda tf: tf.train.MomentumOptimizer(0.1, 0.9),
        "nesterov": lambda tf: tf.train.MomentumOptimizer(
            lambda: 0.05, lambda: 0.8, use_locking=True, use_nesterov=True
        ),
    },
    "adagrad": {
        "plain": lambda tf: tf.train.AdagradOptimizer(0.1),
        "initial": lambda tf: tf.train.AdagradOptimizer(
            0.5, initial_accumulator_value=1.5, use_locking=True
        ),
    },
    "adagrad_da": {
        "plain": lambda tf: tf.train.AdagradDAOptimizer(0.1, tf.train.get_global_step()),
        "regularized": lambda tf: tf.train.AdagradDAOptimizer(
            0.5,
            tf.train.get_global_step(),
            initial_gradient_squared_accumulator_value=0.3,
            l1_regularization_strength=0.02,
            l2_regularization_strength=0.1,
        ),
    },
    "adadelta": {
        "plain": lambda tf: tf.train.AdadeltaOptimizer(),
        "fast": lambda tf: tf.train.AdadeltaOptimizer(
            learning_rate=1.0, rho=0.8, epsilon=1e-4, use_locking=True
        ),
    },
    "adam": {
        "plain": lambda tf: tf.train.AdamOptimizer(0.01),
        "settings": lambda tf: tf.train.AdamOptimizer(
            learning_rate=lambda: 0.1,
            beta1=0.7,
            beta2=0.9,
            epsilon=1e-3,
            use_locking=True,
            name="A",
        ),
        "own_scope": lambda tf: tf.train.AdamOptimizer(
            tf.train.exponential_decay(0.1, tf.train.get_global_step(), 2, 0.5),
            use_own_namescope_for_non_slot_vars=True,
        ),
    },
    "rmsprop": {
        "plain": lambda tf: tf.train.RMSPropOptimizer(0.01),
        "momentum": lambda tf: tf.train.RMSPropOptimizer(
            0.1, decay=0.7, momentum=0.5, epsilon=1e-3, use_locking=True
        ),
        "centered": lambda tf: tf.train.RMSPropOptimizer(
            0.1, decay=0.8, momentum=0.3, epsilon=1e-2, centered=True
        ),
    },
    "ftrl": {
        "plain": lambda tf: tf.train.FtrlOptimizer(0.1),
        "regularized": lambda tf: tf.train.FtrlOptimizer(
            0.5,
            learning_rate_power=-0.3,
            initial_accumulator_value=0.2,
            l1_regularization_strength=0.02,
            l2_regularization_strength=0.1,
            accum_name="squares",
            linear_name="lines",
        ),
        "shrinkage": lambda tf: tf.train.FtrlOptimizer(
            0.5,
            l1_regularization_strength=0.01,
            l2_shrinkage_regularization_strength=0.2,
            use_locking=True,
        ),
        "beta": lambda tf: tf.train.FtrlOptimizer(0.5, beta=0.4),
    },
    "proximal_gradient_descent": {
        "plain": lambda tf: tf.train.ProximalGradientDescentOptimizer(0.1),
        "regularized": lambda tf: tf.train.ProximalGradientDescentOptimizer(
            0.5,
            l1_regularization_strength=0.05,
            l2_regularization_strength=0.2,
            use_locking=True,
        ),
    },
    "proximal_adagrad": {
        "plain": lambda tf: tf.train.ProximalAdagradOptimizer(0.1),
        "regularized": lambda tf: tf.train.ProximalAdagradOptimizer(
            0.5,
            initial_accumulator_value=0.3,
            l1_regularization_strength=0.05,
            l2_regularization_strength=0.2,
        ),
    },
    "user": {
        "sign_descent": lambda tf: user_optimizers.sign_descent(tf, 0.05),
        "layer_rates": lambda tf: user_optimizers.layer_rates(tf, 0.1, 0.9),
    },
}

IN_FLOAT64 = ("gradient_descent", "momentum", "adagrad", "adam", "rmsprop", "ftrl")


@dataclass(frozen=True)
class Program:
    """One training program: an optimizer setting on a kind of variable and of gradient."""

    optimizer: str
    setting: str
    sparse: bool
    resource: bool
    dtype: str = "float32"

    @property
    def name(self) -> str:
        gradient = "sparse" if self.sparse else "dense"
        variable = "resource" if self.resource else "ref"
        suffix = "" if self.dtype == "float32" else f"-{self.dtype}"
        return f"{self.setting}-{gradient}-{variable}{suffix}"


def programs(optimizer: str) -> Iterator[Program]:
    """Every setting of an optimizer on dense and sparse gradients, ref and resource variables."""
    for setting in OPTIMIZERS[optimizer]:
        for sparse in (False, True):
            for resource in (False, True):
                yield Program(optimizer, setting, sparse, resource)
    if optimizer in IN_FLOAT64:
        yield Program(optimizer, "plain", sparse=False, resource=True, dtype="float64")
        yield Program(optimizer, "plain", sparse=True, resource=False, dtype="float64")


def gradient_at(step: int, sparse: bool, dtype: str) -> np.ndarray:
    """The gradient that step number `step` (from 0) applies, or its looked-up rows."""
    rows = len(LOOKED_UP) if sparse else ROWS
    phase = np.arange(rows * COLUMNS).reshape(rows, COLUMNS)
    return (0.3 * np.sin(1.7 * phase + step) + 0.1 * np.cos(phase * step)).astype(dtype)


@dataclass
class Built:
    """The graph of a program and the handles to run it."""

    graph: Any
    forward_nodes: int  # the nodes before the optimizer's
    gradient: Any
    train: Any
    optimizer: Any
    variables: list[Any]


def build(tf: Any, program: Program) -> Built:
    """Builds `minimize` of a loss whose gradient in the matrix is what the step feeds."""
    graph = tf.Graph()
    with graph.as_default():
        step, matrix, bias = _variables(tf, program)
        graph.add_to_collection(tf.GraphKeys.GLOBAL_STEP, step)
        rows = tf.nn.embedding_lookup(matrix, list(LOOKED_UP)) if program.sparse else matrix
        gradient = tf.placeholder(program.dtype, rows.shape, name="gradient")
        loss = tf.reduce_sum(rows * gradient, name="loss") + tf.reduce_sum(bias * gradient[0])
        forward_nodes = len(graph.get_operations())
        optimizer = OPTIMIZERS[program.optimizer][program.setting](tf)
        train = optimizer.minimize(loss, global_step=step)
        variables = tf.global_variables()
    return Built(graph, forward_nodes, gradient, train, optimizer, variables)


def _variables(tf: Any, program: Program) -> tuple[Any, Any, Any]:
    kind = {"use_resource": program.resource}
    step = tf.Variable(np.int64(0), trainable=False, name="step", **kind)
    initial = np.linspace(-1.0, 1.5, ROWS * COLUMNS).reshape(ROWS, COLUMNS)
    matrix = tf.Variable(initial.astype(program.dtype), name="w", **kind)
    bias = tf.Variable(np.array([0.5, -0.25, 0.125], program.dtype), name="b", **kind)
    return step, matrix, bias


def run(tf: Any, program: Program, built: Built) -> dict[str, dict[str, np.ndarray]]:
    """The values of all variables, slots too, after each of the recorded steps."""
    recorded: dict[str, dict[str, np.ndarray]] = {}
    with built.graph.as_default(), tf.Session(graph=built.graph) as session:
        session.run(tf.global_variables_initializer())
        for step in range(STEPS):
            given = gradient_at(step, program.sparse, program.dtype)
            session.run(built.train, {built.gradient: given})
            if step + 1 in RECORDED_STEPS:
                recorded[str(step + 1)] = session.run({v.op.name: v for v in built.variables})
    return recorded
