"""Variables that are made while a `tf.function` is traced.

They lie outside of the body, which may run often. Their initial values are computed inside of it.
What computes them is copied out: in a graph when the variable is made, in eager mode once the body
is built. Where that can't be, because they depend on the arguments, the body itself assigns them in
its first run.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from penstock import shapes
from penstock.dtypes import as_dtype
from penstock.ir.collections import GraphKeys
from penstock.ir.convert import convert_to_tensor
from penstock.ir.defaults import get_default_graph
from penstock.ir.function import FunctionGraph
from penstock.ir.name_scope import name_scope
from penstock.ir.naming import without_slash
from penstock.ir.tensor import Tensor
from penstock.ops import resource_variables as ops
from penstock.ops.control import init_scope
from penstock.ops.graph_lifting import lift_to_graph
from penstock.ops.resource_variable import ResourceVariable
from penstock.ops.variables import check_arguments, collections_for, is_trainable, replica_settings


class UninitializedVariable(ResourceVariable):
    """A variable without an initial value: someone else gives it one."""

    def __init__(
        self,
        trainable: bool | None = None,
        caching_device: Any = None,
        name: str | None = None,
        shape: Any = None,
        dtype: Any = None,
        constraint: Any = None,
        synchronization: Any = None,
        aggregation: Any = None,
        **unused: Any,
    ):
        self._set_up(trainable, caching_device, constraint, synchronization, aggregation, name)
        self._add_handle_outside(name, shapes.raw(shape), dtype)
        if not self._is_eager:
            with init_scope(), name_scope(self._scope):
                self._add_reads()
                # Whoever uses what it is a part of says whether it is trained.
                self._add_to_collections([GraphKeys.GLOBAL_VARIABLES])

    def _set_up(
        self,
        trainable: bool | None,
        caching_device: Any,
        constraint: Any,
        synchronization: Any,
        aggregation: Any,
        name: str | None,
    ) -> None:
        settings = replica_settings(synchronization, aggregation, name)
        self._synchronization, self._aggregation = settings
        self._trainable = is_trainable(trainable, self._synchronization)
        self._constraint = constraint
        self._caching_device = caching_device
        self._validate_shape = True
        self._save_slice_info = None

    def _add_handle_outside(self, name: str | None, shape: Any, dtype: Any) -> None:
        """Adds the handle to the graph around all bodies."""
        self._shape, self._dtype = shape, as_dtype(dtype).base_dtype
        with init_scope(), name_scope(name, "Variable") as scope:
            self._scope = scope
            own_name = without_slash(scope)
            with get_default_graph()._attr_scope({"_class": [f"loc:@{own_name}"]}):
                self._handle = ops.VarHandleOp(
                    shape=self._shape, dtype=self._dtype, shared_name=own_name, name=scope
                )
        self._initial_value = self._initializer_op = None  # type: ignore[assignment]
        self._graph_element = self._cached_value = None  # type: ignore[assignment]

    def _add_reads(self) -> None:
        with name_scope("IsInitialized"):
            self._is_initialized = ops.VarIsInitializedOp(self._handle)
        with name_scope("Read"), get_default_graph().device(self._handle.device):
            self._add_snapshot()


class UnliftedInitializerVariable(UninitializedVariable):
    """A variable of the graph around a body, whose initial value is a tensor of the body.

    Args:
      add_initializers_to: in eager mode, who is told the initial value of the variable, which has
        no value yet.
    """

    def __init__(
        self,
        initial_value: Any = None,
        trainable: bool | None = None,
        caching_device: Any = None,
        name: str | None = None,
        dtype: Any = None,
        constraint: Any = None,
        synchronization: Any = None,
        aggregation: Any = None,
        shape: Any = None,
        collections: Any = None,
        validate_shape: bool = True,
        add_initializers_to: list[tuple[ResourceVariable, Tensor]] | None = None,
        **unused: Any,
    ):
        body = get_default_graph()
        if not isinstance(body, FunctionGraph):
            ResourceVariable.__init__(
                self,
                initial_value,
                trainable=trainable,
                collections=collections,
                validate_shape=validate_shape,
                caching_device=caching_device,
                name=name,
                dtype=dtype,
                constraint=constraint,
                synchronization=synchronization,
                aggregation=aggregation,
                shape=shape,
            )
            return
        check_arguments(initial_value, constraint)
        self._set_up(trainable, caching_device, constraint, synchronization, aggregation, name)
        values = [] if callable(initial_value) else [initial_value]
        with (
            name_scope(name, "Variable", values) as scope,
            name_scope("Initializer"),
            body.device(None),
        ):
            made = initial_value() if callable(initial_value) else initial_value
            initial = convert_to_tensor(made, dtype, "initial_value")
        known = initial._shape if shape is None else shapes.raw(shape)
        self._add_handle_outside(name, known, initial.dtype)
        if self._is_eager:
            self._assign_inside(initial, scope, add_initializers_to)
        else:
            self._add_nodes_outside(initial, collections_for(collections, self._trainable))

    def _assign_inside(
        self, initial: Tensor, scope: str, told: list[tuple[ResourceVariable, Tensor]] | None
    ) -> None:
        """Lets the body assign the initial value if there is none; others may come before it."""
        from penstock.ops.conditionals import cond

        if told is not None:
            told.append((self, initial))

        def assign() -> Tensor:
            with name_scope("Assign"):
                ops.AssignVariableOp(self._handle, initial)
            return convert_to_tensor(1)

        with name_scope(scope):
            is_there = ops.VarIsInitializedOp(self._handle)
            cond(is_there, lambda: convert_to_tensor(0), assign)

    def _add_nodes_outside(self, initial: Tensor, collections: list[str]) -> None:
        """Copies what computes the initial value, and adds the other nodes of a variable."""
        graph, body = self._home_graph, initial._op.graph
        if body is graph:
            self._initial_value = initial
        else:
            arguments = {tensor._op for tensor in getattr(body, "inputs", ())}
            found = lift_to_graph([initial], graph, disallowed_placeholders=arguments)
            self._initial_value = found[initial]
        with init_scope(), name_scope(self._scope):
            self._add_initializer()
            self._add_reads()
            self._add_to_collections(collections)


def initialize_lifted(pending: Iterable[tuple[ResourceVariable, Tensor]]) -> None:
    """Assigns initial values, in eager mode, to variables that have none; maybe UnliftableError."""
    known: dict[Any, Any] = {}
    with init_scope():
        graph = get_default_graph()
        for variable, initial in pending:
            if not bool(ops.VarIsInitializedOp(variable.handle)):
                lift_to_graph([initial], graph, op_map=known)
                variable.assign(known[initial], read_value=False)
