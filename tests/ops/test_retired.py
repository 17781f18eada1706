"""Ops of old graphs: TensorFlow makes no nodes of these types any more, so newer ones say what
BatchNormWithGlobalNormalization, Conv3DBackpropInput, Conv3DBackpropFilter and TileGrad give.
CompareAndBitpack is gone from TensorFlow 2; NumPy says what it gives.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.ops.conv import Conv3D
from penstock.ops.immutable_const import ImmutableConst
from penstock.ops.retired import (
    BatchNormWithGlobalNormalization,
    CompareAndBitpack,
    Conv3DBackpropFilter,
    Conv3DBackpropInput,
    TileGrad,
)


def _random(*shape: int) -> np.ndarray:
    return np.random.RandomState(len(shape) + shape[0]).standard_normal(shape)


@pytest.mark.parametrize("scaled", [True, False])
def test_normalization_and_its_gradient(scaled: bool) -> None:
    """BatchNormWithGlobalNormalizationGrad gives what the gradients of a composition give."""
    arrays = [_random(2, 3, 4, 5), _random(5), _random(5) ** 2, _random(5) + 1, _random(5) + 2]
    weights = _random(2, 3, 4, 5)
    with tf.Graph().as_default(), tf.Session() as session:
        t, m, v, beta, gamma = inputs = [tf.constant(array) for array in arrays]
        fused = BatchNormWithGlobalNormalization(
            *inputs, variance_epsilon=0.01, scale_after_normalization=scaled
        )
        composed = tf.nn.batch_normalization(t, m, v, beta, gamma if scaled else None, 0.01)
        gradients = tf.gradients(fused, inputs, weights)
        used = inputs if scaled else inputs[:4]
        expected = tf.gradients(composed, used, weights)
        assert {y.op.type for y in gradients} == {"BatchNormWithGlobalNormalizationGrad"}
        found, wanted = session.run([fused, composed])
        np.testing.assert_allclose(found, wanted, rtol=1e-6)
        for found, wanted in zip(*session.run([gradients[: len(used)], expected]), strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-6)
        if not scaled:
            assert not session.run(gradients[4]).any()


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
def test_gradients_of_convolutions(padding: str) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        volume, filters = tf.constant(_random(2, 4, 5, 3, 2)), tf.constant(_random(2, 3, 2, 2, 3))
        options: dict[str, Any] = {"strides": [1, 2, 1, 1, 1], "padding": padding}
        output = Conv3D(volume, filters, **options)
        grad = tf.constant(_random(*output.shape.as_list()))
        expected = tf.gradients(output, [volume, filters], grad)
        found = [
            Conv3DBackpropInput(volume, filters, grad, **options),
            Conv3DBackpropFilter(volume, filters, grad, **options),
        ]
        for ours, wanted in zip(*session.run([found, expected]), strict=True):
            np.testing.assert_allclose(ours, wanted)


def test_tile_grad_sums_the_tiles() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant(_random(2, 3))
        tiled = tf.tile(x, [2, 3])
        weights = tf.constant(_random(4, 9))
        summed = TileGrad(weights, [2, 3])
        assert summed.shape.as_list() == [2, 3]
        np.testing.assert_allclose(*session.run([summed, tf.gradients(tiled, x, weights)[0]]))


def test_immutable_const(tmp_path: Path) -> None:
    file = tmp_path / "numbers"
    file.write_bytes(np.arange(6, dtype=np.float32).tobytes())

    def constant(shape: list[int], path: Path) -> tf.Tensor:
        return ImmutableConst(dtype=tf.float32, shape=shape, memory_region_name=str(path))

    with tf.Graph().as_default(), tf.Session() as session:
        assert session.run(constant([2, 3], file) + 1.0).tolist() == [[1, 2, 3], [4, 5, 6]]
        assert session.run(constant([], file)) == 0.0
        with pytest.raises(tf.errors.InternalError):
            session.run(constant([2, 4], file))
        with pytest.raises(tf.errors.NotFoundError):
            session.run(constant([2, 3], tmp_path / "absent"))


@pytest.mark.parametrize("dtype", ["bool", "float16", "float64", "int8", "int64"])
def test_comparisons_are_packed_into_bits(dtype: str) -> None:
    values = np.random.RandomState(0).randint(-3, 3, (4, 3, 16)).astype(dtype)
    threshold = np.array(-1 if dtype != "bool" else 0).astype(dtype)
    with tf.Graph().as_default(), tf.Session() as session:
        packed = CompareAndBitpack(values, threshold)
        assert packed.shape.as_list() == [4, 3, 2] and packed.dtype == tf.uint8
        expected = np.packbits(values > threshold, axis=-1)
        assert session.run(packed).tolist() == expected.tolist()


@pytest.mark.parametrize(
    ("values", "threshold", "problem"),
    [
        (np.zeros([2, 7]), 0.0, r"divisible by 8, but saw shape: \[2,7\]"),
        (np.zeros([2, 8]), [0.0], r"must be a scalar, but saw shape: \[1\]"),
        (1.0, 0.0, "at least a vector"),
    ],
)
def test_what_cannot_be_packed(values: Any, threshold: Any, problem: str) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        given, limit = tf.placeholder(tf.float32), tf.placeholder(tf.float32)
        packed = CompareAndBitpack(given, limit)
        assert packed.shape.ndims is None
        with pytest.raises(tf.errors.InvalidArgumentError, match=problem):
            session.run(packed, {given: values, limit: threshold})
    with tf.Graph().as_default(), pytest.raises(ValueError, match="divisible by 8 but is 7"):
        CompareAndBitpack(tf.placeholder(tf.float32, [2, 7]), 0.0)
