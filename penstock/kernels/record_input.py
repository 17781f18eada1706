"""The kernel of RecordInput."""

from penstock.kernels.queues import invalid
from penstock.kernels.registry import HOST, kernel
from penstock.kernels.string_arrays import string_vector
from penstock.state.record_input import RecordInput


def _text(value):
    return value.decode() if isinstance(value, bytes) else value


@kernel("RecordInput", devices=HOST, step=True)
def _(node, env):
    attrs = node.attrs
    batch_size, buffer_size = attrs["batch_size"], attrs["file_buffer_size"]
    if batch_size > buffer_size:
        raise invalid(
            f"file_buffer_size must be at least batch_size, got {buffer_size} and {batch_size}"
        )

    def make():
        return RecordInput(
            _text(attrs["file_pattern"]),
            seed=attrs["file_random_seed"],
            shift_ratio=attrs["file_shuffle_shift_ratio"],
            buffer_size=buffer_size,
            compression=_text(attrs["compression_type"]),
        )

    records = env.resources.own.get_or_create(RecordInput, "", node.name, make)
    return lambda step: string_vector(records.take(batch_size))
