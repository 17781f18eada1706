"""Variables of which each replica has one.

To the program they are one variable: inside of a replica that replica's, between replicas that of
the current device, or the first.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from penstock.distribute import context
from penstock.distribute.reduce_op import ReduceOp
from penstock.distribute.values import DistributedValues, PerReplica, current_device
from penstock.ir.defaults import executing_eagerly, get_default_graph
from penstock.ir.tensor import Tensor
from penstock.ops.comparison import logical_and
from penstock.ops.control import group
from penstock.ops.identity import identity
from penstock.ops.resource_variable import ResourceVariable
from penstock.ops.variables import Variable, VariableAggregation
from penstock.shapes import TensorShape

_Update = Callable[..., Any]


class VariableNode(NamedTuple):
    """What code between replicas may ask about a variable's node."""

    name: str
    graph: Any
    traceback: Any
    type: str
    device: str
    line: Any

    @property
    def _line(self) -> Any:
        """The line of the program that made it, as nodes know it."""
        return self.line


class DistributedVariable(DistributedValues, ResourceVariable):
    """One variable for each replica; what is not said here, its replica's variable says."""

    _is_distributed = True
    _adds_as_tensors_do = True
    _given_initializer: Any = None  # of all copies: from a checkpoint, for example

    def __init__(
        self,
        strategy: Any,
        devices: Sequence[str],
        values: Sequence[Any],
        aggregation: VariableAggregation,
    ):
        DistributedValues.__init__(self, devices, values)
        self._distribute_strategy = strategy
        self._aggregation = aggregation
        self._keras_initialized = False
        for value in values:
            value._distributed_container = weakref.ref(self)
            value._distribute_strategy = strategy

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name in ("_values", "_devices", "_device_map"):
            raise AttributeError(name)
        return getattr(self._closest(), name)

    def _closest(self) -> Any:
        """The current replica's variable; between replicas the current device's, or the first."""
        replica = context.get_replica_context()
        if replica is not None and replica.strategy is self._distribute_strategy:
            return self._values[replica.replica_number]
        device = context.get_update_device() or current_device()
        found = self._of_device(device) if device else None
        return self.primary if found is None else found

    def _get_cross_replica(self) -> Any:
        return self._closest()

    def _is_copy_here(self, variable: Any) -> bool:
        """Whether a variable is the copy of the replica that this is."""
        replica = context.get_replica_context()
        if replica is None or replica.strategy is not self._distribute_strategy:
            return False
        return self._values[replica.replica_number] is variable

    def _as_watched(self) -> Any:
        return self

    # What it is -----------------------------------------------------------------------------------

    @property
    def distribute_strategy(self) -> Any:
        return self._distribute_strategy

    @property
    def name(self) -> str:
        return str(self.primary.name)

    @property
    def dtype(self) -> Any:
        return self.primary.dtype

    @property
    def shape(self) -> TensorShape:
        found: TensorShape = self.primary.shape
        return found

    @property
    def graph(self) -> Any:
        return self.primary.graph

    @property
    def device(self) -> str:
        return str(self._closest().device)

    @property
    def aggregation(self) -> VariableAggregation:
        return self._aggregation

    @property
    def _shared_name(self) -> str:
        return self.name.partition(":")[0]

    @property
    def _unique_id(self) -> str:
        """That of the first copy, whichever of them is the current one."""
        return str(self.primary._unique_id)

    @property
    def handle(self) -> Tensor:
        between = context.has_strategy() and context.in_cross_replica_context()
        if between and context.get_update_device() is None:
            raise ValueError(
                "`handle` is not available outside the replica context or a "
                "`tf.distribute.Strategy.update()` call."
            )
        found: Tensor = self._closest().handle
        return found

    @property
    def op(self) -> Any:
        if context.has_strategy() and context.in_cross_replica_context():
            node = self.primary.op
            return VariableNode(
                node.name, node.graph, node.traceback, node.type, node.device, node._line
            )
        return self._closest().op

    @property
    def initializer(self) -> Any:
        """The operation that gives all replicas' variables their initial value."""
        if self._given_initializer is not None:
            return self._given_initializer
        return group(*(value.initializer for value in self._values))

    @property
    def _initializer_op(self) -> Any:
        return self.initializer

    @_initializer_op.setter
    def _initializer_op(self, operation: Any) -> None:
        self._given_initializer = operation

    def is_initialized(self, name: str | None = None) -> Any:
        """Whether all replicas' variables have a value."""
        *others, last = [value.is_initialized() for value in self._values]
        if not others:
            return last
        result = others[0]
        for other in others[1:]:
            result = logical_and(result, other)
        return logical_and(result, last, name=name)

    def _set_save_slice_info(self, save_slice_info: Any) -> None:
        for value in self._values:
            value._set_save_slice_info(save_slice_info)

    def _get_save_slice_info(self) -> Any:
        return self.primary._get_save_slice_info()

    def to_proto(self, export_scope: str | None = None) -> Any:
        return self.primary.to_proto(export_scope=export_scope)

    # Reading --------------------------------------------------------------------------------------

    def value(self) -> Tensor:
        found: Tensor = self._closest().value()
        return found

    def read_value(self) -> Tensor:
        with _in_scope_of(self._distribute_strategy):
            return identity(self._as_value())

    def _as_value(self) -> Any:
        return self.get()

    def numpy(self) -> Any:
        if not executing_eagerly():
            raise NotImplementedError("numpy() is only available when eager execution is enabled.")
        return self.read_value().numpy()

    def _to_tensor(self, as_ref: bool) -> Tensor:
        found: Tensor = self.get()._to_tensor(as_ref)
        return found

    def eval(self, session: Any = None) -> Any:
        return self._closest().eval(session)

    # Updates of rows and parts, which each replica makes of its own copy --------------------------

    def _copy_here(self) -> Any:
        """The copy of this replica, or of the device that is updated; ValueError elsewhere."""
        assert self.handle is not None
        return self._closest()

    def _scatter(self, *args: Any) -> Any:
        return self._copy_here()._scatter(*args)

    def _scatter_nd(self, *args: Any) -> Any:
        return self._copy_here()._scatter_nd(*args)

    def _strided_slice_assign(self, *args: Any, **masks: int) -> Any:  # type: ignore[override]
        return self._copy_here()._strided_slice_assign(*args, **masks)

    def count_up_to(self, limit: int) -> Tensor:
        counted: Tensor = self._copy_here().count_up_to(limit)
        return counted

    def __hash__(self) -> int:
        return id(self)

    def __eq__(self, other: object) -> bool:
        return self is other


