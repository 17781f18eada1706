"""The classic variable: a node whose output is the buffer itself, passed on by reference."""

from __future__ import annotations

from typing import Any

from penstock import shapes
from penstock.dtypes import DType
from penstock.ir.convert import convert_to_tensor
from penstock.ir.defaults import get_default_graph
from penstock.ir.name_scope import name_scope
from penstock.ir.naming import within_scope, without_scope, without_slash
from penstock.ir.operation import Operation
from penstock.ir.tensor import Tensor
from penstock.ops import state
from penstock.ops.control import init_scope
from penstock.ops.identity import identity
from penstock.ops.initialized_values import without_uninitialized_reads
from penstock.ops.slicing import StridedSliceAssign
from penstock.ops.variable_messages import describe_settings, save_slice_info_of
from penstock.ops.variables import (
    Variable,
    VariableAggregation,
    VariableSynchronization,
    check_arguments,
    collections_for,
    is_trainable,
    refuse_unshaped,
    refuse_value_of_a_branch,
    replica_settings,
)
from penstock.proto import VariableDef
from penstock.shapes import TensorShape

_SCATTER = {
    "update": state.ScatterUpdate,
    "add": state.ScatterAdd,
    "sub": state.ScatterSub,
    "mul": state.ScatterMul,
    "div": state.ScatterDiv,
    "min": state.ScatterMin,
    "max": state.ScatterMax,
}
_SCATTER_ND = {
    "update": state.ScatterNdUpdate,
    "add": state.ScatterNdAdd,
    "sub": state.ScatterNdSub,
}


