"""Iterators for several devices.

MultiDeviceIterator MultiDeviceIteratorInit MultiDeviceIteratorGetNextFromShard
MultiDeviceIteratorToStringHandle MultiDeviceIteratorFromStringHandle
"""

from __future__ import annotations

from typing import Any

import pytest

import penstock as tf
from penstock.client.session_defaults import start_afresh
from penstock.data.multi_device import MultiDeviceIterator, MultiDeviceIteratorV2
from penstock.ops.datasets import multi_device as nodes

DEVICES = ["/cpu:1", "/cpu:2"]
END = tf.errors.OutOfRangeError


@pytest.fixture
def session() -> Any:
    config = tf.ConfigProto(device_count={"CPU": 3})
    with tf.Graph().as_default(), tf.Session(config=config) as session:
        yield session


def test_elements_are_dealt_out(session: Any) -> None:
    iterator = MultiDeviceIterator(tf.data.Dataset.range(10), DEVICES)
    elements = iterator.get_next()
    assert [element.device for element in elements] == ["/device:CPU:1", "/device:CPU:2"]
    for _ in range(2):  # the initializer starts anew
        session.run(iterator.initializer)
        assert [session.run(elements) for _ in range(5)] == [[i, i + 1] for i in range(0, 10, 2)]
        with pytest.raises(END):
            session.run(elements)


def test_a_device_may_be_ahead(session: Any) -> None:
    iterator = MultiDeviceIterator(tf.data.Dataset.range(9), DEVICES, prefetch_buffer_size=0)
    first, second = (iterator.get_next(device) for device in DEVICES)
    session.run(iterator.initializer)
    assert [session.run(first) for _ in range(5)] == [0, 2, 4, 6, 8]
    with pytest.raises(END):
        session.run(first)
    assert [session.run(second) for _ in range(4)] == [1, 3, 5, 7]
    with pytest.raises(END):
        session.run(second)


def test_structures(session: Any) -> None:
    dataset = tf.data.Dataset.from_tensor_slices({"a": [1, 2], "b": [["x"], ["y"]]})
    iterator = MultiDeviceIterator(dataset, DEVICES, max_buffer_size=4, prefetch_buffer_size=2)
    elements = iterator.get_next()
    assert elements[0]["b"].shape == (1,) and set(iterator.element_spec) == {"a", "b"}
    session.run(iterator.initializer)
    assert session.run(elements) == [{"a": 1, "b": [b"x"]}, {"a": 2, "b": [b"y"]}]


def test_optionals(session: Any) -> None:
    iterator = MultiDeviceIterator(tf.data.Dataset.range(3), DEVICES)
    optionals = iterator.get_next_as_optional()
    there = [optional.has_value() for optional in optionals]
    session.run(iterator.initializer)
    assert session.run(there) == [True, True]
    assert session.run([there[0], optionals[0].get_value()]) == [True, 2]
    assert session.run(there) == [False, False]


def test_an_earlier_start_is_refused(session: Any) -> None:
    elements = {"output_types": [tf.int64], "output_shapes": [[]]}
    handle = tf.raw_ops.MultiDeviceIterator(
        devices=DEVICES, shared_name="dealt", container="", **elements
    )
    start = tf.raw_ops.MultiDeviceIteratorInit(
        dataset=tf.data.Dataset.range(4)._variant_tensor,
        multi_device_iterator=handle,
        max_buffer_size=1,
    )
    number = tf.placeholder(tf.int64, [])
    [element] = tf.raw_ops.MultiDeviceIteratorGetNextFromShard(
        multi_device_iterator=handle, shard_num=1, incarnation_id=number, **elements
    )
    first, second = session.run(start), session.run(start)
    assert session.run(element, {number: second}) == 1
    with pytest.raises(tf.errors.InvalidArgumentError, match="Invalid incarnation id"):
        session.run(element, {number: first})


def test_a_handle_as_a_string(session: Any) -> None:
    iterator = MultiDeviceIterator(tf.data.Dataset.range(4), DEVICES)
    text = nodes.MultiDeviceIteratorToStringHandle(iterator._resource)
    same = nodes.MultiDeviceIteratorFromStringHandle(text, output_types=[tf.int64])
    incarnation = nodes.MultiDeviceIteratorInit(iterator._dataset._variant_tensor, same, 1)
    (second,) = nodes.MultiDeviceIteratorGetNextFromShard(
        iterator._resource, 1, incarnation, output_types=[tf.int64], output_shapes=[[]]
    )
    assert session.run(second) == 1
    for wrong in ("x", ""):
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run(nodes.MultiDeviceIteratorFromStringHandle(wrong))


def test_a_failed_element_is_the_one_of_its_device(session: Any) -> None:
    dataset = tf.data.Dataset.range(3).map(lambda n: 1 // (n - 1))
    first, second = (iterator := MultiDeviceIterator(dataset, DEVICES)).get_next()
    session.run(iterator.initializer)
    assert session.run(first) == -1
    with pytest.raises(tf.errors.InvalidArgumentError):
        session.run(second)
    assert session.run(first) == 1
    with pytest.raises(END):
        session.run(second)


# Eager mode ---------------------------------------------------------------------------------------


@pytest.fixture
def eager_devices() -> Any:
    start_afresh()
    tf.reset_default_graph()
    tf.enable_eager_execution(tf.ConfigProto(device_count={"CPU": 3}))
    yield
    tf.disable_eager_execution()
    start_afresh()


@pytest.mark.parametrize("ahead", [0, 1, 10])
@pytest.mark.usefixtures("eager_devices")
def test_elements_are_dealt_out_eagerly(ahead: int) -> None:
    iterator = MultiDeviceIterator(
        tf.data.Dataset.range(5), DEVICES, prefetch_buffer_size=ahead, max_buffer_size=4
    )
    first, second = iterator.get_next()
    assert (int(first), first.device[-5:]) == (0, "CPU:1")
    assert (int(second), second.device[-5:]) == (1, "CPU:2")
    assert [int(iterator.get_next("/cpu:1")) for _ in range(2)] == [2, 4]
    of_first, of_second = iterator.get_next_as_optional()
    assert not of_first.has_value() and int(of_second.get_value()) == 3
    with pytest.raises(END):
        iterator.get_next()


@pytest.mark.usefixtures("eager_devices")
def test_a_python_iterator_for_several_devices() -> None:
    rows = MultiDeviceIteratorV2(tf.data.Dataset.range(6), DEVICES)
    assert [[int(each) for each in row] for row in rows] == [[0, 1], [2, 3], [4, 5]]

    @tf.function
    def first_two() -> Any:
        iterator = iter(MultiDeviceIteratorV2(tf.data.Dataset.range(6), DEVICES))
        return next(iterator), next(iterator)

    assert [[int(each) for each in row] for row in first_two()] == [[0, 1], [2, 3]]
    with tf.Graph().as_default(), pytest.raises(RuntimeError, match="only supported inside of"):
        MultiDeviceIteratorV2(tf.data.Dataset.range(6), DEVICES)
