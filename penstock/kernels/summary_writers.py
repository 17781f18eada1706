"""Kernels of the operations that write events: they share the writers of a device by name."""

import time

import numpy as np
from google.protobuf.message import DecodeError

from penstock import errors, proto
from penstock.kernels.registry import HOST, Constant, kernel
from penstock.kernels.summary_values import (
    audio_summary,
    histogram_summary,
    image_summary,
    invalid,
    tag_of,
    whole_tensor,
)
from penstock.kernels.values import to_array
from penstock.state.containers import DEFAULT_CONTAINER
from penstock.state.summary_writer import SummaryWriter, WriterOptions


@kernel("SummaryWriter", devices=HOST)
def _(node, env):
    container = node.attrs["container"] or DEFAULT_CONTAINER
    name = node.attrs["shared_name"] or node.name

    def found():
        return env.resources.get_or_create(
            SummaryWriter, container, name, lambda: SummaryWriter(container, name)
        )

    if found().is_destroyed:  # that of an object of the same name, which is gone
        env.resources.remove(SummaryWriter, container, name)
    return Constant(found())


def _only(value, what):
    """The value of a tensor that must have one."""
    array = to_array(value)
    if array.size != 1:
        raise invalid(f"{what} must be scalar, got shape {list(array.shape)}")
    return array.reshape(-1)[0]


@kernel("CreateSummaryDbWriter", devices=HOST)
def _(node):
    raise errors.UnimplementedError(
        None, None, "summaries go to event files, not to databases: use CreateSummaryFileWriter"
    )


@kernel("CreateSummaryFileWriter", devices=HOST)
def _(node):
    def run(writer, logdir, max_queue, flush_millis, filename_suffix):
        options = WriterOptions(
            _only(logdir, "logdir").decode(),
            int(_only(max_queue, "max_queue")),
            int(_only(flush_millis, "flush_millis")),
            _only(filename_suffix, "filename_suffix").decode(),
        )
        writer.open(options)

    return run


@kernel("FlushSummaryWriter", devices=HOST)
def _(node):
    return lambda writer: writer.flush()


@kernel("CloseSummaryWriter", devices=HOST)
def _(node):
    def run(writer):
        writer.check_open()
        writer.close()

    return run


def _parsed(kind, data):
    try:
        return kind.FromString(data)
    except DecodeError as error:
        raise _lost(f"Bad tf.{kind.DESCRIPTOR.name} binary proto tensor string") from error


def _lost(message):
    return errors.DataLossError(None, None, message)


def _metadata(data):
    """A summary's metadata; None if it has none, or none that can be read."""
    try:
        return proto.SummaryMetadata.FromString(data) if data else None
    except DecodeError:
        return None


@kernel("WriteSummary", devices=HOST)
def _(node):
    dtype = node.attrs["T"]

    def run(writer, step, tensor, tag, metadata):
        summary = proto.Summary()
        summary.value.add(
            tag=tag_of(tag),
            tensor=whole_tensor(tensor, dtype),
            metadata=_metadata(_only(metadata, "summary_metadata")),
        )
        writer.add_summary(int(step), summary)

    return run


@kernel("WriteRawProtoSummary", devices=HOST)
def _(node):
    def run(writer, step, tensor):
        summary = proto.Summary()
        for place, data in enumerate(tensor.reshape(-1)):
            try:
                summary.MergeFromString(data)
            except DecodeError as error:
                message = "Bad tf.compat.v1.Summary binary proto tensor string at index"
                raise _lost(f"{message} {place}") from error
        writer.add_summary(int(step), summary)

    return run


@kernel("WriteScalarSummary", devices=HOST)
def _(node):
    def run(writer, step, tag, value):
        summary = proto.Summary()
        summary.value.add(tag=tag_of(tag), simple_value=float(_only(value, "value")))
        writer.add_summary(int(step), summary)

    return run


@kernel("WriteHistogramSummary", devices=HOST)
def _(node):
    def run(writer, step, tag, values):
        writer.add_summary(int(step), histogram_summary(node.name, tag_of(tag), values))

    return run


@kernel("WriteImageSummary", devices=HOST)
def _(node):
    count = node.attrs["max_images"]

    def run(writer, step, tag, tensor, bad_color):
        color = np.asarray(to_array(bad_color))
        writer.add_summary(int(step), image_summary(tag_of(tag), tensor, count, color))

    return run


@kernel("WriteAudioSummary", devices=HOST)
def _(node):
    count = node.attrs["max_outputs"]

    def run(writer, step, tag, tensor, sample_rate):
        rate = float(_only(sample_rate, "sample_rate"))
        writer.add_summary(int(step), audio_summary(tag_of(tag), tensor, count, rate))

    return run


@kernel("WriteGraphSummary", devices=HOST)
def _(node):
    def run(writer, step, tensor):
        graph = _parsed(proto.GraphDef, _only(tensor, "tensor"))
        writer.add(
            proto.Event(wall_time=time.time(), step=int(step), graph_def=graph.SerializeToString())
        )

    return run


@kernel("ImportEvent", devices=HOST)
def _(node):
    return lambda writer, event: writer.add(_parsed(proto.Event, _only(event, "event")))
