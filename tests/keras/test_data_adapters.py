"""Data of all forms as datasets, and outputs of batches put together."""

import numpy as np
import pytest

import penstock as tf
from penstock import keras
from penstock.eager import context
from penstock.keras.engine import data_adapter, joined_outputs

X, Y = np.arange(20.0).reshape(10, 2), np.arange(10.0)


class Batches(keras.utils.Sequence):
    def __len__(self):
        return 5

    def __getitem__(self, index):
        return X[2 * index : 2 * index + 2], Y[2 * index : 2 * index + 2]


def generated():
    yield from Batches()


@pytest.mark.parametrize(
    ("arguments", "size", "count", "partial"),
    [
        ({"batch_size": 5}, 5, 2, None),
        ({"batch_size": 4}, 4, 3, 2),
        ({"steps": 3}, 4, 3, 2),
        ({"steps": 1}, 10, 1, None),
    ],
)
def test_sizes_of_batches(arguments, size, count, partial):
    adapter = data_adapter.TensorLikeDataAdapter(X, Y, **arguments)
    assert (adapter.batch_size(), adapter.get_size()) == (size, count)
    assert adapter.partial_batch_size() == partial
    assert adapter.has_partial_batch() is (partial is not None)


def test_each_epoch_is_shuffled_anew():
    np.random.seed(3)  # noqa: NPY002 what adapters draw from
    with context.eager_mode():
        adapter = data_adapter.TensorLikeDataAdapter(X, batch_size=4, epochs=2, shuffle=True)
        found = [batch[0].numpy() for batch in adapter.get_dataset()]
    assert [len(batch) for batch in found] == [4, 4, 2] * 2
    first, second = np.concatenate(found[:3]), np.concatenate(found[3:])
    assert not np.array_equal(first, second)
    np.testing.assert_array_equal(np.sort(first, axis=0), np.sort(second, axis=0))


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (lambda: X, "TensorLikeDataAdapter"),
        (lambda: [1, 2, 3], "ListsOfScalarsDataAdapter"),
        (lambda: tf.data.Dataset.range(3), "DatasetAdapter"),
        (generated, "GeneratorDataAdapter"),
        (Batches, "KerasSequenceAdapter"),
        (lambda: tf.SparseTensor([[0, 0]], [1.0], [2, 2]), "CompositeTensorDataAdapter"),
    ],
)
def test_one_adapter_for_each_kind(data, kind):
    assert data_adapter.select_data_adapter(data(), None).__name__ == kind


@pytest.mark.parametrize("adapter", ["KerasSequenceAdapter", "GeneratorDataAdapter"])
def test_batches_become_datasets(adapter):
    with context.eager_mode():
        source = Batches() if adapter.startswith("Keras") else generated()
        made = getattr(data_adapter, adapter)(source, workers=0)
        assert made.batch_size() == 2
        labels = [each.numpy() for _, each in made.get_dataset()]
    np.testing.assert_array_equal(np.concatenate(labels), Y)


def test_what_adapters_refuse():
    with pytest.raises(ValueError, match="Failed to find data adapter"):
        data_adapter.select_data_adapter(object(), None)
    with pytest.raises(ValueError, match="`y` argument is not supported when using dataset"):
        data_adapter.DatasetAdapter(tf.data.Dataset.range(3), y=Y)
    with pytest.raises(ValueError, match="`batch_size` or `steps` is required"):
        data_adapter.TensorLikeDataAdapter(X)


def test_arrays_as_a_generator():
    batches, steps = data_adapter.convert_to_generator_like((X, Y, None), batch_size=4, epochs=2)
    found = list(batches)
    assert steps == 3 and len(found) == 6
    np.testing.assert_array_equal(found[2][1], Y[8:])
    with pytest.raises(ValueError, match="Please use `batch_size` instead"):
        data_adapter.convert_to_generator_like((X, Y))


@pytest.mark.parametrize("threshold", [2, 2**14])
def test_slices_are_copied_here_or_by_threads(monkeypatch, threshold):
    monkeypatch.setattr(joined_outputs.SliceAggregator, "_BINARY_SIZE_THRESHOLD", threshold)
    joined = joined_outputs.OutputsAggregator(use_steps=False, num_samples=10)
    joined.create((X[:4], Y[:4]))
    for start, end in ((0, 4), (4, 8), (8, 10)):
        joined.aggregate((X[start:end], Y[start:end]), start, end)
    joined.finalize()
    np.testing.assert_array_equal(joined.results[0], X)
    np.testing.assert_array_equal(joined.results[1], Y)


def test_an_error_of_a_copy_is_raised(monkeypatch):
    monkeypatch.setattr(joined_outputs.SliceAggregator, "_BINARY_SIZE_THRESHOLD", 2)
    joined = joined_outputs.SliceAggregator(10, None)
    joined.create(X)
    joined.aggregate(np.ones((4, 7)), 0, 4)
    with pytest.raises(ValueError, match="could not broadcast"):
        joined.finalize()


def test_losses_are_means_and_metrics_the_last():
    joined = joined_outputs.MetricsAggregator(use_steps=False, num_samples=3)
    joined.create([1.0, 0.5])
    joined.aggregate([1.0, 0.5], 0, 2)
    joined.aggregate([4.0, 0.75], 2, 3)
    joined.finalize()
    assert joined.results == [2.0, 0.75]


def test_a_generator_of_too_many_things():
    model = keras.Sequential([keras.layers.Dense(1, input_shape=(2,))])
    model.compile("sgd", "mse")
    for method in (model.fit_generator, model.evaluate_generator, model.predict_generator):
        with pytest.raises(ValueError, match="a tuple of 1 or 2 or 3 elements"):
            method(iter([(X, Y, Y, Y)]), 1)
