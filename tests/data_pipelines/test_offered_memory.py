"""A map's kernels write pictures where the batch wants them; the batches are the same ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import penstock as tf
from penstock.ir.function import FunctionGraph
from penstock.kernels.datasets import batch_memory
from penstock.kernels.datasets.batch_memory import BatchMemory
from penstock.kernels.offered_memory import offer, offered_or_new, offered_result

BATCH, COUNT, SIZE = 4, 10, (16, 16)


def _resize(picture: Any) -> Any:
    return tf.image.resize_images(picture, SIZE)


def _kept(value: Any) -> Any:
    return tf.py_func(lambda array: array, [value], tf.float32)


@pytest.mark.parametrize(
    ("function", "result"),
    [
        (_resize, 0),
        (lambda x: _resize(x) / 127.5 - 1.0, 0),
        (lambda x: (tf.reduce_mean(tf.to_float(x)), _resize(x)), 1),
        (lambda x: tf.image.random_flip_left_right(x), None),  # nothing takes memory
        (lambda x: (_resize(x) * 2.0, _resize(x + 1)), None),  # two would
        (lambda x: [y := _resize(x), y * 2.0], None),  # another result is made of it, too
        (lambda x: [y := _resize(x), y], None),
        (lambda x: _kept(_resize(x)), None),  # who knows what becomes of it
    ],
)
def test_what_memory_is_offered_for(function: Callable[[Any], Any], result: int | None) -> None:
    body = FunctionGraph()
    with body.as_default():
        outputs = function(tf.placeholder(tf.uint8, [24, 32, 3]))
        body.outputs = list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]
    assert offered_result(body) == result


def test_an_offer_is_taken_once_and_if_it_fits() -> None:
    memory = torch.zeros(2, 3)
    offer(memory)
    assert offered_or_new((1, 6)).data_ptr() == memory.data_ptr()
    assert offered_or_new((1, 6)).data_ptr() != memory.data_ptr()
    for wrong in (torch.zeros(7), torch.zeros(6, dtype=torch.int32)):
        offer(wrong)
        assert offered_or_new((2, 3)).data_ptr() != wrong.data_ptr()
    offer(memory)
    offer(None)
    assert offered_or_new((2, 3)).data_ptr() != memory.data_ptr()


def test_an_element_in_its_place_is_not_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch_memory, "_LARGE", 1)
    batches = BatchMemory(2)
    assert batches.offered(0, 0) is None  # of which form they are is not known yet
    batches.placed(0, (torch.ones(2, 2),))
    place = batches.offered(1, 0)
    assert place is not None
    place.copy_(torch.tensor([[1, 2], [3, 4]]))
    _, (memory, row) = batches.placed(1, (place,))
    assert memory[row].data_ptr() == place.data_ptr()
    other = batches.offered(3, 0)
    assert other is not None
    turned = other.t()
    turned.copy_(place)
    _, (memory, row) = batches.placed(3, (turned,))
    np.testing.assert_array_equal(memory[row], place)


def _pictures() -> np.ndarray:
    return np.random.default_rng(0).integers(0, 256, (COUNT, 24, 32, 3)).astype(np.uint8)


def _batches(function: Callable[[Any], Any], threads: int | None) -> list[np.ndarray]:
    dataset = tf.data.Dataset.from_tensor_slices(tf.constant(_pictures()))
    dataset = dataset.map(function, num_parallel_calls=threads).batch(BATCH)
    get_next = tf.data.make_one_shot_iterator(dataset).get_next()
    with tf.Session() as sess:
        return [sess.run(get_next) for _ in range(-(-COUNT // BATCH))]


@pytest.mark.parametrize(
    "function",
    [
        _resize,
        lambda x: _resize(x) / 127.5 - 1.0,
        lambda x: tf.transpose(_resize(x), [1, 0, 2]),  # another form of the same memory
        lambda x: tf.cast(_resize(x), tf.float16),
    ],
)
def test_batches_are_those_of_one_element_after_the_other(
    function: Callable[[Any], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = _batches(function, None)
    monkeypatch.setattr(batch_memory, "_LARGE", 1)
    for found, wanted in zip(_batches(function, 2), expected, strict=True):
        np.testing.assert_array_equal(found, wanted)
