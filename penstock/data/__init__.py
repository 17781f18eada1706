"""`tf.data`: input pipelines, as sequences of elements and places in them."""

from penstock.data.dataset import (
    AUTOTUNE,
    Dataset,
    DatasetSource,
    DatasetSpec,
    DatasetV1,
    DatasetV1Adapter,
    DatasetV2,
    UnaryDataset,
    UnaryUnchangedStructureDataset,
    get_legacy_output_classes,
    get_legacy_output_shapes,
    get_legacy_output_types,
    make_initializable_iterator,
    make_one_shot_iterator,
)
from penstock.data.iterator import Iterator
from penstock.data.options import Options
from penstock.data.readers import FixedLengthRecordDataset, TextLineDataset, TFRecordDataset

__all__ = [
    "AUTOTUNE",
    "Dataset",
    "DatasetSource",
    "DatasetSpec",
    "DatasetV1",
    "DatasetV1Adapter",
    "DatasetV2",
    "FixedLengthRecordDataset",
    "FixedLengthRecordDatasetV1",
    "FixedLengthRecordDatasetV2",
    "Iterator",
    "Options",
    "TFRecordDataset",
    "TFRecordDatasetV1",
    "TFRecordDatasetV2",
    "TextLineDataset",
    "TextLineDatasetV1",
    "TextLineDatasetV2",
    "UnaryDataset",
    "UnaryUnchangedStructureDataset",
    "get_legacy_output_classes",
    "get_legacy_output_shapes",
    "get_legacy_output_types",
    "get_output_classes",
    "get_output_shapes",
    "get_output_types",
    "make_initializable_iterator",
    "make_one_shot_iterator",
]

get_output_classes = get_legacy_output_classes
get_output_shapes = get_legacy_output_shapes
get_output_types = get_legacy_output_types
FixedLengthRecordDatasetV1 = FixedLengthRecordDatasetV2 = FixedLengthRecordDataset
TFRecordDatasetV1 = TFRecordDatasetV2 = TFRecordDataset
TextLineDatasetV1 = TextLineDatasetV2 = TextLineDataset


def __getattr__(name: str) -> object:
    if name == "experimental":  # loads what training with it needs, such as checkpoints
        from importlib import import_module

        return import_module(f"{__name__}.experimental")
    raise AttributeError(name)
