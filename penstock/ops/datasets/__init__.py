"""Datasets and their iterators, as ops: a dataset is a variant tensor, an iterator a resource."""

from penstock.ops.datasets import iterators, mapped, rearranged, sources

__all__ = ["iterators", "mapped", "rearranged", "sources"]
