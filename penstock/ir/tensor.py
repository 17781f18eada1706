"""`tf.Tensor`: one output of an operation, a name for a value that a step will have."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, ClassVar

from penstock import errors, shapes
from penstock.dtypes import DType
from penstock.ir.conversion_status import why_not_allowed
from penstock.ir.reference import Reference
from penstock.shapes import Shape, TensorShape

if TYPE_CHECKING:
    from penstock.ir.graph import Graph
    from penstock.ir.operation import Operation

OPERATORS = (
    "__add__ __radd__ __sub__ __rsub__ __mul__ __rmul__ __truediv__ __rtruediv__ __floordiv__ "
    "__rfloordiv__ __div__ __rdiv__ __mod__ __rmod__ __lt__ __le__ __gt__ __ge__ __and__ __rand__ "
    "__or__ __ror__ __xor__ __rxor__ __getitem__ __pow__ __rpow__ __invert__ __neg__ __abs__ "
    "__matmul__ __rmatmul__"
).split()


class Tensor:
    """A symbolic handle to output `value_index` of operation `op`.

    Identity is equality: two tensors are equal only where they are the same object, so that
    tensors can be keys of a feed dict.
    """

    __slots__ = (
        "__dict__",
        "__weakref__",
        "_consumers",
        "_dtype",
        "_given_shape",
        "_op",
        "_shape",
        "_value_index",
    )
    __array_priority__ = 100  # NumPy's binary operators defer to ours.
    OVERLOADABLE_OPERATORS: ClassVar[set[str]] = {*OPERATORS, "__eq__", "__ne__"}
    _USE_EQUALITY = False  # asked for by code that would compare values

    def __init__(self, op: Operation, value_index: int, dtype: DType, shape: Shape = None):
        self._op = op
        self._value_index = value_index
        self._dtype = dtype
        self._shape: Shape = shape
        self._given_shape: TensorShape | None = None
        self._consumers: list[Operation] = []

    @property
    def op(self) -> Operation:
        return self._op

    @property
    def value_index(self) -> int:
        return self._value_index

    @property
    def dtype(self) -> DType:
        return self._dtype

    @property
    def graph(self) -> Graph:
        return self._op.graph

    @property
    def name(self) -> str:
        return f"{self._op.name}:{self._value_index}"

    @property
    def device(self) -> str:
        return self._op.device

    @property
    def shape(self) -> TensorShape:
        """The static shape, as far as it is known while building: one object while it stays."""
        given = self._given_shape
        if given is None or given._dims is not self._shape:
            given = self._given_shape = TensorShape._of(self._shape)
        return given

    def get_shape(self) -> TensorShape:
        """See `shape`."""
        return self.shape

    def set_shape(self, shape: Any) -> None:
        """Adds what the caller knows about the static shape; it can't contradict what is known."""
        given = shapes.raw(shape)
        try:
            self._shape = shapes.merge(self._shape, given)
        except ValueError as error:
            raise ValueError(f"set_shape of {self.name!r}: {error}") from None

    def _check_use_in(self, graph: Graph) -> None:
        """Raises where a tensor that has a value already can't be used in a graph."""

    def _known_value(self) -> Any:
        """The value of a tensor that has one while a program builds; None for all others."""
        return None

    def _shape_as_list(self) -> list[int | None] | None:
        return None if self._shape is None else list(self._shape)

    def _rank(self) -> int | None:
        return None if self._shape is None else len(self._shape)

    def consumers(self) -> list[Operation]:
        """The operations that take this tensor as an input, once for each time that they do."""
        return list(self._consumers)

    def eval(self, feed_dict: dict[Any, Any] | None = None, session: Any = None) -> Any:
        """Runs this tensor in `session` (the default one if None) and returns its value."""
        from penstock.ir.defaults import session_for

        return session_for(self.graph, session, "evaluate tensor").run(self, feed_dict)

    def experimental_ref(self) -> Reference[Tensor]:
        """A key for sets and dictionaries; `deref()` gives the tensor back."""
        return Reference(self)

    ref = experimental_ref

    def _shape_tuple(self) -> tuple[int | None, ...] | None:
        return self._shape

    def _as_tf_output(self) -> Tensor:
        """What stands for the tensor in calls of TensorFlow's native library: itself."""
        return self

    def _as_node_def_input(self) -> str:
        return self._op.name if self._value_index == 0 else self.name

    def __iter__(self) -> Iterator[Tensor]:
        raise errors.OperatorNotAllowedInGraphError(
            f"iterating over `tf.Tensor` is not allowed{why_not_allowed()}. 'Tensor' object is not "
            f"iterable: {self.name!r} has no value while the graph is built; iterate with "
            "tf.unstack or tf.map_fn"
        )

    def __len__(self) -> int:
        raise TypeError(
            f"len is not well defined for symbolic Tensors. ({self.name}) Please call `x.shape` "
            "rather than `len(x)` for shape information."
        )

    def __bool__(self) -> bool:
        raise errors.OperatorNotAllowedInGraphError(
            f"using a `tf.Tensor` as a Python `bool` is not allowed{why_not_allowed()}. "
            f"{getattr(self, 'name', 'It')!r} has no value while the graph is built. Use `if t is "
            "not None:` to test whether it is defined, and tf.cond or tf.logical_and to branch on "
            "its value."
        )

    __nonzero__ = __bool__  # Python 2's name of it, which libraries copy

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise NotImplementedError(
            f"Cannot convert a symbolic Tensor ({self.name}) to a numpy array: it has a value only "
            "in a step (session.run or eval)"
        )

    if TYPE_CHECKING:  # eager tensors alone have them

        def __getattr__(self, name: str) -> Any: ...

    # Two Python calls fewer in every `run` than a function that returns id(self).
    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        return self is other

    def __copy__(self) -> Tensor:
        return self

    def __str__(self) -> str:
        known = f", shape={TensorShape._of(self._shape)}" if self._shape is not None else ""
        device = f", device={self.device}" if self.device else ""
        return f'Tensor("{self.name}"{known}, dtype={self._dtype.name}{device})'

    def __repr__(self) -> str:
        shape = TensorShape._of(self._shape)
        return f"<tf.Tensor '{self.name}' shape={shape} dtype={self._dtype.name}>"

    if TYPE_CHECKING:  # penstock.ops.operators installs them

        def __add__(self, other: Any) -> Tensor: ...
        def __neg__(self) -> Tensor: ...
        def __getitem__(self, key: Any) -> Tensor: ...

        __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __add__
        __truediv__ = __rtruediv__ = __floordiv__ = __rfloordiv__ = __add__
        __mod__ = __rmod__ = __pow__ = __rpow__ = __matmul__ = __rmatmul__ = __add__
        __and__ = __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = __add__
        __lt__ = __le__ = __gt__ = __ge__ = __add__
        __invert__ = __abs__ = __neg__

    @staticmethod
    def _override_operator(operator: str, function: Callable[..., Any]) -> None:
        """Installs the op behind a Python operator; the ops package does so for all of them."""
        if operator not in Tensor.OVERLOADABLE_OPERATORS:
            raise ValueError(f"{operator!r} is not an operator that tensors overload")
        setattr(Tensor, operator, function)
