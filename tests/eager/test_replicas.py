"""Replicas in eager mode and in functions: variables, inputs, collective sums."""

from collections.abc import Iterator
from typing import Any

import pytest

import penstock as tf
from penstock.client.session_defaults import start_afresh
from penstock.contrib.distribute import CollectiveAllReduceStrategy
from penstock.ops import collectives

ON_READ, SUM = tf.VariableSynchronization.ON_READ, tf.distribute.ReduceOp.SUM


@pytest.fixture(autouse=True)
def _eagerly() -> Iterator[None]:
    start_afresh()
    tf.reset_default_graph()
    tf.enable_eager_execution()
    (cpu,) = tf.config.experimental.list_physical_devices("CPU")
    parts = [tf.config.experimental.VirtualDeviceConfiguration()] * 2
    tf.config.experimental.set_virtual_device_configuration(cpu, parts)
    yield
    tf.disable_eager_execution()
    start_afresh()


def mirrored(**kwargs: Any) -> Any:
    return tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"], **kwargs)


def collective() -> Any:
    return CollectiveAllReduceStrategy._from_local_devices(("/cpu:0", "/cpu:1"))


def nccl() -> Any:
    return mirrored(cross_device_ops=tf.distribute.NcclAllReduce())


def number() -> Any:
    return tf.cast(tf.distribute.get_replica_context().replica_id_in_sync_group, tf.float32)


def lists(value: Any) -> Any:
    return [part.numpy().tolist() for part in value.values]


@pytest.mark.parametrize("make", [mirrored, nccl, collective])
@pytest.mark.parametrize("in_function", [False, True])
def test_replicas_add_up_without_waiting_for_each_other(make: Any, in_function: bool) -> None:
    strategy = make()

    def run() -> Any:
        return strategy.experimental_run_v2(
            lambda: tf.distribute.get_replica_context().all_reduce(SUM, number() + 1.0)
        )

    assert lists((tf.function(run) if in_function else run)()) == [3.0, 3.0]


def test_members_of_a_collective_op_in_one_function() -> None:
    @tf.function
    def summed() -> Any:
        found = []
        for device in range(2):
            with tf.device(f"/cpu:{device}"):
                value = tf.constant([device + 1.0])
                found.append(collectives.all_reduce(value, 2, 5, 6, "Add", "Id"))
        return found

    assert [value.numpy().tolist() for value in summed()] == [[3.0], [3.0]]


def test_a_value_that_is_read_is_that_of_all_replicas() -> None:
    strategy = mirrored()
    with strategy.scope():
        variable = tf.Variable(1.0, synchronization=ON_READ, aggregation=tf.VariableAggregation.SUM)
    strategy.experimental_run_v2(lambda: variable.assign_add(number()))
    assert variable.numpy() == 3.0
    assert [copy.numpy() for copy in variable.values] == [1.0, 2.0]


def test_variables_made_in_a_function_start_alike() -> None:
    strategy, made = mirrored(), []

    @tf.function
    def step() -> None:
        def replica() -> None:
            if not made:
                made.append(tf.Variable(tf.random_normal([])))

        strategy.experimental_run_v2(replica)

    step()
    first, second = (copy.numpy() for copy in made[0].values)
    assert first == second


def test_optimizers_of_train_find_their_slots() -> None:
    strategy = mirrored()
    with strategy.scope():
        variable = tf.Variable(1.0)
        optimizer = tf.train.AdagradOptimizer(1.0, initial_accumulator_value=3.0)
    strategy.experimental_run_v2(lambda: optimizer.apply_gradients([(tf.constant(0.5), variable)]))
    assert [copy.numpy() for copy in variable.values] == [0.5, 0.5]
    assert [copy.numpy() for copy in optimizer.get_slot(variable, "accumulator").values] == [4, 4]


@pytest.mark.parametrize("from_function", [False, True])
def test_loops_over_inputs_in_a_function(from_function: bool) -> None:
    strategy = mirrored()

    def rows(context: Any = None) -> Any:
        return tf.data.Dataset.range(5).batch(2)

    if from_function:
        inputs = strategy.experimental_distribute_datasets_from_function(rows)
    else:
        inputs = strategy.experimental_distribute_dataset(rows())
    with strategy.scope():
        seen = tf.Variable(0.0, aggregation=tf.VariableAggregation.SUM)

    @tf.function
    def through(inputs: Any) -> Any:
        total = tf.constant(0, tf.int64)
        for element in inputs:
            total += strategy.reduce("SUM", element, axis=0)
        for element in inputs:
            strategy.experimental_run_v2(
                lambda x: seen.assign_add(tf.cast(tf.reduce_sum(x), tf.float32)), (element,)
            )
        return total, next(iter(inputs))

    total, first = through(inputs)
    assert int(total) == seen.numpy() == 10
    assert lists(first) == ([[0, 1], [2, 3]] if from_function else [[0], [1]])


def test_a_loop_over_inputs_has_no_break() -> None:
    strategy = mirrored()
    inputs = strategy.experimental_distribute_dataset(tf.data.Dataset.range(4).batch(2))

    @tf.function
    def through() -> Any:
        count = tf.constant(0)
        for _ in inputs:
            count += 1
            if count > 0:
                break
        return count

    with pytest.raises(NotImplementedError, match="break and return statements"):
        through()


def test_a_step_that_is_not_complete() -> None:
    strategy = mirrored()
    iterator = strategy.make_input_fn_iterator(
        lambda _: tf.data.Dataset.range(5).batch(2).map(lambda x: {"x": x, "y": (x, x * 2)})
    )
    steps = [lists(element["y"][1]) for element in iterator]
    assert steps == [[[0, 2], [4, 6]], [[8], []]]
    whole = strategy.make_input_fn_iterator(
        lambda _: tf.data.Dataset.range(5).batch(1, drop_remainder=True)
    )
    assert [lists(element) for element in whole] == [[[0], [1]], [[2], [3]]]
