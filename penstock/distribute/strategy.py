"""`tf.distribute.Strategy`: one machine, one device, and therefore one replica."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from penstock import errors, nest
from penstock.devices import DeviceSpec
from penstock.distribute.extended import StrategyExtended
from penstock.distribute.input_pipelines import (
    DistributedIterator,
    InputContext,
    InputReplicationMode,
)
from penstock.distribute.reduce_op import ReduceOp, as_reduce_op
from penstock.ops.control import group
from penstock.ops.identity import identity
from penstock.ops.math import reduce_mean, reduce_sum


class Strategy:
    """How a program is spread over devices.

    >>> strategy = tf.distribute.OneDeviceStrategy("/gpu:0")
    >>> with strategy.scope():
    ...     loss = strategy.experimental_run_v2(step, args=(features, labels))
    ...     mean = strategy.reduce(tf.distribute.ReduceOp.MEAN, loss, axis=None)
    """

    def __init__(self, extended: StrategyExtended):
        self._extended = extended
        self._scale_loss_for_estimator = False

    @property
    def extended(self) -> StrategyExtended:
        """The methods for libraries."""
        return self._extended

    @property
    def num_replicas_in_sync(self) -> int:
        return self._extended._num_replicas_in_sync

    def scope(self) -> Any:
        """Where variables are made for this strategy; it is the one of `get_strategy` there."""
        return self._extended._scope(self)

    def colocate_vars_with(self, colocate_with_variable: Any) -> Any:
        return self._extended.colocate_vars_with(colocate_with_variable)

    # Running ------------------------------------------------------------------------------------

    def experimental_run_v2(
        self, fn: Callable[..., Any], args: Any = (), kwargs: Any = None
    ) -> Any:
        """Calls a function in each replica with its values of the arguments."""
        with self.scope():
            return self._extended.call_for_each_replica(fn, args=args, kwargs=kwargs)

    run = experimental_run_v2

    def experimental_run(self, fn: Callable[..., Any], input_iterator: Any = None) -> Any:
        """Calls a function in each replica with the next element of its input."""
        with self.scope():
            args = () if input_iterator is None else (input_iterator.get_next(),)
        return self.experimental_run_v2(fn, args=args)

    def reduce(self, reduce_op: Any, value: Any, axis: Any = None) -> Any:
        """The sum or mean over the replicas, and over an axis of each value if one is given."""
        chosen = as_reduce_op(reduce_op)
        if axis is not None and not isinstance(axis, int):
            raise TypeError(f"Expected `axis` to be an integer not: {axis!r}")
        if axis is None:
            return nest.map_structure(identity, value)
        over = reduce_sum if chosen is ReduceOp.SUM else reduce_mean
        return nest.map_structure(lambda each: over(each, axis=axis), value)

    def experimental_local_results(self, value: Any) -> tuple[Any, ...]:
        """The value of each replica."""
        return (value,)

    unwrap = experimental_local_results

    def group(self, value: Any, name: str | None = None) -> Any:
        """One operation of the operations of all replicas."""
        return group(*nest.flatten(value), name=name)

    # Inputs -------------------------------------------------------------------------------------

    def make_dataset_iterator(self, dataset: Any) -> Any:
        """An iterator that gives each replica its part of the elements."""
        return DistributedIterator(dataset)

    def make_input_fn_iterator(
        self,
        input_fn: Callable[[InputContext], Any],
        replication_mode: Any = InputReplicationMode.PER_WORKER,
    ) -> Any:
        """An iterator over the dataset that a function returns."""
        if replication_mode is not InputReplicationMode.PER_WORKER:
            raise ValueError(f"Input replication mode not supported: {replication_mode!r}")
        return DistributedIterator(input_fn(InputContext()))

    def experimental_distribute_dataset(self, dataset: Any) -> Any:
        """The dataset as the replicas see it: with one of them, as it is."""
        return dataset

    def experimental_distribute_datasets_from_function(
        self, dataset_fn: Callable[[InputContext], Any]
    ) -> Any:
        """The dataset that a function returns."""
        return dataset_fn(InputContext())

    def experimental_make_numpy_dataset(self, numpy_input: Any, session: Any = None) -> Any:
        """A dataset of the rows of arrays."""
        return self._extended.experimental_make_numpy_dataset(numpy_input, session=session)

    # Sessions -----------------------------------------------------------------------------------

    def configure(
        self,
        session_config: Any = None,
        cluster_spec: Any = None,
        task_type: Any = None,
        task_id: Any = None,
    ) -> None:
        """Nothing to change for one device."""

    def update_config_proto(self, config_proto: Any) -> Any:
        """A copy of a session's configuration, changed as the strategy needs it."""
        return copy.deepcopy(config_proto)

    def __copy__(self) -> Any:
        raise RuntimeError("Must only deepcopy DistributionStrategy.")


class DefaultStrategy(Strategy):
    """The strategy outside of any scope: code for replicas runs as it would without them."""

    def __init__(self) -> None:
        super().__init__(StrategyExtended(self, None))

    def experimental_run_v2(
        self, fn: Callable[..., Any], args: Any = (), kwargs: Any = None
    ) -> Any:
        return fn(*args, **(kwargs or {}))

    run = experimental_run_v2


class OneDeviceStrategy(Strategy):
    """One replica, with all its variables, on a device."""

    def __init__(self, device: str):
        super().__init__(StrategyExtended(self, _full_name(device)))


class MirroredStrategy(Strategy):
    """One replica on each device of a machine; Penstock has it for one device.

    Args:
      devices: names of devices; all GPUs, or else the CPU, if None.
      cross_device_ops: how values go from device to device; there is nothing to do for one.
    """

    def __init__(self, devices: Any = None, cross_device_ops: Any = None):
        names = _local_devices() if devices is None else [_full_name(each) for each in devices]
        if not names:
            raise ValueError("Must specify at least one device for MirroredStrategy.")
        if len(names) != len(set(names)):
            raise ValueError(f"No duplicates allowed in `devices` argument: {names}")
        if len(names) > 1:
            raise errors.UnimplementedError(
                None,
                None,
                f"MirroredStrategy: Penstock mirrors over one device, got {names}. Give it one "
                "(devices=['/gpu:0']), or build a tower for each GPU under tf.device and average "
                "their gradients.",
            )
        super().__init__(StrategyExtended(self, names[0]))


def _full_name(device: str) -> str:
    spec = DeviceSpec.from_string(device)
    return spec.replace(
        job=spec.job or "localhost",
        replica=spec.replica or 0,
        task=spec.task or 0,
        device_type=spec.device_type or "CPU",
        device_index=spec.device_index or 0,
    ).to_string()


def _local_devices() -> list[str]:
    from penstock.client.device_lib import list_local_devices

    names = [each.name for each in list_local_devices() if each.device_type == "GPU"]
    return [_full_name(name) for name in names or ["/device:CPU:0"]]


def get_loss_reduction() -> ReduceOp:
    """How an optimizer has to scale a loss: with one replica, not at all."""
    return ReduceOp.SUM
