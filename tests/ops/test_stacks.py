"""Stacks: StackV2, StackPushV2, StackPopV2 and StackCloseV2 within a step."""

import pytest

import penstock as tf
from penstock.ops.stacks import (
    Stack,
    StackClose,
    StackCloseV2,
    StackPop,
    StackPopV2,
    StackPush,
    StackPushV2,
    StackV2,
)


@pytest.fixture(autouse=True)
def session():
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


def pushed(stack, *values):
    """Pushes values one after the other; the last push."""
    last = None
    for value in values:
        with tf.control_dependencies([] if last is None else [last]):
            last = StackPushV2(stack, value)
    return last


def test_last_in_first_out(session):
    stack = StackV2(-1, elem_type=tf.float32)
    with tf.control_dependencies([pushed(stack, [1.0], [2.0, 3.0])]):
        first = StackPopV2(stack, elem_type=tf.float32)
    with tf.control_dependencies([first]):
        second = StackPopV2(stack, elem_type=tf.float32)
    first, second = session.run([first, second])
    assert first.tolist() == [2.0, 3.0]
    assert second.tolist() == [1.0]


def test_each_step_has_a_stack_of_its_own(session):
    stack = StackV2(-1, elem_type=tf.float32)
    with tf.control_dependencies([pushed(stack, 1.0)]):
        value = StackPopV2(stack, elem_type=tf.float32)
    assert [session.run(value) for _ in range(3)] == [1.0, 1.0, 1.0]


def test_refused(session):
    stack = StackV2(1, elem_type=tf.float32)
    with pytest.raises(tf.errors.InvalidArgumentError, match="overflowed its max_size"):
        session.run(pushed(stack, 1.0, 2.0))
    with pytest.raises(tf.errors.InvalidArgumentError, match="is empty"):
        session.run(StackPopV2(stack, elem_type=tf.float32))
    with pytest.raises(tf.errors.InvalidArgumentError, match="Must have type float32"):
        session.run(StackPushV2(stack, 1))
    with tf.control_dependencies([StackCloseV2(stack)]):
        late = StackPushV2(stack, 1.0)
    with pytest.raises(tf.errors.InvalidArgumentError, match="closed"):
        session.run(late)


def test_what_a_stack_holds_is_not_overwritten():
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [4])
        handle = tf.raw_ops.StackV2(max_size=10, elem_type=tf.float32)
        doubled = x * 2.0
        pushed = tf.raw_ops.StackPushV2(handle=handle, elem=doubled)
        with tf.control_dependencies([pushed]):
            rectified = tf.nn.relu(doubled)  # the last use of `doubled`, which it may overwrite
        with tf.control_dependencies([rectified]):
            popped = tf.raw_ops.StackPopV2(handle=handle, elem_type=tf.float32)
        found = session.run([rectified, popped], {x: [-1, 2, -3, 4]})
    assert [value.tolist() for value in found] == [[0, 4, 0, 8], [-2, 4, -6, 8]]


def test_stacks_behind_references(session):
    stack = Stack(elem_type=tf.float32)
    assert stack.dtype == tf.string._as_ref
    first = StackPush(stack, 1.0)
    with tf.control_dependencies([first]):
        second = StackPush(stack, 2.0)
    with tf.control_dependencies([second]):
        last = StackPop(stack, elem_type=tf.float32)
    assert session.run(last) == 2.0
    with tf.control_dependencies([StackClose(stack)]):
        late = StackPush(stack, 1.0)
    with pytest.raises(tf.errors.InvalidArgumentError, match="closed"):
        session.run(late)
