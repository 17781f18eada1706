"""Out of memory: the error says for which tensor, and who holds the memory; the session goes on."""

from __future__ import annotations

import gc
import re
import weakref
from typing import Any

import numpy as np
import pytest
import torch

import penstock as tf
from penstock.kernels import registry

_TOO_MANY = 1 << 46  # floats: more than any address space has room for


@pytest.fixture
def session() -> Any:
    with tf.Graph().as_default(), tf.Session() as made:
        yield made


def test_the_error_names_node_shape_and_holders(session: Any) -> None:
    weights = tf.Variable(np.ones((300, 100), np.float32), name="weights")
    session.run(weights.initializer)
    size = tf.placeholder(tf.int64, [1])
    doubled = tf.multiply(weights, 2.0, name="doubled")
    with tf.control_dependencies([doubled]):
        large = tf.fill(size, 1.0, name="large")
    with pytest.raises(tf.errors.ResourceExhaustedError) as caught:
        session.run([doubled, large], {size: [_TOO_MANY]})
    assert caught.value.op is large.op
    message = caught.value.message
    assert f"OOM when allocating tensor with shape[{_TOO_MANY}] and type float32" in message
    holders = re.findall(r"117\.2 KiB (variable|value) (\w+): float32\[300, 100\] in", message)
    assert sorted(holders) == [("value", "doubled"), ("variable", "weights")]
    assert session.run(large, {size: [3]}).tolist() == [1, 1, 1]


def test_what_the_failed_step_held_is_free_when_its_error_is_caught(
    session: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    held: list[Any] = []

    def fail(x: Any) -> Any:
        held.append(weakref.ref(x))
        raise torch.OutOfMemoryError("no more")

    entry = registry.Kernel(lambda node: fail, takes_env=False)
    for kind in ("CPU", "GPU"):
        monkeypatch.setitem(registry._kernels, ("Cosh", kind), entry)
    fed = tf.placeholder(tf.float32, [4])
    made = tf.cosh(fed * 2.0)
    with pytest.raises(tf.errors.ResourceExhaustedError, match="no more") as caught:
        session.run(made, {fed: np.ones(4)})
    gc.collect()
    assert held[0]() is None, caught


def test_a_closed_session_holds_no_variables() -> None:
    with tf.Graph().as_default():
        variable = tf.Variable([1.0, 2.0], use_resource=True)
        session = tf.Session()
        session.run(variable.initializer)
        state = weakref.ref(next(iter(_tensors(session))))
        session.close()
    assert state() is None


def _tensors(session: Any) -> list[torch.Tensor]:
    containers = session._runtime.devices[0].resources._containers
    return [entry.value for entries in containers.values() for entry in entries.values()]
