"""`tf.parse_example` and its relatives: whole messages in, tensors out, and the errors' words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from google.protobuf import json_format

import penstock as tf


def _feature(values: Any) -> Any:
    if isinstance(values[0], bytes):
        return tf.train.Feature(bytes_list=tf.train.BytesList(value=values))
    if isinstance(values[0], float):
        return tf.train.Feature(float_list=tf.train.FloatList(value=values))
    return tf.train.Feature(int64_list=tf.train.Int64List(value=values))


def _example(**features: Any) -> Any:
    entries = {key: _feature(values) for key, values in features.items()}
    return tf.train.Example(features=tf.train.Features(feature=entries))


def _sequence(**lists: Any) -> Any:
    entries = {
        key: tf.train.FeatureList(feature=[_feature(values) for values in steps])
        for key, steps in lists.items()
    }
    return tf.train.SequenceExample(feature_lists=tf.train.FeatureLists(feature_list=entries))


def _run(fetches: Any) -> Any:
    with tf.Session() as sess:
        return sess.run(fetches)


def test_an_image_and_its_label() -> None:
    pixels = np.arange(12, dtype=np.uint8)
    record = _example(image_raw=[pixels.tobytes()], label=[7], height=[3]).SerializeToString()
    features = tf.parse_single_example(
        record,
        features={
            "image_raw": tf.FixedLenFeature([], tf.string),
            "label": tf.FixedLenFeature([], tf.int64),
            "height": tf.FixedLenFeature([], tf.int64),
        },
    )
    image = tf.reshape(tf.decode_raw(features["image_raw"], tf.uint8), [features["height"], 4])
    found, label = _run([image, features["label"]])
    np.testing.assert_array_equal(found, pixels.reshape(3, 4))
    assert label == 7


def test_a_batch_of_everything() -> None:
    records = [_example(x=[1.0, 2.0], w=[b"a", b"b"], i=[5]), _example(x=[3.0, 4.0], i=[1, 2])]
    parsed = tf.parse_example(
        [record.SerializeToString() for record in records],
        {
            "x": tf.FixedLenFeature([2], tf.float32),
            "w": tf.VarLenFeature(tf.string),
            "i": tf.FixedLenSequenceFeature([], tf.int64, allow_missing=True, default_value=-1),
            "z": tf.FixedLenFeature([1], tf.int64, default_value=[9]),
        },
    )
    found = _run(parsed)
    np.testing.assert_array_equal(found["x"], [[1, 2], [3, 4]])
    np.testing.assert_array_equal(found["w"].indices, [[0, 0], [0, 1]])
    assert found["w"].values.tolist() == [b"a", b"b"]
    assert found["w"].dense_shape.tolist() == [2, 2]
    np.testing.assert_array_equal(found["i"], [[5, -1], [1, 2]])
    np.testing.assert_array_equal(found["z"], [[9], [9]])


def test_the_last_of_two_features_of_one_name_counts() -> None:
    first, second = _example(x=[1.0]), _example(x=[2.0])
    merged = first.SerializeToString() + second.SerializeToString()
    parsed = tf.parse_single_example(merged, {"x": tf.FixedLenFeature([], tf.float32)})
    assert _run(parsed["x"]) == 2.0


def test_a_parsed_tensor_is_its_own() -> None:
    record = _example(x=[float(i) for i in range(100)]).SerializeToString()
    x = tf.parse_single_example(record, {"x": tf.FixedLenFeature([100], tf.float32)})["x"]
    with tf.Session() as sess:
        found = sess.run(x)
        found += 1
        np.testing.assert_array_equal(sess.run(x), np.arange(100))


@pytest.mark.parametrize(
    ("feature", "message"),
    [
        (tf.FixedLenFeature([], tf.float32), r"Name: in2, Feature: x \(data type: float\) is requ"),
        (
            tf.FixedLenFeature([2], tf.int64),
            "Name: in1, Key: x, Index: 0.  Data types don't",
        ),
        (tf.VarLenFeature(tf.string), "Data types don't match. Expected type: string"),
    ],
)
def test_errors_of_a_batch_name_the_example(feature: Any, message: str) -> None:
    records = [_example(x=[1.0]).SerializeToString(), b""]
    parsed = tf.parse_example(records, {"x": feature}, example_names=["in1", "in2"])
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        _run(parsed)


def test_errors_of_a_sequence_name_the_step() -> None:
    record = _sequence(a=[[2, 3], [2, 3, 4]]).SerializeToString()
    _, lists = tf.parse_single_sequence_example(
        record,
        sequence_features={"a": tf.FixedLenSequenceFeature((2,), tf.int64)},
        example_name="in1",
    )
    message = (
        r"Name: in1, Key: a, Index: 1.  Number of int64 values != expected.  values size: 3 but "
        r"output shape: \[2\]"
    )
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        _run(lists)


def test_sequences_of_different_lengths() -> None:
    records = [_sequence(a=[[1], [2], [3]]), _sequence(a=[[4]])]
    _, lists, lengths = tf.io.parse_sequence_example(
        [record.SerializeToString() for record in records],
        sequence_features={"a": tf.FixedLenSequenceFeature([], tf.int64)},
    )
    found, counts = _run([lists["a"], lengths["a"]])
    np.testing.assert_array_equal(found, [[1, 2, 3], [4, 0, 0]])
    assert counts.tolist() == [3, 1]


def test_json_examples() -> None:
    example = _example(f=[1.5, -2.0], i=[2**40], s=[b"\xff\x00"])
    (binary,) = _run(tf.decode_json_example([json_format.MessageToJson(example)]))
    assert tf.train.Example.FromString(binary) == example


def test_a_tensor_survives_its_serialization() -> None:
    for value in (np.float32([[1, 2]]), np.array([b"a", b""], object), np.arange(3)):
        tensor = tf.constant(value)
        found = _run(tf.parse_tensor(tf.serialize_tensor(tensor), tensor.dtype))
        np.testing.assert_array_equal(found, value)
