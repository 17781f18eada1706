"""`tf.Variable`: a tensor that keeps its value from step to step.

There are two kinds. A `RefVariable` is a node whose output is the buffer itself: an update sees and
changes it through a reference edge. A `ResourceVariable` is a handle, and each read of it is a node
of its own, so that control dependencies order reads and updates. `tf.Variable(...)` makes one or
the other (`use_resource`); what they share is here.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NoReturn

from penstock.ir.collections import GraphKeys
from penstock.ir.convert import register_tensor_conversion_function
from penstock.ir.defaults import get_default_session
from penstock.ir.graph import Graph
from penstock.ir.operation import Operation
from penstock.ir.reference import Reference
from penstock.ir.tensor import OPERATORS, Tensor
from penstock.ir.trackable import VARIABLE_VALUE_KEY, Trackable
from penstock.ops import save_slices
from penstock.ops.initialized_values import initialized_value
from penstock.ops.slicing import slice_helper
from penstock.shapes import TensorShape

__all__ = ["Variable", "VariableAggregation", "VariableSynchronization", "VariableV1"]


class VariableSynchronization(enum.Enum):
    """When the copies of a variable that several replicas hold are brought together."""

    AUTO = 0
    NONE = 1
    ON_WRITE = 2
    ON_READ = 3


class VariableAggregation(enum.Enum):
    """How the copies of a variable that several replicas hold are brought together."""

    NONE = 0
    SUM = 1
    MEAN = 2
    ONLY_FIRST_REPLICA = 3
    ONLY_FIRST_TOWER = 3  # noqa: PIE796 - an alias, as in TensorFlow


VariableAggregationV2 = VariableAggregation


class _VariableMeta(type):
    """Makes `tf.Variable(...)` a call of the innermost variable creator."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        if cls is not Variable:
            return super().__call__(*args, **kwargs)
        from penstock.ops.variable_creation import create_variable

        return create_variable(*args, **kwargs)


