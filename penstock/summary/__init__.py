"""`tf.summary`: values of a step for TensorBoard."""

from penstock.ops.summaries import (
    audio,
    get_summary_description,
    histogram,
    image,
    merge,
    merge_all,
    scalar,
    tensor_summary,
    text,
)
from penstock.proto import Event, SessionLog, Summary, SummaryDescription, TaggedRunMetadata
from penstock.summary.event_file import summary_iterator
from penstock.summary.event_file_writer import EventFileWriter
from penstock.summary.file_writer import (
    FileWriter,
    FileWriterCache,
    SummaryToEventTransformer,
    SummaryWriter,
    SummaryWriterCache,
)

__all__ = [
    "Event",
    "EventFileWriter",
    "FileWriter",
    "FileWriterCache",
    "SessionLog",
    "Summary",
    "SummaryDescription",
    "SummaryToEventTransformer",
    "SummaryWriter",
    "SummaryWriterCache",
    "TaggedRunMetadata",
    "audio",
    "get_summary_description",
    "histogram",
    "image",
    "merge",
    "merge_all",
    "scalar",
    "summary_iterator",
    "tensor_summary",
    "text",
]
