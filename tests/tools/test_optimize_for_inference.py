"""Graphs for inference: stripped, folded and fused, with the same results."""

import numpy as np
import pytest

import penstock as tf
from penstock.tools import optimize_for_inference_lib as lib


def run(graph_def, name="y:0", feeds=None):
    with tf.Graph().as_default(), tf.Session() as session:
        tf.import_graph_def(graph_def, name="")
        return session.run(name, feeds)


def grid(*shape):
    return np.sin(np.arange(np.prod(shape))).reshape(shape).astype(np.float32)


@pytest.mark.parametrize("depthwise", [False, True])
def test_batch_norms_are_folded_into_convolutions(depthwise):
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [1, 5, 5, 2], name="x")
        if depthwise:
            net = tf.nn.depthwise_conv2d(x, grid(3, 3, 2, 2), [1, 1, 1, 1], "SAME")
        else:
            net = tf.nn.conv2d(x, grid(3, 3, 2, 4), [1, 1, 1, 1], "SAME")
        net = tf.identity(tf.check_numerics(net, "wrong"))
        parameters = [tf.constant(grid(4) + offset) for offset in (2.0, 0.0, 1.0, 3.0)]
        net = tf.nn.fused_batch_norm(net, *parameters, is_training=False)[0]
        tf.nn.relu(net, name="y")
        tf.identity(net, name="unused")
    optimized = lib.optimize_for_inference(graph.as_graph_def(), ["x"], ["y"], 1)
    ops = [node.op for node in optimized.node]
    assert sorted(ops) == sorted(
        ["Placeholder", "Const", "Const", "BiasAdd", "Relu"]
        + ["DepthwiseConv2dNative" if depthwise else "Conv2D"]
    )
    feeds = {"x:0": grid(1, 5, 5, 2)}
    np.testing.assert_allclose(
        run(optimized, feeds=feeds), run(graph.as_graph_def(), feeds=feeds), rtol=1e-4, atol=1e-5
    )


def test_what_normalizes_by_its_batch_is_left(capfd):
    with tf.Graph().as_default() as graph:
        net = tf.nn.conv2d(grid(1, 4, 4, 2), grid(1, 1, 2, 3), [1, 1, 1, 1], "SAME")
        tf.identity(tf.nn.fused_batch_norm(net, grid(3), grid(3))[0], name="y")
    folded = lib.fold_batch_norms(graph.as_graph_def())
    assert "FusedBatchNormV3" in [node.op for node in folded.node]


@pytest.mark.parametrize(
    ("resize", "pad", "fused"),
    [
        (True, True, "FusedResizeAndPadConv2D"),
        (True, False, "FusedResizeAndPadConv2D"),
        (False, True, "FusedPadConv2D"),
    ],
)
def test_resizing_and_padding_are_fused_with_the_convolution(resize, pad, fused):
    with tf.Graph().as_default() as graph:
        net = tf.constant(grid(1, 3, 4, 2))
        if resize:
            net = tf.image.resize_bilinear(net, [6, 5])
        if pad:
            net = tf.pad(net, [[0, 0], [1, 1], [1, 1], [0, 0]], "REFLECT")
        tf.nn.conv2d(net, grid(2, 2, 2, 3), [1, 1, 1, 1], "VALID", name="y")
    made = lib.fuse_resize_and_conv(graph.as_graph_def(), ["y"])
    ops = {node.op for node in made.node}
    assert fused in ops and not ops & {"Conv2D", "MirrorPad", "ResizeBilinear"}
    np.testing.assert_allclose(run(made), run(graph.as_graph_def()), rtol=1e-4, atol=1e-5)


def test_broken_graphs():
    graph_def = tf.GraphDef()
    graph_def.node.add(name="a", op="NoOp", input=["^nowhere"])
    with pytest.raises(ValueError, match="Input for a not found: .nowhere"):
        lib.ensure_graph_is_valid(graph_def)
    graph_def.node.add(name="a", op="NoOp")
    with pytest.raises(ValueError, match="Duplicate node names detected for a"):
        lib.ensure_graph_is_valid(graph_def)
    with pytest.raises(ValueError, match="not Const"):
        lib.values_from_const(graph_def.node[0])
