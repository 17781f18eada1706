"""`tf.distribute.MirroredStrategy` on two devices: variables, replicas, inputs, training."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.distribute.values import Mirrored, PerReplica
from penstock.distribute.variables import MirroredVariable, SyncOnReadVariable

DEVICES = ("/replica:0/task:0/device:CPU:0", "/replica:0/task:0/device:CPU:1")
SUM, MEAN = tf.distribute.ReduceOp.SUM, tf.distribute.ReduceOp.MEAN


@pytest.fixture(autouse=True)
def graph() -> Iterator[tf.Graph]:
    with tf.Graph().as_default() as made:
        yield made


@pytest.fixture
def strategy() -> Any:
    return tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])


def two_cpus() -> tf.Session:
    return tf.Session(config=tf.ConfigProto(device_count={"CPU": 2}))


def replica_number() -> Any:
    return tf.cast(tf.distribute.get_replica_context().replica_id_in_sync_group, tf.float32)


# Variables ------------------------------------------------------------------------------------


def test_a_variable_has_a_copy_on_each_device(strategy: Any) -> None:
    with strategy.scope():
        v = tf.Variable(3.0, name="v")
        w = tf.get_variable("w", [2], initializer=tf.random_normal_initializer())
    assert isinstance(v, MirroredVariable) and isinstance(v, tf.Variable)
    assert [copy.name for copy in v.values] == ["v:0", "v/replica_1:0"]
    assert [copy.device for copy in v.values] == list(DEVICES) == list(v.devices)
    assert tf.global_variables() == tf.trainable_variables() == [v, w]
    assert "v/replica_1:0" in str(v)
    with two_cpus() as sess:
        sess.run(tf.global_variables_initializer())
        assert sess.run(v) == 3.0
        first, second = sess.run(strategy.experimental_local_results(w))
        np.testing.assert_array_equal(first, second)
        assert sess.run(v + 1.0) == 4.0


def test_replicas_share_variables_that_they_make(strategy: Any) -> None:
    def replica() -> Any:
        made = tf.get_variable("made", [], initializer=tf.ones_initializer())
        layer = tf.layers.dense(tf.ones([1, 2]), 1, name="layer")
        return made * (1.0 + replica_number()), layer

    with strategy.scope():
        products, layers = strategy.extended.call_for_each_replica(replica)
    names = [variable.name for variable in tf.global_variables()]
    assert names == ["made:0", "layer/kernel:0", "layer/bias:0"]
    with two_cpus() as sess:
        sess.run(tf.global_variables_initializer())
        assert sess.run(strategy.unwrap(products)) == (1.0, 2.0)
        first, second = sess.run(strategy.unwrap(layers))
        np.testing.assert_array_equal(first, second)


def test_a_replica_must_not_make_other_variables(strategy: Any) -> None:
    def replica() -> Any:
        number = tf.distribute.get_replica_context().replica_number
        return tf.Variable(1.0, name="ab"[number])

    with strategy.scope(), pytest.raises(RuntimeError, match="mismatching name"):
        strategy.extended.call_for_each_replica(replica)


@pytest.mark.parametrize(
    ("aggregation", "expected"),
    [("SUM", 3.0), ("MEAN", 1.5), ("ONLY_FIRST_REPLICA", 1.0)],
)
def test_assignments_in_replicas_are_aggregated(
    strategy: Any, aggregation: str, expected: float
) -> None:
    with strategy.scope():
        v = tf.Variable(10.0, aggregation=getattr(tf.VariableAggregation, aggregation))
        ops = [
            strategy.extended.call_for_each_replica(method, args=())
            for method in (
                lambda: v.assign(replica_number() + 1.0),
                lambda: v.assign_add(replica_number() + 1.0),
                lambda: v.assign_sub(replica_number() + 1.0),
            )
        ]
    with two_cpus() as sess:
        sess.run(v.initializer)
        for op, value in zip(ops, (expected, 2 * expected, expected), strict=True):
            assert sess.run(strategy.unwrap(op)) == (value, value)
            assert sess.run(strategy.unwrap(v)) == (value, value)


def test_assignments_between_replicas_change_all_copies(strategy: Any) -> None:
    with strategy.scope():
        v = tf.Variable(1.0)
        update = v.assign_add(2.0)
        with pytest.raises(ValueError, match="specify an aggregation method"):
            strategy.extended.call_for_each_replica(lambda: v.assign(1.0))
    with two_cpus() as sess:
        sess.run(v.initializer)
        sess.run(update)
        assert sess.run(strategy.unwrap(v)) == (3.0, 3.0)


def test_variables_that_are_brought_together_when_read(strategy: Any) -> None:
    settings: Any = {"synchronization": tf.VariableSynchronization.ON_READ}
    with strategy.scope():
        total = tf.Variable(0.0, aggregation=tf.VariableAggregation.SUM, **settings)
        mean = tf.Variable(0.0, aggregation=tf.VariableAggregation.MEAN, **settings)
        assert isinstance(total, SyncOnReadVariable) and not total.trainable

        def replica() -> Any:
            number = replica_number() + 1.0
            return tf.group(total.assign_add(number), mean.assign_add(number))

        update = strategy.group(strategy.extended.call_for_each_replica(replica))
        read = [strategy.extended.read_var(v) for v in (total, mean)]
        with pytest.raises(ValueError, match="does not support `assign_add`"):
            total.assign_add(1.0)
        reset = total.assign(10.0)
    with two_cpus() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(update)
        assert sess.run(read) == [3.0, 1.5]
        assert sess.run(strategy.unwrap(total)) == (1.0, 2.0)
        sess.run(reset)
        assert sess.run(strategy.unwrap(total)) == (5.0, 5.0)
        with strategy.scope():
            assert sess.run(total) == 10.0


def test_checkpoints_have_one_value_and_restore_all_copies(strategy: Any, tmp_path: Any) -> None:
    with strategy.scope():
        v = tf.get_variable("v", [], initializer=tf.ones_initializer())
        total = tf.get_variable(
            "total",
            [],
            initializer=tf.ones_initializer(),
            synchronization=tf.VariableSynchronization.ON_READ,
            aggregation=tf.VariableAggregation.SUM,
        )
        saver = tf.train.Saver()
        changed = [v.assign(7.0), total.assign(8.0)]
    with two_cpus() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(changed)
        path = saver.save(sess, str(tmp_path / "model"))
        assert tf.train.list_variables(path) == [("total", []), ("v", [])]
        assert tf.train.load_variable(path, "total") == 8.0
        sess.run(tf.global_variables_initializer())
        saver.restore(sess, path)
        assert sess.run(strategy.unwrap(v)) == (7.0, 7.0)
        assert sess.run(strategy.unwrap(total)) == (4.0, 4.0)
    with tf.Graph().as_default(), tf.Session() as sess:
        plain = tf.get_variable("v", [])
        tf.train.Saver().restore(sess, path)
        assert sess.run(plain) == 7.0


def test_variables_are_of_their_strategy(strategy: Any) -> None:
    other = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
    with strategy.scope():
        v = tf.Variable(1.0)
        with strategy.extended.colocate_vars_with(v):
            near = tf.Variable(2.0)
    assert near.devices == v.devices
    assert strategy.extended.variable_created_in_scope(v)
    assert not other.extended.variable_created_in_scope(v)
    with other.scope():
        with pytest.raises(RuntimeError, match="Mixing different"):
            v.assign(2.0)
        with pytest.raises(ValueError, match="only be passed a variable created in this"):
            other.extended.colocate_vars_with(v).__enter__()
        with pytest.raises(ValueError, match="`NONE` variable synchronization"):
            tf.Variable(1.0, synchronization=tf.VariableSynchronization.NONE)


# Replicas -------------------------------------------------------------------------------------


def test_replicas_have_names_devices_and_numbers(strategy: Any) -> None:
    def replica(x: Any) -> Any:
        context = tf.distribute.get_replica_context()
        assert context.num_replicas_in_sync == 2
        assert context.strategy is strategy
        assert not tf.distribute.in_cross_replica_context()
        with tf.name_scope("inner"):
            return tf.identity(x, name="y"), context.devices[0]

    with strategy.scope(), tf.name_scope("outer"):
        given = PerReplica(DEVICES, [tf.constant(1.0), tf.constant(2.0)])
        ys, devices = strategy.extended.call_for_each_replica(replica, args=(given,))
    assert [y.op.name for y in strategy.unwrap(ys)] == ["outer/inner/y", "outer/replica_1/inner/y"]
    assert [y.device for y in strategy.unwrap(ys)] == list(DEVICES) == list(devices.values)
    with two_cpus() as sess:
        assert sess.run(strategy.unwrap(ys)) == (1.0, 2.0)


def test_merges_see_the_values_of_all_replicas(strategy: Any) -> None:
    calls = []

    def merge(merged: Any, a: Any, b: Any) -> Any:
        assert tf.distribute.in_cross_replica_context() and merged is strategy
        calls.append((a, b))
        return merged.reduce(SUM, a), a

    def replica() -> Any:
        context = tf.distribute.get_replica_context()
        total, own = context.merge_call(merge, args=(replica_number() + 1.0,), kwargs={"b": "same"})
        return total, own

    with strategy.scope():
        totals, owns = strategy.extended.call_for_each_replica(replica)
    ((a, b),) = calls
    assert isinstance(a, PerReplica) and b == "same"
    assert isinstance(totals, tf.Tensor)  # the same one for both
    with two_cpus() as sess:
        assert sess.run([totals, strategy.unwrap(owns)]) == [3.0, (1.0, 2.0)]


def test_replicas_fail_and_merge_together(strategy: Any) -> None:
    def uneven() -> Any:
        context = tf.distribute.get_replica_context()
        if context.replica_number:
            context.merge_call(lambda merged: None)

    def failing() -> Any:
        context = tf.distribute.get_replica_context()
        context.merge_call(lambda merged: None)
        raise KeyError(context.replica_number)

    with strategy.scope():
        with pytest.raises(RuntimeError, match="different number of"):
            strategy.extended.call_for_each_replica(uneven)
        with pytest.raises(KeyError, match="0"):
            strategy.extended.call_for_each_replica(failing)
        with pytest.raises(RuntimeError, match="cross-replica context"):
            strategy.extended.call_for_each_replica(
                lambda: strategy.extended.call_for_each_replica(failing)
            )


def test_all_reduce_has_the_gradient_of_all(strategy: Any) -> None:
    def replica() -> Any:
        x = tf.fill([2], replica_number() + 1.0)
        context = tf.distribute.get_replica_context()
        total = context.all_reduce(SUM, {"a": x, "b": [x * 2.0]})
        mean = context.all_reduce(MEAN, x)
        (grad,) = tf.gradients(total["a"] * (replica_number() + 1.0), x)
        return total["a"], total["b"][0], mean, grad

    with strategy.scope():
        results = strategy.experimental_run_v2(replica)
    with two_cpus() as sess:
        for values, expected in zip(results, (3.0, 6.0, 1.5, 3.0), strict=True):
            found = sess.run(strategy.unwrap(values))
            np.testing.assert_array_equal(found, np.full([2, 2], expected))


@pytest.mark.parametrize(
    "ops",
    [
        None,
        tf.distribute.ReductionToOneDevice("/cpu:1"),
        tf.distribute.NcclAllReduce(),
        tf.distribute.HierarchicalCopyAllReduce(),
    ],
)
def test_reductions(ops: Any) -> None:
    strategy = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"], cross_device_ops=ops)
    with strategy.scope():
        numbers = strategy.experimental_run_v2(lambda: replica_number() + tf.ones([3]))
        slices = strategy.experimental_run_v2(
            lambda: tf.IndexedSlices(tf.ones([1, 2]), tf.constant([1]), tf.constant([2, 2]))
        )
        v = tf.Variable([0.0, 0.0, 0.0])
        to_variable, to_device = strategy.extended.batch_reduce_to(
            SUM, [(numbers, v), (numbers, "/cpu:1")]
        )
        rows = strategy.extended.reduce_to(MEAN, slices, v)
        one = strategy.reduce(MEAN, numbers, axis=None)
        over_axis = strategy.reduce(MEAN, numbers, axis=0)
    assert isinstance(to_variable, Mirrored) and to_variable.devices == v.devices
    with two_cpus() as sess:
        # All at once: a device's sum needs those of the others.
        for value in sess.run([*to_variable.values, *strategy.unwrap(to_device)]):
            np.testing.assert_array_equal(value, [3.0] * 3)
        np.testing.assert_array_equal(sess.run(one), [1.5] * 3)
        assert sess.run(over_axis) == 1.5
        first = sess.run(tf.convert_to_tensor(rows.values[1]))
        np.testing.assert_array_equal(first, [[0, 0], [1, 1]])
    with strategy.scope(), pytest.raises(ValueError, match="cannot be reduced"):
        strategy.extended.reduce_to(SUM, tf.ones([]), "/cpu:0")


# Inputs ---------------------------------------------------------------------------------------


def test_batches_are_cut_into_a_part_for_each_replica(strategy: Any) -> None:
    dataset = tf.data.Dataset.range(10).map(lambda i: (i, i * 2)).batch(4)
    with strategy.scope():
        inputs = strategy.make_dataset_iterator(dataset)
        first, second = strategy.experimental_run(lambda pair: pair, inputs)
        start = inputs.initialize()
    with two_cpus() as sess:
        sess.run(start)
        parts = strategy.unwrap(first) + strategy.unwrap(second)
        seen = [[part.tolist() for part in sess.run(parts)] for _ in range(3)]
        with pytest.raises(tf.errors.OutOfRangeError):
            sess.run(parts)
    assert seen == [
        [[0, 1], [2, 3], [0, 2], [4, 6]],
        [[4, 5], [6, 7], [8, 10], [12, 14]],
        [[8], [9], [16], [18]],
    ]


def test_a_batch_that_can_not_be_halved_gives_the_last_replica_less(strategy: Any) -> None:
    inputs = strategy.make_dataset_iterator(tf.data.Dataset.range(7).batch(3))
    start, parts = inputs.initialize(), inputs.get_next().values
    with two_cpus() as sess:
        sess.run(start)
        seen = [[part.tolist() for part in sess.run(parts)] for _ in range(3)]
    assert seen == [[[0, 1], [2]], [[3, 4], [5]], [[6], []]]
    with pytest.raises(ValueError, match="Perhaps your input dataset is not batched"):
        strategy.make_dataset_iterator(tf.data.Dataset.range(4))


def test_input_functions_make_batches_of_one_replica(strategy: Any) -> None:
    def make(context: Any) -> Any:
        assert (context.num_input_pipelines, context.num_replicas_in_sync) == (1, 2)
        return tf.data.Dataset.range(8).batch(context.get_per_replica_batch_size(4))

    with strategy.scope():
        by_function = strategy.make_input_fn_iterator(make)
        distributed = strategy.experimental_distribute_dataset(tf.data.Dataset.range(8).batch(4))
        inputs = [by_function, distributed.make_initializable_iterator()]
        outputs = [strategy.experimental_run(tf.reduce_sum, each) for each in inputs]
    old = tf.contrib.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
    with old.scope():
        inputs.append(old.make_dataset_iterator(tf.data.Dataset.range(8).batch(2)))
        outputs.append(old.experimental_run(tf.reduce_sum, inputs[-1]))
    with two_cpus() as sess:
        sess.run([each.initialize() for each in inputs])
        for expected in ((1, 5), (9, 13)):
            assert sess.run([strategy.unwrap(each) for each in outputs]) == [expected] * 3


def test_several_steps_in_one_run(strategy: Any) -> None:
    with strategy.scope():
        total = tf.Variable(0, dtype=tf.int64, aggregation=tf.VariableAggregation.SUM)
        inputs = strategy.make_dataset_iterator(tf.data.Dataset.range(12).batch(2))

        def step(context: Any, element: Any) -> Any:
            def replica(x: Any) -> Any:
                return total.assign_add(x[0])

            context.set_last_step_output("last", tf.reduce_sum(element.values[0]))
            return strategy.extended.call_for_each_replica(replica, args=(element,))

        steps = strategy.extended.experimental_run_steps_on_iterator(
            step, inputs, iterations=3, initial_loop_values={"last": tf.constant(0, tf.int64)}
        )
    with two_cpus() as sess:
        sess.run([total.initializer, inputs.initialize()])
        _, last = sess.run([steps.run_op, steps.last_step_outputs["last"]])
        assert last == 4
        assert sess.run(strategy.unwrap(total)) == (15, 15)


# Training -------------------------------------------------------------------------------------

_X = np.linspace(-1.0, 2.0, 24, dtype=np.float32).reshape(12, 2)
_IDS = np.arange(12) % 4

OPTIMIZERS: dict[str, Any] = {
    "sgd": lambda: tf.train.GradientDescentOptimizer(0.1),
    "momentum": lambda: tf.train.MomentumOptimizer(0.1, 0.9),
    "adam": lambda: tf.train.AdamOptimizer(0.1),
    "adagrad": lambda: tf.train.AdagradOptimizer(0.1),
    "rms": lambda: tf.train.RMSPropOptimizer(0.1),
    "ftrl": lambda: tf.train.FtrlOptimizer(0.1),
}


def _loss(x: Any, ids: Any, w: Any, table: Any) -> Any:
    rows = tf.nn.embedding_lookup(table, ids)
    return tf.reduce_sum(tf.reduce_sum(w * x, 1) ** 2) + tf.reduce_sum((rows - 1.0) ** 2)


def _variables() -> tuple[Any, Any]:
    w = tf.get_variable("w", [2], initializer=tf.constant_initializer([1.0, 2.0]))
    table = tf.get_variable("table", [4, 2], initializer=tf.constant_initializer(0.5))
    return w, table


def _trained_alone(make: Any) -> list[Any]:
    with tf.Graph().as_default(), tf.Session() as sess:
        with tf.variable_scope("", use_resource=True):
            w, table = _variables()
        dataset = tf.data.Dataset.from_tensor_slices((_X, _IDS)).batch(4)
        x, ids = dataset.make_one_shot_iterator().get_next()
        step = tf.train.get_or_create_global_step()
        op = make().minimize(_loss(x, ids, w, table), global_step=step)
        sess.run(tf.global_variables_initializer())
        for _ in range(3):
            sess.run(op)
        return list(sess.run([w, table, step]))


@pytest.mark.parametrize("name", OPTIMIZERS)
@pytest.mark.parametrize("ops", [None, tf.distribute.NcclAllReduce()])
def test_two_replicas_train_as_one_does_on_all_examples(name: str, ops: Any) -> None:
    strategy = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"], cross_device_ops=ops)
    with strategy.scope():
        w, table = _variables()
        step = tf.train.get_or_create_global_step()
        optimizer = OPTIMIZERS[name]()
        dataset = tf.data.Dataset.from_tensor_slices((_X, _IDS)).batch(4)
        inputs = strategy.make_dataset_iterator(dataset)

        def replica(pair: Any) -> Any:
            return optimizer.minimize(_loss(*pair, w, table), global_step=step)

        train = strategy.group(strategy.experimental_run(replica, inputs))
        start = inputs.initialize()
    for slot_name in optimizer.get_slot_names():
        slot = optimizer.get_slot(w, slot_name)
        assert isinstance(slot, MirroredVariable) and slot.devices == w.devices
    with two_cpus() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(start)
        for _ in range(3):
            sess.run(train)
        copies = [sess.run(strategy.unwrap(v)) for v in (w, table, step)]
    for (first, second), alone in zip(copies, _trained_alone(OPTIMIZERS[name]), strict=True):
        np.testing.assert_array_equal(first, second)
        np.testing.assert_allclose(first, alone, 1e-4, 1e-5)


def test_variables_in_one_place_are_updated_with_what_replicas_add_up_to() -> None:
    strategy = tf.distribute.experimental.CentralStorageStrategy(["/cpu:0", "/cpu:1"])
    with strategy.scope():
        w, table = _variables()
        assert not isinstance(w, MirroredVariable) and tf.trainable_variables() == [w, table]
        step = tf.Variable(0, aggregation=tf.VariableAggregation.ONLY_FIRST_REPLICA)
        optimizer = tf.train.AdamOptimizer(0.1)
        dataset = tf.data.Dataset.from_tensor_slices((_X, _IDS)).batch(4)
        inputs = strategy.make_dataset_iterator(dataset)

        def replica(pair: Any) -> Any:
            update = optimizer.minimize(_loss(*pair, w, table))
            with tf.control_dependencies([update]):
                return step.assign_add(1)

        train = strategy.group(strategy.experimental_run(replica, inputs))
    with two_cpus() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(inputs.initialize())
        for _ in range(3):
            sess.run(train)
        for found, alone in zip(
            sess.run([w, table, step]), _trained_alone(OPTIMIZERS["adam"]), strict=True
        ):
            np.testing.assert_allclose(found, alone, 1e-4, 1e-5)
