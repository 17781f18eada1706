"""Kernels that batch the requests of several steps, on the host."""

import itertools

import numpy as np
import torch

from penstock import errors
from penstock.kernels.registry import HOST, kernel
from penstock.kernels.values import to_array
from penstock.state.batching import BatchingQueue, PartsOnTheWay, Task


def _invalid(message):
    return errors.InvalidArgumentError(None, None, message)


def _joined(parts):
    if isinstance(parts[0], torch.Tensor):
        return torch.cat(list(parts))
    return np.concatenate(parts)


def _queue(node, env):
    """The queue that a node's tasks go to; nodes may share it by name."""
    attrs = node.attrs
    allowed, most = attrs["allowed_batch_sizes"], attrs["max_batch_size"]
    if any(later <= earlier for earlier, later in itertools.pairwise(allowed)):
        raise _invalid("allowed_batch_sizes entries must be monotonically increasing")
    if allowed and allowed[-1] != most:
        raise _invalid("final entry in allowed_batch_sizes must equal max_batch_size")
    name = f"{attrs['shared_name'] or node.name}/{attrs['batching_queue']}"

    def make():
        return BatchingQueue(name, most, attrs["batch_timeout_micros"], attrs["num_batch_threads"])

    return env.resources.get_or_create(BatchingQueue, attrs["container"], name, make)


def _task(tensors):
    if any(tensor.ndim == 0 for tensor in tensors):
        raise _invalid("Batching input tensors must have at least one dimension")
    sizes = {tensor.shape[0] for tensor in tensors}
    if len(sizes) > 1:
        raise _invalid(
            "Batching input tensors supplied in a given op invocation must have equal "
            "0th-dimension size"
        )
    return Task(tensors, sizes.pop() if sizes else 0)


def _batched(batch, allowed):
    """The tensors of all tasks, one behind the other, with padding behind."""
    size = batch.size
    wanted = next((each for each in allowed if each >= size), size)
    columns = []
    for number, first in enumerate(batch.tasks[0].tensors):
        parts = [task.tensors[number] for task in batch.tasks]
        parts += [first[:1]] * (wanted - size)
        columns.append(_joined(parts))
    return columns


def _index(batch):
    """For each task its key, and where its rows begin and end."""
    rows, start = [], 0
    for task in batch.tasks:
        rows.append((task.key, start, start + task.size))
        start += task.size
    return torch.tensor(rows, dtype=torch.int64)


@kernel("Batch", devices=HOST, fresh=True, step=True)
def _(node, env):
    queue, allowed = _queue(node, env), node.attrs["allowed_batch_sizes"]

    def run(step, *tensors):
        task = _task(tensors)
        key = torch.tensor(task.key)
        if queue.join(task, step):
            return (*_batched(task.batch, allowed), _index(task.batch), key)
        nothing = [tensor[:0] for tensor in tensors]
        empty = [part.clone() if isinstance(part, torch.Tensor) else part for part in nothing]
        return (*empty, torch.empty((0, 3), dtype=torch.int64), key)

    return run


@kernel("BatchFunction", devices=HOST, step=True)
def _(node, env):
    queue, allowed = _queue(node, env), node.attrs["allowed_batch_sizes"]
    call = env.function(node, node.attrs["f"].name, node.attrs["f"].attrs)
    count, outputs = len(node.attrs["Tin"]), len(node.dtypes)

    def run(step, *inputs):
        tensors, captured = inputs[:count], inputs[count:]
        expected = len(call.body.inputs)
        if expected != len(inputs):
            raise _invalid(
                f"Function {node.attrs['f'].name} expects {expected} arguments, but "
                f"{len(inputs)} are given"
            )
        task = _task(tensors)
        if queue.join(task, step):
            batch = task.batch
            queue.compute(
                batch, lambda: _give(batch, call(step, (*_batched(batch, allowed), *captured)))
            )
            results = task.results
        else:
            results = queue.results(task, step)
        return results[0] if outputs == 1 else results

    return run


def _give(batch, results):
    """Gives each task its rows of the results."""
    for result in results:
        if result.ndim == 0:
            raise _invalid("Batched output tensor has 0 dimensions")
        if result.shape[0] < batch.size:
            raise _invalid(
                "Batched output tensor's 0th dimension does not equal the sum of the 0th "
                "dimension sizes of the input tensors"
            )
    start = 0
    for task in batch.tasks:
        task.results = tuple(result[start : start + task.size] for result in results)
        start += task.size


def _parts(node, env):
    name = node.attrs["shared_name"] or node.name
    timeout = node.attrs.get("timeout_micros")
    find = env.resources.get_or_create
    return find(PartsOnTheWay, node.attrs["container"], name, lambda: PartsOnTheWay(name, timeout))


@kernel("Unbatch", devices=HOST, step=True)
def _(node, env):
    parts = _parts(node, env)

    def run(step, batched, index, key):
        if batched.ndim == 0:
            raise _invalid("batched_tensor must have at least one dimension")
        if index.shape[1] != 3:
            raise _invalid(f"Wrong shape for index tensor: {list(index.shape)}")
        found = {}
        for owner, start, end in index.tolist():
            if not 0 <= start <= end <= batched.shape[0]:
                raise _invalid(f"rows {start} to {end} are not in a batch of {batched.shape[0]}")
            found[owner] = batched[start:end]
        if found:
            parts.put(found)
        return parts.take([key.item()], step)[0]

    return run


@kernel("UnbatchGrad", devices=HOST, fresh=True, step=True)
def _(node, env):
    parts = _parts(node, env)

    def run(step, original, index, grad, key):
        parts.put({key.item(): grad})
        if not len(index):  # another step has the batch, and takes this gradient
            empty = grad[:0]
            return empty.clone() if isinstance(empty, torch.Tensor) else empty
        owners = to_array(index)[:, 0].tolist()
        found = _joined(parts.take(owners, step))
        missing = original.shape[0] - found.shape[0]
        if missing > 0 and isinstance(found, torch.Tensor):  # rows of padding
            found = torch.cat([found, found.new_zeros((missing, *found.shape[1:]))])
        return found

    return run
