"""Checks that tests of strategies share: TensorFlow's `strategy_test_lib`."""

from __future__ import annotations

import glob
import os
import tempfile
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from penstock import dtypes, errors, nest, proto
from penstock.autodiff.gradients import gradients
from penstock.client.session import Session
from penstock.contrib import summary
from penstock.data import Dataset
from penstock.distribute.context import get_replica_context
from penstock.distribute.reduce_op import ReduceOp
from penstock.distribute.values import select_replica
from penstock.gradient_functions import implicit_grad
from penstock.gradient_tape import GradientTape
from penstock.initializers import zeros
from penstock.internal_paths.graph_mode import graph_mode
from penstock.ir.defaults import executing_eagerly
from penstock.ir.graph import Graph
from penstock.layers import Dense
from penstock.ops.constants import constant
from penstock.ops.control import control_dependencies
from penstock.ops.shaping import reshape
from penstock.ops.variable_collections import global_variables_initializer
from penstock.ops.variable_scope import get_variable
from penstock.ops.variables import Variable, VariableAggregation, VariableSynchronization
from penstock.python_io import tf_record_iterator
from penstock.testing.local_cluster import create_local_cluster
from penstock.testing.test_case import TensorFlowTestCase
from penstock.train.global_step import get_or_create_global_step
from penstock.train.optimizer_internals import get_filtered_grad_fn

_Step = Callable[..., Any]


class _TestException(Exception):
    """What the functions below raise in replicas and between them."""


def _raise_exception_fn(_: Any = None) -> None:
    raise _TestException


def _merge_raises_fn() -> None:
    get_replica_context().merge_call(_raise_exception_fn)


def _call_raises_fn(strategy: Any) -> None:
    strategy.extended.call_for_each_replica(_raise_exception_fn)


def _merge_call_raises_fn() -> None:
    get_replica_context().merge_call(_call_raises_fn)


def _call_merge_raises_fn(strategy: Any) -> None:
    strategy.extended.call_for_each_replica(_merge_raises_fn)


def _merge_call_merge_raises_fn() -> None:
    get_replica_context().merge_call(_call_merge_raises_fn)


def _events_from_logdir(test_case: Any, logdir: str) -> list[Any]:
    """The events of the one file in a folder."""
    files = glob.glob(os.path.join(glob.escape(logdir), "*"))
    test_case.assertLen(files, 1)
    return [proto.Event.FromString(record) for record in tf_record_iterator(files[0])]


def _all_sum(value: Any) -> Any:
    return get_replica_context().all_reduce(ReduceOp.SUM, value)


def _all_mean(value: Any) -> Any:
    return get_replica_context().all_reduce(ReduceOp.MEAN, value)


