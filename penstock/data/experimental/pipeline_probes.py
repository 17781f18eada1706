"""Transformations that TensorFlow's own tests use, which leave the elements as they are.

Pipelines here are not rewritten: what `assert_next` expects is checked only where no rewriting was
asked for. Of the names that `optimize` gets three matter, `make_sloppy`,
`shuffle_and_repeat_fusion` and `latency_all_edges`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock import dtypes
from penstock.data.dataset import DatasetSource, DatasetV2, UnaryDataset
from penstock.data.experimental.transformations import Transformation
from penstock.ir.convert import convert_to_tensor
from penstock.ir.tensor_spec import TensorSpec
from penstock.ops.datasets import rearranged as nodes
from penstock.ops.datasets import sources

__all__ = ["MatchingFilesDataset", "assert_next", "model", "non_serializable", "optimize", "sleep"]


def _strings(values: Any, name: str) -> Any:
    return convert_to_tensor(values, dtypes.string, name=name)


def assert_next(transformations: Sequence[str]) -> Transformation:
    """Says which transformations follow in TensorFlow's rewritten pipeline."""
    if transformations is None:
        raise ValueError("At least one transformation should be specified")

    def applied(dataset: DatasetV2) -> DatasetV2:
        names = _strings(transformations, "transformations")
        node = nodes.AssertNextDataset(dataset._variant_tensor, names, **dataset._flat_structure)
        return UnaryDataset(dataset, node)

    return applied


def model() -> Transformation:
    """Lets TensorFlow's runtime tune the pipeline."""

    def applied(dataset: DatasetV2) -> DatasetV2:
        node = nodes.ModelDataset(dataset._variant_tensor, **dataset._flat_structure)
        return UnaryDataset(dataset, node)

    return applied


def non_serializable() -> Transformation:
    """A transformation that keeps TensorFlow from rewriting the pipeline."""

    def applied(dataset: DatasetV2) -> DatasetV2:
        node = nodes.NonSerializableDataset(dataset._variant_tensor, **dataset._flat_structure)
        return UnaryDataset(dataset, node)

    return applied


def optimize(optimizations: Sequence[str] | None = None) -> Transformation:
    """Names the rewritings that TensorFlow's runtime makes."""

    def applied(dataset: DatasetV2) -> DatasetV2:
        names = _strings(optimizations or [], "optimizations")
        node = nodes.OptimizeDataset(dataset._variant_tensor, names, **dataset._flat_structure)
        return UnaryDataset(dataset, node)

    return applied


def sleep(sleep_microseconds: int) -> Transformation:
    """Waits before each element."""

    def applied(dataset: DatasetV2) -> DatasetV2:
        node = nodes.SleepDataset(
            dataset._variant_tensor, sleep_microseconds, **dataset._flat_structure
        )
        return UnaryDataset(dataset, node)

    return applied


class MatchingFilesDataset(DatasetSource):
    """The names of the files that match patterns, in their order."""

    def __init__(self, patterns: Any):
        node = sources.MatchingFilesDataset(_strings(patterns, "patterns"))
        super().__init__(TensorSpec([], dtypes.string), node)
