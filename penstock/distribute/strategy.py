"""`tf.distribute.Strategy`: how a program is spread over devices; the strategies of one device."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock import nest
from penstock.distribute.device_names import resolve
from penstock.distribute.extended import StrategyExtended
from penstock.distribute.input_pipelines import InputContext, InputReplicationMode
from penstock.distribute.reduce_op import ReduceOp, as_reduce_op
from penstock.distribute.scopes import DefaultScope
from penstock.ir.conversion_status import Status, control_status_ctx
from penstock.ir.defaults import get_default_graph
from penstock.ops.casts import cast
from penstock.ops.control import group
from penstock.ops.math import reduce_sum
from penstock.ops.shaping import shape


def _as_code_around(fn: Callable[..., Any]) -> Callable[..., Any]:
    """A function whose Python code is converted if that of its caller is."""
    ctx = control_status_ctx()
    if ctx.status is Status.UNSPECIFIED:
        return fn
    from penstock.autograph.calls import tf_convert

    converted: Callable[..., Any] = tf_convert(fn, ctx)
    return converted


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
            call = _as_code_around(fn)
            return self._extended.call_for_each_replica(call, args=args, kwargs=kwargs)

    run = experimental_run_v2

    def experimental_run(self, fn: Callable[..., Any], input_iterator: Any = None) -> Any:
        """Calls a function in each replica with the next element of its input."""
        with self.scope():
            args = () if input_iterator is None else (input_iterator.get_next(),)
        return self.experimental_run_v2(fn, args=args)

    def reduce(self, reduce_op: Any, value: Any, axis: Any = None) -> Any:
        """The sum or mean over the replicas, and over an axis of each value if one is given."""
        self._extended._require_cross_replica()
        chosen = as_reduce_op(reduce_op)
        if axis is not None and not isinstance(axis, int):
            raise TypeError(f"Expected `axis` to be an integer not: {axis!r}")
        if axis is None:
            return self._extended._reduce(chosen, value)
        return self._reduce_rows(chosen, value, axis)

    def _reduce_rows(self, reduce_op: ReduceOp, value: Any, axis: int) -> Any:
        """A sum or mean over an axis of all replicas' values, of which some may be shorter."""

        def sums(part: Any) -> Any:
            return reduce_sum(part, axis=axis)

        def counts(part: Any) -> Any:
            return cast(shape(part)[axis], part.dtype)

        def whole(each: Any) -> Any:
            total = self._extended._reduce(ReduceOp.SUM, self._mapped(sums, each))
            if reduce_op is ReduceOp.SUM:
                return total
            return total / self._extended._reduce(ReduceOp.SUM, self._mapped(counts, each))

        return nest.map_structure(whole, value)

    def _mapped(self, function: Callable[..., Any], value: Any) -> Any:
        with self.scope():
            return self._extended.call_for_each_replica(function, args=(value,))

    def experimental_local_results(self, value: Any) -> tuple[Any, ...]:
        """The value of each replica."""
        return self._extended._local_results(value)

    unwrap = experimental_local_results

    def group(self, value: Any, name: str | None = None) -> Any:
        """One operation of the operations of all replicas."""
        flat = [
            part for each in nest.flatten(value) for part in self._extended._local_results(each)
        ]
        if len(flat) == 1 and name is None:
            return flat[0]
        return group(*flat, name=name)

    # Inputs -------------------------------------------------------------------------------------

    def make_dataset_iterator(self, dataset: Any) -> Any:
        """An iterator that gives each replica its part of the elements."""
        return self._extended._make_dataset_iterator(dataset)

    def make_input_fn_iterator(
        self,
        input_fn: Callable[[InputContext], Any],
        replication_mode: Any = InputReplicationMode.PER_WORKER,
    ) -> Any:
        """An iterator over the dataset that a function returns."""
        if replication_mode is not InputReplicationMode.PER_WORKER:
            raise ValueError(f"Input replication mode not supported: {replication_mode!r}")
        with self.scope():
            return self._extended._make_input_fn_iterator(
                input_fn, replication_mode=replication_mode
            )

    def experimental_distribute_dataset(self, dataset: Any) -> Any:
        """The dataset as the replicas see it: each batch is cut into a part for each."""
        return self._extended._experimental_distribute_dataset(dataset)

    def experimental_distribute_datasets_from_function(
        self, dataset_fn: Callable[[InputContext], Any]
    ) -> Any:
        """The dataset that a function returns, whose batches are for one replica each."""
        return self._extended._experimental_distribute_datasets_from_function(dataset_fn)

    def experimental_make_numpy_dataset(self, numpy_input: Any, session: Any = None) -> Any:
        """A dataset of the rows of arrays."""
        with self.scope():
            return self._extended.experimental_make_numpy_dataset(numpy_input, session=session)

    # Sessions -----------------------------------------------------------------------------------

    def configure(
        self,
        session_config: Any = None,
        cluster_spec: Any = None,
        task_type: Any = None,
        task_id: Any = None,
    ) -> None:
        """Tells the strategy of a cluster, and changes a session's configuration as it needs."""
        self._extended._configure(session_config, cluster_spec, task_type, task_id)

    def update_config_proto(self, config_proto: Any) -> Any:
        """A copy of a session's configuration, changed as the strategy needs it."""
        return self._extended._update_config_proto(config_proto)

    def __copy__(self) -> Any:
        raise RuntimeError("Must only deepcopy DistributionStrategy.")


class DefaultStrategy(Strategy):
    """The strategy outside of any scope: code for replicas runs as it would without them."""

    def __init__(self) -> None:
        super().__init__(StrategyExtended(self, None))

    def scope(self) -> Any:
        return DefaultScope(self)

    def experimental_run_v2(
        self, fn: Callable[..., Any], args: Any = (), kwargs: Any = None
    ) -> Any:
        return _as_code_around(fn)(*args, **(kwargs or {}))

    run = experimental_run_v2


class OneDeviceStrategy(Strategy):
    """One replica, with all its variables, on a device."""

    def __init__(self, device: str):
        super().__init__(StrategyExtended(self, resolve(device)))


def get_loss_reduction() -> ReduceOp:
    """How replicas' losses become one, for an optimizer: it scales those that are means.

    Only Estimators ask for that: elsewhere it is the program that divides by all examples.
    """
    from penstock.distribute.context import get_strategy

    if not get_strategy()._scale_loss_for_estimator:
        return ReduceOp.SUM
    last = get_default_graph()._last_loss_reduction
    return ReduceOp.SUM if last in ("weighted_sum", "sum") else ReduceOp.MEAN
