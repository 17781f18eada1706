"""`tf.TypeSpec` and its subclasses."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import penstock as tf


def test_all_specs_are_type_specs() -> None:
    for spec in (
        tf.TensorSpec([2]),
        tf.SparseTensorSpec([2]),
        tf.IndexedSlicesSpec([2]),
        tf.TensorArraySpec([2]),
    ):
        assert isinstance(spec, tf.TypeSpec)
        assert copy.deepcopy(spec) == spec
        assert hash(copy.deepcopy(spec)) == hash(spec)
        assert spec.is_compatible_with(spec)


def test_indexed_slices() -> None:
    with tf.Graph().as_default():
        slices = tf.IndexedSlices(tf.ones([2, 3]), tf.constant([0, 4]))
        spec = tf.IndexedSlicesSpec([None, 3], tf.float32, tf.int32)
        assert spec.value_type is tf.IndexedSlices
        assert spec.is_compatible_with(slices)
        assert not tf.IndexedSlicesSpec([None, 4], tf.float32, tf.int32).is_compatible_with(slices)
        assert not spec.is_compatible_with(tf.constant(1.0))
        common = spec.most_specific_compatible_type(
            tf.IndexedSlicesSpec([5, 2], indices_dtype="int32")
        )
        assert common == tf.IndexedSlicesSpec([None, None], tf.float32, tf.int32)
        with pytest.raises(ValueError, match="No TypeSpec is compatible"):
            spec.most_specific_compatible_type(tf.IndexedSlicesSpec([5, 2], tf.int32))


def test_tensor_arrays() -> None:
    with tf.Graph().as_default():
        array = tf.TensorArray(tf.float32, 3, element_shape=[2])
        spec = tf.TensorArraySpec([None], tf.float32, infer_shape=False)
        assert spec.is_compatible_with(array)
        assert not tf.TensorArraySpec([None], tf.int32).is_compatible_with(array)
        common = spec.most_specific_compatible_type(tf.TensorArraySpec([2], tf.float32))
        assert common == tf.TensorArraySpec([None], tf.float32, infer_shape=False)
        with pytest.raises(ValueError, match="not compatible"):
            spec.most_specific_compatible_type(tf.TensorArraySpec([2], tf.int32))


def test_a_reciprocal_of_zero_is_zero() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        value = tf.math.reciprocal_no_nan(np.array([2.0, 0.0, 0.5]))
        assert session.run(value).tolist() == [0.5, 0.0, 2.0]
