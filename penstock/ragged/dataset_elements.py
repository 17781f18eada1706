"""Ragged tensors as components of datasets' elements: they travel as one variant each."""

from __future__ import annotations

from typing import Any

from penstock.data.structure import _Kind, register_kind
from penstock.ir.tensor import Tensor
from penstock.ir.tensor_spec import TensorSpec
from penstock.ragged.conversion import convert_to_tensor_or_ragged_tensor
from penstock.ragged.tensor import RaggedTensor
from penstock.ragged.tensor_spec import RaggedTensorSpec
from penstock.ragged.tensor_value import RaggedTensorValue


class _RaggedKind(_Kind):
    def flat(self, spec: RaggedTensorSpec) -> list[TensorSpec]:
        return spec._flat_tensor_specs

    def tensors(self, spec: RaggedTensorSpec, value: Any) -> list[Tensor]:
        return spec._to_tensor_list(convert_to_tensor_or_ragged_tensor(value))

    def value(self, spec: RaggedTensorSpec, tensors: list[Tensor]) -> Any:
        return spec._from_compatible_tensor_list(tensors)

    def batched_tensors(self, spec: RaggedTensorSpec, value: Any) -> list[Tensor]:
        return spec._to_batched_tensor_list(convert_to_tensor_or_ragged_tensor(value))

    def batch(self, spec: RaggedTensorSpec, size: int | None) -> RaggedTensorSpec:
        return spec._batch(size)

    def unbatch(self, spec: RaggedTensorSpec) -> RaggedTensorSpec:
        return spec._unbatch()

    def legacy(self, spec: RaggedTensorSpec) -> tuple[Any, Any, Any]:
        return spec._dtype, spec._shape, spec


for _value_type in (RaggedTensor, RaggedTensorValue):
    register_kind(RaggedTensorSpec, _RaggedKind(), _value_type, RaggedTensorSpec.from_value)