class Variable(Trackable, metaclass=_VariableMeta):
    """A tensor that keeps its value from step to step and that operations update in place.

    1. It has no value in a session until its `initializer` ran there (see
       `tf.global_variables_initializer`), or a checkpoint was restored.
    2. It can be used wherever a tensor can: it is read then.
    3. Two variables are equal only where they are the same object.

    >>> w = tf.Variable(tf.zeros([784, 10]), name="weights")

    Args:
      initial_value: a tensor, whatever converts to one, or a function without arguments that makes
        it.
      trainable: whether optimizers train it unless told otherwise; None means yes.
      collections: graph collections to add it to; None means `GraphKeys.GLOBAL_VARIABLES`.
      validate_shape: False lets the shape change with later assignments.
      caching_device: where reads are cached.
      name: "Variable" if None.
      variable_def: a VariableDef message to make it from, of nodes that are in the graph already.
      dtype: type to convert `initial_value` to.
      expected_shape: not used any more.
      import_scope: name scope of the nodes that `variable_def` names.
      constraint: a function from the updated value to the one to keep, for optimizers.
      use_resource: whether to make a `ResourceVariable`; None takes the scope's choice.
      synchronization: when replicas' copies are brought together.
      aggregation: how replicas' copies are brought together.
      shape: the variable's shape where it is not `initial_value`'s.
    """

    if TYPE_CHECKING:  # what the metaclass accepts

        def __init__(self, *args: Any, **kwargs: Any) -> None: ...

    SaveSliceInfo = save_slices.SaveSliceInfo
    __array_priority__ = 100  # NumPy's binary operators defer to ours.

    _initial_value: Tensor | None
    _initializer_op: Operation
    _trainable: bool
    _constraint: Callable[[Any], Any] | None
    _synchronization: VariableSynchronization
    _aggregation: VariableAggregation
    _save_slice_info: save_slices.SaveSliceInfo | None

    def _gather_saveables_for_checkpoint(self) -> dict[str, Any]:
        return {VARIABLE_VALUE_KEY: self}

    # What it is -------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        raise NotImplementedError

    @property
    def dtype(self) -> Any:
        raise NotImplementedError

    @property
    def shape(self) -> TensorShape:
        raise NotImplementedError

    @property
    def op(self) -> Operation:
        """The node that stands for the variable's state."""
        raise NotImplementedError

    def get_shape(self) -> TensorShape:
        """The static shape."""
        return self.shape

    def set_shape(self, shape: Any) -> None:
        """Adds what the caller knows about the static shape."""
        raise NotImplementedError

    @property
    def device(self) -> str:
        return self.op.device

    @property
    def graph(self) -> Graph:
        return self.op.graph

    @property
    def _home_graph(self) -> Graph:
        """The graph that it was made in; the eager one has no `graph` to show."""
        return self.graph

    @property
    def initializer(self) -> Operation:
        """The operation that gives the variable its initial value."""
        return self._initializer_op

    @property
    def initial_value(self) -> Tensor | None:
        """The tensor that the initializer assigns; reading it does not read the variable."""
        return self._initial_value

    @property
    def trainable(self) -> bool:
        return self._trainable

    @property
    def constraint(self) -> Callable[[Any], Any] | None:
        return self._constraint

    @property
    def synchronization(self) -> VariableSynchronization:
        return self._synchronization

    @property
    def aggregation(self) -> VariableAggregation:
        return self._aggregation

    @property
    def _shared_name(self) -> str:
        return self.name.partition(":")[0]

    def _set_save_slice_info(self, save_slice_info: save_slices.SaveSliceInfo | None) -> None:
        self._save_slice_info = save_slice_info

    def _get_save_slice_info(self) -> save_slices.SaveSliceInfo | None:
        return self._save_slice_info

    def _add_to_collections(self, collections: list[Any]) -> None:
        self.graph.add_to_collections(collections, self)

    # Reading ----------------------------------------------------------------------------------

    def value(self) -> Tensor:
        """The value as other operations read it."""
        raise NotImplementedError

    def read_value(self) -> Tensor:
        """A read of its own: inside `tf.control_dependencies`, it waits for them."""
        raise NotImplementedError

    def initialized_value(self) -> Tensor:
        """The value if there is one when the step runs, else the initial value.

        For initial values of other variables: `w = tf.Variable(v.initialized_value() * 2)`.
        """
        return initialized_value(self)

    def eval(self, session: Any = None) -> Any:
        """Reads the variable in `session` (the default one if None)."""
        return self._as_graph_element().eval(session=session)

    def load(self, value: Any, session: Any = None) -> None:
        """Gives the variable `value` in `session` (the default one if None)."""
        session = get_default_session() if session is None else session
        if session is None:
            raise ValueError(
                "Either session argument should be provided or default session should be "
                "established"
            )
        session.run(self.initializer, {self.initializer.inputs[1]: value})

    def _as_graph_element(self) -> Tensor:
        """What to fetch or feed where the variable itself is named."""
        raise NotImplementedError

    def _to_tensor(self, as_ref: bool) -> Tensor:
        raise NotImplementedError

    def __getitem__(self, key: Any) -> Tensor:
        return slice_helper(self.value(), key, self)

    def _strided_slice_assign(
        self, begin: Any, end: Any, strides: Any, value: Any, name: str, **masks: int
    ) -> Any:
        """Assigns `value` to a part; it is what the `assign` of `variable[1:3]` does."""
        raise NotImplementedError

    def __iter__(self) -> Iterator[Any]:
        raise TypeError(f"'Variable' object is not iterable: {self.name!r}; use tf.unstack")

    # Updating ---------------------------------------------------------------------------------

    def assign(
        self, value: Any, use_locking: Any = None, name: str | None = None, read_value: bool = True
    ) -> Any:
        """Replaces the value; the result is the variable after that (or, if `read_value` is False,
        the operation).
        """
        raise NotImplementedError

    def assign_add(
        self, delta: Any, use_locking: Any = None, name: str | None = None, read_value: bool = True
    ) -> Any:
        """Adds `delta` to the value."""
        raise NotImplementedError

    def assign_sub(
        self, delta: Any, use_locking: Any = None, name: str | None = None, read_value: bool = True
    ) -> Any:
        """Subtracts `delta` from the value."""
        raise NotImplementedError

    def count_up_to(self, limit: int) -> Tensor:
        """Adds one and returns the value before; OutOfRangeError once it has reached `limit`."""
        raise NotImplementedError

    def _scatter(self, kind: str, indices: Any, updates: Any, use_locking: Any, name: Any) -> Any:
        """Updates the rows at `indices` with the operation of that kind: "add", "min" …"""
        raise NotImplementedError

    def _scatter_nd(self, kind: str, indices: Any, updates: Any, name: str | None) -> Any:
        raise NotImplementedError

    def _scatter_slices(self, kind: str, slices: Any, use_locking: Any, name: Any) -> Any:
        from penstock.ir.composite import IndexedSlices

        if not isinstance(slices, IndexedSlices):
            raise TypeError(f"sparse_delta is not IndexedSlices: {slices}")
        return self._scatter(kind, slices.indices, slices.values, use_locking, name)

    def scatter_update(
        self, sparse_delta: Any, use_locking: bool = False, name: str | None = None
    ) -> Any:
        """Replaces the rows `sparse_delta.indices` by `sparse_delta.values`."""
        return self._scatter_slices("update", sparse_delta, use_locking, name)

    def scatter_add(
        self, sparse_delta: Any, use_locking: bool = False, name: str | None = None
    ) -> Any:
        """Adds to the rows `sparse_delta.indices`."""
        return self._scatter_slices("add", sparse_delta, use_locking, name)

    def scatter_sub(
        self, sparse_delta: Any, use_locking: bool = False, name: str | None = None
    ) -> Any:
        """Subtracts from the rows `sparse_delta.indices`."""
        return self._scatter_slices("sub", sparse_delta, use_locking, name)

    def scatter_mul(
        self, sparse_delta: Any, use_locking: bool = False, name: str | None = None
    ) -> Any:
        """Multiplies the rows `sparse_delta.indices`."""
        return self._scatter_slices("mul", sparse_delta, use_locking, name)

    def scatter_div(
        self, sparse_delta: Any, use_locking: bool = False, name: str | None = None
    ) -> Any:
        """Divides the rows `sparse_delta.indices`."""
        return self._scatter_slices("div", sparse_delta, use_locking, name)

    def scatter_min(
        self, sparse_delta: Any, use_locking: bool = False, name: str | None = None
    ) -> Any:
        """Replaces the rows `sparse_delta.indices` by the elementwise minimum."""
        return self._scatter_slices("min", sparse_delta, use_locking, name)

    def scatter_max(
        self, sparse_delta: Any, use_locking: bool = False, name: str | None = None
    ) -> Any:
        """Replaces the rows `sparse_delta.indices` by the elementwise maximum."""
        return self._scatter_slices("max", sparse_delta, use_locking, name)

    def batch_scatter_update(
        self, sparse_delta: Any, use_locking: bool = False, name: str | None = None
    ) -> Any:
        """Replaces rows in each batch; see `tf.batch_scatter_update`."""
        from penstock.ops.variable_updates import batch_scatter_update

        return batch_scatter_update(
            self, sparse_delta.indices, sparse_delta.values, use_locking, name
        )

    def scatter_nd_update(self, indices: Any, updates: Any, name: str | None = None) -> Any:
        """Replaces the slices at `indices`; see `tf.scatter_nd_update`."""
        return self._scatter_nd("update", indices, updates, name)

    def scatter_nd_add(self, indices: Any, updates: Any, name: str | None = None) -> Any:
        """Adds to the slices at `indices`; see `tf.scatter_nd_add`."""
        return self._scatter_nd("add", indices, updates, name)

    def scatter_nd_sub(self, indices: Any, updates: Any, name: str | None = None) -> Any:
        """Subtracts from the slices at `indices`; see `tf.scatter_nd_sub`."""
        return self._scatter_nd("sub", indices, updates, name)

    # Messages ---------------------------------------------------------------------------------

    def to_proto(self, export_scope: str | None = None) -> Any:
        """The variable as a VariableDef message; None if it is outside `export_scope`."""
        raise NotImplementedError

    @staticmethod
    def from_proto(variable_def: Any, import_scope: str | None = None) -> Variable:
        """The variable that a VariableDef message describes, of nodes that are in the graph."""
        from penstock.ops.variable_creation import variable_from_proto

        return variable_from_proto(variable_def, import_scope)

    def experimental_ref(self) -> Reference[Variable]:
        """A key for sets and dictionaries; `deref()` gives the variable back."""
        return Reference(self)

    ref = experimental_ref

    def __hash__(self) -> int:
        return id(self)

    def __eq__(self, other: object) -> bool:
        return self is other

    def __repr__(self) -> str:
        return f"<tf.Variable '{self.name}' shape={self.shape} dtype={self.dtype.name}>"

    def __str__(self) -> str:
        return repr(self)


