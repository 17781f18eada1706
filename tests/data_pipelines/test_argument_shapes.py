"""Settings of datasets that must be scalars, known when the graph is built; other static checks."""

from __future__ import annotations

import numpy as np
import pytest

import penstock as tf
from penstock.data import nest, structure
from tests.data_pipelines.test_older_ops import run_all

Dataset = tf.data.Dataset
VECTOR = np.array([1, 2], np.int64)


@pytest.mark.parametrize(
    "build",
    [
        lambda: Dataset.range(VECTOR),
        lambda: Dataset.range(3).repeat(VECTOR),
        lambda: Dataset.range(3).take(VECTOR),
        lambda: Dataset.range(3).batch(VECTOR),
        lambda: Dataset.range(3).batch(2, [True]),
        lambda: Dataset.range(3).shuffle(VECTOR),
        lambda: Dataset.range(3).shard(VECTOR, 0),
        lambda: Dataset.range(3).window(VECTOR),
        lambda: Dataset.range(3).cache(["a", "b"]),
        lambda: Dataset.range(3).apply(tf.data.experimental.latency_stats(["a"])),
        lambda: tf.data.experimental.SqlDataset(["sqlite"], "a", "b", (tf.int32,)),
        lambda: tf.data.experimental.CsvDataset("a", [tf.int32], header=[True]),
    ],
)
def test_scalars(build):
    with pytest.raises(ValueError, match="Shape must be rank 0 but is rank 1 for '"):
        build()


def test_defaults_of_columns():
    with pytest.raises(ValueError, match="length-0 or length-1 vector"):
        tf.data.experimental.CsvDataset("a", [[1, 2]])


def test_what_can_be_concatenated():
    with pytest.raises(TypeError, match="must be a Dataset or Iterator object"):
        Dataset.range(3).concatenate(3)


def test_a_dataset_of_weights():
    weights = Dataset.from_tensors(np.array([0.0, 1.0])).repeat()
    both = [Dataset.range(3), Dataset.range(10, 13)]
    mixed = tf.data.experimental.sample_from_datasets(both, weights, seed=1)
    assert run_all(mixed.take(3)) == [10, 11, 12]


@pytest.mark.parametrize("initial", [None, [0.5, 0.5]])
def test_resampling(initial):
    classes = np.arange(400) % 2
    resampled = (
        Dataset.from_tensor_slices(classes)
        .repeat(2)
        .apply(tf.data.experimental.rejection_resample(lambda n: n, [0.1, 0.9], initial, seed=1))
    )
    values = [value for _, value in run_all(resampled.take(200))]
    assert np.mean(values) > 0.75


@pytest.mark.parametrize(
    ("first", "second", "error", "why"),
    [
        ((1, 2), (1, (2, 3)), ValueError, r'"type=tuple str=\(2, 3\)" is a sequence'),
        ({"a": 1}, {"b": 1}, ValueError, "don't have the same set of keys"),
        ((1, 2), {"a": 1}, TypeError, "don't have the same sequence type"),
        ((1, 2), (1,), ValueError, "don't have the same number of elements"),
    ],
)
def test_structures_that_differ(first, second, error, why):
    with pytest.raises(error, match="don't have the same nested structure") as caught:
        nest.assert_same_structure(first, second)
    assert caught.match(why)


def test_tensors_of_another_spec():
    spec = tf.TensorSpec([3], tf.float32)
    with pytest.raises(ValueError, match=r"tensor 0 \(.*\) is incompatible with TensorSpec"):
        structure.from_tensor_list(spec, [tf.constant([1.0])])


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Dataset.range(3).shuffle(0), "buffer_size must be greater than zero."),
        (
            lambda: Dataset.range(3).apply(tf.data.experimental.shuffle_and_repeat(2, 0)),
            "count must be greater than zero or equal to -1.",
        ),
        (lambda: _interleaved(cycle_length=0), "`cycle_length` must be > 0"),
        (lambda: _interleaved(block_length=0), "`block_length` must be > 0"),
        (lambda: _interleaved(buffer_output_elements=0), "`buffer_output_elements` must be > 0"),
        (lambda: _interleaved(prefetch_input_elements=-1), "`prefetch_input_elements` must be >="),
    ],
)
def test_wrong_numbers(build, message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        run_all(build())


def _interleaved(cycle_length=2, **settings):
    interleave = tf.data.experimental.parallel_interleave(Dataset.range, cycle_length, **settings)
    return Dataset.range(3).apply(interleave)


@pytest.mark.parametrize(
    "read",
    [
        lambda path: tf.data.TextLineDataset(path, "GZIP"),
        lambda path: tf.data.FixedLengthRecordDataset(path, 2, compression_type="GZIP"),
        lambda path: tf.data.experimental.CsvDataset(path, [tf.string], "GZIP"),
    ],
)
def test_a_file_that_is_not_packed(read, tmp_path):
    path = tmp_path / "plain"
    path.write_text("abcd")
    with pytest.raises(tf.errors.DataLossError, match="incorrect header check"):
        run_all(read(str(path)))


def test_a_file_that_is_no_number_of_records(tmp_path):
    path = tmp_path / "records"
    path.write_bytes(b"HHaabbccF")
    message = (
        r"Excluding the header \(2 bytes\) and footer \(1 bytes\), input file \".*records\" has "
        r"body length 6 bytes, which is not an exact multiple of the record length \(4 bytes\)."
    )
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        run_all(tf.data.FixedLengthRecordDataset(str(path), 4, 2, 1))


def test_who_writes_a_cache_is_who_reads_first(tmp_path):
    iterators = [
        Dataset.range(3).cache(str(tmp_path / "cache")).make_initializable_iterator()
        for _ in range(2)
    ]
    first, second = [iterator.get_next() for iterator in iterators]
    with tf.Session() as sess:
        sess.run([iterator.initializer for iterator in iterators])
        assert sess.run(first) == 0
        with pytest.raises(tf.errors.AlreadyExistsError, match="concurrent caching iterator"):
            sess.run(second)
        assert sess.run(first) == 1
