"""Turning Python values into tensors: `tf.convert_to_tensor` and its registry of conversions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from penstock import dtypes
from penstock.dtypes import DType
from penstock.ir.defaults import get_default_graph
from penstock.ir.operation import Operation
from penstock.ir.tensor import Tensor

# function(value, dtype=None, name=None, as_ref=False) -> Tensor | NotImplemented
Conversion = Callable[..., Any]

_conversions: dict[int, list[tuple[type | tuple[type, ...], Conversion]]] = {}
_by_type: dict[type, list[tuple[type | tuple[type, ...], Conversion]]] = {}


def register_tensor_conversion_function(
    base_type: type | tuple[type, ...], conversion_func: Conversion, priority: int = 100
) -> None:
    """Registers how values of `base_type` become tensors; a smaller priority is tried first."""
    if not callable(conversion_func):
        raise TypeError("conversion_func must be callable.")
    _conversions.setdefault(priority, []).append((base_type, conversion_func))
    _by_type.clear()


def _conversions_for(value_type: type) -> list[tuple[type | tuple[type, ...], Conversion]]:
    found = _by_type.get(value_type)
    if found is None:
        found = [
            entry
            for priority in sorted(_conversions)
            for entry in _conversions[priority]
            if issubclass(value_type, entry[0])
        ]
        _by_type[value_type] = found
    return found


def convert_to_tensor(
    value: Any,
    dtype: Any = None,
    name: str | None = None,
    preferred_dtype: Any = None,
    dtype_hint: Any = None,
) -> Tensor:
    """Converts a Python number, list, NumPy array, variable … to a tensor.

    `preferred_dtype` is tried first where `dtype` is None, and ignored where it doesn't fit.
    """
    return to_tensor(value, dtype, name, preferred_dtype if dtype_hint is None else dtype_hint)


def to_tensor(
    value: Any,
    dtype: Any = None,
    name: str | None = None,
    preferred_dtype: Any = None,
    *,
    as_ref: bool = False,
) -> Tensor:
    wanted: DType | None = None if dtype is None else dtypes.as_dtype(dtype)
    if isinstance(value, Tensor):
        if type(value) is not Tensor:
            value._check_use_in(get_default_graph())
        if wanted is not None and not wanted.is_compatible_with(value._dtype):
            raise ValueError(
                f"Tensor conversion requested dtype {wanted.name} for Tensor with dtype "
                f"{value.dtype.name}: {value!r}"
            )
        return value
    if wanted is None and preferred_dtype is not None:
        try:
            tensor: Tensor = _convert(value, dtypes.as_dtype(preferred_dtype), name, as_ref)
        except (TypeError, ValueError):
            pass
        else:
            return tensor
    converted: Tensor = _convert(value, wanted, name, as_ref)
    return converted


def _convert(
    value: Any,
    wanted: DType | None,
    name: str | None,
    as_ref: bool,
    *,
    composite_allowed: bool = False,
) -> Any:
    if isinstance(value, Operation):
        raise TypeError(
            f"Can't convert Operation '{value.name}' to Tensor (target "
            f"dtype={wanted and wanted.name!r}, name={name!r}, as_ref={as_ref!r})"
        )
    for _, function in _conversions_for(type(value)):
        result = function(value, dtype=wanted, name=name, as_ref=as_ref)
        if result is NotImplemented:
            continue
        if composite_allowed and isinstance(result, CompositeTensor):
            return result
        if not isinstance(result, Tensor):
            raise RuntimeError(
                f"conversion function {function!r} for {type(value)} returned non-Tensor {result!r}"
            )
        if wanted is not None and not wanted.is_compatible_with(result.dtype):
            raise RuntimeError(
                f"conversion function {function!r} for {type(value)} returned incompatible dtype: "
                f"requested {wanted.name}, actual {result.dtype.name}"
            )
        return result
    raise TypeError(
        f"Cannot convert {value!r} with type {type(value)} to Tensor: "
        "no conversion function registered."
    )


def to_tensor_or_composite(value: Any, dtype: Any = None, name: str | None = None) -> Any:
    """As `to_tensor`; a value of several tensors that a conversion function makes will do, too."""
    if isinstance(value, Tensor):
        return to_tensor(value, dtype, name)
    wanted = None if dtype is None else dtypes.as_dtype(dtype)
    return _convert(value, wanted, name, as_ref=False, composite_allowed=True)


def convert_n_to_tensor(
    values: Sequence[Any],
    dtype: Any = None,
    name: str | None = None,
    preferred_dtype: Any = None,
    *,
    as_ref: bool = False,
) -> list[Tensor]:
    """Converts each entry of a list; the entries are named `name_0`, `name_1` …"""
    if not isinstance(values, (list, tuple)):
        raise TypeError("values must be a sequence.")
    return [
        to_tensor(
            value, dtype, None if name is None else f"{name}_{i}", preferred_dtype, as_ref=as_ref
        )
        for i, value in enumerate(values)
    ]


class CompositeTensor:
    """A value made of several tensors: SparseTensor, IndexedSlices. Fetched and fed as one.

    A subclass has a `_type_spec`, which knows how to take it apart.
    """

    @property
    def _type_spec(self) -> Any:
        """The `tf.TypeSpec` of this value."""
        raise NotImplementedError(f"{type(self).__name__}._type_spec()")

    def _to_components(self) -> Any:
        """The tensors and composite tensors that it is made of, in a structure."""
        return self._type_spec._to_components(self)

    def _component_metadata(self) -> Any:
        return self._type_spec

    @staticmethod
    def _from_components(components: Any, metadata: Any) -> Any:
        return metadata._from_components(components)

    def _shape_invariant_to_type_spec(self, shape: Any) -> Any:
        """The spec of its values in a loop, where a shape is said to hold for it."""
        raise NotImplementedError(f"{type(self).__name__}._shape_invariant_to_type_spec")

    def _parts(self) -> list[Tensor]:
        """The tensors that it is made of."""
        from penstock.ir.expanded_trees import flatten

        return flatten(self._to_components())

    def _with_parts(self, parts: Sequence[Any]) -> Any:
        """A value like this one, made of other tensors."""
        from penstock.ir.expanded_trees import pack

        return pack(self, parts)

    @property
    def _is_graph_tensor(self) -> bool:
        """Whether its tensors are of a graph, and not values of eager mode."""
        return not any(part._op.graph.is_eager for part in self._parts())

    def _consumers(self) -> list[Any]:
        return list(dict.fromkeys(op for part in self._parts() for op in part.consumers()))


_tensor_like: tuple[type, ...] = (Tensor,)


def register_dense_tensor_like_type(tensor_type: type) -> None:
    """Lets values of a type with the properties `name` and `dtype` stand for tensors."""
    global _tensor_like
    for needed in ("name", "dtype"):
        if not isinstance(getattr(tensor_type, needed, None), property):
            raise TypeError(f"Type {tensor_type.__name__} does not define a `{needed}` property")
    _tensor_like = (*_tensor_like, tensor_type)


def is_dense_tensor_like(value: Any) -> bool:
    """Whether a value stands for one tensor of the graph (a tensor or a variable)."""
    return isinstance(value, _tensor_like) or hasattr(value, "_as_graph_element")


def _graph_of_layers(values: Any) -> Any:
    """The graph, if any, that takes operations of eager mode on its tensors: that of layers."""
    for value in values:
        if isinstance(value, (list, tuple)):
            found = _graph_of_layers(value)
            if found is not None:
                return found
        elif isinstance(value, Tensor) and getattr(value._op.graph, "takes_eager_ops", False):
            return value._op.graph
    return None


def graph_of(values: Any) -> Any:
    """The graph that the tensors among `values` (nested lists allowed) belong to; None if none."""
    default = get_default_graph()
    if default.building_function:
        return default  # what a function's body uses of an outer graph becomes an argument of it
    if default.is_eager:
        return _graph_of_layers(values) or default
    found: Any = None
    pending = list(values)
    while pending:
        value = pending.pop()
        if isinstance(value, (list, tuple)):
            pending.extend(value)
            continue
        if isinstance(value, Tensor):
            value._check_use_in(default)
            graph: Any = value._op.graph
        elif isinstance(value, Operation):
            graph = value.graph
        elif isinstance(value, CompositeTensor) or hasattr(value, "_as_graph_element"):
            graph = getattr(value, "graph", None)
        else:
            continue
        if found is None:
            found = graph
        elif graph is not found and graph is not None:
            raise ValueError(f"{value!r} must be from the same graph as the other inputs")
    return found
