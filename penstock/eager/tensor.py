"""The tensors of eager execution: each has its value."""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from penstock import dtypes, shapes
from penstock.dtypes import DType
from penstock.ir.graph import Graph
from penstock.ir.operation import Operation
from penstock.ir.tensor import Tensor
from penstock.shapes import TensorShape

if TYPE_CHECKING:
    from penstock.eager.graph import EagerGraph

_ids = itertools.count()


def next_id() -> int:
    """A number that no other tensor of this process has."""
    return next(_ids)


class EagerOperation(Operation):
    """An operation that has run.

    The one behind a tensor (`tensor._op`) tells what made it, and holds neither inputs nor outputs:
    so no tensor keeps another one alive. A tape keeps one that holds both, for its gradient.
    """

    def __init__(
        self,
        graph: EagerGraph,
        spec: Any,
        name: str,
        attrs: dict[str, Any],
        inputs: tuple[Tensor, ...] = (),
        outputs: list[Tensor] | None = None,
    ):
        self.graph = graph
        self.spec = spec
        self._name = name
        self._inputs = inputs
        self._control_inputs = []
        self.attrs = attrs
        self._device = ""
        self._id = -1
        self._line = None
        self._is_imported = False
        self._control_flow_context = None
        self._outputs = [] if outputs is None else outputs


def _meaningless(what: str, error: type[Exception] = AttributeError) -> NoReturn:
    raise error(f"Tensor.{what} is meaningless when eager execution is enabled.")


