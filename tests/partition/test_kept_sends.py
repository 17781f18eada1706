"""Which Sends may wait for what follows them."""

import pytest

import penstock as tf
from penstock.partition.kept_sends import PATIENCE, mark_sends
from penstock.partition.split import partition
from penstock.passes.pipeline import AS_WRITTEN, compile_step
from penstock.placement.placer import place
from penstock.runtime.binding import evaluator
from penstock.runtime.local import LocalRuntime

PS, WORKER = "/job:ps/replica:0/task:0/device:CPU:0", "/job:worker/replica:0/task:0/device:CPU:0"


def sends_of(fetches, targets, device, mark="soon", patience=PATIENCE):
    """The Sends of a device's part in their order: whether each may wait, or has another mark."""
    step = compile_step([], fetches, targets, evaluator(LocalRuntime().host), AS_WRITTEN)
    place(step, [PS, WORKER], soft=False)
    part = next(each for each in partition(step) if each.device == device).graph
    mark_sends(part, device, patience)
    return [node.attrs[mark] for node in part.nodes if node.type == "_Send"]


def test_values_that_are_only_read_go_together():
    with tf.device(PS):
        first, second = tf.Variable(1.0), tf.Variable(2.0, use_resource=True)
    with tf.device(WORKER):
        both = first + second
    assert sends_of([both], [], PS) == [True, True]


@pytest.mark.parametrize(("size", "expected"), [(1000, [False, True]), (2, [True, True])])
def test_a_value_does_not_wait_for_what_takes_time(size, expected):
    with tf.device(PS):
        early = tf.exp(tf.Variable(1.0))
    with tf.device(WORKER):
        used = tf.identity(early)
    with tf.device(PS), tf.control_dependencies([early]):
        late = tf.matmul(tf.Variable(tf.zeros([size, size])), tf.ones([size, size]))
    with tf.device(WORKER):
        also_used = tf.identity(late)
    assert sends_of([used, also_used], [], PS) == expected


def test_a_value_goes_before_its_part_waits():
    with tf.device(PS):
        variable = tf.Variable(1.0)
        read = tf.identity(variable)
    with tf.device(WORKER):
        gradient = tf.exp(read)
    with tf.device(PS):
        update = tf.assign_sub(variable, gradient)
    assert sends_of([], [update.op], PS) == [True]


def test_a_value_lasts_until_something_is_computed():
    with tf.device(PS):
        first, second = tf.Variable(1.0), tf.Variable(2.0, use_resource=True)
        read = tf.identity(first)
        with tf.control_dependencies([read]):
            computed = tf.exp(second)
        also_read = tf.identity(tf.Variable(3.0))
    with tf.device(WORKER):
        total = tf.identity(read) + computed + also_read
    assert sends_of([total], [], PS) == [True, True, True]
    assert sends_of([total], [], PS, "lasts") == [False, True, True]


def test_a_value_lasts_while_queues_and_the_like_are_only_named():
    with tf.device(PS):
        first, second = tf.Variable(1.0), tf.Variable(2.0)
        gradients = tf.ConditionalAccumulator(tf.float32, shape=[])
    with tf.device(WORKER):
        total = tf.identity(first) + second
    with tf.device(PS):
        taken = gradients.apply_grad(total, local_step=tf.constant(0, tf.int64))
    assert sends_of([], [taken], PS) == [True, True]
    assert sends_of([], [taken], PS, "lasts") == [True, True]


@pytest.mark.parametrize(("patience", "expected"), [(1e-9, [False, True]), (1.0, [True, True])])
def test_how_long_a_value_waits_for_others_is_the_callers_choice(patience, expected):
    with tf.device(PS):
        early = tf.exp(tf.Variable(1.0))
    with tf.device(WORKER):
        used = tf.identity(early)
    with tf.device(PS), tf.control_dependencies([early]):
        late = tf.exp(tf.Variable(2.0))
    with tf.device(WORKER):
        also_used = tf.identity(late)
    assert sends_of([used, also_used], [], PS, patience=patience) == expected


def test_a_value_does_not_last_where_its_variable_is_written():
    with tf.device(PS):
        variable = tf.Variable(1.0)
        read = tf.identity(variable)
        with tf.control_dependencies([read]):
            update = tf.assign_add(variable, 1.0)
    with tf.device(WORKER):
        used = tf.identity(read)
    assert sends_of([used], [update.op], PS, "lasts") == [False]
