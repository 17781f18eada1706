"""What pipelines tell of themselves: options, specs, sizes, warnings."""

from __future__ import annotations

import warnings
from unittest import mock

import numpy as np
import pytest

import penstock as tf
from penstock.data import dataset as datasets
from penstock.data import structure
from penstock.data.experimental.optional import _OptionalImpl
from penstock.data.experimental.pipeline_probes import MatchingFilesDataset
from penstock.ir.type_spec import TypeSpec
from penstock.platform import logging


@pytest.fixture(autouse=True)
def fresh_graph():
    with tf.Graph().as_default():
        yield


def _elements(dataset):
    following = dataset.make_one_shot_iterator().get_next()
    if isinstance(following, tf.TensorArray):
        following = following.stack()
    found = []
    with tf.Session() as session:
        while True:
            try:
                found.append(np.asarray(session.run(following)).tolist())
            except tf.errors.OutOfRangeError:
                return found


def test_the_rewritings_that_options_ask_for():
    options = tf.data.Options()
    default = ["map_and_batch_fusion", "noop_elimination", "shuffle_and_repeat_fusion"]
    assert options._static_optimizations() == default
    options.experimental_optimization.noop_elimination = False
    options.experimental_optimization.map_vectorization.enabled = True
    options.experimental_optimization.autotune_buffers = True
    options.experimental_deterministic = False
    options.experimental_slack = True
    options.experimental_stats.latency_all_edges = True
    assert options._static_optimizations() == [
        "inject_prefetch",
        "map_and_batch_fusion",
        "map_vectorization",
        "shuffle_and_repeat_fusion",
        "make_sloppy",
        "latency_all_edges",
        "slack",
    ]
    assert options._static_optimization_configs() == [
        "map_vectorization:use_choose_fastest:false",
        "slack:slack_period:1",
    ]
    options = tf.data.Options()
    options.experimental_optimization.apply_default_optimizations = False
    assert options._static_optimizations() == []


def test_a_pipeline_that_uses_a_reference_variable_is_warned_of():
    variable = tf.Variable(1, use_resource=False)
    dataset = tf.data.Dataset.from_tensors(0).map(lambda x: x + variable).repeat(2)
    assert dataset._has_captured_ref()
    with pytest.warns(UserWarning, match="not compatible with tf.Variable. The following .*noop"):
        dataset.make_initializable_iterator()
    options = tf.data.Options()
    options.experimental_optimization.apply_default_optimizations = False
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dataset.with_options(options).make_initializable_iterator()
        resource = tf.Variable(1, use_resource=True)
        dataset = tf.data.Dataset.from_tensors(0).map(lambda x: x + resource)
        dataset.make_initializable_iterator()


def test_a_dataset_of_another_graph_is_warned_of():
    dataset = tf.data.Dataset.range(3)
    with tf.Graph().as_default(), mock.patch.object(logging, "warning") as warning:
        dataset.make_one_shot_iterator()
    assert "in the same graph as the iterator" in str(warning.call_args)


def test_files_of_records_alone_count_their_names_as_input():
    assert len(tf.data.TFRecordDataset("")._inputs()) == 1
    assert tf.data.TextLineDataset("")._inputs() == []
    assert tf.data.FixedLengthRecordDataset("", 2)._inputs() == []


@pytest.mark.parametrize("threads", [None, 2])
def test_a_map_has_as_many_elements_as_its_source(threads):
    dataset = tf.data.Dataset.range(5).map(lambda x: x, num_parallel_calls=threads)
    with tf.Session() as session:
        assert session.run(tf.data.experimental.cardinality(dataset)) == 5


def test_files_that_are_not_there_are_missed(tmp_path):
    iterator = MatchingFilesDataset(str(tmp_path / "*.txt")).make_initializable_iterator()
    with tf.Session() as session:
        session.run(iterator.initializer)
        with pytest.raises(tf.errors.NotFoundError, match="Don't find any matched files"):
            session.run(iterator.get_next())


# Specs --------------------------------------------------------------------------------------------


def test_the_spec_of_a_dataset_takes_it_apart():
    dataset = tf.data.Dataset.range(3)
    spec = structure.type_spec_from_value(dataset)
    assert isinstance(spec, TypeSpec) and spec == dataset._type_spec
    assert spec != datasets.DatasetSpec(tf.TensorSpec([], tf.int32))
    again = spec._from_tensor_list(spec._to_tensor_list(dataset))
    assert _elements(again) == [0, 1, 2]
    batched = spec._batch(4)
    assert repr(batched).endswith("TensorShape([Dimension(4)]))")
    assert batched._unbatch() == spec
    with pytest.raises(ValueError, match="only supported for rank >= 1"):
        spec._unbatch()


def test_the_spec_of_an_optional_takes_it_apart():
    optional = tf.data.experimental.Optional.from_value({"a": tf.constant(7)})
    spec = structure.type_spec_from_value(optional)
    assert isinstance(spec, TypeSpec) and spec._to_legacy_output_types() is spec
    again = spec._from_tensor_list(spec._to_tensor_list(optional))
    with tf.Session() as session:
        assert session.run(again.get_value()) == {"a": 7}


def test_optionals_are_added_and_go_through_functions():
    a, b = (tf.data.experimental.Optional.from_value((x, x + 1)) for x in (1.0, 5.0))
    total = _OptionalImpl(tf.add_n([a._variant_tensor, b._variant_tensor]), a.value_structure)

    @tf.function
    def made():
        return tf.data.experimental.Optional.from_value(tf.constant(3))

    @tf.function
    def used(optional):
        return optional.get_value() * 2

    with tf.Session() as session:
        assert session.run(total.get_value()) == (6.0, 8.0)
        assert session.run(used(made())) == 6


