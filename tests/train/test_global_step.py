"""The global step: where it is found, how it is made, what it may be."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import penstock as tf


@pytest.fixture(autouse=True)
def _graph() -> Iterator[tf.Graph]:
    with tf.Graph().as_default() as graph:
        yield graph


def test_there_is_none_at_first() -> None:
    assert tf.train.get_global_step() is None


def test_it_is_made_once() -> None:
    step = tf.train.create_global_step()
    assert (step.op.name, step.dtype.base_dtype, step.trainable) == ("global_step", tf.int64, False)
    assert tf.train.get_global_step() is step
    assert tf.train.get_or_create_global_step() is step
    assert tf.get_collection(tf.GraphKeys.GLOBAL_STEP) == [step]
    assert tf.global_variables() == [step]
    with pytest.raises(ValueError, match="already exists"):
        tf.train.create_global_step()


def test_each_replica_may_count() -> None:
    strategy = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
    with strategy.scope():
        step = tf.train.create_global_step()
        assert step.aggregation == tf.VariableAggregation.ONLY_FIRST_REPLICA
        counted = strategy.experimental_run_v2(lambda: tf.assign_add(step, 1).op)
    with tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})) as session:
        session.run(tf.global_variables_initializer())
        session.run(strategy.experimental_local_results(counted))
        assert session.run(list(step.values)) == [1, 1]


def test_name_scopes_do_not_matter() -> None:
    with tf.name_scope("outer"):
        assert tf.train.get_or_create_global_step().op.name == "global_step"


def test_another_graph_has_another() -> None:
    other = tf.Graph()
    step = tf.train.create_global_step(other)
    assert step.graph is other
    assert tf.train.get_global_step(other) is step
    assert tf.train.get_global_step() is None


def test_it_is_found_by_name() -> None:
    variable = tf.Variable(3, trainable=False, name="global_step")
    step = tf.train.get_global_step()
    assert step.op is variable.op


def test_one_of_several_is_none() -> None:
    for value in (0, 1):
        tf.add_to_collection(tf.GraphKeys.GLOBAL_STEP, tf.Variable(value))
    assert tf.train.get_global_step() is None


@pytest.mark.parametrize(
    ("value", "message"), [(0.5, "integer type"), ([0], "not scalar"), (None, "Variable or Tensor")]
)
def test_what_it_can_not_be(value: object, message: str) -> None:
    step = None if value is None else tf.Variable(value)
    with pytest.raises(TypeError, match=message):
        tf.train.assert_global_step(step)


def test_its_value_in_a_session() -> None:
    step = tf.train.create_global_step()
    with tf.Session() as session:
        session.run(step.initializer)
        session.run(step.assign_add(7))
        assert tf.train.global_step(session, step) == 7
