"""Where a part reads the variables that are fetched from it."""

from typing import Any

import pytest

import penstock as tf
from penstock.ir.step_graph import StepGraph
from penstock.partition.early_reads import read_early
from penstock.passes.order import order_step
from penstock.passes.prune import prune


def part_of(fetches: list[Any], *targets: Any) -> StepGraph:
    step = prune([], fetches, list(targets))
    order_step(step)
    return step


def variable(use_resource: bool = False) -> Any:
    return tf.get_variable("v", [], initializer=tf.zeros_initializer(), use_resource=use_resource)


def types(step: StepGraph) -> list[str]:
    return [node.type for node in step.nodes]


def test_a_read_that_was_made_last_comes_first() -> None:
    with tf.Graph().as_default():
        taken = tf.FIFOQueue(1, tf.float32, shapes=[()]).dequeue() + 1.0
        read = tf.identity(variable()._ref())
        step = part_of([taken, read])
        read_early(step, references=True)
        step.verify("read_early")
        found = types(step)
        assert found.index("DeepCopy") == found.index("Identity") + 1
        assert found.index("DeepCopy") < found.index("QueueDequeueV2")
        assert [edge.node.type for edge in step.fetches] == ["AddV2", "DeepCopy"]


def test_references_of_the_masters_task_are_left_alone() -> None:
    with tf.Graph().as_default():
        taken = tf.FIFOQueue(1, tf.float32, shapes=[()]).dequeue()
        step = part_of([taken, variable()._ref()])
        read_early(step, references=False)
        assert "DeepCopy" not in types(step)


@pytest.mark.parametrize("use_resource", [False, True])
def test_nothing_is_copied_that_nobody_can_change(use_resource: bool) -> None:
    with tf.Graph().as_default():
        step = part_of([variable(use_resource).read_value(), tf.random.uniform([])])
        read_early(step, references=True)
        assert "DeepCopy" not in types(step)


def test_the_copy_comes_before_the_parts_own_update() -> None:
    with tf.Graph().as_default():
        v = variable()
        step = part_of([v._ref()], v.assign_add(1.0).op)
        read_early(step, references=True)
        step.verify("read_early")
        copy = step.fetches[0].node
        update = next(node for node in step.nodes if node.type == "AssignAdd")
        assert copy.type == "DeepCopy"
        assert copy in update.controls


def test_a_read_after_an_update_stays_behind_it() -> None:
    with tf.Graph().as_default():
        v = variable()
        taken = tf.FIFOQueue(1, tf.float32, shapes=[()]).dequeue()
        with tf.control_dependencies([v.assign_add(taken)]):
            read = tf.identity(v._ref())
        last = tf.FIFOQueue(1, tf.float32, shapes=[()]).dequeue()
        with tf.control_dependencies([read]):
            last = last + 1.0
        step = part_of([read, last])
        read_early(step, references=True)
        step.verify("read_early")
        found = types(step)
        assert found.index("AssignAdd") < found.index("Identity")
