"""Moving averages of variables and tensors, written for any `tf` module."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

STEPS = 4

# A variable's initial value is read through a conditional where it may be uninitialized; how that
# is built is the variables' business, and tested with them.
_OF_VARIABLES = re.compile(r"(^|/)cond(_\d+)?[/_]|VariableInitialized|VarIsInitialized|/Assign$")


@dataclass
class Built:
    """A graph with one update of moving averages, and the variables to read after each."""

    graph: Any
    change: Any  # moves the averaged values
    update: Any
    shadows: dict[str, Any]
    averages: Any = None


def _module(tf: Any) -> Any:
    """The module of moving averages: what `tf.train` does not export is used from there."""
    penstock = tf.__name__ == "penstock"
    return import_module(
        "penstock.train.moving_averages"
        if penstock
        else "tensorflow.python.training.moving_averages"
    )


def _averaged(
    tf: Any, *, variable: bool, tensor: bool, resource: bool, counted: bool = False, **settings: Any
) -> Built:
    w = tf.Variable(np.array([1.0, -2.0, 3.0], np.float32), name="w", use_resource=resource)
    count = tf.Variable(0, trainable=False, name="count", use_resource=resource)
    doubled = tf.multiply(w, 2.0, name="doubled")
    change = tf.group(w.assign_add([0.5, 1.0, -1.5]), count.assign_add(1))
    averages = tf.train.ExponentialMovingAverage(
        0.9, num_updates=count if counted else None, **settings
    )
    values = [w] * variable + [doubled] * tensor
    update = averages.apply(values)
    averages.apply(values)  # no new shadows the second time
    shadows = {averages.average_name(value): averages.average(value) for value in values}
    return Built(tf.get_default_graph(), change, update, shadows, averages)


def _after_training(tf: Any, *, resource: bool) -> Built:
    """The usual arrangement: a step's averages are of the values after the step."""
    w = tf.Variable(np.array([1.0, -2.0, 3.0], np.float32), name="w", use_resource=resource)
    gradient = tf.constant([0.5, 1.0, -1.5], name="gradient")
    train = tf.train.GradientDescentOptimizer(0.5).apply_gradients([(gradient, w)])
    averages = tf.train.ExponentialMovingAverage(0.75)
    with tf.control_dependencies([train]):
        update = averages.apply([w])
    change = tf.no_op(name="change")
    return Built(tf.get_default_graph(), change, update, _all_variables(tf), averages)


def _assigned(tf: Any, *, resource: bool, **settings: Any) -> Built:
    source = tf.Variable(2.0, name="source")
    average = tf.Variable(np.float32(1.0), name="average", use_resource=resource)
    update = _module(tf).assign_moving_average(average, source, 0.75, **settings)
    change = source.assign_add(1.5)
    return Built(tf.get_default_graph(), change, update, _all_variables(tf))


def _weighted(tf: Any, **settings: Any) -> Built:
    source = tf.Variable([2.0, -1.0], name="source")
    weight = tf.constant([0.5, 2.0], name="weight")
    average = _module(tf).weighted_moving_average(source, 0.75, weight, **settings)
    result = tf.Variable([0.0, 0.0], name="result")
    update = result.assign(average)
    change = source.assign_add([1.5, 0.5])
    return Built(tf.get_default_graph(), change, update, _all_variables(tf))


def _all_variables(tf: Any) -> dict[str, Any]:
    return {variable.op.name: variable for variable in tf.global_variables()}


PROGRAMS: dict[str, Callable[[Any], Built]] = {
    "variable-ref": lambda tf: _averaged(tf, variable=True, tensor=False, resource=False),
    "variable-resource": lambda tf: _averaged(tf, variable=True, tensor=False, resource=True),
    "counted-ref": lambda tf: _averaged(
        tf, variable=True, tensor=True, resource=False, counted=True, name="Mean"
    ),
    "counted-resource": lambda tf: _averaged(
        tf, variable=True, tensor=True, resource=True, counted=True
    ),
    "tensor": lambda tf: _averaged(tf, variable=False, tensor=True, resource=False),
    "tensor-debiased": lambda tf: _averaged(
        tf, variable=True, tensor=True, resource=False, zero_debias=True
    ),
    "after_training-ref": lambda tf: _after_training(tf, resource=False),
    "after_training-resource": lambda tf: _after_training(tf, resource=True),
    "assigned-debiased-ref": lambda tf: _assigned(tf, resource=False),
    "assigned-debiased-resource": lambda tf: _assigned(tf, resource=True, name="Mean"),
    "assigned-ref": lambda tf: _assigned(tf, resource=False, zero_debias=False, name="Mean"),
    "assigned-resource": lambda tf: _assigned(tf, resource=True, zero_debias=False),
    "weighted": lambda tf: _weighted(tf),
    "weighted-named": lambda tf: _weighted(tf, truediv=False, name="Mean"),
}


def build(tf: Any, name: str) -> Built:
    with tf.Graph().as_default():
        return PROGRAMS[name](tf)


def own_nodes(built: Built) -> list[Any]:
    """The nodes of the graph without those that only serve a variable's first value."""
    return [op for op in built.graph.get_operations() if not _OF_VARIABLES.search(op.name)]


def names_to_restore(built: Built) -> dict[str, str]:
    """What a checkpoint reader would restore from which name."""
    if built.averages is None:
        return {}
    with built.graph.as_default():
        found = built.averages.variables_to_restore()
    return {name: found[name].op.name for name in sorted(found)}


def run(tf: Any, built: Built) -> list[dict[str, np.ndarray]]:
    """The averages at first and after each step."""
    with built.graph.as_default(), tf.Session(graph=built.graph) as session:
        session.run(tf.global_variables_initializer())
        values = [session.run(built.shadows)]
        for _ in range(STEPS):
            session.run(built.change)
            session.run(built.update)
            values.append(session.run(built.shadows))
    return values
