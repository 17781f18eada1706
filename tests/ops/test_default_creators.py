"""Variables made without a look at creators of scopes, or without an initial value."""

from __future__ import annotations

import pytest

import penstock as tf
from penstock.ops.lifted_variables import UninitializedVariable
from penstock.ops.ref_variable import RefVariable
from penstock.ops.resource_variable import ResourceVariable
from penstock.ops.variable_creation import default_variable_creator, default_variable_creator_v2


@pytest.fixture(autouse=True)
def _graph():
    with tf.Graph().as_default():
        yield


def test_the_default_creator_asks_nobody() -> None:
    def refuse(next_creator, **kwargs):
        raise AssertionError("not asked")

    with tf.variable_creator_scope(refuse):
        made = default_variable_creator(initial_value=[1.0, 2.0], trainable=True, name="a")
        resource = default_variable_creator_v2(initial_value=[1.0, 2.0], name="a")
    assert isinstance(made, RefVariable) and made.name == "a:0"
    assert isinstance(resource, ResourceVariable) and resource.name == "a_1:0"


def test_a_variable_without_a_value_is_saved_but_not_trained() -> None:
    variable = UninitializedVariable(shape=[3, 3], dtype=tf.float32, trainable=True)
    assert (variable.name, variable.shape, variable.trainable) == ("Variable:0", (3, 3), True)
    assert variable in tf.global_variables() and variable not in tf.trainable_variables()
    assert UninitializedVariable(name="some", dtype=tf.int32).shape.ndims is None
