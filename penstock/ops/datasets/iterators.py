"""Iterators over datasets, and ops that consume a whole dataset."""

from __future__ import annotations

from typing import Any

from penstock.ir.registry import STATEFUL, attr, not_differentiable, op
from penstock.ops.datasets.elements import ELEMENTS, dataset_handles
from penstock.ops.filling import zeros_like
from penstock.shapes import Shape

Iterator = op(
    "Iterator() -> handle: resource",
    STATEFUL,
    shared_name=attr("string"),
    container=attr("string"),
    **ELEMENTS,
)
IteratorV2 = op(
    "IteratorV2() -> handle: resource",
    STATEFUL,
    shared_name=attr("string"),
    container=attr("string"),
    **ELEMENTS,
)
MakeIterator = op("MakeIterator(dataset: variant, iterator: resource)", STATEFUL)
OneShotIterator = op(
    "OneShotIterator() -> handle: resource",
    STATEFUL,
    dataset_factory=attr("func"),
    **ELEMENTS,
    container="",
    shared_name="",
)
AnonymousIterator = op(
    "AnonymousIterator() -> handle: resource",
    STATEFUL,
    **ELEMENTS,
)
AnonymousIteratorV2 = op(
    "AnonymousIteratorV2() -> handle: resource, deleter: variant",
    STATEFUL,
    **ELEMENTS,
)
DeleteIterator = op("DeleteIterator(handle: resource, deleter: variant)", STATEFUL)
IteratorGetNext = op(
    "IteratorGetNext(iterator: resource) -> components: *output_types",
    STATEFUL,
    output_types=attr("list(type)", minimum=1),
    output_shapes=attr("list(shape)", minimum=1),
)
IteratorGetNextSync = op(
    "IteratorGetNextSync(iterator: resource) -> components: *output_types",
    STATEFUL,
    output_types=attr("list(type)", minimum=1),
    output_shapes=attr("list(shape)", minimum=1),
)
IteratorGetNextAsOptional = op(
    "IteratorGetNextAsOptional(iterator: resource) -> optional: variant",
    STATEFUL,
    **ELEMENTS,
)
IteratorToStringHandle = op(
    "IteratorToStringHandle(resource_handle: resource) -> string_handle: string", STATEFUL
)
IteratorFromStringHandle = op(
    "IteratorFromStringHandle(string_handle: string) -> resource_handle: resource",
    STATEFUL,
    output_types=attr("list(type)", [], minimum=0),
    output_shapes=attr("list(shape)", [], minimum=0),
)
IteratorFromStringHandleV2 = op(
    "IteratorFromStringHandleV2(string_handle: string) -> resource_handle: resource",
    STATEFUL,
    output_types=attr("list(type)", [], minimum=0),
    output_shapes=attr("list(shape)", [], minimum=0),
)
IteratorGetDevice = op("IteratorGetDevice(resource: resource) -> device: string", STATEFUL)
ExperimentalIteratorGetDevice = op(
    "ExperimentalIteratorGetDevice(resource: resource) -> device: string", STATEFUL
)
SerializeIterator = op(
    "SerializeIterator(resource_handle: resource) -> serialized: variant",
    STATEFUL,
    external_state_policy=0,
)
DeserializeIterator = op(
    "DeserializeIterator(resource_handle: resource, serialized: variant)", STATEFUL
)
DatasetToSingleElement = op(
    "DatasetToSingleElement(dataset: variant) -> components: *output_types",
    STATEFUL,
    output_types=attr("list(type)", minimum=1),
    output_shapes=attr("list(shape)", minimum=1),
    metadata="",
)
DatasetCardinality = op(
    "DatasetCardinality(input_dataset: variant) -> cardinality: int64", cardinality_options=""
)
ExperimentalDatasetCardinality = op(
    "ExperimentalDatasetCardinality(input_dataset: variant) -> cardinality: int64"
)
DatasetToTFRecord = op(
    "DatasetToTFRecord(input_dataset: variant, filename: string, compression_type: string)",
    STATEFUL,
)
ExperimentalDatasetToTFRecord = op(
    "ExperimentalDatasetToTFRecord(input_dataset: variant, filename: string, "
    "compression_type: string)",
    STATEFUL,
)
OptionalFromValue = op("OptionalFromValue(components: *Toutput_types) -> optional: variant")
OptionalNone = op("OptionalNone() -> optional: variant")
OptionalHasValue = op("OptionalHasValue(optional: variant) -> has_value: bool")
OptionalGetValue = op(
    "OptionalGetValue(optional: variant) -> components: *output_types",
    output_types=attr("list(type)", minimum=1),
    output_shapes=attr("list(shape)", minimum=1),
)
WrapDatasetVariant = op("WrapDatasetVariant(input_handle: variant) -> output_handle: variant")
UnwrapDatasetVariant = op("UnwrapDatasetVariant(input_handle: variant) -> output_handle: variant")

dataset_handles(
    Iterator,
    IteratorV2,
    OneShotIterator,
    AnonymousIterator,
    IteratorToStringHandle,
    IteratorFromStringHandle,
    IteratorFromStringHandleV2,
    IteratorGetDevice,
    ExperimentalIteratorGetDevice,
    IteratorGetNextAsOptional,
    DatasetCardinality,
    ExperimentalDatasetCardinality,
    OptionalNone,
    OptionalHasValue,
    WrapDatasetVariant,
    UnwrapDatasetVariant,
)
not_differentiable(
    AnonymousIteratorV2,
    MakeIterator,
    DeleteIterator,
    IteratorGetNext,
    IteratorGetNextSync,
    SerializeIterator,
    DeserializeIterator,
    DatasetToSingleElement,
    DatasetToTFRecord,
    ExperimentalDatasetToTFRecord,
)


@OptionalFromValue.shape
def _(op: Any, *components: Shape) -> Shape:
    return ()


@OptionalFromValue.gradient
def _(op: Any, grad: Any) -> Any:
    return OptionalGetValue(
        grad,
        output_types=[tensor.dtype for tensor in op.inputs],
        output_shapes=[tensor._shape for tensor in op.inputs],
    )


@OptionalGetValue.gradient
def _(op: Any, *grads: Any) -> Any:
    given = zip(op.outputs, grads, strict=True)
    return OptionalFromValue([zeros_like(each) if grad is None else grad for each, grad in given])


@AnonymousIteratorV2.shape
def _(op: Any) -> list[Shape]:
    return [(), ()]


@SerializeIterator.shape
def _(op: Any, handle: Shape) -> Shape:
    return (None,)


@IteratorGetNext.shape
@IteratorGetNextSync.shape
@DatasetToSingleElement.shape
@OptionalGetValue.shape
def _(op: Any, handle: Shape) -> list[Shape]:
    return list(op.attrs["output_shapes"])