class EagerTensor(Tensor):
    """A tensor with a value: `numpy()` gives it, and Python's own conversions work."""

    __slots__ = ("_device", "_id", "_value")

    def __init__(self, value: Any, device: Any = None, dtype: Any = None):
        """A tensor of a Python value, as TensorFlow's own tests make them; see `tf.constant`."""
        from penstock.dtypes import as_dtype
        from penstock.ops.constants import constant

        if device is None:
            raise TypeError("function missing required argument 'device' (pos 2)")
        if dtype is not None and not isinstance(dtype, (int, DType)):
            raise TypeError(f"Expecting a DataType value for dtype. Got {type(dtype).__name__}")
        made: Any = constant(value, None if dtype is None else as_dtype(dtype))
        self._hold(made._op, 0, made._dtype, made._value, made._device)

    def _hold(
        self, op: EagerOperation, value_index: int, dtype: DType, value: Any, device: str
    ) -> None:
        self._op = op
        self._value_index = value_index
        self._dtype = dtype
        self._shape = tuple(value.shape) if hasattr(value, "numel") or _is_array(value) else ()
        self._value = value
        self._device = device
        self._id = next(_ids)

    # What a graph's tensor has and this one has not -------------------------------------------

    @property
    def op(self) -> Operation:
        _meaningless("op")

    @property
    def graph(self) -> Graph:
        _meaningless("graph")

    @property
    def name(self) -> str:
        _meaningless("name")

    @property
    def value_index(self) -> int:
        _meaningless("value_index")

    def __getattr__(self, name: str) -> Any:
        # A property that raises AttributeError ends here, too.
        if name in ("op", "graph", "name", "value_index"):
            _meaningless(name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def consumers(self) -> NoReturn:
        _meaningless("consumers", NotImplementedError)

    def _as_node_def_input(self) -> NoReturn:
        _meaningless("_as_node_def_input", NotImplementedError)

    def eval(self, feed_dict: Any = None, session: Any = None) -> NoReturn:
        raise NotImplementedError(
            "eval is not supported when eager execution is enabled, is .numpy() what you're "
            "looking for?"
        )

    def _check_use_in(self, graph: Graph) -> None:
        if not graph.is_eager and not graph.building_function:
            raise RuntimeError("Attempting to capture an EagerTensor without building a function.")

    # Value ------------------------------------------------------------------------------------

    def numpy(self) -> Any:
        """The value as a NumPy array of its own, or as a NumPy scalar."""
        array = self._array()
        return array.copy() if array.ndim else array[()]

    _numpy = numpy

    def _array(self) -> np.ndarray:
        if self._dtype in (dtypes.resource, dtypes.variant):
            raise ValueError(
                f"Cannot convert a Tensor of dtype {self._dtype.name} to a NumPy array."
            )
        graph: Any = self._op.graph
        array: np.ndarray = graph.runtime.to_array(self._value)
        return array

    def _known_value(self) -> Any:
        return None if self._dtype in (dtypes.resource, dtypes.variant) else self._array()

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        array = self._array()
        return array.copy() if dtype is None else array.astype(dtype)

    def __bool__(self) -> bool:
        return bool(self._array())

    __nonzero__ = __bool__

    def __int__(self) -> int:
        return int(self._array())

    def __float__(self) -> float:
        return float(self._array())

    def __complex__(self) -> complex:
        return complex(self._array())

    def __index__(self) -> int:
        array = self._array()
        return operator.index(array) if array.ndim else int(array.item())

    def __len__(self) -> int:
        if not self._shape:
            raise TypeError("Scalar tensor has no `len()`")
        size = self._shape[0]
        assert size is not None
        return size

    def __iter__(self) -> Iterator[Tensor]:
        if not self._shape:
            raise TypeError("Cannot iterate over a scalar tensor.")
        return (self[i] for i in range(len(self)))

    def __format__(self, spec: str) -> str:
        return format(self.numpy(), spec)

    def __deepcopy__(self, memo: Any) -> EagerTensor:
        return self

    def __reduce__(self) -> Any:
        from penstock.ir.convert import convert_to_tensor

        return convert_to_tensor, (self.numpy(),)

    # Shape and place --------------------------------------------------------------------------

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self._shape or ())

    def _num_elements(self) -> int:
        return math.prod(size or 0 for size in self._shape or ())

    @property
    def _datatype_enum(self) -> int:
        return int(self._dtype.as_datatype_enum)

    def set_shape(self, shape: Any) -> None:
        if not shapes.compatible(self._shape, shapes.raw(shape)):
            raise ValueError(
                f"Tensor's shape {self.shape} is not compatible with supplied shape {shape}"
            )

    @property
    def device(self) -> str:
        """The full name of the device that the value is on."""
        return self._device

    backing_device = device

    def cpu(self) -> EagerTensor:
        """The tensor in the host's memory."""
        return self._copied("CPU:0")

    def gpu(self, gpu_index: int = 0) -> EagerTensor:
        """The tensor in a GPU's memory."""
        return self._copied(f"GPU:{gpu_index}")

    def _copied(self, place: str) -> EagerTensor:
        graph: Any = self._op.graph
        found = next((n for n in graph.runtime.device_names if n.endswith(f":{place}")), None)
        if found is None:
            raise RuntimeError(f"{place} unknown device.")
        return graph.moved(self, found)

    # Text -------------------------------------------------------------------------------------

    def _text(self, *, is_repr: bool) -> str:
        if self._dtype in (dtypes.resource, dtypes.variant):
            return "<unprintable>"
        value = self.numpy()
        if is_repr and not isinstance(value, np.ndarray):
            return str(value)  # NumPy 2 would write its type, too
        text = repr(value) if is_repr else str(value)
        return f"\n{text}" if "\n" in text else text

    def __str__(self) -> str:
        value = self._text(is_repr=False)
        return f"tf.Tensor({value}, shape={self.shape}, dtype={self._dtype.name})"

    def __repr__(self) -> str:
        return (
            f"<tf.Tensor: id={self._id}, shape={self.shape}, dtype={self._dtype.name}, "
            f"numpy={self._text(is_repr=True)}>"
        )

    @property
    def shape(self) -> TensorShape:
        return TensorShape._of(self._shape)


def tensor_of(
    op: EagerOperation, value_index: int, dtype: DType, value: Any, device: str
) -> EagerTensor:
    """The tensor of a runtime value that an operation gave."""
    tensor = EagerTensor.__new__(EagerTensor)
    tensor._hold(op, value_index, dtype, value, device)
    return tensor


def _is_array(value: Any) -> bool:
    return isinstance(value, np.ndarray)
