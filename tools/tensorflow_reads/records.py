"""TFRecord files of examples, plain and compressed."""

from __future__ import annotations

import os
from typing import Any

from tensorflow_reads import read_with

COMPRESSIONS = ("", "GZIP", "ZLIB")


def write(folder: str) -> None:
    """A file of three examples for each compression."""
    import penstock as tf

    for compression in COMPRESSIONS:
        path = os.path.join(folder, f"records{compression}")
        options = tf.python_io.TFRecordOptions(
            getattr(tf.python_io.TFRecordCompressionType, compression or "NONE")
        )
        with tf.python_io.TFRecordWriter(path, options) as writer:
            for number in range(3):
                numbers = tf.train.Int64List(value=[number, number * 2])
                feature = {"n": tf.train.Feature(int64_list=numbers)}
                example = tf.train.Example(features=tf.train.Features(feature=feature))
                writer.write(example.SerializeToString())


def _records(tf: Any, folder: str) -> str:
    for compression in COMPRESSIONS:
        with tf.Graph().as_default(), tf.Session() as session:
            path = os.path.join(folder, f"records{compression}")
            dataset = tf.data.TFRecordDataset(path, compression).batch(3)
            serialized = tf.data.make_one_shot_iterator(dataset).get_next()
            parsed = tf.parse_example(serialized, {"n": tf.FixedLenFeature([2], tf.int64)})
            assert session.run(parsed)["n"].tolist() == [[0, 0], [1, 2], [2, 4]], compression
    return "examples, plain and in both compressions"


READERS = {"TFRecord file": _records}


def check(folder: str, python: str) -> list[str]:
    """Writes the files with Penstock and has the TensorFlow of `python` read them."""
    write(folder)
    return read_with(python, __name__, folder)
