"""What replicas read, update and differentiate: metrics, rows, tapes, loops of steps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.contrib.distribute import CollectiveAllReduceStrategy
from penstock.distribute.values import PerReplica
from penstock.eager import context
from penstock.gradient_functions import implicit_grad
from penstock.ops import flow_modes

ON_READ = tf.VariableSynchronization.ON_READ


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


def _metrics() -> dict[str, Any]:
    labels = tf.constant([1.0, 0.0, 1.0, 1.0])
    predictions = tf.constant([1.0, 0.0, 0.0, 0.5]) * (1.0 - replica_number())
    wrong = tf.cast(predictions > 0.6, tf.int64)
    return {
        "mean": tf.metrics.mean(predictions),
        "tensor": tf.metrics.mean_tensor(predictions),
        "rmse": tf.metrics.root_mean_squared_error(labels, predictions),
        "distance": tf.metrics.mean_cosine_distance(labels, predictions, 0),
        "precision": tf.metrics.precision(labels, wrong),
        "iou": tf.metrics.mean_iou(tf.cast(labels, tf.int64), wrong, 2),
        "classes": tf.metrics.mean_per_class_accuracy(tf.cast(labels, tf.int64), wrong, 2),
        "auc": tf.metrics.auc(labels, predictions, num_thresholds=5),
        "point": tf.metrics.sensitivity_at_specificity(labels, predictions, 0.5, num_thresholds=5),
        "recalls": tf.metrics.recall_at_thresholds(labels, predictions, [0.5]),
        "counts": tf.metrics.true_positives_at_thresholds(labels, predictions, [0.3]),
        "top": tf.metrics.precision_at_k(
            tf.constant([[1], [0]], tf.int64), predictions[:2][:, None] * [[1.0, 0.5]], 1
        ),
    }


# Of one replica that has seen both batches, in TensorFlow 1.15.
EXPECTED = {
    "mean": 0.1875,
    "tensor": [0.5, 0.0, 0.0, 0.25],
    "rmse": 0.7288690,
    "distance": 0.25,
    "precision": 1.0,
    "iou": 0.2261905,
    "classes": 0.5833333,
    "auc": 0.6666665,
    "point": 1.0,
    "recalls": [0.1666667],
    "counts": [2.0],
    "top": 0.5,
}


def test_a_metric_of_replicas_is_that_of_all_of_them(strategy: Any, graph: Any) -> None:
    with strategy.scope():
        found = strategy.extended.call_for_each_replica(_metrics)
        updates = [strategy.group(update) for _, update in found.values()]
        values = {name: value for name, (value, _) in found.items()}
    assert all(isinstance(value, tf.Tensor) for value in values.values())
    with two_cpus() as sess:
        sess.run(tf.local_variables_initializer())
        sess.run(updates)
        results = sess.run(values)
    for name, expected in EXPECTED.items():
        np.testing.assert_allclose(results[name], expected, rtol=1e-4, err_msg=name)


def test_rows_are_updated_in_the_replicas_own_copy(strategy: Any) -> None:
    with strategy.scope():
        variable = tf.Variable([0.0, 0.0], synchronization=ON_READ)
        update = strategy.experimental_run_v2(
            lambda: tf.scatter_add(variable, [1], [replica_number() + 1.0])
        )
        with pytest.raises(ValueError, match="`handle` is not available outside the replica"):
            tf.scatter_add(variable, [0], [1.0])
    with two_cpus() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(strategy.experimental_local_results(update))
        assert [copy.tolist() for copy in sess.run(variable.values)] == [[0.0, 1.0], [0.0, 2.0]]


def test_gradients_stop_at_a_variable_with_copies(strategy: Any) -> None:
    with strategy.scope():
        variable = tf.Variable(1.0)
        product = tf.constant(2.0) * variable
        assert tf.gradients(variable.read_value(), product, stop_gradients=variable) == [None]


@pytest.mark.parametrize("v2", [False, True])
def test_a_tape_has_a_variable_of_replicas_once(strategy: Any, v2: bool) -> None:
    before = flow_modes.ENABLE_CONTROL_FLOW_V2
    flow_modes.ENABLE_CONTROL_FLOW_V2 = v2
    try:
        with strategy.scope():
            variable = tf.Variable(0.5)
            optimizer = tf.train.GradientDescentOptimizer(1.0)
            gradients = implicit_grad(lambda: (variable - 1.0) ** 2)

            def step(number: Any) -> Any:
                pairs = strategy.extended.call_for_each_replica(gradients)
                with tf.control_dependencies([optimizer._distributed_apply(strategy, pairs)]):
                    return number + 1

            loop = tf.while_loop(lambda number: number < 1, step, [0])
    finally:
        flow_modes.ENABLE_CONTROL_FLOW_V2 = before
    with two_cpus() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(loop)
        assert sess.run(variable.values) == (2.5, 2.5)


@pytest.mark.parametrize("make", [tf.distribute.OneDeviceStrategy, tf.distribute.MirroredStrategy])
def test_steps_hand_out_what_replicas_have(make: Any) -> None:
    made = make("/cpu:0") if make is tf.distribute.OneDeviceStrategy else make(["/cpu:0", "/cpu:1"])
    count = made.num_replicas_in_sync
    with made.scope():
        iterator = made.make_input_fn_iterator(lambda _: tf.data.Dataset.from_tensors(1.0).repeat())

        def replica(outputs: Any, element: Any) -> Any:
            variable = tf.get_variable("made", [], use_resource=True)
            outputs.set_non_tensor_output("text", "of a replica")
            return variable + element * 0.0 + replica_number()

        def step(outputs: Any, element: Any) -> Any:
            values = made.extended.call_for_each_replica(replica, args=(outputs, element))
            outputs.set_last_step_output("sum", values, tf.distribute.ReduceOp.SUM)
            outputs.set_last_step_output("each", values)
            return values

        each = made.experimental_local_results(
            made.extended.call_for_each_replica(lambda: tf.constant(0.0))
        )
        steps = made.extended.experimental_run_steps_on_iterator(
            step, iterator, iterations=2, initial_loop_values={"sum": 0.0, "each": each}
        )
    assert steps.non_tensor_outputs == {"text": ("of a replica",)}
    assert [v.name for v in tf.global_variables()] == ["made:0"]
    assert len(made.experimental_local_results(steps.last_step_outputs["each"])) == count
    with two_cpus() as sess:
        sess.run([iterator.initialize(), tf.global_variables_initializer()])
        start = sess.run(tf.global_variables()[0])
        _, total = sess.run([steps.run_op, steps.last_step_outputs["sum"]])
        assert total == pytest.approx(count * start + (1.0 if count == 2 else 0.0))


def test_settings_of_variables_are_checked(strategy: Any) -> None:
    with strategy.scope():
        with pytest.raises(ValueError, match="Invalid variable aggregation mode: all for variable"):
            tf.Variable(1.0, name="v", aggregation="all")
        variable = tf.Variable(1.0)
    assert all(copy._distribute_strategy is strategy for copy in variable.values)


@pytest.mark.parametrize("kind", ["sum", "mean"])
def test_rows_are_reduced_also_without_replicas(kind: str) -> None:
    default = tf.distribute.get_strategy()
    with context.eager_mode():
        found = default.reduce(kind, tf.constant([0, 1]), axis=0)
        assert float(found) == {"sum": 1.0, "mean": 0.5}[kind]


def test_code_for_replicas_is_converted_without_them() -> None:
    def step(x: Any) -> Any:
        if tf.reduce_sum(x) < 0:
            return -x
        return x

    with context.eager_mode():
        run = tf.function(lambda x: tf.distribute.get_strategy().experimental_run_v2(step, (x,)))
        assert [float(run(tf.constant(x))) for x in (-2.0, 3.0)] == [2.0, 3.0]


def test_values_of_replicas_in_branches() -> None:
    place = ("/replica:0/task:0/device:CPU:0",)
    chosen = tf.cond(
        tf.placeholder_with_default(True, []),
        lambda: PerReplica(place, ("a",)),
        lambda: PerReplica(place, ("b",)),
    )
    with tf.Session() as sess:
        assert sess.run(chosen.values) == (b"a",)


@pytest.mark.parametrize("cpus", [1, 2])
def test_a_collective_sum_of_which_one_device_wants_the_result(cpus: int) -> None:
    made = CollectiveAllReduceStrategy._from_local_devices(("/cpu:0", "/cpu:1"))
    with made.scope():
        variable = tf.Variable(2.0, synchronization=ON_READ, aggregation=tf.VariableAggregation.SUM)
    config = tf.ConfigProto(device_count={"CPU": cpus}, allow_soft_placement=True)
    options = tf.RunOptions(timeout_in_ms=30_000)
    with made.scope(), tf.Session(config=config) as sess:
        sess.run(tf.global_variables_initializer())
        assert sess.run(variable, options=options) == 4.0


def test_calls_of_one_function_are_colocated_apart(strategy: Any) -> None:
    before = flow_modes.ENABLE_CONTROL_FLOW_V2
    flow_modes.ENABLE_CONTROL_FLOW_V2 = True
    try:
        results = []
        for device in ("/cpu:0", "/cpu:1"):
            with tf.device(device):
                start = tf.placeholder_with_default(1.0, [])

                def doubled(i: Any, x: Any) -> Any:
                    with tf.device(device):  # noqa: B023 (called at once)
                        once = tf.identity(x, name="once")
                        with tf.colocate_with(once):
                            return i + 1, once + once

                loop = tf.while_loop(lambda i, _: i < 3, doubled, [0, start])
                results.append(loop[1])
    finally:
        flow_modes.ENABLE_CONTROL_FLOW_V2 = before
    with two_cpus() as sess:
        assert sess.run(results) == [8.0, 8.0]
