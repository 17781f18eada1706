"""Layers of `tf.layers`: shapes, refused arguments, values that nothing recorded covers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.layers import convolutional, core, normalization, pooling, smart_cond, windows


@pytest.fixture(autouse=True)
def _own_graph() -> Iterator[None]:
    with tf.Graph().as_default():
        yield


def run(*values: Any, feed: Any = None) -> Any:
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(list(values), feed)


# Arguments


IMAGES = [2, 7, 9, 4]


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        ({"data_format": "invalid"}, "data_format"),
        ({"strides": (1, 2, 3)}, "strides"),
        ({"strides": None}, "strides"),
        ({"kernel_size": (1, 2, 3)}, "kernel_size"),
        ({"kernel_size": (1, "x")}, "kernel_size"),
        ({"padding": "around"}, "padding"),
        ({"padding": "causal"}, "Causal padding is only supported for `Conv1D`"),
        ({"strides": 2, "dilation_rate": 2}, "strides > 1"),
    ],
)
def test_arguments_of_convolutions_are_checked(arguments: Any, fault: str) -> None:
    with pytest.raises(ValueError, match=fault):
        tf.layers.conv2d(tf.ones(IMAGES), 3, **{"kernel_size": 3, **arguments})


@pytest.mark.parametrize("layer", [tf.layers.conv2d, tf.layers.conv2d_transpose])
def test_the_number_of_channels_must_be_known(layer: Any) -> None:
    with pytest.raises(ValueError, match="The channel dimension of the inputs should be defined"):
        layer(tf.placeholder(tf.float32, [2, 7, 9, None]), 3, 3)


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        ({"data_format": "invalid"}, "data_format"),
        ({"strides": (1, 2, 3)}, "strides"),
        ({"pool_size": (1, 2, 3)}, "pool_size"),
    ],
)
def test_arguments_of_pooling_are_checked(arguments: Any, fault: str) -> None:
    with pytest.raises(ValueError, match=fault):
        tf.layers.max_pooling2d(tf.ones(IMAGES), **{"pool_size": 2, "strides": 2, **arguments})


def test_arguments_of_dense_are_checked() -> None:
    with pytest.raises(ValueError, match="requires a defined rank"):
        tf.layers.dense(tf.placeholder(tf.float32), 3)
    with pytest.raises(ValueError, match="expected min_ndim=2"):
        tf.layers.dense(tf.ones([3]), 3)
    with pytest.raises(ValueError, match="The last dimension of the inputs to `Dense`"):
        tf.layers.dense(tf.placeholder(tf.float32, [4, None]), 3)
    with pytest.raises(TypeError, match="non-floating point dtype"):
        tf.layers.dense(tf.ones([2, 3], tf.int32), 3)
    with pytest.raises(ValueError, match="Unknown activation function:nothing"):
        tf.layers.dense(tf.ones([2, 3]), 3, activation="nothing")
    with pytest.raises(ValueError, match="Could not interpret initializer identifier"):
        tf.layers.dense(tf.ones([2, 3]), 3, kernel_initializer=3)


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        ({"axis": [4]}, "Invalid axis: 4"),
        ({"axis": [1, 1]}, "Duplicate axis"),
        ({"renorm": True, "renorm_clipping": {"max": 1}}, "contains keys not in"),
        ({"virtual_batch_size": -1}, "must be a positive integer"),
        ({"axis": 0, "virtual_batch_size": 2}, "axis cannot include 0"),
    ],
)
def test_arguments_of_batch_normalization_are_checked(arguments: Any, fault: str) -> None:
    with pytest.raises(ValueError, match=fault):
        tf.layers.batch_normalization(tf.ones(IMAGES), **arguments)


def test_batch_normalization_needs_known_features() -> None:
    with pytest.raises(TypeError, match="axis must be int or list"):
        tf.layers.BatchNormalization(axis="last")
    with pytest.raises(ValueError, match="undefined rank"):
        tf.layers.batch_normalization(tf.placeholder(tf.float32))
    with pytest.raises(ValueError, match="undefined `axis` dimension"):
        tf.layers.batch_normalization(tf.placeholder(tf.float32, [2, None]))


# Shapes


def shape(layer: Any, *of: Any) -> list[Any]:
    return [layer.compute_output_shape(sizes).as_list() for sizes in of]


def test_shapes_of_outputs_are_computed() -> None:
    layers = tf.layers
    assert shape(layers.Dense(1), (None, 3), (4, 2, 3)) == [[None, 1], [4, 2, 1]]
    assert shape(layers.Flatten(), (1, 2, 3, 2), (None, 3, None)) == [[1, 12], [None, None]]
    assert shape(layers.Conv2D(5, 3, 2), (None, 7, None, 4)) == [[None, 3, None, 5]]
    assert shape(layers.Conv1D(5, 3, padding="same"), (2, 7, 4)) == [[2, 7, 5]]
    transposed = layers.Conv2DTranspose(5, 3, 2, data_format="channels_first")
    assert shape(transposed, (2, 4, 7, 9)) == [[2, 5, 15, 19]]
    pooled = layers.MaxPooling3D(2, 2, padding="same")
    assert shape(pooled, (2, 5, 6, 7, 3)) == [[2, 3, 3, 4, 3]]
    for unknown in (None, [], [1]):
        with pytest.raises(ValueError):
            layers.Dense(1).compute_output_shape(tf.TensorShape(unknown))


def test_an_unbuilt_layer_has_the_attributes_of_its_arguments() -> None:
    dense = tf.layers.Dense(2, activation=tf.nn.relu, name="my_dense")
    assert (dense.units, dense.activation, dense.name) == (2, tf.nn.relu, "my_dense")
    assert dense.use_bias is True
    assert dense.kernel_regularizer is dense.kernel_constraint is dense.kernel_initializer is None
    conv = tf.layers.Conv2D(4, 3, dilation_rate=2)
    assert (conv.kernel_size, conv.strides, conv.dilation_rate) == ((3, 3), (1, 1), (2, 2))


def test_lengths_of_windows() -> None:
    for length in (windows.conv_output_length, windows.conv_input_length):
        with pytest.raises(AssertionError):
            length(18, 5, "diagonal", 2)
    assert windows.conv_output_length(None, 3, "same", 1) is None
    assert [windows.conv_output_length(4, 2, p, 2) for p in ("same", "valid", "full")] == [2, 2, 3]
    assert windows.conv_output_length(5, 2, "valid", 1, dilation=2) == 3
    assert [windows.conv_input_length(4, 3, p, 1) for p in ("same", "valid", "full")] == [4, 6, 2]
    assert [windows.deconv_output_length(4, 2, p, stride=1) for p in ("same", "valid", "full")] == [
        4,
        5,
        3,
    ]
    assert windows.deconv_output_length(4, 3, "same", 1, 2) == 8
    assert windows.convert_data_format("channels_first", 5) == "NCDHW"
    for arguments in (("channels_last", 2), ("channels_middle", 4)):
        with pytest.raises(ValueError):
            windows.convert_data_format(*arguments)


def test_flattening_keeps_what_is_known() -> None:
    shapes = {(1, 2, 3, 2): [1, 12], (5, None, 2): [5, None], (None,): [None, 1]}
    for given, flat in shapes.items():
        assert tf.layers.flatten(tf.placeholder(tf.float32, given)).shape.as_list() == flat


# Values


@pytest.mark.parametrize(
    "layer",
    [
        lambda x, form: tf.layers.conv2d(x, 3, 3, 2, "same", data_format=form),
        lambda x, form: tf.layers.conv2d(x, 3, 2, dilation_rate=2, data_format=form),
        lambda x, form: tf.layers.conv2d_transpose(x, 3, 3, 2, data_format=form),
        lambda x, form: tf.layers.separable_conv2d(x, 3, 3, data_format=form),
        lambda x, form: tf.layers.max_pooling2d(x, 2, 2, data_format=form),
        lambda x, form: tf.layers.average_pooling2d(x, 2, 1, "same", data_format=form),
    ],
)
def test_channels_may_come_first(layer: Any) -> None:
    data = np.random.RandomState(0).rand(2, 7, 6, 4).astype(np.float32)
    with tf.variable_scope("layer", initializer=tf.ones_initializer()):
        last = layer(tf.constant(data), "channels_last")
    with tf.variable_scope("layer", initializer=tf.ones_initializer(), reuse=tf.AUTO_REUSE):
        first = layer(tf.constant(data.transpose(0, 3, 1, 2)), "channels_first")
    last_value, first_value = run(last, first)
    assert first.shape.as_list() == list(first_value.shape)
    np.testing.assert_allclose(first_value.transpose(0, 2, 3, 1), last_value, rtol=1e-5)


@pytest.mark.parametrize(
    "layer",
    [
        lambda x, form: tf.layers.conv1d(x, 3, 3, padding="causal", data_format=form),
        lambda x, form: tf.layers.separable_conv1d(x, 3, 3, data_format=form),
        lambda x, form: tf.layers.max_pooling1d(x, 2, 2, data_format=form),
        lambda x, form: tf.layers.average_pooling1d(x, 2, 1, "same", data_format=form),
    ],
)
def test_channels_of_sequences_may_come_first(layer: Any) -> None:
    data = np.random.RandomState(0).rand(2, 7, 4).astype(np.float32)
    with tf.variable_scope("layer", initializer=tf.ones_initializer()):
        last = layer(tf.constant(data), "channels_last")
    with tf.variable_scope("layer", initializer=tf.ones_initializer(), reuse=tf.AUTO_REUSE):
        first = layer(tf.constant(data.transpose(0, 2, 1)), "channels_first")
    last_value, first_value = run(last, first)
    np.testing.assert_allclose(first_value.transpose(0, 2, 1), last_value, rtol=1e-5)


def test_channels_of_volumes_may_come_first() -> None:
    data = np.random.RandomState(0).rand(2, 5, 4, 6, 3).astype(np.float32)
    values = []
    for form, given in (
        ("channels_last", data),
        ("channels_first", data.transpose(0, 4, 1, 2, 3)),
    ):
        with tf.variable_scope("v", initializer=tf.ones_initializer(), reuse=tf.AUTO_REUSE):
            x = tf.constant(given)
            values += [
                tf.layers.conv3d(x, 2, 2, data_format=form, name="conv"),
                tf.layers.conv3d_transpose(x, 2, 2, 2, data_format=form, name="transposed"),
                tf.layers.max_pooling3d(x, 2, 2, data_format=form),
                tf.layers.average_pooling3d(x, 2, 1, data_format=form),
            ]
    results = run(*values)
    for last, first in zip(results[:4], results[4:], strict=True):
        np.testing.assert_allclose(first.transpose(0, 2, 3, 4, 1), last, rtol=1e-5)


def test_an_output_padding_lengthens_transposed_convolutions() -> None:
    layer = tf.layers.Conv2DTranspose(1, 3, 2, padding="same", output_padding=1)
    assert layer(tf.ones([1, 4, 4, 1])).shape.as_list() == [1, 8, 8, 1]
    with pytest.raises(ValueError, match="must be greater than output padding"):
        tf.layers.Conv2DTranspose(1, 3, 2, output_padding=2)


def test_batch_normalization_of_sixteen_bits_keeps_statistics_in_thirty_two() -> None:
    for fused in (True, False):
        x = tf.constant(np.random.RandomState(0).randn(4, 3, 3, 2) * 3 + 1, tf.float16)
        layer = tf.layers.BatchNormalization(fused=fused)
        out = layer(x, training=True)
        assert out.dtype is tf.float16
        assert {v.dtype.base_dtype for v in layer.variables} == {tf.float32}
        (value,) = run(out)
        np.testing.assert_allclose(value.astype(np.float32).mean((0, 1, 2)), 0, atol=1e-2)
        np.testing.assert_allclose(value.astype(np.float32).std((0, 1, 2)), 1, atol=1e-2)


def test_batch_normalization_of_a_variable() -> None:
    inputs = tf.Variable(np.random.RandomState(0).rand(5, 4) * 10, dtype=tf.float32)
    first = tf.layers.batch_normalization(inputs, training=True, name="bn", momentum=0.5)
    tf.layers.batch_normalization(inputs, training=True, name="bn", reuse=True, momentum=0.5)
    updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    assert len(updates) == 4
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        mean = session.run(first).mean(0)
        session.run(updates[-2:])
        moved = session.run("bn/moving_mean:0")
        given = session.run(inputs)
    np.testing.assert_allclose(mean, 0, atol=1e-5)
    np.testing.assert_allclose(moved, given.mean(0) / 2, rtol=1e-5)


def test_fused_statistics_may_be_over_n_for_tests() -> None:
    x = tf.constant(np.random.RandomState(0).rand(3, 2, 2, 2), tf.float32)
    variances = []
    for fused in (True, False):
        layer = tf.layers.BatchNormalization(fused=fused, momentum=0.0)
        layer._bessels_correction_test_only = False
        layer(x, training=True)
        with tf.control_dependencies(layer.updates):
            variances.append(tf.identity(layer.moving_variance.read_value()))
    fused_variance, composed_variance = run(*variances)
    np.testing.assert_allclose(fused_variance, composed_variance, rtol=1e-5)


@pytest.mark.parametrize("arguments", [{}, {"renorm": True}])
def test_inference_leaves_the_averages_alone(arguments: Any) -> None:
    x = tf.placeholder(tf.float32, [4, 3])
    training = tf.placeholder(tf.bool)
    layer = tf.layers.BatchNormalization(**arguments)
    out = layer(x, training=training)
    data = np.random.RandomState(0).rand(4, 3)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run([out, *layer.updates], {x: data, training: True})
        before = session.run(layer.non_trainable_variables)
        session.run([out, *layer.updates], {x: data, training: False})
        after = session.run(layer.non_trainable_variables)
    for old, new in zip(before, after, strict=True):
        np.testing.assert_array_equal(old, new)


def test_batch_renormalization_corrects_towards_the_averages() -> None:
    epsilon, momentum, renorm_momentum = 1e-3, 0.99, 0.8
    x, training = tf.placeholder(tf.float32, (4, 3)), tf.placeholder(tf.bool)
    layer = tf.layers.BatchNormalization(
        epsilon=epsilon,
        momentum=momentum,
        renorm=True,
        renorm_momentum=renorm_momentum,
        renorm_clipping={"rmax": 1.1, "rmin": 0.9, "dmax": 0.1},
    )
    out = layer(x, training=training)
    rng = np.random.RandomState(0)
    renorm = {"mean": 0.0, "stddev": 1.0}
    moving = {"mean": 0.0, "stddev": 1.0}
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(4):
            data = rng.random_sample((4, 3))
            batch = {"mean": data.mean(0), "stddev": np.sqrt(data.var(0) + epsilon)}
            r = np.clip(batch["stddev"] / renorm["stddev"], 0.9, 1.1)
            d = np.clip((batch["mean"] - renorm["mean"]) / renorm["stddev"], -0.1, 0.1)
            trained = (data - batch["mean"]) / batch["stddev"] * r + d
            for averages, kept in ((renorm, renorm_momentum), (moving, momentum)):
                for key in averages:
                    averages[key] = averages[key] * kept + batch[key] * (1 - kept)
            tested = (data - moving["mean"]) / moving["stddev"]
            for is_training, wanted in ((True, trained), (False, tested)):
                feed = {x: data, training: is_training}
                value = session.run([out, *layer.updates], feed)[0]
                np.testing.assert_allclose(value, wanted, atol=1e-5)


@pytest.mark.parametrize(
    ("shape", "axis", "size", "reduced"),
    [
        ((6, 2), -1, 3, (0,)),
        ((6, 5, 4, 3), 3, 2, (0, 2, 3)),
        ((6, 3, 5, 4), 1, 2, (0, 3, 4)),
        ((6, 3, 5, 4, 2), [1, 4], 3, (0, 3, 4)),
    ],
)
def test_virtual_batches_are_normalized_separately(
    shape: Any, axis: Any, size: int, reduced: Any
) -> None:
    epsilon, momentum = 1e-3, 0.8
    x, training = tf.placeholder(tf.float32, shape), tf.placeholder(tf.bool)
    layer = tf.layers.BatchNormalization(
        axis=axis, momentum=momentum, epsilon=epsilon, virtual_batch_size=size
    )
    out = layer(x, training=training)
    assert out.shape.as_list() == list(shape)
    rng = np.random.RandomState(0)
    mean, variance = 0.0, 1.0
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(3):
            data = rng.random_sample(shape)
            batches = data.reshape([size, shape[0] // size, *shape[1:]])
            means = batches.mean(reduced, keepdims=True)
            variances = batches.var(reduced, keepdims=True)
            mean = mean * momentum + means.mean(1, keepdims=True) * (1 - momentum)
            variance = variance * momentum + variances.mean(1, keepdims=True) * (1 - momentum)
            trained = (batches - means) / np.sqrt(variances + epsilon)
            tested = (batches - mean) / np.sqrt(variance + epsilon)
            value = session.run([out, *layer.updates], {x: data, training: True})[0]
            np.testing.assert_allclose(value, trained.reshape(shape), atol=1e-4)
            value = session.run(out, {x: data, training: False})
            np.testing.assert_allclose(value, tested.reshape(shape), atol=1e-4)


def test_frozen_batch_normalization_adds_no_updates() -> None:
    tf.layers.batch_normalization(tf.ones([2, 3]), training=True, trainable=False)
    assert tf.get_collection(tf.GraphKeys.UPDATE_OPS) == []


def test_a_batch_must_consist_of_virtual_ones() -> None:
    x = tf.placeholder(tf.float32, [None, 3])
    out = tf.layers.batch_normalization(x, virtual_batch_size=4, training=True)
    with pytest.raises(tf.errors.InvalidArgumentError):
        run(out, feed={x: np.ones([6, 3])})


def test_dropout_takes_its_rate_from_a_tensor() -> None:
    rate = tf.placeholder(tf.float32, [])
    out = tf.layers.Dropout(rate, seed=1)(tf.ones([1000]), training=True)
    (value,) = run(out, feed={rate: 0.8})
    assert set(np.round(value, 4).tolist()) == {0.0, 5.0}
    assert 150 < np.count_nonzero(value) < 250


def test_a_dense_layer_takes_sparse_inputs() -> None:
    sparse = tf.SparseTensor([[0, 1], [1, 2]], [2.0, 3.0], [2, 3])
    out = tf.layers.Dense(2, kernel_initializer=tf.ones_initializer())
    out.build((None, 3))
    (value,) = run(out.call(sparse))
    assert value.tolist() == [[2.0, 2.0], [3.0, 3.0]]


def test_constraints_reach_the_variables() -> None:
    def halved(weights: Any) -> Any:
        return weights / 2

    dense = tf.layers.Dense(2, kernel_constraint=halved, bias_constraint=halved)
    dense(tf.ones([1, 2]))
    assert dense.kernel.constraint is dense.bias.constraint is halved


def test_old_names() -> None:
    assert core.fully_connected is tf.layers.dense
    assert core.FullyConnected is tf.layers.Dense
    assert convolutional.deconv2d is convolutional.convolution2d_transpose
    assert convolutional.Deconv3D is tf.layers.Conv3DTranspose
    assert convolutional.convolution1d is tf.layers.conv1d
    assert pooling.avg_pool2d is tf.layers.average_pooling2d
    assert normalization.batch_norm is tf.layers.batch_normalization


# Conditions that are decided while building


def test_smart_cond_decides_what_it_can() -> None:
    def chosen(pred: Any) -> Any:
        return smart_cond.smart_cond(pred, lambda: tf.constant(1), lambda: tf.constant(2))

    assert [chosen(pred).op.type for pred in (True, 0, tf.constant(True))] == ["Const"] * 3
    assert chosen(tf.placeholder(tf.bool, [])).op.type == "Merge"
    assert chosen(tf.Variable(True)).op.type == "Merge"
    assert smart_cond.constant_value(tf.placeholder(tf.bool, [])) is None
    product = tf.matmul([[1.0]], [[2.0]])
    assert chosen(tf.reduce_all(product > 0.0)).op.type == "Const"
    assert chosen(tf.placeholder_with_default(1, []) > 0).op.type == "Merge"
    assert chosen(tf.random_uniform([]) < 2.0).op.type == "Merge"
    with pytest.raises(TypeError, match="`pred` must be a Tensor, or a Python bool"):
        chosen("yes")
    with pytest.raises(TypeError, match="must be callable"):
        smart_cond.smart_cond(True, 1, 2)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "layer", [lambda: core.Dropout(0.5, seed=1), lambda: normalization.BatchNormalization()]
)
def test_training_of_none_is_the_learning_phase(layer: Any) -> None:
    x = tf.constant(np.arange(12.0, dtype=np.float32).reshape(4, 3))
    y = layer()(x, training=None)
    phase = tf.get_default_graph().get_tensor_by_name("keras_learning_phase:0")
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        used, inputs = session.run([y, x])
        trained = session.run(y, {phase: True})
    np.testing.assert_allclose(used, inputs, rtol=1e-3)
    assert not np.allclose(trained, inputs, rtol=1e-3)
