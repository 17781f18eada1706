"""Kernels that give what a queue holds as a string, and put it back."""

from penstock.kernels.datasets.saving import decode_state, encode_state
from penstock.kernels.queues import invalid
from penstock.kernels.registry import HOST, kernel
from penstock.kernels.string_arrays import string_scalar


@kernel("_QueueState", devices=HOST, fresh=True)
def _(node):
    return lambda queue: string_scalar(encode_state(queue.snapshot()))


@kernel("_SetQueueState", devices=HOST)
def _(node):
    def run(queue, state):
        saved = decode_state(state.item())
        if not isinstance(saved, dict) or "elements" not in saved:
            raise invalid(f"the value is no saved state of the queue '{queue.name}'")
        queue.restore(saved)

    return run
