"""The variable behind a handle: each read of it is a node of its own, ordered by control edges."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import wraps
from typing import Any

from penstock import shapes
from penstock.dtypes import DType
from penstock.ir.convert import convert_to_tensor
from penstock.ir.defaults import get_default_graph
from penstock.ir.name_scope import name_scope
from penstock.ir.naming import within_scope, without_scope, without_slash
from penstock.ir.operation import Operation
from penstock.ir.tensor import Tensor
from penstock.ops import resource_variables as ops
from penstock.ops.control import init_scope
from penstock.ops.identity import identity
from penstock.ops.initialized_values import without_uninitialized_reads
from penstock.ops.slicing import ResourceStridedSliceAssign
from penstock.ops.variable_messages import describe_settings, save_slice_info_of
from penstock.ops.variables import (
    Variable,
    VariableAggregation,
    VariableSynchronization,
    check_arguments,
    collections_for,
    is_trainable,
    refuse_value_of_a_branch,
    replica_settings,
)
from penstock.proto import VariableDef
from penstock.shapes import TensorShape

_SCATTER = {
    "update": ops.ResourceScatterUpdate,
    "add": ops.ResourceScatterAdd,
    "sub": ops.ResourceScatterSub,
    "mul": ops.ResourceScatterMul,
    "div": ops.ResourceScatterDiv,
    "min": ops.ResourceScatterMin,
    "max": ops.ResourceScatterMax,
}
_SCATTER_ND = {
    "update": ops.ResourceScatterNdUpdate,
    "add": ops.ResourceScatterNdAdd,
    "sub": ops.ResourceScatterNdSub,
    "min": ops.ResourceScatterNdMin,
    "max": ops.ResourceScatterNdMax,
}


class ResourceVariable(Variable):
    """A variable behind the handle that a VarHandleOp node gives; see `tf.Variable`."""

    _handle: Tensor
    _graph_element: Tensor
    _cached_value: Tensor | None

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
        self._validate_shape = validate_shape
        self._save_slice_info = None
        joined = collections_for(collections, self._trainable)
        values = [] if callable(initial_value) else [initial_value]
        with init_scope(), name_scope(name, "Variable", values) as scope:
            self._add_handle(scope, initial_value, dtype, shape)
            with name_scope("IsInitialized"):
                self._is_initialized = ops.VarIsInitializedOp(self._handle)
            self._add_initializer()
            with name_scope("Read"), get_default_graph().device(self._handle.device):
                self._add_snapshot()
            self._add_to_collections(joined)

    # Its nodes --------------------------------------------------------------------------------

    def _add_handle(self, scope: str, initial_value: Any, dtype: Any, shape: Any) -> None:
        """Adds the initial value and the handle of the variable that it determines."""
        graph = get_default_graph()
        own_name = without_slash(scope)
        # The handle isn't there yet to colocate with, but its name is known.
        with graph._attr_scope({"_class": [f"loc:@{own_name}"]}):
            with name_scope("Initializer"), graph.device(None):
                made = initial_value() if callable(initial_value) else initial_value
                initial = convert_to_tensor(made, dtype, "initial_value")
            refuse_value_of_a_branch(initial, own_name)
            self._shape = initial._shape if shape is None else shapes.raw(shape)
            if not shapes.compatible(self._shape, initial._shape):
                raise ValueError(
                    f"In this `tf.Variable` creation, the initial value's shape ({initial.shape}) "
                    f"is not compatible with the explicitly supplied `shape` argument ({shape})."
                )
            self._dtype = initial.dtype.base_dtype
            self._initial_value = initial
            self._handle = ops.VarHandleOp(
                shape=self._shape,
                dtype=self._dtype,
                shared_name=own_name,
                name=scope,
            )

    def _add_initializer(self) -> None:
        graph = get_default_graph()
        with (
            name_scope("Assign") as scope,
            graph.colocate_with(None, ignore_existing=True),
            graph.device(self._handle.device),
        ):
            assert self._initial_value is not None
            safe = without_uninitialized_reads(self._initial_value, self._handle.op.name)
            self._initializer_op = ops.AssignVariableOp(self._handle, safe, name=scope)

    def _add_snapshot(self) -> None:
        """Adds the read that fetches and feeds of the variable share, and its cached copy."""
        graph = get_default_graph()
        self._graph_element = self._read()
        self._cached_value = None
        if self._caching_device is not None:
            with (
                graph.colocate_with(None, ignore_existing=True),
                graph.device(self._caching_device),
            ):
                self._cached_value = identity(self._graph_element)

    def _describe(self, message: Any, import_scope: str | None) -> None:
        """Takes the nodes that a VariableDef message names."""
        if not message.is_resource:
            raise ValueError("Trying to restore Variable as ResourceVariable.")
        graph = get_default_graph()

        def element(name: str) -> Any:
            return graph.as_graph_element(within_scope(name, import_scope))

        self._handle = element(message.variable_name)
        self._shape = self._handle.op.attrs["shape"]
        self._dtype = self._handle.op.attrs["dtype"]
        self._initializer_op = element(message.initializer_name)
        named = message.initial_value_name
        self._initial_value = element(named) if named else None
        # Before TensorFlow 1.4 the message did not name the snapshot.
        snapshot = message.snapshot_name
        if snapshot:
            self._graph_element = element(snapshot)
        else:
            self._graph_element = graph.get_tensor_by_name(
                f"{self._handle.op.name}/Read/ReadVariableOp:0"
            )
        is_cached = self._graph_element.op.type != "ReadVariableOp"
        self._cached_value = self._graph_element if is_cached else None
        self._trainable = message.trainable
        self._synchronization = VariableSynchronization(message.synchronization)
        self._aggregation = VariableAggregation(message.aggregation)
        self._constraint = None
        self._caching_device = None
        self._validate_shape = True
        self._save_slice_info = save_slice_info_of(message, import_scope)

    # What it is -------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        return f"{self._handle.op.name}:0"

    @property
    def dtype(self) -> DType:
        return self._dtype

    @property
    def shape(self) -> TensorShape:
        return TensorShape._of(self._shape)

    @property
    def op(self) -> Operation:
        return self._handle.op

    @property
    def handle(self) -> Tensor:
        """The handle by which operations find the variable."""
        return self._handle

    @property
    def create(self) -> Operation:
        """The operation that gives the variable its initial value."""
        return self._initializer_op

    def set_shape(self, shape: Any) -> None:
        self._shape = shapes.merge(self._shape, shapes.raw(shape))

    def is_initialized(self, name: str | None = None) -> Tensor:
        """Whether the variable has a value, as a boolean tensor."""
        return ops.VarIsInitializedOp(self._handle, name=name)

    # Reading ----------------------------------------------------------------------------------

    def _on_its_device(self) -> AbstractContextManager[Any]:
        return get_default_graph().device(self._handle.device)

    def _read(self) -> Tensor:
        value: Tensor = ops.ReadVariableOp(self._handle, dtype=self._dtype)
        value._shape = shapes.merge(value._shape, self._shape)
        return value

    def value(self) -> Tensor:
        if self._cached_value is not None:
            return self._cached_value
        # Where the reader happens to be placed says nothing about where to read.
        with get_default_graph().colocate_with(None, ignore_existing=True), self._on_its_device():
            return self._read()

    def read_value(self) -> Tensor:
        with name_scope("Read"), self._on_its_device():
            value = self._read()
        # An operation that updates the buffer in place must not change what was read.
        return identity(value)

    def sparse_read(self, indices: Any, name: str | None = None) -> Tensor:
        with name_scope(name or "Gather") as scope:
            rows = ops.ResourceGather(self._handle, indices, dtype=self._dtype, name=scope)
        return identity(rows)

    def gather_nd(self, indices: Any, name: str | None = None) -> Tensor:
        with name_scope(name or "GatherNd") as scope:
            slices = ops.ResourceGatherNd(self._handle, indices, dtype=self._dtype, name=scope)
        return identity(slices)

    def _as_graph_element(self) -> Tensor:
        return self._graph_element

    def _to_tensor(self, as_ref: bool) -> Tensor:
        return self._handle if as_ref else self.value()

    # Updating ---------------------------------------------------------------------------------

    def assign(
        self,
        value: Any,
        use_locking: Any = None,
        name: str | None = None,
        read_value: bool = True,
    ) -> Any:
        tensor = convert_to_tensor(value, self._dtype)
        if not shapes.compatible(self._shape, tensor._shape):
            raise ValueError(
                f"Cannot assign value to variable '{self.name}': Shapes {self.shape} and "
                f"{tensor.shape} are incompatible"
            )
        update = ops.AssignVariableOp(self._handle, tensor, name=name)
        return self._after(update) if read_value else update

    def assign_add(
        self,
        delta: Any,
        use_locking: Any = None,
        name: str | None = None,
        read_value: bool = True,
    ) -> Any:
        tensor = convert_to_tensor(delta, self._dtype)
        update = ops.AssignAddVariableOp(self._handle, tensor, name=name)
        return self._after(update) if read_value else update

    def assign_sub(
        self,
        delta: Any,
        use_locking: Any = None,
        name: str | None = None,
        read_value: bool = True,
    ) -> Any:
        tensor = convert_to_tensor(delta, self._dtype)
        update = ops.AssignSubVariableOp(self._handle, tensor, name=name)
        return self._after(update) if read_value else update

    def count_up_to(self, limit: int) -> Tensor:
        counted: Tensor = ops.ResourceCountUpTo(self._handle, limit=limit, T=self._dtype)
        return counted

    def _scatter(self, kind: str, indices: Any, updates: Any, use_locking: Any, name: Any) -> Any:
        rows = convert_to_tensor(updates, self._dtype)
        return self._after(_SCATTER[kind](self._handle, indices, rows, name=name))

    def _scatter_nd(self, kind: str, indices: Any, updates: Any, name: str | None) -> Any:
        slices = convert_to_tensor(updates, self._dtype)
        return self._after(_SCATTER_ND[kind](self._handle, indices, slices, name=name))

    def scatter_nd_min(self, indices: Any, updates: Any, name: str | None = None) -> Any:
        """Replaces the slices at `indices` by the elementwise minimum."""
        return self._scatter_nd("min", indices, updates, name)

    def scatter_nd_max(self, indices: Any, updates: Any, name: str | None = None) -> Any:
        """Replaces the slices at `indices` by the elementwise maximum."""
        return self._scatter_nd("max", indices, updates, name)

    def _strided_slice_assign(
        self, begin: Any, end: Any, strides: Any, value: Any, name: str, **masks: int
    ) -> Any:
        part = convert_to_tensor(value, self._dtype)
        return self._after(
            ResourceStridedSliceAssign(self._handle, begin, end, strides, part, name=name, **masks)
        )

    def _after(self, update: Operation) -> _UpdatedVariable:
        return _UpdatedVariable(self, update)

    # Messages ---------------------------------------------------------------------------------

    def to_proto(self, export_scope: str | None = None) -> Any:
        if export_scope is not None and not self.name.startswith(export_scope):
            return None
        snapshot = self._graph_element if self._cached_value is None else self._cached_value
        message = VariableDef(
            variable_name=without_scope(self._handle.name, export_scope),
            initializer_name=without_scope(self.initializer.name, export_scope),
            snapshot_name=without_scope(snapshot.name, export_scope),
            is_resource=True,
        )
        describe_settings(self, message, export_scope)
        return message


class _UpdatedVariable(ResourceVariable):
    """A variable as it is after one update: its reads, and further updates, wait for that one.

    It is what `assign` and its kin return; a program that only runs it runs the update.
    """

    def __init__(self, variable: ResourceVariable, update: Operation):
        self.__dict__.update(variable.__dict__)
        self._cached_value = None
        self._update = update
        self._graph_element = self.value()

    @property
    def name(self) -> str:
        return self._update.name

    @property
    def op(self) -> Operation:
        return self._update

    def value(self) -> Tensor:
        with get_default_graph().control_dependencies([self._update]):
            return self._read()

    def read_value(self) -> Tensor:
        return self.value()


def _wait_for_update(method_name: str) -> None:
    """Makes a method of an updated variable add its nodes after the update."""
    method = getattr(ResourceVariable, method_name)

    @wraps(method)
    def waiting(variable: _UpdatedVariable, *args: Any, **kwargs: Any) -> Any:
        with get_default_graph().control_dependencies([variable._update]):
            return method(variable, *args, **kwargs)

    setattr(_UpdatedVariable, method_name, waiting)


for _method_name in (
    "assign",
    "assign_add",
    "assign_sub",
    "count_up_to",
    "gather_nd",
    "sparse_read",
    "_scatter",
    "_scatter_nd",
    "_strided_slice_assign",
):
    _wait_for_update(_method_name)


def is_resource_variable(var: Any) -> bool:
    """Whether a variable lies behind a handle, or acts as if it did."""
    return isinstance(var, ResourceVariable) or hasattr(var, "_should_act_as_resource_variable")
