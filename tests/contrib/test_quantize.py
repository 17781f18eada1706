"""`tf.contrib.quantize`: what is put where, and that it rounds as NumPy does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import penstock as tf

quantize = tf.contrib.quantize
slim = tf.contrib.slim

IMAGES = np.random.default_rng(0).normal(size=[4, 6, 6, 3]).astype(np.float32)


def fake_quant(x: Any, low: float, high: float, steps: int = 255) -> Any:
    """`FakeQuantWithMinMaxVars`: a range moved so that zero is a step, and values rounded to it."""
    scale = (high - low) / steps
    zero = np.clip(np.round(-low / scale), 0, steps)
    low, high = -zero * scale, (steps - zero) * scale
    return np.floor((np.clip(x, low, high) - low) / scale + 0.5) * scale + low


def fake_quants(graph: Any) -> dict[str, Any]:
    return {op.name: op for op in graph.get_operations() if op.type == "FakeQuantWithMinMaxVars"}


def dense(inputs: Any, **kwargs: Any) -> Any:
    return tf.layers.dense(inputs, 4, name="dense", **kwargs)


def test_the_nodes_of_a_layer() -> None:
    with tf.Graph().as_default() as graph:
        output = dense(tf.placeholder(tf.float32, [2, 3]), activation=tf.nn.relu)
        after = tf.identity(output, name="after")
        quantize.create_training_graph()
        nodes = fake_quants(graph)
        assert list(nodes) == [
            "dense/weights_quant/FakeQuantWithMinMaxVars",
            "dense/act_quant/FakeQuantWithMinMaxVars",
        ]
        weights, activation = nodes.values()
        assert weights.get_attr("narrow_range")
        assert not activation.get_attr("narrow_range")
        assert graph.get_operation_by_name("dense/MatMul").inputs[1].op is weights
        assert activation.inputs[0] is output
        assert after.op.inputs[0].op is activation
        ranges = [
            f"dense/{kind}_quant/{end}" for kind in ("weights", "act") for end in ("min", "max")
        ]
        averages = [
            f"dense/act_quant/dense/act_quant/{end}/{part}"
            for end in ("min", "max")
            for part in ("biased", "local_step")
        ]
        names = {"dense/kernel", "dense/bias", *ranges, *averages}
        assert {v.op.name for v in tf.global_variables()} == names
        assert len(tf.trainable_variables()) == 2


@pytest.mark.parametrize("use_resource", [False, True])
def test_evaluation_rounds(use_resource: bool) -> None:
    x = np.array([[0.3, -1.2, 2.0]], np.float32)
    kernel = np.linspace(-1.5, 1.0, 12, dtype=np.float32).reshape(3, 4)
    with tf.Graph().as_default(), tf.variable_scope("", use_resource=use_resource):
        output = dense(tf.constant(x), activation=tf.nn.relu)
        after = tf.identity(output)
        quantize.create_eval_graph()
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            for variable in tf.global_variables():
                ends = {"kernel": kernel, "min": -2.0, "max": 2.0}
                for name, start in ends.items():
                    if variable.op.name.endswith(name):
                        variable.load(start, session)
            found = session.run(after)
    product = np.maximum(x @ fake_quant(kernel, -2.0, 2.0, 254), 0.0)
    np.testing.assert_allclose(found, fake_quant(product, -2.0, 2.0), atol=1e-5)


def test_training_follows_ranges() -> None:
    with tf.Graph().as_default() as graph:
        tf.set_random_seed(1)  # weights with which not every unit is silent
        x = tf.placeholder(tf.float32, [None, 3])
        loss = tf.reduce_mean(tf.square(tf.identity(dense(x, activation=tf.nn.relu)) - 1.0))
        quantize.create_training_graph()
        train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
        variables = {v.op.name: v for v in tf.global_variables()}
        with tf.Session(graph=graph) as session:
            session.run(tf.global_variables_initializer())
            kernel = session.run(variables["dense/kernel"])
            session.run(train_op, {x: np.ones([2, 3])})
            low, high = session.run(
                [variables["dense/weights_quant/min"], variables["dense/weights_quant/max"]]
            )
            assert (low, high) == (kernel.min(), kernel.max())
            rounded = fake_quant(kernel, low, high, 254)
            top = np.maximum(np.ones([2, 3]) @ rounded, 0).max()
            average = session.run(variables["dense/act_quant/max"])
            assert average == pytest.approx(top, rel=1e-4)  # no trace of the 6 that it began with
            losses = [session.run([loss, train_op], {x: np.ones([2, 3])})[0] for _ in range(20)]
    assert losses[-1] < losses[0]


def test_delay() -> None:
    with tf.Graph().as_default():
        x = tf.constant([[0.301, -1.203, 2.007]])
        plain = dense(x, activation=tf.nn.relu)
        after = tf.identity(plain)
        quantize.create_training_graph(quant_delay=3)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            for variable in tf.trainable_variables():
                variable.load(np.full(variable.shape.as_list(), 0.1234567, "f"), session)
            steps = [session.run(after) for _ in range(4)]
    np.testing.assert_array_equal(steps[0], steps[1])
    assert np.any(steps[1] != steps[2])


def convolution(bypass: bool = False) -> Any:
    x = tf.constant(IMAGES)
    y = tf.layers.conv2d(x, 3, 3, padding="same", name="block/conv")
    return tf.nn.relu(y + x if bypass else y, name="block/Relu")


def test_bypass() -> None:
    with tf.Graph().as_default() as graph:
        tf.identity(convolution(bypass=True))
        quantize.create_training_graph()
        assert set(fake_quants(graph)) == {
            "block/conv/weights_quant/FakeQuantWithMinMaxVars",
            "block/conv/conv_quant/FakeQuantWithMinMaxVars",
            "block/act_quant/FakeQuantWithMinMaxVars",
        }


def test_sums_of_what_is_quantized() -> None:
    with tf.Graph().as_default() as graph:
        branch = convolution()
        total = tf.multiply(branch, 2.0, name="twice")
        tf.identity(total)
        quantize.create_training_graph()
        assert "twice/activation_Mul_quant/FakeQuantWithMinMaxVars" in fake_quants(graph)


def test_only_in_a_scope() -> None:
    with tf.Graph().as_default() as graph:
        tf.identity(convolution())
        tf.identity(dense(tf.ones([2, 3]), activation=tf.nn.relu))
        quantize.experimental_create_training_graph(scope="block", weight_bits=4)
        nodes = fake_quants(graph)
        assert all(name.startswith("block/") for name in nodes)
        weights = nodes["block/conv/weights_quant/FakeQuantWithMinMaxVars"]
        assert weights.get_attr("num_bits") == 4


def separable(x: Any, is_training: bool) -> Any:
    normalizer = {"is_training": is_training, "fused": True, "scale": True, "decay": 0.5}
    return slim.separable_conv2d(
        x, None, 3, 2, normalizer_fn=slim.batch_norm, normalizer_params=normalizer, scope="net"
    )


def ordinary(x: Any, is_training: bool) -> Any:
    normalizer = {"is_training": is_training, "fused": True, "scale": True, "decay": 0.5}
    return slim.conv2d(
        x, 5, 3, normalizer_fn=slim.batch_norm, normalizer_params=normalizer, scope="net"
    )


@pytest.mark.parametrize("network", [ordinary, separable])
@pytest.mark.parametrize("is_training", [False, True])
def test_folded_normalization_computes_the_same(
    network: Callable[..., Any], is_training: bool
) -> None:
    """Before rounding starts, a folded graph gives what the graph gave, gradients too."""

    def run(fold: bool) -> Any:
        with tf.Graph().as_default() as graph:
            tf.set_random_seed(3)
            output = tf.identity(network(tf.constant(IMAGES), is_training))
            if fold:
                quantize.experimental_create_training_graph(quant_delay=1000)
                folded = {op.name for op in graph.get_operations() if "_Fold" in op.name}
                assert any(name.endswith("add_fold") for name in
                           (op.name for op in graph.get_operations()))  # fmt: skip
                assert folded
            variables = tf.trainable_variables()
            gradients = tf.gradients(tf.reduce_sum(tf.square(output)), variables)
            updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
            with tf.Session() as session:
                session.run(tf.global_variables_initializer())
                draw = np.random.default_rng(4)
                for variable in variables:
                    value = draw.normal(size=variable.shape.as_list()).astype(np.float32)
                    variable.load(value, session)
                first = session.run([output, gradients])
                session.run(updates)
                return [*first, session.run(tf.moving_average_variables() or variables)]

    plain, folded = run(False), run(True)
    np.testing.assert_allclose(folded[0], plain[0], rtol=1e-3, atol=1e-4)
    for ours, theirs in zip(folded[1], plain[1], strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=2e-2, atol=2e-2 * np.abs(theirs).max())


def test_frozen_statistics() -> None:
    with tf.Graph().as_default():
        output = tf.identity(ordinary(tf.constant(IMAGES), True))
        quantize.experimental_create_training_graph(quant_delay=1000, freeze_bn_delay=2)
        updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
        moving = [v for v in tf.global_variables() if "moving_" in v.op.name]
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            seen = [session.run([output, updates]) and session.run(moving) for _ in range(4)]
    assert np.any(seen[0][0] != 0)
    np.testing.assert_array_equal(seen[2][0], seen[3][0])
    np.testing.assert_array_equal(seen[2][1], seen[3][1])


def test_not_after_gradients() -> None:
    with tf.Graph().as_default():
        tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(dense(tf.ones([2, 3]))))
        with pytest.raises(ValueError, match="Training op found in graph"):
            quantize.create_training_graph()


def test_patterns() -> None:
    from penstock.contrib.quantize.python import graph_matcher as gm

    with tf.Graph().as_default() as graph:
        a, b = tf.constant(1.0), tf.constant(2.0)
        total = tf.add(tf.negative(a), b, name="total")
        negative = gm.OpTypePattern("Neg", name="negative")
        wanted = gm.OpTypePattern("Add|AddV2", inputs=["*", negative], ordered_inputs=False)
        matches = list(gm.GraphMatcher(wanted).match_graph(graph))
        assert [match.get_op(wanted) for match in matches] == [total.op]
        assert matches[0].get_tensor("negative") is total.op.inputs[0]
        assert matches[0].get_op("other") is None
        ordered = gm.OpTypePattern("Add|AddV2", inputs=["*", negative])
        assert gm.GraphMatcher(ordered).match_op(total.op) is None
        either = gm.OneofPattern([gm.OpTypePattern("Mul"), wanted])
        assert gm.GraphMatcher(either).match_op(total.op) is not None


@pytest.mark.parametrize("scale", [True, False])
@pytest.mark.parametrize("kind", ["conv2d", "separable_conv2d", "fully_connected"])
def test_normalizations_of_several_nodes_are_folded(kind, scale):
    layer = getattr(tf.contrib.layers, kind)
    sizes = {"conv2d": (4, 3), "separable_conv2d": (None, 3, 1), "fully_connected": (4,)}[kind]
    inputs = np.random.RandomState(0).rand(2, *((3,) if kind == "fully_connected" else (5, 5, 3)))
    with tf.Graph().as_default() as graph:
        net = layer(
            tf.constant(inputs.astype("f")),
            *sizes,
            normalizer_fn=tf.contrib.layers.batch_norm,
            normalizer_params={"fused": False, "scale": scale, "is_training": True},
            scope="test",
        )
        result = tf.identity(net)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            before = session.run(result)
            quantize.FoldBatchNorms(graph, is_training=True)
            folded = graph.get_operation_by_name("test/Relu").inputs[0]
            assert folded.op.name == "test/add_fold"
            assert graph.get_operation_by_name("test/mul_fold").type == "Mul"
            np.testing.assert_allclose(session.run(result), before, atol=1e-4)
