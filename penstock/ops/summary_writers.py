"""Operations that write summaries to event files themselves."""

from __future__ import annotations

from penstock import dtypes
from penstock.ir.registry import STATEFUL, WRITES, attr, not_differentiable, op, types
from penstock.ir.type_sets import REAL
from penstock.ops.shape_checks import with_rank

SummaryWriter = op("SummaryWriter() -> writer: resource", STATEFUL, shared_name="", container="")
CreateSummaryFileWriter = op(
    "CreateSummaryFileWriter(writer: resource, logdir: string, max_queue: int32, "
    "flush_millis: int32, filename_suffix: string)",
    STATEFUL,
    WRITES,
)
CreateSummaryDbWriter = op(
    "CreateSummaryDbWriter(writer: resource, db_uri: string, experiment_name: string, "
    "run_name: string, user_name: string)",
    STATEFUL,
    WRITES,
)
FlushSummaryWriter = op("FlushSummaryWriter(writer: resource)", STATEFUL, WRITES)
CloseSummaryWriter = op("CloseSummaryWriter(writer: resource)", STATEFUL, WRITES)
WriteSummary = op(
    "WriteSummary(writer: resource, step: int64, tensor: T, tag: string, summary_metadata: string)",
    STATEFUL,
    WRITES,
)
WriteRawProtoSummary = op(
    "WriteRawProtoSummary(writer: resource, step: int64, tensor: string)", STATEFUL, WRITES
)
WriteScalarSummary = op(
    "WriteScalarSummary(writer: resource, step: int64, tag: string, value: T)",
    STATEFUL,
    WRITES,
    T=REAL,
)
WriteHistogramSummary = op(
    "WriteHistogramSummary(writer: resource, step: int64, tag: string, values: T)",
    STATEFUL,
    WRITES,
    T=types(REAL, dtypes.bool, default=dtypes.float32),
)
WriteImageSummary = op(
    "WriteImageSummary(writer: resource, step: int64, tag: string, tensor: T, bad_color: uint8)",
    STATEFUL,
    WRITES,
    max_images=attr("int", 3, minimum=1),
    T=types(dtypes.uint8, dtypes.float64, dtypes.float32, dtypes.float16, default=dtypes.float32),
)
WriteAudioSummary = op(
    "WriteAudioSummary(writer: resource, step: int64, tag: string, tensor: float32, "
    "sample_rate: float32)",
    STATEFUL,
    WRITES,
    max_outputs=attr("int", 3, minimum=1),
)
WriteGraphSummary = op(
    "WriteGraphSummary(writer: resource, step: int64, tensor: string)", STATEFUL, WRITES
)
ImportEvent = op("ImportEvent(writer: resource, event: string)", STATEFUL, WRITES)
not_differentiable(
    SummaryWriter,
    CreateSummaryFileWriter,
    CreateSummaryDbWriter,
    FlushSummaryWriter,
    CloseSummaryWriter,
    WriteSummary,
    WriteRawProtoSummary,
    WriteScalarSummary,
    WriteHistogramSummary,
    WriteImageSummary,
    WriteAudioSummary,
    WriteGraphSummary,
    ImportEvent,
)


@SummaryWriter.shape
def _(op):
    return ()


@CreateSummaryFileWriter.shape
@CreateSummaryDbWriter.shape
def _(op, writer, *options):
    for option in options:
        with_rank(option, 0)
    return []


@FlushSummaryWriter.shape
@CloseSummaryWriter.shape
@WriteSummary.shape
@WriteRawProtoSummary.shape
@WriteScalarSummary.shape
@WriteHistogramSummary.shape
@WriteImageSummary.shape
@WriteAudioSummary.shape
@WriteGraphSummary.shape
@ImportEvent.shape
def _(op, *inputs):
    return []
