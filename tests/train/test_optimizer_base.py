"""`tf.train.Optimizer` itself: its arguments, its errors, its hooks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import penstock as tf

Descent = tf.train.GradientDescentOptimizer


@pytest.fixture(autouse=True)
def _graph() -> Iterator[tf.Graph]:
    with tf.Graph().as_default() as graph:
        yield graph


def _variable(value: Any = (1.0, 2.0), name: str = "w", **settings: Any) -> Any:
    return tf.Variable(list(value), name=name, **settings)


def _names() -> list[str]:
    return [op.name for op in tf.get_default_graph().get_operations()]


def _after(train: Any, *variables: Any) -> list[Any]:
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train)
        return session.run(list(variables))


# Errors -----------------------------------------------------------------------------------------


def _minimize(**settings: Any) -> Any:
    return Descent(0.1).minimize(tf.reduce_sum(_variable()), **settings)


def _unconnected() -> Any:
    _variable()
    return Descent(0.1).minimize(tf.constant(1.0))


def _rows() -> Any:
    return tf.IndexedSlices(tf.constant([1.0]), tf.constant([1]))


ERRORS: dict[str, tuple[type[Exception], str, Callable[[], Any]]] = {
    "no pairs": (ValueError, "No variables provided", lambda: Descent(0.1).apply_gradients([])),
    "only None": (
        ValueError,
        r"No gradients provided for any variable: \[.*'w:0'",
        lambda: Descent(0.1).apply_gradients([(None, _variable())]),
    ),
    "unconnected loss": (
        ValueError,
        "ops that do not support gradients, between variables .*w:0.* and loss",
        _unconnected,
    ),
    "nothing to train": (
        ValueError,
        "No variables to optimize",
        lambda: Descent(0.1).minimize(tf.constant(1.0)),
    ),
    "empty var_list": (ValueError, "No variables to optimize", lambda: _minimize(var_list=[])),
    "not a variable": (TypeError, "not a tf.Variable", lambda: _minimize(var_list=["w"])),
    "a tensor": (
        NotImplementedError,
        "Trying to update a Tensor",
        lambda: Descent(0.1).apply_gradients([(tf.constant([1.0]), tf.constant([1.0]))]),
    ),
    "not a gradient": (
        TypeError,
        "Gradient must be convertible to a Tensor",
        lambda: Descent(0.1).apply_gradients([(object(), _variable())]),
    ),
    "gradient type": (
        TypeError,
        "float64",
        lambda: Descent(0.1).apply_gradients([(np.array([1.0, 2.0]), _variable())]),
    ),
    "gradient shape": (
        ValueError,
        "must be equal",
        lambda: Descent(0.1).apply_gradients([([1.0, 2.0, 3.0], _variable())]),
    ),
    "no name": (ValueError, "Must specify the optimizer name", lambda: Descent(0.1, name="")),
    "gate": (ValueError, "gate_gradients must be one of", lambda: _minimize(gate_gradients=5)),
    "integer loss": (
        ValueError,
        "Invalid type .*int32",
        lambda: Descent(0.1).minimize(tf.cast(tf.reduce_sum(_variable()), tf.int32)),
    ),
    "integer grad_loss": (ValueError, "Invalid type", lambda: _minimize(grad_loss=tf.constant(3))),
    "constraint on rows": (
        RuntimeError,
        "constraint function on a sparse variable",
        lambda: Descent(0.1).apply_gradients([(_rows(), _variable(constraint=tf.abs))]),
    ),
    "adagrad accumulator": (
        ValueError,
        "must be positive",
        lambda: tf.train.AdagradOptimizer(0.1, initial_accumulator_value=0.0),
    ),
    "ftrl power": (
        ValueError,
        "needs to be negative or zero",
        lambda: tf.train.FtrlOptimizer(0.1, learning_rate_power=1.0),
    ),
    "ftrl l1": (
        ValueError,
        "l1_regularization_strength -1.0+ needs to be positive or zero",
        lambda: tf.train.FtrlOptimizer(0.1, l1_regularization_strength=-1.0),
    ),
}


@pytest.mark.parametrize(("error", "message", "make"), ERRORS.values(), ids=ERRORS)
def test_refuses(error: type[Exception], message: str, make: Callable[[], Any]) -> None:
    with pytest.raises(error, match=message):
        make()


@pytest.mark.parametrize("use_resource", [False, True])
@pytest.mark.parametrize(
    "gradient", [lambda: tf.constant([1.0, 2.0]), _rows], ids=["dense", "rows"]
)
def test_hooks_are_needed(use_resource: bool, gradient: Callable[[], Any]) -> None:
    optimizer = tf.train.Optimizer(use_locking=False, name="Bare")
    with pytest.raises(NotImplementedError):
        optimizer.apply_gradients([(gradient(), _variable(use_resource=use_resource))])


# Arguments --------------------------------------------------------------------------------------


def test_names_and_collection() -> None:
    train = Descent(0.1, name="Step").minimize(tf.reduce_sum(_variable()), name="train")
    assert train.name == "train"
    assert "train/update_w/ApplyGradientDescent" in _names()
    assert tf.get_collection(tf.GraphKeys.TRAIN_OP) == [train]
    assert Descent(0.1, name="Step").get_name() == "Step"


def test_only_the_named_variables() -> None:
    w, b = _variable(), _variable(name="b")
    loss = tf.reduce_sum(w * b)
    pairs = Descent(0.1).compute_gradients(loss, var_list={"first": b})
    assert [v for _, v in pairs] == [b]
    train = Descent(0.5).minimize(loss, var_list=[b])
    w_after, b_after = _after(train, w, b)
    np.testing.assert_allclose(w_after, [1.0, 2.0])
    np.testing.assert_allclose(b_after, [0.5, 1.0])


def test_gradients_of_a_tensor() -> None:
    w = _variable()
    doubled = w * 2.0
    ((gradient, target),) = Descent(0.1).compute_gradients(
        tf.reduce_sum(doubled * 3.0), var_list=[doubled]
    )
    assert target is doubled
    assert gradient.shape.as_list() == [2]


def test_weight_of_the_loss() -> None:
    w = _variable()
    train = Descent(0.1).minimize(tf.reduce_sum(w), grad_loss=tf.constant(5.0))
    np.testing.assert_allclose(_after(train, w)[0], [0.5, 1.5])


def test_a_function_that_builds_the_loss() -> None:
    w, other = _variable(), _variable(name="other")
    optimizer = Descent(0.1)
    pairs = optimizer.compute_gradients(lambda: tf.reduce_sum(w * 3.0))
    assert [v for _, v in pairs] == [w]
    train = optimizer.minimize(lambda: tf.reduce_sum(w * 3.0), var_list=lambda: [w])
    w_after, other_after = _after(train, w, other)
    np.testing.assert_allclose(w_after, [0.7, 1.7], rtol=1e-6)
    np.testing.assert_allclose(other_after, [1.0, 2.0])


@pytest.mark.parametrize("gate", [Descent.GATE_NONE, Descent.GATE_OP, Descent.GATE_GRAPH])
def test_gates(gate: int) -> None:
    w, b = _variable(), _variable(name="b")
    train = Descent(0.1).minimize(tf.reduce_sum(w * b), gate_gradients=gate)
    gated = [name for name in _names() if name.endswith("tuple/group_deps")]
    wanted = {
        Descent.GATE_NONE: [],
        Descent.GATE_OP: ["gradients/mul_grad/tuple/group_deps"],
        Descent.GATE_GRAPH: ["tuple/group_deps"],
    }
    assert gated == wanted[gate]
    np.testing.assert_allclose(_after(train, w)[0], [0.9, 1.8], rtol=1e-6)


@pytest.mark.parametrize("use_resource", [False, True])
def test_the_step_is_counted_after_the_updates(use_resource: bool) -> None:
    w = _variable(use_resource=use_resource)
    step = tf.Variable(4, trainable=False, name="step", use_resource=use_resource)
    train = Descent(0.1).minimize(tf.reduce_sum(w), global_step=step)
    assert train.name == "GradientDescent"
    assert [op.name for op in train.inputs[1].op.control_inputs] == ["GradientDescent/update"]
    assert _after(train, step) == [5]


@pytest.mark.parametrize("use_resource", [False, True])
def test_constraints_hold_after_the_update(use_resource: bool) -> None:
    w = _variable(use_resource=use_resource, constraint=lambda x: tf.maximum(x, 0.0))
    train = Descent(1.0).apply_gradients([(tf.constant([3.0, 0.5]), w)])
    np.testing.assert_allclose(_after(train, w)[0], [0.0, 1.5])


def test_slots_do_not_wait_for_the_step() -> None:
    w, gradient = _variable(), tf.constant([1.0, 2.0])
    with tf.control_dependencies([tf.no_op(name="before")]):
        tf.train.AdamOptimizer().apply_gradients([(gradient, w)])
    graph = tf.get_default_graph()
    waiting = [
        op.name
        for op in graph.get_operations()
        if graph.get_operation_by_name("before") in op.control_inputs
    ]
    assert waiting
    assert all(name.split("/")[0] == "Adam" for name in waiting)


# State ------------------------------------------------------------------------------------------


def test_slots() -> None:
    w, b = _variable(), _variable(name="b")
    optimizer = tf.train.AdamOptimizer()
    assert optimizer.variables() == []
    assert optimizer.get_slot(w, "m") is None
    optimizer.apply_gradients([(tf.constant([1.0, 2.0]), w)])
    made = len(tf.global_variables())
    optimizer.apply_gradients([(tf.constant([1.0, 2.0]), w)])
    assert len(tf.global_variables()) == made
    assert optimizer.get_slot_names() == ["m", "v"]
    assert optimizer.get_slot(w, "m").op.name == "w/Adam"
    assert optimizer.get_slot(b, "m") is None
    assert optimizer.get_slot(w, "unknown") is None
    names = [variable.op.name for variable in optimizer.variables()]
    assert names == ["beta1_power", "beta2_power", "w/Adam", "w/Adam_1"]
    assert tf.trainable_variables() == [w, b]
    with tf.Graph().as_default():
        assert optimizer.variables() == []


def test_two_optimizers_keep_apart() -> None:
    w = _variable()
    gradient = tf.constant([1.0, 2.0])
    for _ in range(2):
        tf.train.MomentumOptimizer(0.1, 0.9).apply_gradients([(gradient, w)])
    assert [v.op.name for v in tf.global_variables()] == ["w", "w/Momentum", "w/Momentum_1"]


def test_slots_of_parts() -> None:
    parts = tf.fixed_size_partitioner(2)
    w = tf.get_variable("w", [4, 2], partitioner=parts, initializer=tf.ones_initializer())
    train = tf.train.AdamOptimizer(0.5).minimize(tf.reduce_sum(tf.convert_to_tensor(w) * 2.0))
    slots = [v.op.name for v in tf.global_variables() if "/Adam" in v.op.name]
    assert slots == ["w/part_0/Adam", "w/part_0/Adam_1", "w/part_1/Adam", "w/part_1/Adam_1"]
    (after,) = _after(train, tf.convert_to_tensor(w))
    np.testing.assert_allclose(after, np.full([4, 2], 0.5), rtol=1e-5)


@pytest.mark.parametrize("use_resource", [False, True])
@pytest.mark.parametrize(
    "make",
    [
        lambda: tf.train.AdamOptimizer(0.1),
        lambda: tf.train.AdagradOptimizer(0.1),
        lambda: tf.train.RMSPropOptimizer(0.1, momentum=0.5),
    ],
    ids=["adam", "adagrad", "rmsprop"],
)
def test_a_variable_of_unknown_shape(make: Callable[[], Any], use_resource: bool) -> None:
    first = tf.placeholder_with_default([1.0, 2.0, 3.0], None)
    w = tf.Variable(first, name="w", validate_shape=False, use_resource=use_resource)
    train = make().apply_gradients([(tf.ones_like(first), w)])
    (after,) = _after(train, w)
    assert after.shape == (3,)
    assert (after < [1.0, 2.0, 3.0]).all()
