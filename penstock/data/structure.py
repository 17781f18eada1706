"""What the elements of a dataset look like: specs in a nested structure, and the flat tensors.

Each kind of component (a tensor, a sparse tensor, a dataset in a dataset …) is a spec and a
`_Kind`, which says which tensors a value of it is made of.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock import dtypes, shapes
from penstock.data import nest
from penstock.ir.composite import SparseTensor, SparseTensorValue
from penstock.ir.convert import convert_to_tensor
from penstock.ir.name_scope import name_scope
from penstock.ir.sparse_tensor_spec import SparseTensorSpec
from penstock.ir.tensor import Tensor
from penstock.ir.tensor_spec import TensorSpec
from penstock.ir.type_spec import BatchableTypeSpec, TypeSpec
from penstock.ops.sparse_serialization import (
    deserialize_sparse,
    serialize_many_sparse,
    serialize_sparse,
)
from penstock.ops.tensor_array import TensorArray
from penstock.ops.tensor_array_spec import TensorArraySpec
from penstock.shapes import TensorShape

__all__ = [
    "SparseTensorSpec",
    "are_compatible",
    "convert_legacy_structure",
    "from_compatible_tensor_list",
    "from_tensor_list",
    "get_flat_tensor_shapes",
    "get_flat_tensor_specs",
    "get_flat_tensor_types",
    "normalize_element",
    "to_batched_tensor_list",
    "to_tensor_list",
    "type_spec_from_value",
]


class _Kind:
    """How values of one kind of spec become flat tensors and come back."""

    def flat(self, spec: Any) -> list[TensorSpec]:
        """The specs of the tensors that a value is made of."""
        raise NotImplementedError

    def tensors(self, spec: Any, value: Any) -> list[Tensor]:
        raise NotImplementedError

    def value(self, spec: Any, tensors: list[Tensor]) -> Any:
        """The value of tensors, which get to know the spec's shapes."""
        raise NotImplementedError

    def batched_tensors(self, spec: Any, value: Any) -> list[Tensor]:
        """The tensors whose rows are those of the value's rows."""
        return self.tensors(spec, value)

    def batch(self, spec: Any, size: int | None) -> Any:
        raise NotImplementedError(f"{type(spec).__name__} can't be batched")

    def unbatch(self, spec: Any) -> Any:
        raise NotImplementedError(f"{type(spec).__name__} can't be unbatched")

    def legacy(self, spec: Any) -> tuple[Any, Any, Any]:
        """The spec as a type, a shape and a class; some kinds are all three themselves."""
        return spec, spec, spec


def _unbatched(shape: TensorShape) -> TensorShape:
    if shape.rank == 0:
        raise ValueError("Unbatching a tensor is only supported for rank >= 1")
    return shape[1:] if shape.rank is not None else TensorShape(None)


class _TensorKind(_Kind):
    def flat(self, spec: TensorSpec) -> list[TensorSpec]:
        return [spec]

    def tensors(self, spec: TensorSpec, value: Any) -> list[Tensor]:
        try:
            tensor: Tensor = convert_to_tensor(value, spec.dtype)
        except (TypeError, ValueError):
            raise ValueError(
                f"Value {value!r} is not convertible to a tensor with dtype {spec.dtype} and "
                f"shape {spec.shape}."
            ) from None
        if not tensor.shape.is_compatible_with(spec.shape):
            raise ValueError(
                f"Value {value!r} is not convertible to a tensor with dtype {spec.dtype} and "
                f"shape {spec.shape}."
            )
        return [tensor]

    def value(self, spec: TensorSpec, tensors: list[Tensor]) -> Tensor:
        (tensor,) = tensors
        tensor.set_shape(spec.shape)
        return tensor

    def batched_tensors(self, spec: TensorSpec, value: Any) -> list[Tensor]:
        if spec.shape.rank == 0:
            raise ValueError(f"Value {value} has insufficient rank for batching.")
        return self.tensors(spec, value)

    def batch(self, spec: TensorSpec, size: int | None) -> TensorSpec:
        return TensorSpec(TensorShape([size]).concatenate(spec.shape), spec.dtype)

    def unbatch(self, spec: TensorSpec) -> TensorSpec:
        return TensorSpec(_unbatched(spec.shape), spec.dtype)

    def legacy(self, spec: TensorSpec) -> tuple[Any, Any, Any]:
        return spec.dtype, spec.shape, Tensor


