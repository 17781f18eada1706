"""Pipelines for several workers: a share of the files, a share of each batch, a copy for each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.data import nest, structure
from penstock.data.dataset import DatasetSource, DatasetV2, UnaryDataset, flat_structure
from penstock.ir.tensor import Tensor
from penstock.ops.control import colocate_with
from penstock.ops.control import device as device_scope
from penstock.ops.datasets import branches as nodes
from penstock.ops.datasets import pipeline_graphs
from penstock.shapes import TensorShape

__all__ = ["replicate"]


class _AutoShardDataset(UnaryDataset):
    """The share of worker `index`: of the files, or of the elements where none are read."""

    def __init__(self, input_dataset: DatasetV2, num_workers: int, index: int):
        variant = pipeline_graphs.AutoShardDataset(
            input_dataset._variant_tensor, num_workers, index, **input_dataset._flat_structure
        )
        super().__init__(input_dataset, variant)


_AutoShardDatasetV1 = _AutoShardDataset


class _RebatchDataset(UnaryDataset):
    """Each batch as `num_replicas` smaller ones, which have all its rows together."""

    def __init__(self, input_dataset: DatasetV2, num_replicas: int, use_fallback: bool = True):
        def part(shape: TensorShape) -> TensorShape:
            if shape.rank == 0:
                raise ValueError(
                    "Input shape should have at least one dimension. Perhaps your input dataset is "
                    "not batched?"
                )
            first, *others = shape.as_list()
            if first is None or first % num_replicas:
                return TensorShape([None, *others])
            return TensorShape([first // num_replicas, *others])

        spec = structure.convert_legacy_structure(
            input_dataset.output_types,
            nest.map_structure(part, input_dataset.output_shapes),
            input_dataset.output_classes,
        )
        variant = nodes.RebatchDataset(
            input_dataset._variant_tensor, num_replicas, **flat_structure(spec)
        )
        super().__init__(input_dataset, variant, spec)


class _RemoteDataset(DatasetSource):
    """The dataset of a serialized graph, on a device."""

    def __init__(self, graph_def: Tensor, device: str, element_spec: Any):
        with device_scope(device):
            super().__init__(element_spec, pipeline_graphs.DatasetFromGraph(graph_def))


def replicate(dataset: DatasetV2, devices: Sequence[str]) -> dict[str, DatasetV2]:
    """A copy of a pipeline on each of several devices, by the device's name."""
    if not isinstance(dataset, DatasetV2):
        raise TypeError("`dataset` must be a `tf.data.Dataset` object.")
    with colocate_with(dataset._variant_tensor):
        dataset = dataset._apply_options()
        allowed = dataset.options().experimental_stateful_whitelist
        graph = dataset._as_serialized_graph(stateful_whitelist=allowed)
    return {device: _RemoteDataset(graph, device, dataset.element_spec) for device in devices}
