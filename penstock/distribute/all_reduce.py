"""Graphs that reduce tensors of several devices, so that each device has the result.

`red_op` adds two tensors up (a shuffle's: a list of them), `un_op` is applied to the result.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import penstock as tf
from penstock.ops import nccl

__all__ = [
    "build_nccl_all_reduce",
    "build_nccl_then_recursive_hd",
    "build_nccl_then_ring",
    "build_nccl_then_shuffle",
    "build_recursive_hd_all_reduce",
    "build_ring_all_reduce",
    "build_shuffle_all_reduce",
    "build_shuffle_then_ring",
    "build_shuffle_then_shuffle",
]

Tensors = list[Any]
Reduction = Callable[..., Any]
Unary = Callable[[Any], Any] | None


# Tensors as vectors, and parts of them ------------------------------------------------------------


def _where(function: Callable[[Any], Any], tensors: Sequence[Any]) -> Tensors:
    """The function of each tensor, computed where the tensor is."""
    found = []
    for tensor in tensors:
        with tf.colocate_with(tensor):
            found.append(function(tensor))
    return found


def _flatten_tensors(tensors: Sequence[Any]) -> tuple[Tensors, Any]:
    """Vectors of tensors that have one shape, and that shape."""
    if not tensors:
        raise ValueError("tensors cannot be empty")
    shape = tensors[0].shape
    for tensor in tensors:
        shape = shape.merge_with(tensor.shape)
    if not shape.is_fully_defined():
        raise ValueError("Tensors must have statically known shape.")
    if len(shape) == 1:
        return list(tensors), shape
    return _where(lambda tensor: tf.reshape(tensor, [-1]), tensors), shape


def _reshape_tensors(tensors: Sequence[Any], shape: Any) -> Tensors:
    return _where(lambda tensor: tf.reshape(tensor, shape), tensors)


def _in_shape(tensors: Tensors, shape: Any) -> Tensors:
    return tensors if len(shape) == 1 else _reshape_tensors(tensors, shape)


def _length(tensor: Any) -> int:
    if len(tensor.shape) != 1:
        raise ValueError("input tensor must be 1D")
    return int(tensor.shape.dims[0].value)


def _padded_split(tensor: Any, pieces: int) -> tuple[Tensors, int]:
    """Pieces of one size, the last filled up with zeros, and the number of these."""
    length = _length(tensor)
    with tf.colocate_with(tensor):
        if length % pieces == 0:
            return tf.split(tensor, pieces), 0
        size = 1 + length // pieces
        last = length - (pieces - 1) * size
        if last > 0:
            parts = tf.split(tensor, [size] * (pieces - 1) + [last])
            zeros = tf.zeros([size - last], dtype=tensor.dtype)
            return [*parts[:-1], tf.concat([parts[-1], zeros], 0)], size - last
        # So few entries that more than the last piece would be empty.
        padding = pieces - length if pieces > length else pieces * size % length
        whole = tf.concat([tensor, tf.zeros([padding], dtype=tensor.dtype)], 0)
        return tf.split(whole, pieces), padding


def _strip_padding(tensors: Sequence[Any], pad_len: int) -> Tensors:
    if not tensors:
        raise ValueError("tensors cannot be empty")
    shape = tensors[0].shape
    if len(shape) > 1:
        raise ValueError("tensors must be 1D")
    kept = int(shape.dims[0].value) - pad_len
    if kept < 0:
        raise ValueError("pad_len longer than tensor")
    return _where(lambda tensor: tf.slice(tensor, [0], [kept]), tensors)


def _ragged_split(tensor: Any, pieces: int) -> Tensors:
    """Pieces of one size but for the last, which has the rest."""
    length = _length(tensor)
    size = length // pieces
    with tf.colocate_with(tensor):
        if length == pieces * size:
            return tf.split(tensor, pieces)
        return tf.split(tensor, [size] * (pieces - 1) + [length - (pieces - 1) * size])


# Rings -------------------------------------------------------------------------------------------


def _ring_permutations(
    num_workers: int, num_subchunks: int, gpu_perm: Sequence[int]
) -> tuple[list[list[int]], list[list[int]]]:
    """For each subchunk and device: the device before it in the ring, and its own place there.

    Each subchunk has a ring of its own, which starts at another GPU of each worker.
    """
    num_gpus = len(gpu_perm)
    devices = num_workers * num_gpus
    if devices == 0:
        return [], []
    if num_subchunks > num_gpus:
        raise ValueError(f"num_subchunks {num_subchunks} must be <= num_gpus {num_gpus}")
    rotation = max(1, num_gpus // num_subchunks)
    before, ranks = [], []
    for subchunk in range(num_subchunks):
        start = subchunk * rotation
        rotated = [*gpu_perm[start:], *gpu_perm[:start]]
        ring = [worker * num_gpus + gpu for worker in range(num_workers) for gpu in rotated]
        rank = [ring.index(device) for device in range(devices)]
        ranks.append(rank)
        before.append([ring[place - 1] for place in rank])
    return before, ranks


def build_ring_all_reduce(
    input_tensors: Sequence[Any],
    num_workers: int,
    num_subchunks: int,
    gpu_perm: Sequence[int],
    red_op: Reduction,
    un_op: Unary = None,
) -> Tensors:
    """Reduces along rings: each device hands partial results on to the next.

    Args:
      num_workers: The number of tasks that have the tensors.
      num_subchunks: How many parts each device works on at once, each along a ring of its own.
      gpu_perm: The order of the GPUs of each worker in the ring.
    """
    if len(input_tensors) < 2:
        raise ValueError("input_tensors must be length 2 or longer")
    tensors, shape = _flatten_tensors(input_tensors)
    rings = _ring_permutations(num_workers, num_subchunks, gpu_perm)
    chunks, padding = _build_ring_gather(
        tensors, [t.device for t in tensors], num_subchunks, *rings, red_op
    )
    if un_op:
        chunks = [_where_first(own, un_op) for own in chunks]
    outputs = _build_ring_scatter(*rings, chunks)
    if padding > 0:
        outputs = _strip_padding(outputs, padding)
    return _in_shape(outputs, shape)


def _where_first(tensors: Tensors, function: Callable[[Any], Any]) -> Tensors:
    with tf.colocate_with(tensors[0]):
        return [function(tensor) for tensor in tensors]


def _chunk(rank: int, back: int, devices: int, subchunk: int, num_subchunks: int) -> int:
    """The index of the chunk that a device works on: `back` places before its own."""
    return (rank - back) % devices * num_subchunks + subchunk


def _build_ring_gather(
    input_tensors: Tensors,
    devices: Sequence[str],
    num_subchunks: int,
    pred_by_s_d: list[list[int]],
    rank_by_s_d: list[list[int]],
    red_op: Reduction,
) -> Any:
    """Chunks by device, some of which are reduced over all devices then; and their padding."""
    count = len(input_tensors)
    if count <= 1:
        return input_tensors
    if len(input_tensors[0].shape) != 1:
        raise ValueError("input tensors must be 1D")
    chunks, padding = [], 0
    for tensor, device in zip(input_tensors, devices, strict=True):
        with tf.device(device):
            own, padding = _padded_split(tensor, count * num_subchunks)
            chunks.append(own)
    for tick in range(count - 1):
        reduced = {}
        for d, device in enumerate(devices):
            with tf.device(device):
                for s in range(num_subchunks):
                    c = _chunk(rank_by_s_d[s][d], 2 + tick, count, s, num_subchunks)
                    reduced[d, c] = red_op(chunks[pred_by_s_d[s][d]][c], chunks[d][c])
        for (d, c), value in reduced.items():
            chunks[d][c] = value
    return chunks, padding


def _build_ring_scatter(
    pred_by_s_d: list[list[int]], rank_by_s_d: list[list[int]], chunks_by_dev: list[Tensors]
) -> Tensors:
    """Hands reduced chunks on along the rings, then puts each device's together."""
    chunks, count = chunks_by_dev, len(chunks_by_dev)
    if len(chunks[0]) % count != 0:
        raise ValueError("Expect number of chunks per device to be divisible by num_devices")
    num_subchunks = len(chunks[0]) // count
    for tick in range(count - 1):
        passed = {}
        for d in range(count):
            with tf.colocate_with(chunks[d][0]):
                for s in range(num_subchunks):
                    c = _chunk(rank_by_s_d[s][d], 1 + tick, count, s, num_subchunks)
                    passed[d, c] = tf.identity(chunks[pred_by_s_d[s][d]][c])
        for (d, c), value in passed.items():
            chunks[d][c] = value
    outputs = []
    for own in chunks:
        with tf.colocate_with(own[0]):
            outputs.append(tf.concat(own, 0))
    return outputs