class MirroredVariable(DistributedVariable):
    """Copies that are kept equal: an update of one is an update of all."""

    def _as_graph_element(self) -> Tensor:
        if context.in_cross_replica_context():
            found: Tensor = self.primary._as_graph_element()
        else:
            found = self._closest()._as_graph_element()
        return found

    def assign(self, *args: Any, **kwargs: Any) -> Any:
        return self._updated(_assign, args, kwargs)

    def assign_add(self, *args: Any, **kwargs: Any) -> Any:
        return self._updated(_assign_add, args, kwargs)

    def assign_sub(self, *args: Any, **kwargs: Any) -> Any:
        return self._updated(_assign_sub, args, kwargs)

    def _updated(self, update: _Update, args: Any, kwargs: Any) -> Any:
        with _in_scope_of(self._distribute_strategy):
            return aggregated_update(self, self._distribute_strategy, update, args, kwargs)

    def _gather_saveables_for_checkpoint(self) -> dict[str, Any]:
        from penstock.distribute.saving import MirroredSaveable

        return {"VARIABLE_VALUE": lambda name=self._shared_name: MirroredSaveable(self, name)}


class SyncOnReadVariable(DistributedVariable):
    """Copies that replicas update on their own; between replicas its value is their sum or mean."""

    def assign(self, *args: Any, **kwargs: Any) -> Any:
        with _in_scope_of(self._distribute_strategy):
            if not context.in_cross_replica_context():
                return self.get().assign(*args, **kwargs)
            value = args[0]
            if self._aggregation is VariableAggregation.SUM:
                value = value * (1.0 / len(self._values))  # so that the sum is the value again
            return self._on_each(_assign, value)

    def assign_add(self, *args: Any, **kwargs: Any) -> Any:
        return self._changed("assign_add", _assign_add, args, kwargs)

    def assign_sub(self, *args: Any, **kwargs: Any) -> Any:
        return self._changed("assign_sub", _assign_sub, args, kwargs)

    def _changed(self, method: str, update: _Update, args: Any, kwargs: Any) -> Any:
        with _in_scope_of(self._distribute_strategy):
            if not context.in_cross_replica_context():
                return update(self.get(), *args, **kwargs)
            if self._aggregation is VariableAggregation.SUM:
                raise ValueError(
                    f"SyncOnReadVariable does not support `{method}` in cross-replica context when "
                    "aggregation is set to `tf.VariableAggregation.SUM`."
                )
            return self._on_each(update, args[0])

    def _on_each(self, update: _Update, value: Any) -> Any:
        made = []
        for variable in self._values:
            with get_default_graph().device(variable.device):
                made.append(update(variable, value))
        return group(*made)

    def _get_cross_replica(self) -> Any:
        if self._aggregation is VariableAggregation.ONLY_FIRST_REPLICA:
            return self.primary
        with _in_scope_of(self._distribute_strategy):
            reduce_op = ReduceOp.from_variable_aggregation(self._aggregation)
            values = PerReplica(self._devices, self._values)
            return self._distribute_strategy.reduce(reduce_op, values, axis=None)

    def value(self) -> Tensor:
        return identity(self.get())

    def _as_graph_element(self) -> Tensor:
        if context.in_cross_replica_context():
            reduced: Tensor = identity(self._get_cross_replica())
            return reduced
        found: Tensor = self._closest()._as_graph_element()
        return found

    def _to_tensor(self, as_ref: bool) -> Tensor:
        found = self.get()
        if isinstance(found, Tensor):
            return found
        read: Tensor = found._to_tensor(False)  # what is read is not one variable's memory
        return read

    def _gather_saveables_for_checkpoint(self) -> dict[str, Any]:
        from penstock.distribute.saving import SyncOnReadSaveable

        return {"VARIABLE_VALUE": lambda name=self._shared_name: SyncOnReadSaveable(self, name)}