class DistributionTestBase(TensorFlowTestCase):
    """Checks that hold for any strategy."""

    # Training -------------------------------------------------------------------------------------

    def _test_minimize_loss_eager(self, d: Any) -> None:
        with d.scope():
            step = self._descent(d, 0.2)
            steps = [step() for _ in range(10)]
        (before,), (after,) = steps[0][0], steps[-1][1]
        self.assertLess(abs(after.numpy() - 1), abs(before.numpy() - 1))

    def _test_minimize_loss_graph(
        self, d: Any, soft_placement: bool = False, learning_rate: float = 0.2
    ) -> None:
        config = proto.ConfigProto(allow_soft_placement=soft_placement)
        with (
            graph_mode(),
            Graph().as_default(),
            self.cached_session(config=config) as session,
            d.scope(),
        ):
            step = self._descent(d, learning_rate)()
            session.run(global_variables_initializer())
            steps = [session.run(step) for _ in range(10)]
        (before,), (after,) = steps[0][0], steps[-1][1]
        self.assertLess(abs(after - 1), abs(before - 1))

    def _descent(self, d: Any, learning_rate: float) -> _Step:
        """A step in which one weight learns to be 1; it gives the weights before and after."""
        layer = Dense(1, use_bias=False)
        one = constant([[1.0]])

        def loss(x: Any) -> Any:
            error = reshape(layer(x), []) - constant(1.0)
            return error * error

        gradients_of = get_filtered_grad_fn(implicit_grad(loss))

        def update(variable: Any, gradient: Any) -> Any:
            return variable.assign_sub(learning_rate * gradient)

        def step() -> tuple[list[Any], list[Any]]:
            before, after = [], []
            for gradient, variable in d.extended.call_for_each_replica(gradients_of, args=(one,)):
                before.append(d.extended.read_var(variable))
                with control_dependencies(before[-1:]):
                    total = d.extended.reduce_to(ReduceOp.SUM, gradient, destinations=variable)
                    made = d.extended.update(variable, update, args=(total,), group=False)
                    with control_dependencies(made):
                        after.append(d.extended.read_var(variable))
            return before, after

        return step

    # Replicas -------------------------------------------------------------------------------------

    def _test_replica_id(self, d: Any) -> None:
        with d.scope():
            count = len(d.extended.worker_devices)
            seen: list[int] = []

            def ask() -> None:
                seen.append(int(self.evaluate(get_replica_context().replica_id_in_sync_group)))

            d.extended.call_for_each_replica(ask)
            self.assertEqual(sorted(seen), list(range(count)))

    def _test_call_and_merge_exceptions(self, dist: Any) -> None:
        failing = (
            _raise_exception_fn,
            _merge_raises_fn,
            _merge_call_raises_fn,
            _merge_call_merge_raises_fn,
        )
        with dist.scope():
            for fn in failing:
                with self.assertRaises(_TestException):
                    dist.extended.call_for_each_replica(fn)

    def _test_summary_for_replica_zero_only(self, d: Any) -> None:
        logdir = tempfile.mkdtemp()
        with self.cached_session() as session, d.scope(), summary.always_record_summaries():
            step = get_or_create_global_step()
            if not executing_eagerly():
                session.run(step.initializer)
            writer = summary.create_file_writer(logdir)

            def write() -> Any:
                with writer.as_default():
                    return summary.scalar(
                        "a", get_replica_context().replica_id_in_sync_group, step=0
                    )

            made = d.unwrap(d.extended.call_for_each_replica(write))
            if not executing_eagerly():
                session.run(writer.init())
                session.run(made)
                session.run(writer.close())
        _, event = _events_from_logdir(self, logdir)
        self.assertEqual(event.summary.value[0].tag, "a")
        self.assertEqual(event.summary.value[0].simple_value, 0.0)

    # Variables ------------------------------------------------------------------------------------

    def _test_global_step_update(self, strategy: Any) -> None:
        with strategy.scope():
            step = get_variable(
                "global_step",
                shape=[],
                dtype=dtypes.int64,
                initializer=zeros(),
                trainable=False,
                aggregation=VariableAggregation.ONLY_FIRST_REPLICA,
            )
            self.evaluate(global_variables_initializer())
            increments, value = strategy.extended.call_for_each_replica(
                lambda: (step.assign_add(1), step.read_value())
            )
            self.evaluate(strategy.group(increments))
            values = self.evaluate(strategy.experimental_local_results(value))
            self.assertEqual((1,) * len(values), tuple(values))

    def _test_trainable_variable(self, strategy: Any) -> None:
        on_read = VariableSynchronization.ON_READ
        with strategy.scope():
            self.assertEqual(True, Variable(1.0).trainable)
            self.assertEqual(False, Variable(1.0, synchronization=on_read).trainable)
            for asked in (True, False):
                made = Variable(1.0, synchronization=on_read, trainable=asked)
                self.assertEqual(asked, made.trainable)

    # Inputs ---------------------------------------------------------------------------------------

    def _input_fn_to_test_input_context(
        self,
        dataset_or_callable_fn: Callable[[], Any],
        expected_num_replicas_in_sync: int,
        expected_num_input_pipelines: int,
        expected_input_pipeline_id: int | None,
    ) -> Callable[[Any], Any]:
        """An input function that checks what it is told; ids are counted if none is expected."""
        calls: list[Any] = []

        def input_fn(input_context: Any) -> Any:
            self.assertIsNotNone(input_context)
            self.assertEqual(expected_num_replicas_in_sync, input_context.num_replicas_in_sync)
            self.assertEqual(expected_num_input_pipelines, input_context.num_input_pipelines)
            number = expected_input_pipeline_id
            expected = len(calls) if number is None else number
            self.assertEqual(expected, input_context.input_pipeline_id)
            calls.append(input_context)
            return dataset_or_callable_fn()

        return input_fn

    def _test_input_fn_iterable(
        self,
        strategy: Any,
        input_fn: Callable[[Any], Any],
        expected_values: Sequence[Any],
        ignore_order: bool = False,
    ) -> None:
        iterable = strategy.experimental_distribute_datasets_from_function(input_fn)
        if not executing_eagerly():
            iterator = iterable.make_initializable_iterator()
            self._test_input_fn_iterator(
                iterator,
                strategy.extended.worker_devices,
                expected_values,
                ignore_order=ignore_order,
            )
            return
        for _ in range(2):
            found = [strategy.experimental_local_results(each) for each in iterable]
            for expected, values in zip(expected_values, found, strict=True):
                self._compare(expected, list(self.evaluate(values)), ignore_order)

    def _test_input_fn_iterator(
        self,
        iterator: Any,
        devices: Sequence[str],
        expected_values: Sequence[Any],
        sess: Any = None,
        test_reinitialize: bool = True,
        ignore_order: bool = False,
    ) -> None:
        run = sess.run if sess else self.evaluate

        def element() -> Any:
            values = iterator.get_next()
            return run([select_replica(number, values) for number in range(len(devices))])

        for round_ in range(2 if test_reinitialize else 1):
            run(iterator.initialize())
            for expected in expected_values:
                self._compare(expected, element(), ignore_order)
            if round_ == 0:
                with self.assertRaises(errors.OutOfRangeError):
                    element()

    def _compare(self, expected: Any, found: Any, ignore_order: bool) -> None:
        if ignore_order:
            self.assertCountEqual(expected, found)
        else:
            self.assertEqual(expected, found)

    def _test_numpy_dataset(self, strategy: Any) -> None:
        x = np.asarray([[1, 2], [6, 12], [2, 4], [5, 10], [3, 6], [4, 8]])
        y = np.asarray([5, 4, 3, 2, 1, 0])
        with strategy.scope(), self.cached_session() as session:
            size = len(x)
            if not strategy.extended._global_batch_size:
                size //= strategy.num_replicas_in_sync
            rows = strategy.extended.experimental_make_numpy_dataset((x, y), session=session)
            whole = strategy.extended.experimental_require_static_shapes
            iterator = strategy.make_dataset_iterator(
                rows.repeat(2).batch(size, drop_remainder=whole)
            )
            self.evaluate(iterator.initialize())

            def together() -> list[Any]:
                parts = strategy.experimental_run(lambda element: element, iterator)
                local = [strategy.experimental_local_results(part) for part in parts]
                return [np.concatenate(each) for each in self.evaluate(local)]

            for _ in range(2):
                for expected, found in zip((x, y), together(), strict=True):
                    self.assertAllEqual(expected, found)
            with self.assertRaises(errors.OutOfRangeError):
                together()