VariableV1 = Variable


def _forward(operator: str) -> None:
    def apply(variable: Variable, *operands: Any) -> Any:
        return getattr(Tensor, operator)(variable.value(), *operands)

    apply.__name__ = operator
    setattr(Variable, operator, apply)


for _operator in OPERATORS:
    if _operator != "__getitem__":
        _forward(_operator)


def _conversion(
    variable: Variable, dtype: Any = None, name: str | None = None, as_ref: bool = False
) -> Tensor:
    if dtype is not None and not dtype.is_compatible_with(variable.dtype):
        raise ValueError(
            f"Incompatible type conversion requested to type {dtype.name!r} for variable of type "
            f"{variable.dtype.name!r}: {variable!r}"
        )
    return variable._to_tensor(as_ref)


register_tensor_conversion_function(Variable, _conversion)


# Arguments that both kinds check alike --------------------------------------------------------


def is_trainable(trainable: bool | None, synchronization: VariableSynchronization | None) -> bool:
    """Whether a variable is trained: by default, unless replicas bring it together when reading."""
    on_read = synchronization is VariableSynchronization.ON_READ
    return not on_read if trainable is None else trainable


def replica_settings(
    synchronization: Any, aggregation: Any, name: str | None
) -> tuple[VariableSynchronization, VariableAggregation]:
    """The two settings as members of their enumerations, the defaults for None."""
    try:
        synchronized = VariableSynchronization(
            VariableSynchronization.AUTO if synchronization is None else synchronization
        )
    except ValueError:
        raise ValueError(
            f"Invalid variable synchronization mode: {synchronization} for variable: {name}"
        ) from None
    try:
        aggregated = VariableAggregation(
            VariableAggregation.NONE if aggregation is None else aggregation
        )
    except ValueError:
        raise ValueError(
            f"Invalid variable aggregation mode: {aggregation} for variable: {name}"
        ) from None
    return synchronized, aggregated