class AggregatingVariable(ResourceVariable):
    """One variable that several replicas update with what their values aggregate to."""

    _adds_as_tensors_do = True

    def __init__(self, strategy: Any, variable: Any, aggregation: VariableAggregation):
        self._distribute_strategy = strategy
        self._v = variable
        self._aggregation = aggregation
        variable._aggregating_container = weakref.ref(self)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "_v":
            raise AttributeError(name)
        return getattr(self._v, name)

    def get(self) -> Any:
        """The variable itself."""
        return self._v

    @property
    def distribute_strategy(self) -> Any:
        return self._distribute_strategy

    @property
    def aggregation(self) -> VariableAggregation:
        return self._aggregation

    def assign(self, *args: Any, **kwargs: Any) -> Any:
        return self._updated(_assign, args, kwargs)

    def assign_add(self, *args: Any, **kwargs: Any) -> Any:
        return self._updated(_assign_add, args, kwargs)

    def assign_sub(self, *args: Any, **kwargs: Any) -> Any:
        return self._updated(_assign_sub, args, kwargs)

    def _updated(self, update: _Update, args: Any, kwargs: Any) -> Any:
        with _in_scope_of(self._distribute_strategy):
            return aggregated_update(self, self._distribute_strategy, update, args, kwargs)

    def __hash__(self) -> int:
        return id(self)

    def __eq__(self, other: object) -> bool:
        return self is other

    def __repr__(self) -> str:
        return repr(self._v)


# Updates --------------------------------------------------------------------------------------


def _assign(variable: Any, *args: Any, **kwargs: Any) -> Any:
    return variable.assign(*args, **kwargs)


def _assign_add(variable: Any, *args: Any, **kwargs: Any) -> Any:
    return variable.assign_add(*args, **kwargs)


def _assign_sub(variable: Any, *args: Any, **kwargs: Any) -> Any:
    return variable.assign_sub(*args, **kwargs)


def aggregated_update(variable: Any, strategy: Any, update: _Update, args: Any, kwargs: Any) -> Any:
    """Updates a variable of all replicas, inside of one with what their values aggregate to."""
    if context.in_cross_replica_context():
        device = context.get_update_device()
        if device is None:
            return strategy.extended.update(variable, update, args=args, kwargs=kwargs)
        inner = variable.get(device) if isinstance(variable, DistributedValues) else variable.get()
        return update(inner, *args, **kwargs)
    if variable.aggregation is VariableAggregation.NONE:
        raise ValueError(
            "You must specify an aggregation method to update a "
            f"{type(variable).__name__} in Replica Context. You can do so by passing an "
            "`aggregation` (VariableAggregation.SUM, MEAN or ONLY_FIRST_REPLICA) to tf.Variable, "
            "or update it between replicas, by `strategy.extended.update` in a function that is "
            "given to `merge_call`."
        )

    def merged(strategy: Any, value: Any, *others: Any, **options: Any) -> Any:
        one = _aggregated(strategy, value, variable)
        return strategy.extended.update(variable, update, args=(one, *others), kwargs=options)

    return context.get_replica_context().merge_call(merged, args=args, kwargs=kwargs)


def _aggregated(strategy: Any, value: Any, variable: Any) -> Any:
    if variable.aggregation is VariableAggregation.ONLY_FIRST_REPLICA:
        first = strategy.experimental_local_results(value)[0]
        return strategy.extended.broadcast_to(first, variable)
    reduce_op = ReduceOp.from_variable_aggregation(variable.aggregation)
    return strategy.extended.reduce_to(reduce_op, value, variable)


@contextmanager
def _in_scope_of(strategy: Any) -> Iterator[None]:
    """Enters a strategy's scope, unless it is the current one."""
    if not context.has_strategy():
        with strategy.scope():
            yield
        return
    if context.get_strategy() is not strategy:
        raise RuntimeError(
            f"Mixing different tf.distribute.Strategy objects: {context.get_strategy()} is not "
            f"{strategy}"
        )
    yield


def is_distributed_variable(variable: Any) -> bool:
    """Whether replicas have a variable each."""
    return isinstance(variable, DistributedVariable)


def is_own_variable(variable: Any) -> bool:
    """Whether a variable is one of a strategy."""
    return isinstance(variable, Variable) and hasattr(variable, "_distribute_strategy")
