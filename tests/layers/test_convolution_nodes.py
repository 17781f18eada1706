"""The names of the nodes that convolution layers build."""

from __future__ import annotations

from typing import Any

import pytest

import penstock as tf


def _computing_nodes(layer: Any, shape: list[int | None]) -> list[str]:
    """The nodes of a layer that are neither its input nor its variables."""
    with tf.Graph().as_default() as graph:
        layer(tf.placeholder(tf.float32, shape, name="x"))
        names = [node.name for node in graph.get_operations()]
    return [name for name in names if "/kernel" not in name and "/bias" not in name and name != "x"]


@pytest.mark.parametrize("size", [8, None])
def test_undilated_layers_name_their_rate(size: int | None) -> None:
    nodes = _computing_nodes(lambda x: tf.layers.conv2d(x, 4, 3), [1, size, size, 3])
    assert nodes == ["conv2d/dilation_rate", "conv2d/Conv2D", "conv2d/BiasAdd"]


def test_the_rate_is_added_when_the_layer_is_built() -> None:
    layer = tf.layers.Conv2D(2, 3, use_bias=False)

    def twice(x: Any) -> None:
        layer(x)
        layer(x)

    nodes = _computing_nodes(twice, [1, 8, 8, 3])
    assert nodes == ["conv2d/dilation_rate", "conv2d/Conv2D", "conv2d/Conv2D_1"]


def test_dilated_layers_move_space_in_their_own_scope() -> None:
    layer = tf.layers.Conv2D(4, 3, dilation_rate=2, use_bias=False)
    nodes = _computing_nodes(layer, [1, 8, 8, 3])
    assert {"conv2d/dilation_rate", "conv2d/SpaceToBatchND", "conv2d/BatchToSpaceND"} < set(nodes)
    assert "conv2d/Conv2D" in nodes


def test_a_convolution_of_one_dimension_is_called_as_its_function() -> None:
    nodes = _computing_nodes(lambda x: tf.layers.conv1d(x, 4, 3, use_bias=False), [1, 8, 3])
    assert nodes[0] == "conv1d/dilation_rate"
    assert "conv1d/conv1d" in nodes and "conv1d/conv1d/Squeeze" in nodes


def test_resource_kernels_are_read_inside_the_convolution() -> None:
    layer = tf.keras.layers.Conv2D(4, 3, name="first", use_bias=False)
    assert "first/Conv2D/ReadVariableOp" in _computing_nodes(layer, [1, 8, 8, 3])


def test_gradients_of_a_fused_normalization_keep_all_five_outputs() -> None:
    x = tf.placeholder(tf.float32, [2, 4, 4, 3])
    scale = tf.get_variable("scale", [3])
    offset = tf.get_variable("offset", [3])
    normalized, _, _ = tf.nn.fused_batch_norm(x, scale, offset, name="norm")
    tf.gradients(normalized, [x, scale], gate_gradients=True)
    names = {node.name for node in tf.get_default_graph().get_operations()}
    prefix = "gradients/norm_grad/tuple/control_dependency_"
    assert {prefix + "3", prefix + "4"} < names


def test_a_layer_of_a_keras_model_has_resource_variables() -> None:
    class Model(tf.keras.Model):
        def __init__(self) -> None:
            super().__init__()
            self.first = tf.layers.Dense(2)
            self.others = [tf.layers.Dense(2)]

        def call(self, inputs: Any) -> Any:
            return self.others[0](self.first(inputs))

    Model()(tf.zeros([1, 2]))
    alone = tf.layers.Dense(2)
    alone(tf.zeros([1, 2]))
    in_model = [v for v in tf.global_variables() if v not in alone.variables]
    assert [v.op.type for v in in_model] == ["VarHandleOp"] * 4
    assert alone.kernel.op.type == "VariableV2"
