"""The variable behind a handle: each read of it is a node of its own, ordered by control edges."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import wraps
from typing import Any

from penstock import shapes
from penstock.dtypes import DType
from penstock.ir import tapes
from penstock.ir.collections import GraphKeys
from penstock.ir.convert import convert_to_tensor
from penstock.ir.defaults import executing_eagerly, get_default_graph
from penstock.ir.graph import Graph
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
    _adds_as_tensors_do = False  # whether `var += value` makes a tensor instead of an error

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
        _refuse_value_of_a_body(initial_value)
        values = [] if callable(initial_value) else [initial_value]
        with init_scope(), name_scope(name, "Variable", values) as scope:
            self._add_handle(scope, initial_value, dtype, shape)
            if executing_eagerly():
                self._initialize_now()
                if GraphKeys.GLOBAL_STEP in joined:
                    get_default_graph().add_to_collection(GraphKeys.GLOBAL_STEP, self)
                return
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
                    f"The initial value's shape ({initial.shape}) is not compatible with the "
                    f"explicitly supplied `shape` argument ({shape})."
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

    def _initialize_now(self) -> None:
        """Assigns the initial value, in eager mode; the variable lives as long as this object."""
        ops.AssignVariableOp(self._handle, self._initial_value)
        self._initial_value = self._initializer_op = None  # type: ignore[assignment]
        self._graph_element = self._cached_value = None  # type: ignore[assignment]

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
        return f"{self._handle._op.name}:0"

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
        if self._is_eager:
            raise RuntimeError("Calling create is not supported when eager execution is enabled.")
        return self._initializer_op

    @property
    def initial_value(self) -> Tensor | None:
        if self._is_eager:
            raise RuntimeError("initial_value not supported in EAGER mode.")
        return self._initial_value

    @property
    def _is_eager(self) -> bool:
        """Whether it was made in eager mode, and has a value outside of sessions."""
        return self._handle._op.graph.is_eager

    @property
    def _home_graph(self) -> Graph:
        return self._handle._op.graph

    @property
    def _unique_id(self) -> str:
        """What tells it from others, whose names may be the same in eager mode."""
        if not self._is_eager:
            return self._shared_name
        return f"{self._shared_name}_{self._handle._id}"

    @property
    def _in_graph_mode(self) -> bool:
        return not self._is_eager

    @property
    def device(self) -> str:
        return self._handle.device

    def set_shape(self, shape: Any) -> None:
        self._shape = shapes.merge(self._shape, shapes.raw(shape))

    def is_initialized(self, name: str | None = None) -> Tensor:
        """Whether the variable has a value, as a boolean tensor."""
        return ops.VarIsInitializedOp(self._handle, name=name)

    # Reading ----------------------------------------------------------------------------------

    def _on_its_device(self) -> AbstractContextManager[Any]:
        return get_default_graph().device(self._handle.device)

    def _note_access(self) -> None:
        """Tells the function that is traced, and the tapes, that the variable is read."""
        graph = get_default_graph()
        if graph.building_function:
            graph.watch_variable(self)
        if self._trainable:
            tapes.variable_accessed(self)

    def _as_watched(self) -> Any:
        """What tapes know it as: in a replica the variable of all of them that it is a copy of."""
        reference = getattr(self, "_distributed_container", None)
        whole = None if reference is None else reference()
        return whole if whole is not None and whole._is_copy_here(self) else self

    def _read(self) -> Tensor:
        self._note_access()
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
        self._note_access()
        with name_scope(name or "Gather") as scope:
            rows = ops.ResourceGather(self._handle, indices, dtype=self._dtype, name=scope)
        return identity(rows)

    def gather_nd(self, indices: Any, name: str | None = None) -> Tensor:
        self._note_access()
        with name_scope(name or "GatherNd") as scope:
            slices = ops.ResourceGatherNd(self._handle, indices, dtype=self._dtype, name=scope)
        return identity(slices)

    def _as_graph_element(self) -> Tensor:
        return self.value() if self._graph_element is None else self._graph_element

    def numpy(self) -> Any:
        """The value, in eager mode."""
        if not executing_eagerly():
            raise NotImplementedError("numpy() is only available when eager execution is enabled.")
        return self._read().numpy()

    def eval(self, session: Any = None) -> Any:
        if executing_eagerly():
            raise RuntimeError("Trying to eval in EAGER mode")
        return super().eval(session)

    def load(self, value: Any, session: Any = None) -> None:
        if executing_eagerly():
            self.assign(value)
            return
        super().load(value, session)

    def __bool__(self) -> bool:
        return bool(self.read_value()) if self._is_eager else True

    __nonzero__ = __bool__

    def __int__(self) -> int:
        if not self._dtype.is_integer:
            raise TypeError("Non-integer variable can't be converted to integer.")
        return int(self.value().numpy())

    __index__ = __int__

    def __deepcopy__(self, memo: dict[int, Any]) -> ResourceVariable:
        if not self._is_eager:
            raise NotImplementedError(
                "__deepcopy__() is only available when eager execution is enabled."
            )
        copied = ResourceVariable(
            initial_value=self.read_value(),
            trainable=self._trainable,
            constraint=self._constraint,
            dtype=self._dtype,
            name=f"{self._shared_name}_copy",
        )
        memo[id(self)] = copied
        return copied

    def __reduce__(self) -> Any:
        if not self._is_eager:
            return super().__reduce__()
        return ResourceVariable, (self.numpy(),)

    def _to_tensor(self, as_ref: bool) -> Tensor:
        if not as_ref or self._is_eager:
            return self.value()
        return self.read_value().op.inputs[0]  # without the copy: what a reference's reader sees

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

    def _after(self, update: Operation | None) -> _UpdatedVariable:
        return _UpdatedVariable(self, update)

    def __repr__(self) -> str:
        if not self._is_eager:
            return super().__repr__()
        described = f"<tf.Variable '{self.name}' shape={self.shape} dtype={self._dtype.name}"
        with tapes.stop_recording(), init_scope():
            value: Any = self.value()
        return f"{described}, numpy={value._text(is_repr=True).strip()}>"

    # Messages ---------------------------------------------------------------------------------

    def to_proto(self, export_scope: str | None = None) -> Any:
        if self._is_eager:
            raise RuntimeError("to_proto not supported in EAGER mode.")
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

    _update: Operation | None  # None in eager mode, where it has run

    def __init__(self, variable: ResourceVariable, update: Operation | None):
        self.__dict__.update(variable.__dict__)
        self._cached_value = None
        self._update = update
        if not self._is_eager or update is not None:
            self._graph_element = self.value()

    @property
    def name(self) -> str:
        return "UnreadVariable" if self._update is None else self._update.name

    @property
    def op(self) -> Any:
        """The update; None in eager mode, where it has run: `tf.group` takes that, too."""
        return self._update

    def value(self) -> Tensor:
        waited_for = [] if self._update is None else [self._update]
        with get_default_graph().control_dependencies(waited_for):
            return self._read()

    def read_value(self) -> Tensor:
        return self.value()


def is_result_of_update(value: Any) -> bool:
    """Whether this is what `assign` and its kin return, and no variable of its own."""
    return isinstance(value, _UpdatedVariable)


def _wait_for_update(method_name: str) -> None:
    """Makes a method of an updated variable add its nodes after the update."""
    method = getattr(ResourceVariable, method_name)

    @wraps(method)
    def waiting(variable: _UpdatedVariable, *args: Any, **kwargs: Any) -> Any:
        waited_for = [] if variable._update is None else [variable._update]
        with get_default_graph().control_dependencies(waited_for):
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


def _refuse_value_of_a_body(initial_value: Any) -> None:
    """Refuses a tensor of a function's body: the variable lies outside of it."""
    if isinstance(initial_value, Tensor) and initial_value._op.graph.building_function:
        raise ValueError(
            "Tensor-typed variable initializers must either be wrapped in an init_scope or "
            "callable (e.g., `tf.Variable(lambda : tf.truncated_normal([10, 40]))`) when building "
            "functions."
        )


