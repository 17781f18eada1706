"""Datasets and their iterators, as ops: a dataset is a variant tensor, an iterator a resource."""

from penstock.ops.datasets import (
    branches,
    iterators,
    mapped,
    multi_device,
    pipeline_graphs,
    rearranged,
    sources,
    statistics,
)

__all__ = [
    "branches",
    "iterators",
    "mapped",
    "multi_device",
    "pipeline_graphs",
    "rearranged",
    "sources",
    "statistics",
]
