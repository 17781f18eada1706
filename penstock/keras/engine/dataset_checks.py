"""Whether a dataset is batched or shuffled, as far as its transformations tell."""

from __future__ import annotations

from typing import Any

from penstock.data import rearranged, sources
from penstock.data.dataset import DatasetV2
from penstock.data.mapped import FilterDataset, MapDataset, ParallelMapDataset
from penstock.data.padding import PaddedBatchDataset
from penstock.data.readers import FixedLengthRecordDataset, TextLineDataset, TFRecordDataset
from penstock.platform import logging

_KEEP_BOTH = (
    rearranged.OptionsDataset,
    rearranged.ConcatenateDataset,
    rearranged.CacheDataset,
    rearranged.PrefetchDataset,
    rearranged.RepeatDataset,
    rearranged.SkipDataset,
    rearranged.TakeDataset,
    rearranged.ZipDataset,
    sources.RangeDataset,
    sources.SparseTensorSliceDataset,
    sources.TensorDataset,
    sources.TensorSliceDataset,
    FilterDataset,
    MapDataset,
    ParallelMapDataset,
    FixedLengthRecordDataset,
    TextLineDataset,
    TFRecordDataset,
)
_KEEP_ELEMENTS = (rearranged.ShuffleDataset,)
_KEEP_ORDER = (rearranged.BatchDataset, rearranged.WindowDataset, PaddedBatchDataset)


def _is_made_of(dataset: Any, kinds: tuple[type, ...]) -> bool:
    if not isinstance(dataset, kinds):
        return False
    sources: list[Any] = dataset._inputs()  # type: ignore[attr-defined] # all kinds are datasets
    return all(_is_made_of(source, kinds) for source in sources)


def assert_not_batched(dataset: Any) -> None:
    """ValueError if a dataset is batched, or may be."""
    if not _is_made_of(dataset, (*_KEEP_BOTH, *_KEEP_ELEMENTS)):
        raise ValueError("Could not assert that dataset is not batched.")


def assert_not_shuffled(dataset: Any) -> None:
    """ValueError if a dataset is shuffled, or may be."""
    if not _is_made_of(dataset, (*_KEEP_BOTH, *_KEEP_ORDER)):
        raise ValueError("Could not assert that dataset is not shuffled.")


def verify_dataset_shuffled(x: Any) -> None:
    """Warns of a dataset that is surely not shuffled."""
    if not isinstance(x, DatasetV2):
        raise AssertionError(f"no dataset: {x}")
    if _is_made_of(x, (*_KEEP_BOTH, *_KEEP_ORDER)):
        logging.warning(
            "Expected a shuffled dataset but input dataset `x` is not shuffled. Please invoke "
            "`shuffle()` on input dataset."
        )