class _Reductions(TensorFlowTestCase):
    """Checks of reductions between replicas, for a number of them."""

    _dataset: Callable[[Any], Any]
    _replicas: int

    def _test_all_reduce_sum_gradients(self, strategy: Any) -> None:
        self._test_collective_comms_gradients(strategy, _all_sum, *self._gradients(ReduceOp.SUM))

    def _test_all_reduce_sum_gradient_tape(self, strategy: Any) -> None:
        self._test_collective_comms_gradient_tape(
            strategy, _all_sum, *self._gradients(ReduceOp.SUM)
        )

    def _test_all_reduce_mean_gradients(self, strategy: Any) -> None:
        self._test_collective_comms_gradients(strategy, _all_mean, *self._gradients(ReduceOp.MEAN))

    def _test_all_reduce_mean_gradient_tape(self, strategy: Any) -> None:
        self._test_collective_comms_gradient_tape(
            strategy, _all_mean, *self._gradients(ReduceOp.MEAN)
        )

    def _gradients(self, reduce_op: ReduceOp) -> tuple[list[float], list[float]]:
        """What each replica's result is multiplied by, and the gradients that follow."""
        inputs = [1.0, 3.0][: self._replicas]
        total = sum(inputs)
        expected = total if reduce_op is ReduceOp.SUM else total / len(inputs)
        return inputs, [expected] * len(inputs)

    def _test_collective_comms(
        self, strategy: Any, comm_fn: _Step, inputs: Any, expected: Any
    ) -> None:
        outputs = self._run_on(strategy, comm_fn, inputs)
        for each, found in zip(expected, outputs, strict=True):
            self.assertAllEqual([each] * self._replicas, found)

    def _test_collective_comms_gradients(
        self, strategy: Any, comm_fn: _Step, inputs: Any, expected_grads: Any
    ) -> None:
        if executing_eagerly():
            self.skipTest("`tf.gradients` is not supported with eager execution.")

        def step(factor: Any) -> Any:
            x = constant(42.0)
            return gradients(comm_fn(x) * factor, [x])[0]

        self.assertAllEqual(expected_grads, self._run_on(strategy, step, inputs)[0])

    def _test_collective_comms_gradient_tape(
        self, strategy: Any, comm_fn: _Step, inputs: Any, expected_grads: Any
    ) -> None:
        def step(factor: Any) -> Any:
            x = constant(42.0)
            with GradientTape() as tape:
                tape.watch(x)
                y = comm_fn(x) * factor
            return tape.gradient(y, x)

        self.assertAllEqual(expected_grads, self._run_on(strategy, step, inputs)[0])

    def _run_on(self, strategy: Any, fn: _Step, inputs: Any) -> list[Any]:
        """What a function gives in each replica for elements of inputs."""
        iterator = strategy.make_input_fn_iterator(lambda _: type(self)._dataset(inputs))
        self.evaluate(iterator.initialize())
        made = strategy.experimental_run(fn, iterator)
        parts = made if isinstance(made, (list, tuple)) else [made]
        return list(self.evaluate([strategy.experimental_local_results(part) for part in parts]))


