"""Data and a model like MNIST's: TensorFlow's `keras.distribute.multi_worker_testing_utils`."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock import keras

_BATCH = 64
_IMAGE = [28, 28, 1]


def mnist_synthetic_dataset(batch_size: int, steps_per_epoch: int) -> tuple[Any, Any]:
    """Endless batches of white images to train on, and of noise to test with."""
    count = batch_size * steps_per_epoch
    seen = (tf.ones([count, *_IMAGE]), tf.ones([count, 1], tf.int32))
    unseen = (
        tf.random_uniform([10000, *_IMAGE]),
        tf.random_uniform([10000, 1], minval=0, maxval=9, dtype=tf.int32),
    )
    train, test = (
        tf.data.Dataset.from_tensor_slices(data).repeat().batch(_BATCH, drop_remainder=True)
        for data in (seen, unseen)
    )
    return train, test


def get_mnist_model(input_shape: Any) -> Any:
    """A small convolutional network that begins with the same weights always."""
    layers = keras.layers
    model = keras.Sequential(
        [
            layers.Conv2D(
                32,
                kernel_size=(3, 3),
                activation="relu",
                input_shape=input_shape,
                kernel_initializer=keras.initializers.TruncatedNormal(seed=99),
            ),
            layers.BatchNormalization(),
            layers.Flatten(),
            layers.Dense(
                10,
                activation="softmax",
                kernel_initializer=keras.initializers.TruncatedNormal(seed=99),
            ),
        ]
    )
    model.compile(
        loss=keras.losses.sparse_categorical_crossentropy,
        optimizer=keras.optimizers.SGD(learning_rate=0.001),
        metrics=["accuracy"],
    )
    return model
