"""QuantizedBatchNormWithGlobalNormalization, QuantizedInstanceNorm and QuantizedResizeBilinear.

What they must give was recorded from TensorFlow 1.15; TensorFlow 2 has no kernels for them.
"""

from __future__ import annotations

import numpy as np
import pytest

import penstock as tf

STEPS = np.arange(0, 240, 20).reshape(1, 2, 3, 2)


def _quantized(levels: object) -> tf.Tensor:
    return tf.bitcast(np.array(levels, np.uint8), tf.quint8)


def test_normalization_by_given_moments() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        result, low, high = tf.raw_ops.QuantizedBatchNormWithGlobalNormalization(
            t=_quantized(STEPS),
            t_min=-1.0,
            t_max=3.0,
            m=_quantized([10, 200]),
            m_min=-1.0,
            m_max=1.0,
            v=_quantized([100, 30]),
            v_min=0.0,
            v_max=2.0,
            beta=_quantized([5, 80]),
            beta_min=-0.5,
            beta_max=0.7,
            gamma=_quantized([30, 220]),
            gamma_min=-2.0,
            gamma_max=2.0,
            out_type=tf.qint32,
            variance_epsilon=0.001,
            scale_after_normalization=True,
        )
        assert result.shape == (1, 2, 3, 2)
        levels = session.run(tf.bitcast(result, tf.int32)).reshape(6, 2)
        assert levels[:, 0].tolist() == [-671, -2877, -5082, -7288, -9494, -11700]
        assert levels[:, 1].tolist() == [-8013, -4157, -298, 3558, 7414, 11270]
        assert session.run([low, high]) == [-(2.0**20), 2.0**20]


def test_normalization_of_each_channel() -> None:
    images = np.random.RandomState(0).randint(0, 256, (2, 4, 5, 3))
    with tf.Graph().as_default(), tf.Session() as session:
        result, low, high = tf.raw_ops.QuantizedInstanceNorm(
            x=_quantized(images), x_min=-1.5, x_max=3.0
        )
        levels = session.run(tf.bitcast(result, tf.uint8))
        assert levels[0, 0].tolist() == [
            [152, 70, 106],
            [167, 88, 220],
            [170, 122, 14],
            [182, 46, 212],
            [46, 107, 66],
        ]
        assert levels.sum() == 15242
        np.testing.assert_allclose(session.run([low, high]), [-2.0860968, 2.0916736], rtol=1e-6)
        given = tf.raw_ops.QuantizedInstanceNorm(
            x=_quantized(STEPS),
            x_min=-1.0,
            x_max=3.0,
            output_range_given=True,
            given_y_min=-2.0,
            given_y_max=2.0,
        )
        assert session.run([given.y_min, given.y_max]) == [-2.0, 2.0]


def test_resizing() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        images = np.array([[0, 64], [128, 240]]).reshape(1, 2, 2, 1)
        result, low, high = tf.raw_ops.QuantizedResizeBilinear(
            images=_quantized(images), size=[4, 4], min=-1.0, max=3.0
        )
        assert result.shape == (1, 4, 4, 1)
        assert session.run(tf.bitcast(result, tf.uint8))[0, :, :, 0].tolist() == [
            [0, 32, 64, 64],
            [64, 108, 152, 152],
            [128, 184, 240, 240],
            [128, 184, 240, 240],
        ]
        assert session.run([low, high]) == [-1.0, 3.0]


def test_resized_floats_are_those_of_plain_images() -> None:
    images = np.random.RandomState(0).randn(1, 3, 4, 2).astype(np.float32)
    with tf.Graph().as_default(), tf.Session() as session:
        result = tf.raw_ops.QuantizedResizeBilinear(images=images, size=[5, 7], min=0.0, max=1.0)
        plain = tf.image.resize_bilinear(images, [5, 7])
        np.testing.assert_allclose(*session.run([result.resized_images, plain]), rtol=1e-5)


def test_ranges_that_can_not_be() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        result = tf.raw_ops.QuantizedInstanceNorm(x=_quantized(STEPS), x_min=3.0, x_max=-1.0)
        with pytest.raises(tf.errors.InvalidArgumentError, match="input_min must be less"):
            session.run(result.y_min)