class _SparseKind(_Kind):
    """A sparse tensor travels as one vector of three variants."""

    def flat(self, spec: SparseTensorSpec) -> list[TensorSpec]:
        return [TensorSpec(None, dtypes.variant)]

    def tensors(self, spec: SparseTensorSpec, value: Any) -> list[Tensor]:
        sparse = SparseTensor.from_value(value)
        return [serialize_sparse(sparse, out_type=dtypes.variant)]

    def value(self, spec: SparseTensorSpec, tensors: list[Tensor]) -> SparseTensor:
        sparse = deserialize_sparse(tensors[0], spec.dtype, spec.rank)
        if spec.shape.rank is not None:
            sparse._dense_shape_default = shapes.raw(spec.shape)
            sparse.indices.set_shape([None, spec.rank])
            sparse.dense_shape.set_shape([spec.rank])
        return sparse

    def batched_tensors(self, spec: SparseTensorSpec, value: Any) -> list[Tensor]:
        if spec.rank == 0:
            raise ValueError("Unbatching a sparse tensor is only supported for rank >= 1")
        sparse = SparseTensor.from_value(value)
        return [serialize_many_sparse(sparse, out_type=dtypes.variant)]

    def batch(self, spec: SparseTensorSpec, size: int | None) -> SparseTensorSpec:
        return SparseTensorSpec(TensorShape([size]).concatenate(spec.shape), spec.dtype)

    def unbatch(self, spec: SparseTensorSpec) -> SparseTensorSpec:
        if spec.rank == 0:
            raise ValueError("Unbatching a tensor is only supported for rank >= 1")
        return SparseTensorSpec(_unbatched(spec.shape), spec.dtype)

    def legacy(self, spec: SparseTensorSpec) -> tuple[Any, Any, Any]:
        return spec.dtype, spec.shape, SparseTensor


_kinds: dict[type, _Kind] = {TensorSpec: _TensorKind(), SparseTensorSpec: _SparseKind()}
_makers: list[tuple[type, Callable[[Any], Any]]] = [
    (Tensor, lambda value: TensorSpec(value.shape, value.dtype.base_dtype)),
    (SparseTensor, SparseTensorSpec.from_value),
    (SparseTensorValue, SparseTensorSpec.from_value),
    (TensorArray, TensorArraySpec.from_value),
]


class _TypeSpecKind(_Kind):
    """A spec that says itself which tensors its values are made of."""

    def flat(self, spec: TypeSpec) -> list[TensorSpec]:
        return spec._flat_tensor_specs

    def tensors(self, spec: TypeSpec, value: Any) -> list[Tensor]:
        return spec._to_tensor_list(value)

    def value(self, spec: TypeSpec, tensors: list[Tensor]) -> Any:
        return spec._from_compatible_tensor_list(tensors)

    def batched_tensors(self, spec: TypeSpec, value: Any) -> list[Tensor]:
        if not isinstance(spec, BatchableTypeSpec):
            return super().batched_tensors(spec, value)
        return spec._to_batched_tensor_list(value)

    def batch(self, spec: TypeSpec, size: int | None) -> Any:
        return (
            spec._batch(size) if isinstance(spec, BatchableTypeSpec) else super().batch(spec, size)
        )

    def unbatch(self, spec: TypeSpec) -> Any:
        return spec._unbatch() if isinstance(spec, BatchableTypeSpec) else super().unbatch(spec)

    def legacy(self, spec: TypeSpec) -> tuple[Any, Any, Any]:
        return (
            spec._to_legacy_output_types(),
            spec._to_legacy_output_shapes(),
            spec._to_legacy_output_classes(),
        )


_OTHER_SPECS = _TypeSpecKind()


def register_kind(
    spec_type: type, kind: _Kind, value_type: type, maker: Callable[[Any], Any]
) -> None:
    """Adds a kind of component: its spec, how it travels, and the spec of a value of it."""
    _kinds[spec_type] = kind
    _makers.append((value_type, maker))


def _kind(spec: Any) -> _Kind:
    kind = _kinds.get(type(spec))
    if kind is None:
        if not isinstance(spec, TypeSpec):
            raise TypeError(f"Expected a TypeSpec, got {spec!r} with type {type(spec).__name__}")
        return _OTHER_SPECS
    return kind


def is_spec(value: Any) -> bool:
    return type(value) in _kinds or isinstance(value, TypeSpec)


# Specs from values ----------------------------------------------------------------------------


def _spec_of(value: Any) -> Any:
    """The spec of a value that is one already, else None."""
    for kind, maker in _makers:
        if isinstance(value, kind):
            return maker(value)
    if hasattr(value, "_as_graph_element") and hasattr(value, "dtype"):  # a variable
        return TensorSpec(value.shape, value.dtype.base_dtype)
    return None


def type_spec_from_value(element: Any, use_fallback: bool = True) -> Any:
    """The specs of a nested structure of values."""
    spec = _spec_of(element)
    if spec is not None:
        return spec
    if nest.is_sequence(element):
        return nest._like(element, [type_spec_from_value(each) for each in nest._children(element)])
    if use_fallback:
        try:
            return _spec_of(convert_to_tensor(element))
        except (TypeError, ValueError):
            pass
    raise TypeError(
        f"Could not build a TypeSpec for {element!r} with type {type(element).__name__}"
    )


def normalize_element(element: Any) -> Any:
    """A structure with its leaves as tensors, sparse tensors, datasets."""
    with name_scope("normalize_element"):
        leaves = [_normalized(i, leaf) for i, leaf in enumerate(nest.flatten(element))]
    return nest.pack_sequence_as(element, leaves)


