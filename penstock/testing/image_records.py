"""Files of small random images for tests: `contrib.slim.python.slim.data.test_utils`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

import penstock as tf
from penstock.python_io import TFRecordWriter


def generate_image(
    image_shape: Sequence[int], image_format: str = "jpeg", label: int = 0
) -> tuple[Any, bytes]:
    """A random image, and a serialized example that has it encoded."""
    image = np.random.randint(0, 256, size=image_shape)  # noqa: NPY002 the test seeds it
    with tf.Graph().as_default(), tf.Session() as session:
        pixels = tf.constant(image, tf.uint8)
        encode = tf.image.encode_png if image_format == "png" else tf.image.encode_jpeg
        encoded = session.run(encode(pixels))
    example = tf.train.Example()
    feature = example.features.feature
    feature["image/encoded"].bytes_list.value.append(encoded)
    feature["image/format"].bytes_list.value.append(image_format.encode())
    feature["image/class/label"].int64_list.value.append(label)
    return image, example.SerializeToString()


def create_tfrecord_files(
    output_dir: str, num_files: int = 3, num_records_per_file: int = 10
) -> list[str]:
    """Writes files of examples with images of 10 by 10 pixels; their paths."""
    paths = [
        os.path.join(output_dir, f"flowers.tfrecord-{number}-of-{num_files}")
        for number in range(num_files)
    ]
    for path in paths:
        with TFRecordWriter(path) as writer:
            for _ in range(num_records_per_file):
                writer.write(generate_image((10, 10, 3))[1])
    return paths