def collections_for(collections: Any, trainable: bool) -> list[Any]:
    """The collections that a new variable joins."""
    if collections is None:
        collections = [GraphKeys.GLOBAL_VARIABLES]
    if not isinstance(collections, (list, tuple, set)):
        raise ValueError(
            "collections argument to Variable constructor must be a list, tuple, or set. Got "
            f"{collections} of type {type(collections)}"
        )
    names = list(collections)
    if trainable and GraphKeys.TRAINABLE_VARIABLES not in names:
        names.append(GraphKeys.TRAINABLE_VARIABLES)
    return names


def check_arguments(initial_value: Any, constraint: Any) -> None:
    if initial_value is None:
        raise ValueError("initial_value must be specified.")
    if constraint is not None and not callable(constraint):
        raise ValueError("The `constraint` argument must be a callable.")


def refuse_value_of_a_branch(initial_value: Tensor, name: str | None) -> None:
    """Raises where an initial value exists only in a loop or a branch, its variable everywhere."""
    if initial_value._op._get_control_flow_context() is not None:
        raise ValueError(
            f"Initializer for variable {name} is from inside a control-flow construct, such as a "
            "loop or conditional. When creating a variable inside a loop or conditional, use a "
            "lambda as the initializer."
        )


def refuse_unshaped(initial_value: Tensor) -> NoReturn:
    raise ValueError(f"initial_value must have a shape specified: {initial_value}")
