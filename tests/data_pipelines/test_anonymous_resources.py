"""Ops of pipelines that later releases of TensorFlow 1.x make nodes of.

The elements of SamplingDataset were recorded from TensorFlow 1.15.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import penstock as tf

ELEMENTS: dict[str, Any] = {"output_types": [tf.int64], "output_shapes": [[]]}


@pytest.fixture
def session() -> Any:
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


def _range(stop: int) -> Any:
    return tf.raw_ops.RangeDataset(
        start=np.int64(0), stop=np.int64(stop), step=np.int64(1), **ELEMENTS
    )


def _iterations(session: Any, dataset: Any, count: int = 1) -> list[list[int]]:
    iterator = tf.raw_ops.IteratorV2(shared_name="", container="", **ELEMENTS)
    start = tf.raw_ops.MakeIterator(dataset=dataset, iterator=iterator)
    (element,) = tf.raw_ops.IteratorGetNext(iterator=iterator, **ELEMENTS)
    found: list[list[int]] = []
    for _ in range(count):
        session.run(start)
        found.append(list(_until_the_end(session, element)))
    return found


def _until_the_end(session: Any, element: Any) -> Iterator[int]:
    try:
        while True:
            yield int(session.run(element))
    except tf.errors.OutOfRangeError:
        return


@pytest.mark.parametrize(
    ("rate", "seeds", "expected"),
    [(0.5, (3, 4), [1, 6, 8, 9, 10, 13, 15, 16, 17]), (0.3, (7, 0), [1, 5, 8, 13, 15, 18])],
)
def test_sampling(session: Any, rate: float, seeds: tuple[int, int], expected: list) -> None:
    seed, seed2 = (np.int64(number) for number in seeds)
    sampled = tf.raw_ops.SamplingDataset(
        input_dataset=_range(20), rate=rate, seed=seed, seed2=seed2, **ELEMENTS
    )
    assert _iterations(session, sampled, 2) == [expected] * 2


def test_shuffling_with_a_generator(session: Any) -> None:
    """ShuffleDatasetV2 with AnonymousRandomSeedGenerator draws as ShuffleDataset does."""
    seeds = {"seed": np.int64(3), "seed2": np.int64(4)}
    settings = {"buffer_size": np.int64(5), **ELEMENTS}
    generator = tf.raw_ops.AnonymousRandomSeedGenerator(**seeds)
    by_generator = tf.raw_ops.ShuffleDatasetV2(
        input_dataset=_range(20), seed_generator=generator.handle, **settings
    )
    by_seeds = tf.raw_ops.ShuffleDataset(input_dataset=_range(20), **seeds, **settings)
    assert _iterations(session, by_generator) == _iterations(session, by_seeds)
    session.run(tf.raw_ops.DeleteRandomSeedGenerator(**generator._asdict()))


def test_caches_are_shared(session: Any) -> None:
    """Two datasets of one AnonymousMemoryCache: the second has the elements of the first."""
    memory = tf.raw_ops.AnonymousMemoryCache()
    first, second = (
        tf.raw_ops.CacheDatasetV2(
            input_dataset=_range(stop), filename="", cache=memory.handle, **ELEMENTS
        )
        for stop in (3, 5)
    )
    both = tf.raw_ops.ConcatenateDataset(input_dataset=first, another_dataset=second, **ELEMENTS)
    assert _iterations(session, both) == [[0, 1, 2, 0, 1, 2]]
    session.run(tf.raw_ops.DeleteMemoryCache(**memory._asdict()))


def test_elements_for_several_devices() -> None:
    """AnonymousMultiDeviceIterator deals out as MultiDeviceIterator, until it is deleted.

    DeleteMultiDeviceIterator is the last op that sees it.
    """
    with tf.Graph().as_default(), tf.Session() as session:
        made = tf.raw_ops.AnonymousMultiDeviceIterator(devices=["/cpu:0", "/cpu:1"], **ELEMENTS)
        number = tf.raw_ops.MultiDeviceIteratorInit(
            dataset=_range(4), multi_device_iterator=made.handle, max_buffer_size=np.int64(1)
        )
        (element,) = tf.raw_ops.MultiDeviceIteratorGetNextFromShard(
            multi_device_iterator=made.handle, shard_num=1, incarnation_id=number, **ELEMENTS
        )
        with tf.control_dependencies([element]):
            deleted = tf.raw_ops.DeleteMultiDeviceIterator(
                multi_device_iterator=made.handle, iterators=[], deleter=made.deleter
            )
        assert session.run([element, deleted]) == [1, None]
