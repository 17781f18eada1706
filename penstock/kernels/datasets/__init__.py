"""Kernels of datasets: they make the values that iterators then go through."""

from importlib import import_module

_PARTS = (
    "sources",
    "selecting",
    "combining",
    "batching",
    "padding",
    "shuffling",
    "mapping",
    "interleaving",
    "prefetching",
    "readers",
    "generators",
    "grouping",
    "csv_files",
    "iterators",
    "saving",
)

for _part in _PARTS:
    import_module(f"{__name__}.{_part}")
