"""Kernels of readers."""

import torch

from penstock import dtypes, errors
from penstock.kernels.checked_paths import check_path
from penstock.kernels.queues import reminder_of, shared
from penstock.kernels.registry import HOST, kernel
from penstock.kernels.string_arrays import string_scalar, string_vector
from penstock.state import readers
from penstock.state.readers import Reader

_SHARING = {"container", "shared_name"}


def _text(value):
    return value.decode() if isinstance(value, bytes) else value


def _making(kind, *op_types):
    @kernel(*op_types, devices=HOST)
    def _(node, env):
        own = set(node.spec.attrs) - _SHARING
        settings = {key: _text(node.attrs[key]) for key in own}
        return shared(node, env, Reader, lambda name: kind(name, **settings))


_making(readers.WholeFileReader, "WholeFileReader", "WholeFileReaderV2")
_making(readers.TextLineReader, "TextLineReader", "TextLineReaderV2")
_making(readers.FixedLengthRecordReader, "FixedLengthRecordReader", "FixedLengthRecordReaderV2")
_making(readers.TFRecordReader, "TFRecordReader", "TFRecordReaderV2")
_making(readers.LMDBReader, "LMDBReader")
_making(readers.IdentityReader, "IdentityReader", "IdentityReaderV2")


def _next_work(node, reader, queue, step, reminder):
    """Takes the next work unit from a queue: a file, for all readers but IdentityReader."""
    if queue.dtypes != [dtypes.string]:
        names = ", ".join(dtype.name for dtype in queue.dtypes)
        raise errors.InvalidArgumentError(
            None, None, f"Expected queue with single string component, got components [{names}]"
        )
    (work,) = queue.dequeue(step, reminder)
    if work.size != 1:
        raise errors.InvalidArgumentError(
            None, None, "Expected to dequeue a one-element string tensor"
        )
    if not isinstance(reader, readers.IdentityReader):
        check_path(node, work.item())
    return work.item()


@kernel("ReaderRead", "ReaderReadV2", devices=HOST, fresh=True, step=True)
def _(node):
    reminder = reminder_of(node, 1)

    def run(step, reader, queue):
        key, value = reader.read(lambda: _next_work(node, reader, queue, step, reminder))
        return string_scalar(key), string_scalar(value)

    return run


@kernel("ReaderReadUpTo", "ReaderReadUpToV2", devices=HOST, fresh=True, step=True)
def _(node):
    reminder = reminder_of(node, 1)

    def run(step, reader, queue, num_records):
        count = int(num_records)
        if count < 0:
            raise errors.InvalidArgumentError(
                None, None, f"num_records must not be negative, got {count}"
            )
        keys, values = reader.read_up_to(
            count, lambda: _next_work(node, reader, queue, step, reminder)
        )
        return string_vector(keys), string_vector(values)

    return run


def _count(value):
    return torch.tensor(value, dtype=torch.int64)


@kernel("ReaderNumRecordsProduced", "ReaderNumRecordsProducedV2", devices=HOST, fresh=True)
def _(node):
    return lambda reader: _count(reader.num_records_produced)


@kernel("ReaderNumWorkUnitsCompleted", "ReaderNumWorkUnitsCompletedV2", devices=HOST, fresh=True)
def _(node):
    return lambda reader: _count(reader.num_work_units_completed)


@kernel("ReaderReset", "ReaderResetV2", devices=HOST)
def _(node):
    return lambda reader: reader.reset()


@kernel("ReaderSerializeState", "ReaderSerializeStateV2", devices=HOST, fresh=True)
def _(node):
    return lambda reader: string_scalar(reader.serialize_state())


@kernel("ReaderRestoreState", "ReaderRestoreStateV2", devices=HOST)
def _(node):
    return lambda reader, state: reader.restore_state(state.item())