def _normalized(number: int, leaf: Any) -> Any:
    spec = _spec_of(leaf)
    if isinstance(spec, SparseTensorSpec):
        return leaf if isinstance(leaf, SparseTensor) else SparseTensor.from_value(leaf)
    if spec is not None and not isinstance(spec, TensorSpec):
        return leaf
    return convert_to_tensor(leaf, name=f"component_{number}")


def convert_legacy_structure(output_types: Any, output_shapes: Any, output_classes: Any) -> Any:
    """Specs from structures of types, shapes and classes."""
    specs = []
    triples = zip(
        nest.flatten(output_types),
        nest.flatten(output_shapes),
        nest.flatten(output_classes),
        strict=True,
    )
    for dtype, shape, kind in triples:
        if is_spec(kind):
            specs.append(kind)
        elif isinstance(kind, type) and issubclass(kind, SparseTensor):
            specs.append(SparseTensorSpec(shape, dtype))
        elif isinstance(kind, type) and issubclass(kind, TensorArray):
            grows, one_shape = shape.as_list()[:2]
            specs.append(TensorArraySpec(shape[2:], dtype, bool(grows), bool(one_shape)))
        elif isinstance(kind, type) and issubclass(kind, Tensor):
            specs.append(TensorSpec(shape, dtype))
        else:
            raise TypeError(f"Could not build a structure for output class {kind!r}")
    return nest.pack_sequence_as(output_classes, specs)


def legacy_types(spec: Any) -> Any:
    return nest.map_structure(lambda each: _kind(each).legacy(each)[0], spec)


def legacy_shapes(spec: Any) -> Any:
    return nest.map_structure(lambda each: _kind(each).legacy(each)[1], spec)


def legacy_classes(spec: Any) -> Any:
    return nest.map_structure(lambda each: _kind(each).legacy(each)[2], spec)


def batched(spec: Any, size: int | None) -> Any:
    """The spec of batches of elements."""
    return nest.map_structure(lambda each: _kind(each).batch(each, size), spec)


def unbatched(spec: Any) -> Any:
    """The spec of the rows of elements."""
    return nest.map_structure(lambda each: _kind(each).unbatch(each), spec)


# Flat tensors ---------------------------------------------------------------------------------


def get_flat_tensor_specs(element_spec: Any) -> list[TensorSpec]:
    """The specs of the tensors that an element is made of."""
    return [flat for each in nest.flatten(element_spec) for flat in _kind(each).flat(each)]


def get_flat_tensor_shapes(element_spec: Any) -> list[TensorShape]:
    return [spec.shape for spec in get_flat_tensor_specs(element_spec)]


def get_flat_tensor_types(element_spec: Any) -> list[Any]:
    return [spec.dtype for spec in get_flat_tensor_specs(element_spec)]


def to_tensor_list(element_spec: Any, element: Any) -> list[Tensor]:
    """An element as flat tensors."""
    nest.assert_same_structure(element_spec, element)
    pairs = zip(nest.flatten(element_spec), nest.flatten(element), strict=True)
    return [tensor for spec, value in pairs for tensor in _kind(spec).tensors(spec, value)]


def to_batched_tensor_list(element_spec: Any, element: Any) -> list[Tensor]:
    """A batch of elements as flat tensors, a row for each."""
    nest.assert_same_structure(element_spec, element)
    pairs = zip(nest.flatten(element_spec), nest.flatten(element), strict=True)
    return [tensor for spec, value in pairs for tensor in _kind(spec).batched_tensors(spec, value)]


def from_compatible_tensor_list(element_spec: Any, tensor_list: Any) -> Any:
    """The element of flat tensors."""
    specs = nest.flatten(element_spec)
    counts = [len(_kind(spec).flat(spec)) for spec in specs]
    if sum(counts) != len(tensor_list):
        raise ValueError(f"Expected {sum(counts)} tensors but got {len(tensor_list)}.")
    values, start = [], 0
    for spec, count in zip(specs, counts, strict=True):
        values.append(_kind(spec).value(spec, list(tensor_list[start : start + count])))
        start += count
    return nest.pack_sequence_as(element_spec, values)


def from_tensor_list(element_spec: Any, tensor_list: Any) -> Any:
    """The element of flat tensors, whose types and shapes must fit."""
    specs = get_flat_tensor_specs(element_spec)
    for number, (spec, tensor) in enumerate(zip(specs, tensor_list, strict=False)):
        if not spec.is_compatible_with(tensor):
            raise ValueError(
                f"Incompatible input: tensor {number} ({tensor}) is incompatible with {spec}"
            )
    return from_compatible_tensor_list(element_spec, tensor_list)


def are_compatible(spec1: Any, spec2: Any) -> bool:
    """Whether values of two structures of specs may stand for each other."""
    try:
        nest.assert_same_structure(spec1, spec2)
    except (TypeError, ValueError):
        return False
    pairs = zip(nest.flatten(spec1), nest.flatten(spec2), strict=True)
    return all(a.is_compatible_with(b) and b.is_compatible_with(a) for a, b in pairs)
