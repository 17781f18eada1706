"""What a traced function takes from a Python function at each call."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import penstock as tf
from penstock.internal_paths.graph_mode import eager_mode


@pytest.fixture(autouse=True)
def _eagerly() -> Iterator[None]:
    with eager_mode():
        yield


def _deferred(closure: Any, spec: Any, key: Any = None) -> Any:
    return tf.get_default_graph().capture_call_time_value(closure, spec, key)


def test_the_value_is_that_of_the_call() -> None:
    now = {"a": 1.0, "b": [2.0, 3.0]}
    spec = {"a": tf.TensorSpec([]), "b": [tf.TensorSpec([]), tf.TensorSpec([])]}
    weight = tf.Variable(3.0)

    @tf.function
    def scaled(x: Any) -> Any:
        given = _deferred(lambda: now, spec)
        return weight * x * given["a"] + given["b"][1]

    assert scaled(2.0).numpy() == 9.0
    now["a"], now["b"] = 10.0, [0.0, 1.0]
    with tf.GradientTape() as tape:
        result = scaled(2.0)
    assert result.numpy() == 61.0 and tape.gradient(result, weight).numpy() == 20.0


def test_a_key_stands_for_one_value() -> None:
    @tf.function
    def twice() -> Any:
        first = _deferred(lambda: 1.0, tf.TensorSpec([]), key="k")
        assert _deferred(lambda: 2.0, tf.TensorSpec([]), key="k") is first
        return first

    assert twice().numpy() == 1.0


def test_values_of_another_form_are_refused() -> None:
    def of(closure: Any, spec: Any) -> Any:
        return tf.function(lambda: _deferred(closure, spec))()

    with pytest.raises(TypeError, match="Expected a nest of `TypeSpec` objects, found x"):
        of(lambda: 1.0, "x")
    with pytest.raises(ValueError, match="'a' is not convertible to a tensor with dtype .*float32"):
        of(lambda: "a", tf.TensorSpec([]))
    with pytest.raises(ValueError, match=r"is not convertible .* and shape \(3,\)"):
        of(lambda: tf.ones([2]), tf.TensorSpec([3]))
    with pytest.raises(ValueError, match="same nested structure"):
        of(lambda: [1.0, 2.0], tf.TensorSpec([2]))
