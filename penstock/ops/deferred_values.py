"""What a function's body takes from outside at each call: values that a Python function gives."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from penstock.ir import expanded_trees
from penstock.ir.convert import convert_to_tensor
from penstock.ir.same_structure import assert_same_structure
from penstock.ir.tensor import Tensor
from penstock.ir.tensor_spec import TensorSpec


class DeferredValues:
    """A Python function that gives tensors of the form of `spec`, called when a body is."""

    def __init__(self, closure: Callable[[], Any], spec: Any):
        self.closure, self.spec = closure, spec
        self.specs: list[TensorSpec] = expanded_trees.flatten(spec)
        for each in self.specs:
            if not isinstance(each, TensorSpec):
                raise TypeError(
                    f"Expected a nest of `TypeSpec` objects, found {each} of type {type(each)}."
                )

    def values(self) -> list[Tensor]:
        """The tensors now."""
        given = self.closure()
        assert_same_structure(self.spec, given, expand_composites=True)
        leaves = expanded_trees.flatten(given)
        return [_checked(spec, leaf) for spec, leaf in zip(self.specs, leaves, strict=True)]


def _checked(spec: TensorSpec, value: Any) -> Tensor:
    try:
        tensor: Tensor = convert_to_tensor(value, spec.dtype)
    except (TypeError, ValueError):
        tensor = None  # type: ignore[assignment]
    if tensor is None or not spec.shape.is_compatible_with(tensor.shape):
        raise ValueError(
            f"Value {value!r} is not convertible to a tensor with dtype {spec.dtype} and shape "
            f"{spec.shape}."
        )
    return tensor


class DeferredValue(NamedTuple):
    """One of the tensors of `source`, among those that a body captures."""

    source: DeferredValues
    place: int


def values_at_call(captured: Iterable[Any]) -> list[Tensor]:
    """The tensors that a body captures, with the deferred ones as they are now."""
    known: dict[int, list[Tensor]] = {}
    found: list[Tensor] = []
    for each in captured:
        if not isinstance(each, DeferredValue):
            found.append(each)
            continue
        if id(each.source) not in known:
            known[id(each.source)] = each.source.values()
        found.append(known[id(each.source)][each.place])
    return found
