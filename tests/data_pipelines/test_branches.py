"""Functions of rows, datasets that take the fastest of several ways, batches in parts."""

from __future__ import annotations

import numpy as np
import pytest

import penstock as tf
from penstock.data.dataset import from_variant
from penstock.data.experimental.branches import (
    _ChooseFastestBranchDataset,
    _ChooseFastestDataset,
    map_defun,
)
from penstock.data.experimental.workers import _RebatchDataset
from penstock.internal_paths.graph_mode import eager_mode
from penstock.ops.datasets import branches as nodes

NUMBERS = {"output_types": [tf.int64], "output_shapes": [[None]]}


@pytest.fixture(autouse=True)
def fresh_graph():
    with tf.Graph().as_default():
        yield


def _elements(dataset):
    following = dataset.make_one_shot_iterator().get_next()
    found = []
    with tf.Session() as session:
        while True:
            try:
                found.append(np.asarray(session.run(following)).tolist())
            except tf.errors.OutOfRangeError:
                return found


def _function(python_function, *shapes, dtype=tf.int32):
    return tf.function(
        python_function, input_signature=[tf.TensorSpec(shape, dtype) for shape in shapes]
    )


# MapDefun -----------------------------------------------------------------------------------------


def test_map_defun_stacks_the_results_of_rows():
    shift = tf.constant(10)
    rows = tf.constant([[1, 2], [3, 4], [5, 6]])
    both = _function(lambda x: (x + shift, tf.cast(x[0], tf.float64)), [2])
    sums, firsts = map_defun(both, [rows], [tf.int32, tf.float64], [(2,), ()])
    assert sums.op.type == "MapDefun"
    assert (sums.shape.as_list(), firsts.shape.as_list()) == ([3, 2], [3])
    with tf.Session() as session:
        found = session.run([sums, firsts])
    assert found[0].tolist() == [[11, 12], [13, 14], [15, 16]]
    assert found[1].tolist() == [1.0, 3.0, 5.0]


def test_map_defun_takes_other_shapes_in_each_run():
    fed = tf.placeholder(tf.int32)
    (doubled,) = map_defun(_function(lambda x: x * 2, None), [fed], [tf.int32], [None])
    with tf.Session() as session:
        assert session.run(doubled, {fed: [1, 2]}).tolist() == [2, 4]
        assert session.run(doubled, {fed: [[1], [2]]}).tolist() == [[2], [4]]
        assert session.run(doubled, {fed: np.zeros([0, 3])}).shape == (0,)
        with pytest.raises(tf.errors.InvalidArgumentError, match="rank at least 1"):
            session.run(doubled, {fed: 1})


def test_map_defun_tells_what_does_not_fit():
    fed = tf.placeholder(tf.int32)
    two = tf.constant([1, 2])
    first = _function(lambda x, y: x, None, None)
    with tf.Session() as session:
        (result,) = map_defun(first, [fed, two], [tf.int32], [None])
        with pytest.raises(tf.errors.InvalidArgumentError, match="the same dimension 0. Input 1"):
            session.run(result, {fed: [1]})
        (result,) = map_defun(_function(lambda x: tf.stack([x, x]), []), [two], [tf.int32], [(1,)])
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"\[2\], and expected .* \[1\]"):
            session.run(result)
        (result,) = map_defun(_function(tf.range, []), [two], [tf.int32], [None])
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"\[2\], and expected .* \[1\]"):
            session.run(result)
        (result,) = map_defun(_function(lambda x: (x, x), []), [two], [tf.int32], [()])
        with pytest.raises(tf.errors.InvalidArgumentError, match="2 values, and 1 were expected"):
            session.run(result)
        (result,) = map_defun(_function(lambda x: x, []), [two], [tf.int64], [()])
        with pytest.raises(tf.errors.InvalidArgumentError, match="int64 was expected"):
            session.run(result)
    with pytest.raises(ValueError, match="Arguments must have rank at least 1. Input 0"):
        map_defun(_function(lambda x: x, None), [tf.constant(1)], [tf.int32], [None])
    with pytest.raises(ValueError, match="Arguments must have the same dimension 0"):
        map_defun(first, [two, tf.constant([1])], [tf.int32], [None])
    with pytest.raises(ValueError, match="`elems` must be a list of tensors"):
        map_defun(first, two, [tf.int32], [None])


# ChooseFastestDataset, ExperimentalChooseFastestDataset -------------------------------------------


def test_the_fastest_of_datasets_has_all_elements():
    numbers = tf.data.Dataset.range(60)
    a, b = numbers.batch(4).map(lambda x: x * 2), numbers.map(lambda x: x * 2).batch(4)
    chosen = _ChooseFastestDataset([a, b], num_experiments=3)
    assert chosen._variant_tensor.op.type == "ChooseFastestDataset"
    assert chosen._inputs() == [a, b]
    assert _elements(chosen) == [list(range(i, i + 8, 2)) for i in range(0, 120, 8)]
    older = nodes.ExperimentalChooseFastestDataset(
        [a._variant_tensor, b._variant_tensor], num_experiments=20, **NUMBERS
    )
    assert _elements(from_variant(older, a.element_spec)) == _elements(chosen)


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        ([0], [[1, 2]], "compatible output shapes"),
        ([0], [0.0], "the same output types"),
        ([1, 2, 3], [1], "compatible cardinalities"),
    ],
)
def test_datasets_that_can_not_be_equal_are_refused(first, second, message):
    datasets = [tf.data.Dataset.from_tensor_slices(values) for values in (first, second)]
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        _elements(_ChooseFastestDataset(datasets))


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        ([[1, 2, 3]], [[1, 2]], r"Component 0 of input 1 has shape: \[2\].*with shape: \[3\]"),
        ([0], [0.0], "Input 1 has output types: float. Expected: int32"),
        ([1, 2, 3], [1], "Input 1 has cardinality: 1, while all prior inputs have cardinality: 3"),
    ],
)
def test_they_are_refused_at_once_in_eager_mode(first, second, message):
    with eager_mode():
        datasets = [tf.data.Dataset.from_tensor_slices(values) for values in (first, second)]
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            _ChooseFastestDataset(datasets)


