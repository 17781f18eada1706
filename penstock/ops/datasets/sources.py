"""Datasets that take no other dataset: tensors, ranges, files, Python generators."""

from __future__ import annotations

from penstock import dtypes
from penstock.ir.operation import Operation
from penstock.ir.registry import STATEFUL, attr, op
from penstock.ops.datasets.elements import ANY_TYPES, ELEMENTS, dataset_handles
from penstock.ops.shape_checks import with_rank, with_rank_at_most
from penstock.shapes import Shape

TensorDataset = op(
    "TensorDataset(components: *Toutput_types) -> handle: variant",
    STATEFUL,
    output_shapes=attr("list(shape)", minimum=1),
    metadata="",
)
TensorSliceDataset = op(
    "TensorSliceDataset(components: *Toutput_types) -> handle: variant",
    STATEFUL,
    output_shapes=attr("list(shape)", minimum=1),
    is_files=False,
    metadata="",
    replicate_on_split=False,
)
SparseTensorSliceDataset = op(
    "SparseTensorSliceDataset(indices: int64, values: Tvalues, dense_shape: int64) "
    "-> handle: variant",
    STATEFUL,
)
RangeDataset = op(
    "RangeDataset(start: int64, stop: int64, step: int64) -> handle: variant",
    STATEFUL,
    **ELEMENTS,
    metadata="",
    replicate_on_split=False,
)
RandomDataset = op(
    "RandomDataset(seed: int64, seed2: int64) -> handle: variant",
    STATEFUL,
    **ELEMENTS,
    metadata="",
)
ExperimentalRandomDataset = op(
    "ExperimentalRandomDataset(seed: int64, seed2: int64) -> handle: variant",
    STATEFUL,
    **ELEMENTS,
)
GeneratorDataset = op(
    "GeneratorDataset(init_func_other_args: *Tinit_func_args, "
    "next_func_other_args: *Tnext_func_args, finalize_func_other_args: *Tfinalize_func_args) "
    "-> handle: variant",
    STATEFUL,
    init_func=attr("func"),
    next_func=attr("func"),
    finalize_func=attr("func"),
    Tinit_func_args=ANY_TYPES,
    Tnext_func_args=ANY_TYPES,
    Tfinalize_func_args=ANY_TYPES,
    **ELEMENTS,
    metadata="",
)
TextLineDataset = op(
    "TextLineDataset(filenames: string, compression_type: string, buffer_size: int64) "
    "-> handle: variant",
    STATEFUL,
    metadata="",
)
FixedLengthRecordDataset = op(
    "FixedLengthRecordDataset(filenames: string, header_bytes: int64, record_bytes: int64, "
    "footer_bytes: int64, buffer_size: int64) -> handle: variant",
    STATEFUL,
    metadata="",
)
FixedLengthRecordDatasetV2 = op(
    "FixedLengthRecordDatasetV2(filenames: string, header_bytes: int64, record_bytes: int64, "
    "footer_bytes: int64, buffer_size: int64, compression_type: string) -> handle: variant",
    STATEFUL,
    metadata="",
)
LMDBDataset = op("LMDBDataset(filenames: string) -> handle: variant", STATEFUL, **ELEMENTS)
ExperimentalLMDBDataset = op(
    "ExperimentalLMDBDataset(filenames: string) -> handle: variant", STATEFUL, **ELEMENTS
)
TFRecordDataset = op(
    "TFRecordDataset(filenames: string, compression_type: string, buffer_size: int64) "
    "-> handle: variant",
    STATEFUL,
    metadata="",
)
CSVDataset = op(
    "CSVDataset(filenames: string, compression_type: string, buffer_size: int64, header: bool, "
    "field_delim: string, use_quote_delim: bool, na_value: string, select_cols: int64, "
    "record_defaults: *output_types) -> handle: variant",
    STATEFUL,
    output_types=attr(
        "list(type)",
        allowed=(dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64, dtypes.string),
        minimum=1,
    ),
    output_shapes=attr("list(shape)", minimum=1),
)
ExperimentalCSVDataset = op(
    "ExperimentalCSVDataset(filenames: string, compression_type: string, buffer_size: int64, "
    "header: bool, field_delim: string, use_quote_delim: bool, na_value: string, "
    "select_cols: int64, record_defaults: *output_types) -> handle: variant",
    STATEFUL,
    output_types=attr(
        "list(type)",
        allowed=(dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64, dtypes.string),
        minimum=1,
    ),
    output_shapes=attr("list(shape)", minimum=1),
)
SqlDataset = op(
    "SqlDataset(driver_name: string, data_source_name: string, query: string) -> handle: variant",
    STATEFUL,
    **ELEMENTS,
)
ExperimentalSqlDataset = op(
    "ExperimentalSqlDataset(driver_name: string, data_source_name: string, query: string) "
    "-> handle: variant",
    STATEFUL,
    **ELEMENTS,
)
MatchingFilesDataset = op("MatchingFilesDataset(patterns: string) -> handle: variant", STATEFUL)
ExperimentalMatchingFilesDataset = op(
    "ExperimentalMatchingFilesDataset(patterns: string) -> handle: variant", STATEFUL
)


dataset_handles(
    TensorDataset,
    TensorSliceDataset,
    SparseTensorSliceDataset,
    RangeDataset,
    RandomDataset,
    ExperimentalRandomDataset,
    GeneratorDataset,
    TextLineDataset,
    FixedLengthRecordDataset,
    FixedLengthRecordDatasetV2,
    LMDBDataset,
    ExperimentalLMDBDataset,
    TFRecordDataset,
    CSVDataset,
    ExperimentalCSVDataset,
    SqlDataset,
    ExperimentalSqlDataset,
    MatchingFilesDataset,
    ExperimentalMatchingFilesDataset,
)


@CSVDataset.shape
@ExperimentalCSVDataset.shape
def _(op: Operation, filenames: Shape, *others: Shape) -> Shape:
    with_rank_at_most(filenames, 1)
    for setting in others[:6]:
        with_rank(setting, 0)
    with_rank(others[6], 1)
    for default in others[7:]:
        size = with_rank_at_most(default, 1)
        if size and size[0] is not None and size[0] > 1:
            raise ValueError(
                "Shape of a default must be a length-0 or length-1 vector, or a scalar."
            )
    return ()
