"""Kernels of queues: finding or making the queue, checking, copying and stacking elements."""

import weakref

import numpy as np
import torch

from penstock import dtypes, errors, shapes
from penstock.ir.collections import GraphKeys
from penstock.kernels.known_inputs import known_number
from penstock.kernels.philox import Stream
from penstock.kernels.registry import HOST, Constant, kernel
from penstock.kernels.values import TORCH_TYPE, is_host_type
from penstock.platform import logging
from penstock.state import queues
from penstock.state.queue_rows import Rows
from penstock.state.queues import Queue
from penstock.state.waiting import Reminder

_PATIENCE_SECONDS = 4.0  # before a program is told that nobody fills the queue that it waits for


def invalid(message):
    return errors.InvalidArgumentError(None, None, message)


# Making ---------------------------------------------------------------------------------------


def place_of(node, env):
    """Where the resource of a node is, and its name there: without a shared one, the session's."""
    name = node.attrs.get("shared_name")
    return (env.resources, name) if name else (env.resources.own, node.name)


def shared(node, env, kind, make):
    """The resource of a node, which may live under a shared name, made where there is none yet."""
    resources, name = place_of(node, env)
    made = []

    def first():
        made.append(make(name))
        return made[0]

    resource = resources.get_or_create(kind, node.attrs["container"], name, first)
    if not made:
        wrong = resource.mismatch(make(name))
        if wrong is not None:
            raise invalid(wrong)
    return Constant(resource)


def _sizes(node, types):
    given = node.attrs["shapes"]
    if given and len(given) != len(types):
        raise invalid(
            f"Different number of component types.  Types: {', '.join(t.name for t in types)}, "
            f"Shapes: [{', '.join(shapes.text(shape) for shape in given)}]"
        )
    return given


def _making(op_type, kind):
    @kernel(op_type, f"{op_type}V2", devices=HOST)
    def _(node, env):
        types = node.attrs["component_types"]
        sizes = _sizes(node, types)
        capacity = node.attrs["capacity"]

        def make(name):
            rows = None if kind.pads else _rows_for(types, sizes)
            return kind(name, types, sizes, capacity, rows=rows)

        return shared(node, env, Queue, make)


def _rows_for(types, sizes):
    """Arrays for small elements of known shapes; None for others, which stay as they are."""
    kept_as = [_NUMPY_TYPES.get(dtype) for dtype in types]
    return Rows.for_elements(kept_as, sizes)


_making("FIFOQueue", queues.FIFOQueue)
_making("PaddingFIFOQueue", queues.PaddingFIFOQueue)


@kernel("PriorityQueue", "PriorityQueueV2", devices=HOST)
def _(node, env):
    types = node.attrs["component_types"]
    sizes = _sizes(node, types)
    if sizes or not types:
        sizes = [(), *sizes]
    types, capacity = [dtypes.int64, *types], node.attrs["capacity"]
    return shared(node, env, Queue, lambda name: queues.PriorityQueue(name, types, sizes, capacity))


@kernel("RandomShuffleQueue", "RandomShuffleQueueV2", devices=HOST)
def _(node, env):
    types = node.attrs["component_types"]
    sizes = _sizes(node, types)
    capacity, least = node.attrs["capacity"], node.attrs["min_after_dequeue"]
    if least < 0:
        raise invalid(f"min_after_dequeue {least} must be >= 0")
    if 0 <= capacity <= least:
        raise invalid(f"min_after_dequeue {least} must be < capacity {capacity}")
    seeds = node.attrs["seed"], node.attrs["seed2"]

    def make(name):
        return queues.RandomShuffleQueue(
            name,
            types,
            sizes,
            capacity,
            min_after_dequeue=least,
            seeds=seeds,
            random_words=_RandomWords(*seeds),
            rows=_rows_for(types, sizes),
        )

    return shared(node, env, Queue, make)