class OneDeviceDistributionTestBase(_Reductions):
    """Checks that hold for any strategy of one replica."""

    _dataset = staticmethod(Dataset.from_tensors)
    _replicas = 1

    def _gradients(self, reduce_op: ReduceOp) -> tuple[list[float], list[float]]:
        return [4.0], [4.0]

    def _test_run(self, strategy: Any) -> None:
        first = strategy.experimental_run_v2(lambda: constant(4.0))
        self.assertAllEqual([4.0], self.evaluate(strategy.unwrap(first)))
        both = strategy.experimental_run_v2(lambda x: {"a": x * 2, "b": x * x}, args=(first,))
        values = self.evaluate(nest.map_structure(strategy.unwrap, both))
        self.assertAllEqual([8.0], values["a"])
        self.assertAllEqual([16.0], values["b"])
        last = strategy.experimental_run_v2(lambda b, a: a + 2 * b + 2, kwargs=both)
        self.assertAllEqual([42.0], self.evaluate(strategy.unwrap(last)))

    def _test_all_reduce_sum(self, strategy: Any) -> None:
        given = (4.0, [42.0, 43.0])
        self._test_collective_comms(strategy, _all_sum, inputs=given, expected=given)

    def _test_all_reduce_mean(self, strategy: Any) -> None:
        given = (2.0, [21.0, 22.0])
        self._test_collective_comms(strategy, _all_mean, inputs=given, expected=given)

    def _test_device_and_input_device_are_colocated(self, strategy: Any) -> None:
        if executing_eagerly():
            self.skipTest("cross-device tests are not supported with eager execution.")
        workers, _ = create_local_cluster(2, 0)
        iterator = strategy.make_input_fn_iterator(lambda _: Dataset.range(5))
        made = strategy.experimental_run(lambda x: x + 1, iterator)
        with Session(workers[1].target) as session:
            session.run(iterator.initialize())
            session.run(made)

    def _test_device_and_input_device_are_colocated_with_function(self, strategy: Any) -> None:
        from penstock.ops.control import device
        from penstock.ops.graph_functions import function

        if executing_eagerly():
            self.skipTest("cross-device tests are not supported with eager execution.")
        workers, _ = create_local_cluster(2, 0)
        iterator = strategy.make_input_fn_iterator(lambda _: Dataset.range(5))
        with device("/job:worker/replica:0/task:1/device:CPU:0"):
            made = function(strategy.experimental_run)(lambda x: x + 1, iterator)
        with Session(workers[1].target) as session:
            session.run(iterator.initialize())
            session.run(made)


class TwoDeviceDistributionTestBase(_Reductions):
    """Checks that hold for any strategy of two replicas."""

    _dataset = staticmethod(Dataset.from_tensor_slices)
    _replicas = 2

    def _test_run(self, strategy: Any) -> None:
        first = strategy.experimental_run_v2(
            lambda: get_replica_context().replica_id_in_sync_group + 1
        )
        self.assertAllEqual([1, 2], self.evaluate(strategy.unwrap(first)))
        both = strategy.experimental_run_v2(lambda x: {"a": x * 2, "b": x * x}, args=(first,))
        values = self.evaluate(nest.map_structure(strategy.unwrap, both))
        self.assertAllEqual([2, 4], values["a"])
        self.assertAllEqual([1, 4], values["b"])
        last = strategy.experimental_run_v2(lambda b, a: a + 2 * b + 2, kwargs=both)
        self.assertAllEqual([6, 14], self.evaluate(strategy.unwrap(last)))

    def _test_all_reduce_sum(self, strategy: Any) -> None:
        given = ([1.0, 3.0], [[39.0, 2.0], [3.0, 41.0]])
        self._test_collective_comms(strategy, _all_sum, given, expected=(4.0, [42.0, 43.0]))

    def _test_all_reduce_mean(self, strategy: Any) -> None:
        given = ([1.0, 3.0], [[39.0, 2.0], [3.0, 41.0]])
        self._test_collective_comms(strategy, _all_mean, given, expected=(2.0, [21.0, 21.5]))