def test_arrays_of_tensors_are_elements():
    def array(number):
        size = tf.cast(number, tf.int32)
        return tf.TensorArray(tf.int32, size, element_shape=[]).unstack(tf.range(size))

    arrays = tf.data.Dataset.range(4).map(array)
    expected = [[], [0], [0, 1], [0, 1, 2]]
    assert _elements(arrays) == _elements(arrays.map(lambda each: each.stack())) == expected
    assert (arrays.output_types, arrays.output_classes) == (tf.int32, tf.TensorArray)
    assert arrays.output_shapes.as_list() == [0, 1]  # whether it grows, whether shapes are equal
    spec = structure.convert_legacy_structure(
        arrays.output_types, arrays.output_shapes, arrays.output_classes
    )
    assert spec == arrays.element_spec


def test_a_spec_of_a_users_own_says_how_its_values_travel():
    class Pair:
        def __init__(self, first, second):
            self.first, self.second = first, second

    class PairSpec(TypeSpec):
        value_type = Pair

        def _serialize(self):
            return ()

        @property
        def _component_specs(self):
            return (tf.TensorSpec([], tf.int64), tf.TensorSpec([], tf.string))

        def _to_components(self, value):
            return value.first, value.second

        def _from_components(self, components):
            return Pair(*components)

    spec = PairSpec()
    assert structure.get_flat_tensor_types(spec) == [tf.int64, tf.string]
    tensors = structure.to_tensor_list(spec, Pair(tf.constant(1, tf.int64), tf.constant("a")))
    assert structure.from_tensor_list(spec, tensors).second is tensors[1]


# What is refused when a pipeline begins -----------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: tf.data.Dataset.from_tensors([1]).padded_batch(2, [-2]), "must be >= -1"),
        (
            lambda: tf.data.Dataset.range(4).apply(
                tf.data.experimental.map_and_batch(lambda x: x, 2, num_parallel_batches=0)
            ),
            "num_parallel_calls must be greater than zero",
        ),
        (
            lambda: tf.data.Dataset.from_tensors(tf.placeholder_with_default(1, None)).unbatch(),
            "non-scalar value in each component",
        ),
    ],
)
def test_numbers_that_make_no_sense(make, message):
    dataset = make()

    def first_element():
        iterator = dataset.make_initializable_iterator()
        with tf.Session() as session:
            session.run(iterator.initializer)
            session.run(iterator.get_next())

    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        first_element()


# What the options of a pipeline put before its iterator: TensorFlow 1.15's nodes and orders ------


def _rearranged(options=None, end=lambda dataset: dataset.repeat(2)):
    dataset = end(tf.data.Dataset.range(7).shuffle(3, seed=5))
    return _elements(dataset if options is None else dataset.with_options(options))


SEPARATE = [1, 3, 4, 5, 2, 0, 6, 2, 1, 0, 4, 5, 6, 3]
FUSED = [1, 3, 2, 5, 6, 0, 4, 2, 3, 0, 5, 4, 1, 6]


def test_a_repeated_shuffle_has_one_stream_of_random_numbers():
    assert _rearranged() == FUSED
    assert _rearranged(end=lambda dataset: dataset.take(-1).skip(0).repeat(1).repeat(2)) == FUSED
    assert _rearranged(end=lambda dataset: dataset.map(lambda x: x).repeat(2)) == SEPARATE


@pytest.mark.parametrize("name", ["apply_default_optimizations", "shuffle_and_repeat_fusion"])
def test_options_keep_shuffle_and_repeat_apart(name):
    options = tf.data.Options()
    setattr(options.experimental_optimization, name, False)
    assert _rearranged(options) == SEPARATE


def test_a_dataset_given_to_make_initializer_is_not_rewritten():
    dataset = tf.data.Dataset.range(7).shuffle(3, seed=5).repeat(2)
    iterator = tf.data.Iterator.from_structure(dataset.output_types, dataset.output_shapes)
    start, following = iterator.make_initializer(dataset), iterator.get_next()
    with tf.Session() as session:
        session.run(start)
        assert [session.run(following) for _ in range(14)] == SEPARATE


@pytest.mark.parametrize(
    ("settings", "types"),
    [
        ({}, ["OptimizeDataset", "ModelDataset"]),
        ({"apply_default_optimizations": False}, ["ModelDataset"]),
        ({"apply_default_optimizations": False, "autotune": False}, []),
    ],
)
def test_the_nodes_before_an_iterator(settings, types):
    options = tf.data.Options()
    for name, value in settings.items():
        setattr(options.experimental_optimization, name, value)
    tf.data.Dataset.range(3).with_options(options).make_initializable_iterator()
    made = [op.type for op in tf.get_default_graph().get_operations()]
    assert [type for type in made if type in ("OptimizeDataset", "ModelDataset")] == types


def test_threads_of_a_pipeline_are_nodes():
    options = tf.data.Options()
    options.experimental_threading.max_intra_op_parallelism = 2
    options.experimental_threading.private_threadpool_size = 3
    iterator = tf.data.Dataset.range(3).with_options(options).make_initializable_iterator()
    (dataset,) = iterator.initializer.inputs[:1]
    found = []
    while dataset.op.inputs:
        found.append(dataset.op.type)
        dataset = dataset.op.inputs[0]
    assert found == [
        "ModelDataset",
        "OptimizeDataset",
        "PrivateThreadPoolDataset",
        "MaxIntraOpParallelismDataset",
        "RangeDataset",
    ]