@pytest.mark.parametrize("place", [0, 1, 3, 6])
@pytest.mark.parametrize("in_branches", [False, True])
def test_it_goes_on_at_a_saved_place(place, in_branches, tmp_path):
    numbers = tf.data.Dataset.range(8)
    if in_branches:
        ways = [lambda d: d.map(lambda x: x), lambda d: d.take(-1)]
        chosen = _ChooseFastestBranchDataset(numbers, ways, num_elements_per_branch=2)
    else:
        chosen = _ChooseFastestDataset([numbers, numbers], 3)
    iterator = chosen.make_initializable_iterator()
    following = iterator.get_next()
    saver = tf.train.Saver([tf.data.experimental.make_saveable_from_iterator(iterator)])
    with tf.Session() as session:
        session.run(iterator.initializer)
        for _ in range(place):
            session.run(following)
        saver.save(session, str(tmp_path / "place"))
    with tf.Session() as session:
        session.run(iterator.initializer)
        saver.restore(session, str(tmp_path / "place"))
        assert [session.run(following) for _ in range(place, 8)] == list(range(place, 8))


# ChooseFastestBranchDataset -----------------------------------------------------------------------


def test_the_fastest_of_branches_has_all_elements():
    one = tf.constant(1, tf.int64)
    chosen = _ChooseFastestBranchDataset(
        tf.data.Dataset.range(50),
        [lambda d: d.map(lambda x: x + one).batch(5), lambda d: d.batch(5).map(lambda x: x + one)],
        ratio_numerator=5,
        num_elements_per_branch=2,
    )
    assert chosen._variant_tensor.op.type == "ChooseFastestBranchDataset"
    assert _elements(chosen) == [list(range(i, i + 5)) for i in range(1, 51, 5)]


def test_branches_that_give_more_than_they_take():
    batches = tf.data.Dataset.range(60).batch(10)
    chosen = _ChooseFastestBranchDataset(
        batches,
        [lambda d: d.unbatch().prefetch(2), lambda d: d.unbatch()],
        ratio_denominator=10,
        num_elements_per_branch=20,
    )
    assert _elements(chosen) == list(range(60))
    odd = _ChooseFastestBranchDataset(
        batches, [lambda d: d.unbatch()], ratio_denominator=10, num_elements_per_branch=5
    )
    with pytest.raises(tf.errors.InvalidArgumentError, match="must be divisible by"):
        _elements(odd)
    with pytest.raises(ValueError, match="ratio must be positive"):
        _ChooseFastestBranchDataset(batches, [lambda d: d], ratio_numerator=0)


def test_a_branch_can_not_read_its_input_twice():
    chosen = _ChooseFastestBranchDataset(
        tf.data.Dataset.from_tensors(0), [lambda d: d.repeat(3)], ratio_denominator=3
    )
    with pytest.raises(tf.errors.InvalidArgumentError, match="more than one WrapperIterator"):
        _elements(chosen)


# RebatchDataset, ExperimentalRebatchDataset -------------------------------------------------------


@pytest.mark.parametrize(
    ("count", "size", "replicas", "expected"),
    [
        (8, 4, 2, [[0, 1], [2, 3], [4, 5], [6, 7]]),
        (5, 4, 2, [[0, 1], [2, 3], [4], []]),
        (5, 5, 2, [[0, 1, 2], [3, 4]]),
        (3, 2, 3, [[0], [1], [], [2], [], []]),
    ],
)
def test_batches_in_parts(count, size, replicas, expected):
    batches = tf.data.Dataset.range(count).batch(size)
    assert _elements(_RebatchDataset(batches, replicas)) == expected
    older = nodes.ExperimentalRebatchDataset(batches._variant_tensor, replicas, **NUMBERS)
    assert _elements(from_variant(older, batches.element_spec)) == expected


def test_what_is_known_of_the_parts_of_batches():
    batches = tf.data.Dataset.range(8).batch(4, drop_remainder=True)
    parts = _RebatchDataset(batches, 2)
    assert parts._variant_tensor.op.type == "RebatchDataset"
    assert parts.output_shapes.as_list() == [2]
    assert _RebatchDataset(batches, 3).output_shapes.as_list() == [None]
    with tf.Session() as session:
        assert session.run(tf.data.experimental.cardinality(parts)) == 4
    with pytest.raises(ValueError, match="Perhaps your input dataset is not batched"):
        _RebatchDataset(tf.data.Dataset.range(4), 2)
