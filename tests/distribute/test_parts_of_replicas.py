"""What is built inside of replicas: functions, averages, summaries; and where updates go."""

from __future__ import annotations

from typing import Any

import pytest

import penstock as tf

TWO = tf.ConfigProto(device_count={"CPU": 2})


def _two() -> Any:
    return tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])


def _number() -> Any:
    return tf.distribute.get_replica_context().replica_id_in_sync_group


def test_a_function_is_traced_in_each_replica() -> None:
    traces = []

    @tf.function
    def number() -> Any:
        traces.append(tf.distribute.has_strategy())
        return _number()

    with _two().scope() as strategy:
        found = strategy.extended.call_for_each_replica(number)
    with tf.Session(config=TWO) as session:
        assert session.run(list(found.values)) == [0, 1]
    assert traces == [True, True]


def test_replicas_do_not_merge_inside_of_a_function() -> None:
    @tf.function
    def merging() -> Any:
        tf.distribute.get_replica_context().merge_call(lambda _: None)
        return 0.0

    with _two().scope() as strategy, pytest.raises(RuntimeError, match="defining a new graph"):
        strategy.extended.call_for_each_replica(merging)


@pytest.mark.parametrize("zero_debias", [False, True])
def test_an_average_moves_by_the_mean_of_the_replicas(zero_debias: bool) -> None:
    from penstock.train.moving_averages import assign_moving_average

    def move() -> Any:
        average = tf.Variable(0.0, name="average")
        by = tf.cast(_number(), tf.float32) * 4
        return average, assign_moving_average(average, by, 0.75, zero_debias=zero_debias)

    with _two().scope() as strategy:
        average, moved = strategy.extended.call_for_each_replica(move)
        every = list(strategy.experimental_local_results(moved))
    with tf.Session(config=TWO) as session:
        session.run(tf.global_variables_initializer())
        session.run(every)
        assert session.run(list(average.values)) == [2.0 if zero_debias else 0.5] * 2


def test_the_first_replica_writes_summaries() -> None:
    with _two().scope() as strategy:
        made = strategy.extended.call_for_each_replica(lambda: tf.summary.scalar("loss", 1.0))
    assert [each.op.type for each in made.values] == ["ScalarSummary", "Const"]
    assert len(tf.get_collection(tf.GraphKeys.SUMMARIES)) == 1


@pytest.mark.parametrize("use_resource", [False, True])
def test_an_update_goes_where_its_variable_is(use_resource: bool) -> None:
    with tf.device("/cpu:0"):
        variable = tf.Variable(1.0, use_resource=use_resource)
    with tf.device("/cpu:1"):
        update = tf.assign_add(variable, 1.0)
    with tf.Session(config=TWO) as session:
        session.run(variable.initializer)
        assert session.run(update) == 2