# Recursive halving and doubling ------------------------------------------------------------------


def build_recursive_hd_all_reduce(
    input_tensors: Sequence[Any], red_op: Reduction, un_op: Unary = None
) -> Tensors:
    """Reduces in pairs, ever smaller parts over ever greater distances, and back again.

    The number of tensors has to be a power of two, their size divisible by it.
    """
    devices = [tensor.device for tensor in input_tensors]
    tensors, shape = _flatten_tensors(input_tensors)
    shards = _build_recursive_hd_gather(tensors, devices, red_op)
    if un_op:
        shards = [un_op(shard) for shard in shards]
    return _in_shape(_build_recursive_hd_scatter(shards, devices), shape)


def _pairs(count: int, span: int) -> list[tuple[int, int]]:
    return [(d, d + span) for d in range(count) if d % (2 * span) < span]


def _build_recursive_hd_gather(
    input_tensors: Tensors, devices: Sequence[str], red_op: Reduction
) -> Tensors:
    count = len(devices)
    if count & (count - 1):
        raise ValueError("num_devices must be a power of 2")
    chunks = list(input_tensors)
    for hop in range(count.bit_length() - 1):
        for left, right in _pairs(count, 2**hop):
            lefts, rights = tf.split(chunks[left], 2), tf.split(chunks[right], 2)
            with tf.device(devices[left]):
                chunks[left] = red_op(lefts[0], rights[0])
            with tf.device(devices[right]):
                chunks[right] = red_op(lefts[1], rights[1])
    return chunks


