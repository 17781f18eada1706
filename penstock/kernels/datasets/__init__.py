"""Kernels of datasets: they make the values that iterators then go through."""

from importlib import import_module

_PARTS = (
    "sources",
    "selecting",
    "pipeline_settings",
    "sharding",
    "assertions",
    "pipeline_graphs",
    "snapshots",
    "combining",
    "batching",
    "padding",
    "shuffling",
    "mapping",
    "example_batches",
    "filtering",
    "interleaving",
    "prefetching",
    "readers",
    "generators",
    "grouping",
    "csv_files",
    "sql_queries",
    "lmdb",
    "iterators",
    "multi_device",
    "branches",
    "statistics",
    "saving",
)

for _part in _PARTS:
    import_module(f"{__name__}.{_part}")
