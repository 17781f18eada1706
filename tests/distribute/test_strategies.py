"""`tf.distribute` with one device: scopes, replicas, reductions, inputs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import penstock as tf


@pytest.fixture(autouse=True)
def graph() -> Iterator[tf.Graph]:
    with tf.Graph().as_default() as made:
        yield made


def _strategies() -> list[Any]:
    return [tf.distribute.OneDeviceStrategy("/cpu:0"), tf.distribute.MirroredStrategy(["/cpu:0"])]


def test_outside_of_scopes_there_is_the_only_replica_of_the_default_strategy() -> None:
    distribute = tf.distribute
    assert not distribute.has_strategy() and not distribute.in_cross_replica_context()
    strategy, replica = distribute.get_strategy(), distribute.get_replica_context()
    assert strategy.num_replicas_in_sync == replica.num_replicas_in_sync == 1
    assert replica.strategy is strategy
    assert strategy.extended.variable_created_in_scope(tf.Variable(1.0))
    assert distribute.get_cross_replica_context() is None
    seen = replica.merge_call(
        lambda merged, value: (merged, value, distribute.in_cross_replica_context()), args=(3,)
    )
    assert seen == (strategy, 3, True)
    with pytest.raises(RuntimeError, match="unsupported by default"):
        _ = strategy.extended.worker_devices


@pytest.mark.parametrize("kind", [0, 1])
def test_a_scope_makes_variables_for_its_strategy(kind: int) -> None:
    strategy = _strategies()[kind]
    with strategy.scope() as entered:
        assert entered is strategy is tf.distribute.get_strategy()
        assert tf.distribute.has_strategy() and tf.distribute.get_replica_context() is None
        assert tf.distribute.get_cross_replica_context() is strategy
        variable = tf.Variable(1.0)
        with strategy.scope():
            assert tf.distribute.get_strategy() is strategy
    assert not tf.distribute.has_strategy()
    assert strategy.extended.variable_created_in_scope(variable)
    assert not strategy.extended.variable_created_in_scope(tf.Variable(1.0))
    assert variable.device == strategy.extended.parameter_devices[0]
    assert variable.device == "/replica:0/task:0/device:CPU:0"


def test_scopes_of_two_strategies_do_not_nest() -> None:
    first, second = _strategies()
    with first.scope(), pytest.raises(RuntimeError, match="Mixing different"), second.scope():
        pass


def test_replicas_merge_reduce_and_update() -> None:
    strategy = tf.distribute.MirroredStrategy(["/cpu:0"])
    with strategy.scope():
        variable = tf.Variable(1.0)

    def replica(value: Any) -> Any:
        context = tf.distribute.get_replica_context()
        assert context.devices == strategy.extended.worker_devices

        def merge(merged: Any, each: Any) -> Any:
            total = merged.extended.reduce_to(tf.distribute.ReduceOp.SUM, each, variable)
            return merged.extended.update(variable, lambda v, t: v.assign_add(t), args=(total,))

        number = tf.cast(context.replica_id_in_sync_group, tf.float32)
        doubled = context.all_reduce(tf.distribute.ReduceOp.SUM, value * 2.0) + number
        return context.merge_call(merge, args=(doubled,))

    updated = strategy.experimental_run_v2(replica, args=(tf.constant(3.0),))
    mean = strategy.reduce(tf.distribute.ReduceOp.MEAN, tf.constant([1.0, 3.0]), axis=0)
    with tf.Session() as session:
        session.run(variable.initializer)
        assert session.run(strategy.experimental_local_results(updated)) == (7.0,)
        assert session.run(mean) == 2.0
    with pytest.raises(TypeError, match="ReduceOp"):
        strategy.reduce(3, tf.constant(1.0))
    with pytest.raises(TypeError, match="axis"):
        strategy.reduce("sum", tf.constant(1.0), axis="x")


def test_inside_of_a_replica_there_is_no_other() -> None:
    strategy = tf.distribute.OneDeviceStrategy("/cpu:0")
    with pytest.raises(RuntimeError, match="cross-replica context"):
        strategy.experimental_run_v2(
            lambda: strategy.extended.reduce_to(tf.distribute.ReduceOp.SUM, 1, "/cpu:0")
        )


def test_inputs_come_from_datasets_and_functions() -> None:
    strategy = tf.distribute.MirroredStrategy(["/cpu:0"])

    def dataset(context: Any) -> Any:
        return tf.data.Dataset.range(6).batch(context.get_per_replica_batch_size(2))

    by_function = strategy.make_input_fn_iterator(dataset)
    by_dataset = strategy.make_dataset_iterator(tf.data.Dataset.range(3))
    totals = [strategy.experimental_run(tf.reduce_sum, each) for each in (by_function, by_dataset)]
    with tf.Session() as session:
        session.run([by_function.initialize(), by_dataset.initialize()])
        assert session.run(totals) == [1, 0]
        assert session.run(totals) == [5, 1]


def test_several_steps_run_in_one() -> None:
    strategy = tf.distribute.OneDeviceStrategy("/cpu:0")
    with strategy.scope():
        total = tf.Variable(0, dtype=tf.int64)
        inputs = strategy.make_dataset_iterator(tf.data.Dataset.range(10))
        steps = strategy.extended.experimental_run_steps_on_iterator(
            lambda context, element: total.assign_add(element), inputs, iterations=4
        )
    with tf.Session() as session:
        session.run([total.initializer, inputs.initialize()])
        session.run(steps.run_op)
        assert session.run(total) == 0 + 1 + 2 + 3


def test_devices_are_named_once() -> None:
    with pytest.raises(AssertionError, match="No duplicates allowed"):
        tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:0"])
    with pytest.raises(ValueError, match="other than 'localhost'"):
        tf.distribute.MirroredStrategy(["/cpu:0", "/job:worker/cpu:1"])
    with pytest.raises(ValueError, match="only specify one"):
        tf.contrib.distribute.MirroredStrategy(["/cpu:0"], num_gpus=2)


def test_a_strategy_can_be_set_for_good() -> None:
    strategy = tf.distribute.OneDeviceStrategy("/cpu:0")
    tf.distribute.experimental_set_strategy(strategy)
    try:
        assert tf.distribute.get_strategy() is strategy
    finally:
        tf.distribute.experimental_set_strategy(None)
    assert not tf.distribute.has_strategy()


def test_average_losses_count_all_replicas() -> None:
    losses = tf.constant([2.0, 4.0])
    average = tf.nn.compute_average_loss(losses, sample_weight=[1.0, 0.5])
    smaller = tf.nn.compute_average_loss(losses, global_batch_size=4)
    weights = tf.nn.scale_regularization_loss(tf.constant([1.0, 2.0]))
    with tf.Session() as session:
        assert session.run([average, smaller, weights]) == [2.0, 1.5, 3.0]
    with pytest.raises(ValueError, match="at least rank 1"):
        tf.nn.compute_average_loss(1.0)
    with (
        tf.distribute.OneDeviceStrategy("/cpu:0").scope(),
        pytest.raises(RuntimeError, match="cross replica context"),
    ):
        tf.nn.scale_regularization_loss(losses)


def test_an_estimator_takes_a_strategy_of_one_device() -> None:
    strategy = tf.distribute.OneDeviceStrategy("/cpu:0")
    assert tf.estimator.RunConfig(train_distribute=strategy).train_distribute is strategy