def _build_recursive_hd_scatter(input_tensors: Tensors, devices: Sequence[str]) -> Tensors:
    count, chunks = len(devices), list(input_tensors)
    for hop in reversed(range(count.bit_length() - 1)):
        for left, right in _pairs(count, 2**hop):
            both = [chunks[left], chunks[right]]
            with tf.device(devices[left]):
                chunks[left] = tf.concat(both, 0)
            with tf.device(devices[right]):
                chunks[right] = tf.concat(both, 0)
    return chunks


# Shuffles ----------------------------------------------------------------------------------------


def build_shuffle_all_reduce(
    input_tensors: Sequence[Any],
    gather_devices: Sequence[str],
    red_op: Reduction,
    un_op: Unary = None,
) -> Tensors:
    """Reduces as parameter servers do: each of `gather_devices` reduces one part of all tensors."""
    tensors, shape = _flatten_tensors(input_tensors)
    shards = _build_shuffle_gather(tensors, gather_devices, red_op, un_op)
    return _in_shape(_build_shuffle_scatter(shards, [t.device for t in tensors]), shape)


def _build_shuffle_gather(
    input_tensors: Tensors,
    gather_devices: Sequence[str],
    red_op: Reduction,
    un_op: Unary = None,
) -> Tensors:
    if len(input_tensors[0].shape) != 1:
        raise ValueError("input_tensors must be 1D")
    pieces = [_ragged_split(tensor, len(gather_devices)) for tensor in input_tensors]
    shards = []
    for device, parts in zip(gather_devices, zip(*pieces, strict=True), strict=True):
        with tf.device(device):
            shard = red_op(list(parts))
            shards.append(un_op(shard) if un_op else shard)
    return shards


def _build_shuffle_scatter(reduced_shards: Tensors, dst_devices: Sequence[str]) -> Tensors:
    outputs = []
    for device in dst_devices:
        with tf.device(device):
            outputs.append(tf.concat(reduced_shards, 0))
    return outputs


# NCCL, and two levels ----------------------------------------------------------------------------


def build_nccl_all_reduce(
    input_tensors: Sequence[Any], red_op: Reduction, un_op: Unary = None
) -> Tensors:
    """Reduces with the all-reduce of NCCL, which adds."""
    if red_op is not tf.add:
        raise ValueError("red_op not supported by NCCL all-reduce: ", red_op)
    outputs = nccl.all_sum(input_tensors)
    return _where(un_op, outputs) if un_op else outputs


def _split_by_task(
    devices: Sequence[str], values: Sequence[Any]
) -> tuple[list[list[str]], list[Tensors]]:
    """Devices and values of each task."""
    if len(devices) != len(values):
        raise ValueError("len(devices) must equal len(values)")
    tasks: dict[Any, list[tuple[str, Any]]] = {}
    for device, value in zip(devices, values, strict=True):
        spec = tf.DeviceSpec.from_string(device)
        if spec.task is None:
            raise AssertionError(f"failed to parse device {device}")
        task = spec.job or "localhost", spec.replica or 0, spec.task
        tasks.setdefault(task, []).append((device, value))
    split = [tuple(map(list, zip(*pairs, strict=True))) for pairs in tasks.values()]
    return [own[0] for own in split], [own[1] for own in split]


def _reduce_non_singleton(input_tensors: Tensors, red_f: Reduction, un_op: Unary) -> Tensors:
    """One tensor needs no reduction."""
    if len(input_tensors) > 1:
        return red_f(input_tensors)
    return _where(un_op, input_tensors) if un_op else input_tensors