class _RandomWords:
    """Random 32-bit words, those of TensorFlow's generator where there is a seed."""

    _BLOCKS = 512  # drawn at once: most of the cost of a draw is the same for any number

    def __init__(self, seed, seed2):
        if seed == 0 and seed2 == 0:
            seed, seed2 = (int(word) for word in np.random.SeedSequence().generate_state(2))
        self._stream = Stream(seed % 2**64, seed2 % 2**64)
        self._words = []

    def several(self, count):
        """The next `count` words."""
        while len(self._words) < count:
            self._draw()
        drawn = self._words[:count]
        del self._words[:count]
        return drawn

    def _draw(self):
        self._words += self._stream.words(self._BLOCKS).reshape(-1).tolist()
        self._stream = self._stream.skipped(self._BLOCKS)

    def snapshot(self):
        stream = self._stream
        return [stream.key, stream.high, stream.low, len(self._words)]

    def restore(self, state):
        *place, unused = state
        self._stream = Stream(*place)
        blocks = -(-unused // 4)
        words = self._stream.skipped(-blocks).words(blocks).reshape(-1)
        self._words = words[len(words) - unused :].tolist()


@kernel("FakeQueue", devices=HOST)
def _(node):
    return lambda queue: queue


# Handles --------------------------------------------------------------------------------------


def on_queue(node, run):
    """A kernel of a step and a queue, which may have been picked from an array of handles."""
    if node.inputs[0].node.type != "GatherV2":
        return run
    return lambda step, queue, *inputs: run(step, queue.item(), *inputs)


def _refuse_timeout(node):
    if node.attrs["timeout_ms"] != -1:
        raise invalid("Timeout not supported yet.")


def _check_types(queue, given, handle):
    if queue.dtypes != given:
        have, expected = (
            ", ".join([handle, *(dtype.name for dtype in types)]) for types in (given, queue.dtypes)
        )
        raise invalid(f"Signature mismatch, have: {have}-> expected: {expected}->")


def _handle_name(node):
    return "resource" if node.inputs[0].dtype is dtypes.resource else "string_ref"


# Putting --------------------------------------------------------------------------------------


def owned(value):
    """A copy of a value: what waits in a queue shares memory with nothing that may change."""
    if isinstance(value, torch.Tensor):
        return value.clone()
    return value.copy() if isinstance(value, np.ndarray) else value


_AS_ARRAYS = (
    *(dtypes.float32, dtypes.float64, dtypes.float16, dtypes.bool),
    *(dtypes.uint8, dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64),
)
_NUMPY_TYPES = {dtype: np.dtype(dtype.as_numpy_dtype) for dtype in (*_AS_ARRAYS, dtypes.string)}


def _array(value):
    """The memory of a value as an array."""
    if not isinstance(value, torch.Tensor):
        return value
    try:
        return value.numpy()
    except RuntimeError:  # a lazy negation, about which it would cost more to ask every time
        return value.resolve_neg().numpy()


def _as_array(value):
    return _array(value).copy()


def _keepers(types):
    """For each type a function that copies a value, to an array if NumPy has the type.

    Arrays are cheaper to make, and to stack.
    """
    return [_as_array if dtype in _AS_ARRAYS else owned for dtype in types]


def _given(kept):
    """What waited in a queue as a runtime value."""
    if isinstance(kept, torch.Tensor) or kept.dtype == object:
        return kept
    return torch.from_numpy(kept if kept.flags.writeable else kept.copy())


def _refuse_shape(index, expected, given):
    raise invalid(
        f"Shape mismatch in tuple component {index}. Expected {shapes.text(expected)}, got "
        f"{shapes.text(tuple(given))}"
    )


def _check_shapes(expected, values):
    for i, (shape, value) in enumerate(zip(expected, values, strict=True)):
        if value.shape != shape and not shapes.compatible(shape, tuple(value.shape)):
            _refuse_shape(i, shape, value.shape)


@kernel("QueueEnqueue", "QueueEnqueueV2", devices=HOST, step=True)
def _(node):
    _refuse_timeout(node)
    types = [edge.dtype.base_dtype for edge in node.inputs[1:]]
    handle, keepers = _handle_name(node), _keepers(types)

    def run(step, queue, *values):
        _check_types(queue, types, handle)
        if queue.rows is not None:
            arrays = [_array(value) for value in values]
            if [array.shape for array in arrays] != queue.rows.shapes:
                _check_shapes(queue.shapes, values)
            queue.enqueue(arrays, step)
            return
        if queue.shapes:
            _check_shapes(queue.shapes, values)
        kept = [keep(value) for keep, value in zip(keepers, values, strict=True)]
        queue.enqueue(tuple(kept), step)

    return on_queue(node, run)


@kernel("QueueEnqueueMany", "QueueEnqueueManyV2", devices=HOST, step=True)
def _(node):
    _refuse_timeout(node)
    types = [edge.dtype.base_dtype for edge in node.inputs[1:]]
    handle, keepers = _handle_name(node), _keepers(types)

    def run(step, queue, *values):
        _check_types(queue, types, handle)
        if queue.shapes:
            count = values[0].shape[0] if values[0].shape else 0
            _check_shapes([_batch_of(shape, count) for shape in queue.shapes], values)
        else:
            _check_counts(values)
        if queue.rows is not None:
            queue.enqueue_columns([_array(value) for value in values], step)
            return
        columns = [_rows_of(keep(value)) for keep, value in zip(keepers, values, strict=True)]
        queue.enqueue_many(list(zip(*columns, strict=True)), step)

    return on_queue(node, run)


def _batch_of(shape, count):
    return None if shape is None else (count, *shape)


def _check_counts(values):
    """The first dimension of all components counts the same elements."""
    for i, value in enumerate(values):
        if not value.shape or value.shape[0] != values[0].shape[0]:
            given = value.shape[0] if value.shape else "none: it is a scalar"
            raise invalid(
                "All input tensors must have the same size in the 0th dimension. Component "
                f"{i} has {given}, and should have {(*values[0].shape, 0)[0]}"
            )


def rows(value):
    """The entries of a copy of a value along its first dimension."""
    return _rows_of(owned(value))


def _rows_of(copy):
    if isinstance(copy, torch.Tensor):
        return copy.unbind(0)
    return list(copy) if copy.ndim > 1 else [copy[i, ...] for i in range(len(copy))]


# Taking ---------------------------------------------------------------------------------------


def reminder_of(node, index=0):
    """Tells a program that it waits for a queue whose runners it never started."""
    if node.origin is None:
        return None
    name = node.inputs[index].node.name
    find_graph = weakref.ref(node.origin.graph)

    def remind():
        graph = find_graph()
        runners = [] if graph is None else graph.get_collection(GraphKeys.QUEUE_RUNNERS)
        idle = [r for r in runners if r.name == name and not r.was_started]
        if idle:
            logging.warning(
                "A step is waiting for the queue '%s', which is empty and has queue runners that "
                "were never started. Call tf.train.start_queue_runners(sess) after the variables "
                "are initialized.",
                name,
            )

    return Reminder(_PATIENCE_SECONDS, remind)


def _check_result_types(queue, types):
    if queue.dtypes != types:
        have, expected = (
            ", ".join(dtype.name for dtype in given) for given in (types, queue.dtypes)
        )
        raise invalid(f"Signature mismatch, have: resource->{have} expected: resource->{expected}")


@kernel("QueueDequeue", "QueueDequeueV2", devices=HOST, fresh=True, step=True, resumes=True)
def _(node):
    _refuse_timeout(node)
    types = node.attrs["component_types"]
    reminder = reminder_of(node)

    def several(step, queue):
        _check_result_types(queue, types)
        return [_given(part) for part in queue.dequeue(step, reminder)]

    def single(step, queue):
        _check_result_types(queue, types)
        return _given(queue.dequeue(step, reminder)[0])

    return on_queue(node, single if len(types) == 1 else several)


@kernel("QueueDequeueMany", "QueueDequeueManyV2", devices=HOST, fresh=True, step=True, resumes=True)
def _(node, env):
    return _taking_several(node, env, allow_fewer=False)


@kernel("QueueDequeueUpTo", "QueueDequeueUpToV2", devices=HOST, fresh=True, step=True, resumes=True)
def _(node, env):
    return _taking_several(node, env, allow_fewer=True)


def _taking_several(node, env, *, allow_fewer):
    _refuse_timeout(node)
    known_count = known_number(node, env, 1)
    types = node.attrs["component_types"]
    reminder = reminder_of(node)
    kind = "DequeueUpTo" if allow_fewer else "DequeueMany"

    def run(step, queue, n):
        count = int(n) if known_count is None else known_count
        _check_result_types(queue, types)
        if count < 0:
            raise invalid(f"{kind}Op requested {count} < 0 elements")
        if not queue.shapes:
            raise invalid(
                f"{queue.type_name}'s DequeueMany and DequeueUpTo require the components to have "
                "specified shapes."
            )
        results = _several(queue, count, step, allow_fewer=allow_fewer, reminder=reminder)
        return results[0] if len(results) == 1 else results

    return on_queue(node, run)


def _several(queue, count, step, **settings):
    """A batch of elements: one value per component."""
    if count == 0:
        return [
            empty(dtype, (0, *(size or 0 for size in shape)))
            for dtype, shape in zip(queue.dtypes, queue.shapes, strict=True)
        ]
    if queue.rows is not None:
        return [_given(column) for column in queue.dequeue_columns(count, step, **settings)]
    taken = queue.dequeue_many(count, step, **settings)
    join = padded if queue.pads else stacked
    return [join(values) for values in zip(*taken, strict=True)]


def empty(dtype, shape):
    if is_host_type(dtype):
        return np.empty(shape, dtype=object)
    return torch.empty(shape, dtype=TORCH_TYPE[dtype])


def stacked(values):
    """Values of equal shapes, as they are kept, as one runtime value."""
    first = values[0]
    if isinstance(first, torch.Tensor):
        return torch.stack(values)
    if first.dtype == object:
        return np.stack(values)
    if first.ndim:
        return torch.from_numpy(np.concatenate(values).reshape(len(values), *first.shape))
    result = np.empty(len(values), first.dtype)
    for i, value in enumerate(values):
        result[i] = value
    return torch.from_numpy(result)


def padded(values):
    """Values of different sizes as one, with zeros or empty strings where they end."""
    if all(value.shape == values[0].shape for value in values):
        return stacked(values)
    shape = (len(values), *map(max, zip(*[value.shape for value in values], strict=True)))
    if isinstance(values[0], torch.Tensor):
        result = torch.zeros(shape, dtype=values[0].dtype)
    elif values[0].dtype == object:
        result = np.full(shape, b"", dtype=object)
    else:
        result = np.zeros(shape, dtype=values[0].dtype)
    for i, value in enumerate(values):
        corner = (i, *map(slice, value.shape))
        result[corner] = value
    return _given(result)


# Asking and closing ---------------------------------------------------------------------------


@kernel("QueueSize", "QueueSizeV2", devices=HOST, fresh=True, step=True)
def _(node):
    return on_queue(node, lambda step, queue: torch.tensor(len(queue), dtype=torch.int32))


@kernel("QueueIsClosed", "QueueIsClosedV2", devices=HOST, fresh=True, step=True)
def _(node):
    return on_queue(node, lambda step, queue: torch.tensor(queue.closed))


@kernel("QueueClose", "QueueCloseV2", devices=HOST, step=True)
def _(node):
    cancel = node.attrs["cancel_pending_enqueues"]
    return on_queue(node, lambda step, queue: queue.close_for(step, cancel_pending_enqueues=cancel))