class RefVariable(Variable):
    """A variable whose buffer is the output of a VariableV2 node; see `tf.Variable`."""

    _variable: Tensor
    _snapshot: Tensor

    def __init__(
        self,
        initial_value: Any = None,
        trainable: bool | None = None,
        collections: Any = None,
        validate_shape: bool = True,
        caching_device: Any = None,
        name: str | None = None,
        variable_def: Any = None,
        dtype: Any = None,
        expected_shape: Any = None,
        import_scope: str | None = None,
        constraint: Any = None,
        synchronization: VariableSynchronization | None = None,
        aggregation: VariableAggregation | None = None,
        shape: Any = None,
    ):
        if variable_def is not None:
            if initial_value is not None:
                raise ValueError("variable_def and initial_value are mutually exclusive.")
            self._describe(variable_def, import_scope)
            return
        check_arguments(initial_value, constraint)
        self._synchronization, self._aggregation = replica_settings(
            synchronization, aggregation, name
        )
        self._trainable = is_trainable(trainable, self._synchronization)
        self._constraint = constraint
        self._caching_device = caching_device
        self._save_slice_info = None
        joined = collections_for(collections, self._trainable)
        values = [] if callable(initial_value) else [initial_value]
        with init_scope(), name_scope(name, "Variable", values) as scope:
            self._add_buffer(scope, initial_value, dtype, shape, validate_shape)
            self._add_initializer(without_slash(scope), validate_shape)
            self._add_snapshot()
        self._add_to_collections(joined)

    # Its nodes --------------------------------------------------------------------------------

    def _add_buffer(
        self, scope: str, initial_value: Any, dtype: Any, shape: Any, validate_shape: bool
    ) -> None:
        """Adds the initial value and the VariableV2 node that it determines."""
        graph = get_default_graph()
        if callable(initial_value):
            # The buffer isn't there yet to colocate with, but its name is known.
            group = {"_class": [f"loc:@{without_slash(scope)}"]}
            with graph._attr_scope(group):
                with name_scope("Initializer"), graph.device(None):
                    initial = convert_to_tensor(initial_value(), dtype, "initial_value")
                self._variable = _buffer(scope, initial, shape, validate_shape)
        else:
            initial = convert_to_tensor(initial_value, dtype, "initial_value")
            refuse_value_of_a_branch(initial, without_slash(scope))
            self._variable = _buffer(scope, initial, shape, validate_shape)
        self._initial_value = initial

    def _add_initializer(self, own_name: str, validate_shape: bool) -> None:
        initial = self._initial_value
        assert initial is not None
        if validate_shape and not shapes.is_full(initial._shape):
            refuse_unshaped(initial)
        safe = without_uninitialized_reads(initial, own_name)
        self._initializer_op = state.Assign(self._variable, safe, validate_shape=validate_shape).op

    def _add_snapshot(self) -> None:
        """Adds the read that every use of the variable shares, on the caching device if any."""
        graph = self._variable.graph
        if self._caching_device is None:
            where = graph.colocate_with(self._variable.op)
        else:
            where = graph.device(self._caching_device)
        with where:
            self._snapshot = identity(self._variable, name="read")

    def _describe(self, message: Any, import_scope: str | None) -> None:
        """Takes the nodes that a VariableDef message names."""
        graph = get_default_graph()

        def element(name: str) -> Any:
            return graph.as_graph_element(within_scope(name, import_scope))

        self._variable = element(message.variable_name)
        self._initializer_op = element(message.initializer_name)
        self._snapshot = element(message.snapshot_name)
        named = message.initial_value_name
        self._initial_value = element(named) if named else None
        self._trainable = message.trainable
        self._synchronization = VariableSynchronization(message.synchronization)
        self._aggregation = VariableAggregation(message.aggregation)
        self._constraint = None
        self._caching_device = None
        self._save_slice_info = save_slice_info_of(message, import_scope)

    # What it is -------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        return self._variable.name

    @property
    def dtype(self) -> DType:
        return self._variable.dtype

    @property
    def shape(self) -> TensorShape:
        return self._variable.shape

    @property
    def op(self) -> Operation:
        return self._variable.op

    def set_shape(self, shape: Any) -> None:
        self._variable.set_shape(shape)
        self._snapshot.set_shape(shape)

    # Reading ----------------------------------------------------------------------------------

    def value(self) -> Tensor:
        return self._snapshot

    def read_value(self) -> Tensor:
        return identity(self._variable, name="read")

    def _ref(self) -> Tensor:
        """The buffer, by reference."""
        return self._variable

    def _as_graph_element(self) -> Tensor:
        return self._variable

    def _to_tensor(self, as_ref: bool) -> Tensor:
        return self._variable if as_ref else self._snapshot

    # Updating ---------------------------------------------------------------------------------

    def assign(
        self,
        value: Any,
        use_locking: Any = False,
        name: str | None = None,
        read_value: bool = True,
    ) -> Any:
        updated = state.Assign(self._variable, value, use_locking=use_locking, name=name)
        return updated if read_value else updated.op

    def assign_add(
        self,
        delta: Any,
        use_locking: Any = False,
        name: str | None = None,
        read_value: bool = True,
    ) -> Any:
        updated = state.AssignAdd(self._variable, delta, use_locking=use_locking, name=name)
        return updated if read_value else updated.op

    def assign_sub(
        self,
        delta: Any,
        use_locking: Any = False,
        name: str | None = None,
        read_value: bool = True,
    ) -> Any:
        updated = state.AssignSub(self._variable, delta, use_locking=use_locking, name=name)
        return updated if read_value else updated.op

    def count_up_to(self, limit: int) -> Tensor:
        return state.CountUpTo(self._variable, limit=limit)

    def _scatter(self, kind: str, indices: Any, updates: Any, use_locking: Any, name: Any) -> Any:
        spec = _SCATTER[kind]
        return spec(self._variable, indices, updates, use_locking=use_locking, name=name)

    def _scatter_nd(self, kind: str, indices: Any, updates: Any, name: str | None) -> Any:
        return _SCATTER_ND[kind](self._variable, indices, updates, use_locking=True, name=name)

    def _strided_slice_assign(
        self, begin: Any, end: Any, strides: Any, value: Any, name: str, **masks: int
    ) -> Any:
        return StridedSliceAssign(self._variable, begin, end, strides, value, name=name, **masks)

    # Messages ---------------------------------------------------------------------------------

    def to_proto(self, export_scope: str | None = None) -> Any:
        if export_scope is not None and not self.name.startswith(export_scope):
            return None
        message = VariableDef(
            variable_name=without_scope(self.name, export_scope),
            initializer_name=without_scope(self.initializer.name, export_scope),
            snapshot_name=without_scope(self._snapshot.name, export_scope),
        )
        describe_settings(self, message, export_scope)
        return message


def _buffer(scope: str, initial: Tensor, shape: Any, validate_shape: bool) -> Tensor:
    if shape is None:
        size = initial._shape if validate_shape else None
    else:
        size = shapes.raw(shape)
    dtype = initial.dtype.base_dtype
    return state.VariableV2(shape=size, dtype=dtype, name=scope)