_IN_PLACE = {
    "__iadd__": ("+=", "var.assign_add(value)", "var + value"),
    "__isub__": ("-=", "var.assign_sub(value)", "var - value"),
    "__imul__": ("*=", "var.assign(var * value)", "var * value"),
    "__itruediv__": ("/=", "var.assign(var / value)", "var / value"),
    "__ipow__": ("**=", "var.assign(var ** value)", "var ** value"),
}


def _refuse_in_place(method_name: str) -> None:
    """Makes `var += value` and its kin say what to write; a reader would take it for an update."""
    symbol, update, operation = _IN_PLACE[method_name]

    def refused(variable: ResourceVariable, other: object) -> Any:
        if variable._adds_as_tensors_do:
            return NotImplemented  # Python goes on with `var = var + value`
        raise RuntimeError(
            f"Variable {symbol} value not supported. `{update}` changes the variable, "
            f"`var = {operation}` makes a tensor."
        )

    setattr(ResourceVariable, method_name, refused)


for _method_name in _IN_PLACE:
    _refuse_in_place(_method_name)


def is_resource_variable(var: Any) -> bool:
    """Whether a variable lies behind a handle, or acts as if it did."""
    return isinstance(var, ResourceVariable) or hasattr(var, "_should_act_as_resource_variable")