def _build_nccl_hybrid(
    input_tensors: Sequence[Any], red_op: Reduction, upper_level_f: Callable[[Tensors], Tensors]
) -> Tensors:
    """Reduces within each task with NCCL, then across tasks, then hands results down."""
    tensors, shape = _flatten_tensors(input_tensors)
    devices, values = _split_by_task([t.device for t in tensors], tensors)
    ups = []
    for own in values:
        reduced = build_nccl_all_reduce(own, red_op)
        # The reduction ends only if each of its members runs.
        with tf.control_dependencies(reduced), tf.device(reduced[0].device):
            ups.append(tf.identity(reduced[0]))
    outputs = []
    for own_devices, value in zip(devices, upper_level_f(ups), strict=True):
        with tf.device(own_devices[0]):
            source = nccl.broadcast(tf.identity(value))
        for device in own_devices:
            with tf.device(device):
                outputs.append(tf.identity(source))
    return _in_shape(outputs, shape)


def build_nccl_then_ring(
    input_tensors: Sequence[Any], subdiv: int, red_op: Reduction, un_op: Unary = None
) -> Tensors:
    """NCCL within tasks, a ring across them."""
    return _build_nccl_hybrid(input_tensors, red_op, _ring_above(subdiv, red_op, un_op))


def build_nccl_then_recursive_hd(
    input_tensors: Sequence[Any], red_op: Reduction, un_op: Unary = None
) -> Tensors:
    """NCCL within tasks, recursive halving and doubling across them."""
    return _build_nccl_hybrid(
        input_tensors, red_op, lambda ups: build_recursive_hd_all_reduce(ups, red_op, un_op)
    )


def build_nccl_then_shuffle(
    input_tensors: Sequence[Any],
    gather_devices: Sequence[str],
    nccl_red_op: Reduction,
    shuffle_red_op: Reduction,
    un_op: Unary = None,
) -> Tensors:
    """NCCL within tasks, a shuffle across them."""

    def upper(ups: Tensors) -> Tensors:
        return build_shuffle_all_reduce(ups, gather_devices, shuffle_red_op, un_op)

    return _build_nccl_hybrid(input_tensors, nccl_red_op, upper)


def _ring_above(subdiv: int, red_op: Reduction, un_op: Unary) -> Callable[[Tensors], Tensors]:
    def ring(ups: Tensors) -> Tensors:
        return build_ring_all_reduce(ups, len(ups), subdiv, [0], red_op, un_op)

    return lambda ups: _reduce_non_singleton(ups, ring, un_op)


def _build_shuffle_hybrid(
    input_tensors: Sequence[Any],
    gather_devices: Sequence[str],
    red_op: Reduction,
    upper_level_f: Callable[[Tensors], Tensors],
) -> Tensors:
    """Reduces within each task on one device, then across tasks, then hands results down."""
    tensors, shape = _flatten_tensors(input_tensors)
    devices, values = _split_by_task([t.device for t in tensors], tensors)
    if len(gather_devices) != len(devices):
        raise ValueError("For shuffle hybrid, gather_devices must contain one device per worker. ")
    ups = [
        _build_shuffle_gather(own, [device], red_op)[0]
        for own, device in zip(values, gather_devices, strict=True)
    ]
    outputs = []
    for own_devices, value in zip(devices, upper_level_f(ups), strict=True):
        outputs += _build_shuffle_scatter([value], own_devices)
    return _in_shape(outputs, shape)


def build_shuffle_then_ring(
    input_tensors: Sequence[Any],
    gather_devices: Sequence[str],
    subdiv: int,
    red_n_op: Reduction,
    red_op: Reduction,
    un_op: Unary = None,
) -> Tensors:
    """A shuffle within tasks, a ring across them."""
    upper = _ring_above(subdiv, red_op, un_op)
    return _build_shuffle_hybrid(input_tensors, gather_devices, red_n_op, upper)


def build_shuffle_then_shuffle(
    input_tensors: Sequence[Any],
    first_gather_devices: Sequence[str],
    second_gather_devices: Sequence[str],
    red_op: Reduction,
    un_op: Unary = None,
) -> Tensors:
    """A shuffle within tasks, another across them."""

    def shuffle(ups: Tensors) -> Tensors:
        return build_shuffle_all_reduce(ups, second_gather_devices, red_op, un_op)

    return _build_shuffle_hybrid(
        input_tensors,
        first_gather_devices,
        red_op,
        lambda ups: _reduce_non_singleton(ups, shuffle, un_op),
    )
