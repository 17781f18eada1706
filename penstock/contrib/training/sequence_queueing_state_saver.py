"""`SequenceQueueingStateSaver`: long sequences in segments, with the state from one to the next.

A barrier holds the segments of all examples. A segment is ready when its state has come: that of
the first one with the example, each later one's when the segment before it was computed.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import penstock as tf
from penstock.contrib.training import sequence_checks as checks
from penstock.contrib.training.sequence_batching import (
    _deconstruct_sparse_tensor_seq,
    _move_sparse_tensor_in_context,
    _move_sparse_tensor_out_context,
    _padding,
    _reconstruct_sparse_tensor_seq,
    checked_sequences,
)
from penstock.ops.barriers import Barrier

__all__ = [
    "NextQueuedSequenceBatch",
    "SequenceQueueingStateSaver",
    "_deconstruct_sparse_tensor_seq",
    "_move_sparse_tensor_in_context",
    "_move_sparse_tensor_out_context",
    "_padding",
    "_reconstruct_sparse_tensor_seq",
    "batch_sequences_with_states",
]

# The components of an entry of the barrier that every saver has, before those of its example.
_OWN = (
    ("length", tf.int32),
    ("total_length", tf.int32),
    ("next_key", tf.string),
    ("sequence", tf.int32),
    ("sequence_count", tf.int32),
)
_TOKEN = 1  # what the queue of places holds; its value does not matter


class _Example(NamedTuple):
    """The parts of an example, in the order of their names."""

    sequences: dict[str, Any]
    context: dict[str, Any]
    states: dict[str, Any]


class _Received(NamedTuple):
    """A batch of segments that was taken out of the barrier."""

    indices: Any
    keys: Any
    own: dict[str, Any]
    is_last: Any
    parts: _Example


class NextQueuedSequenceBatch:
    """A batch of segments: `sequences`, `context`, `state(name)`, and `save_state`."""

    def __init__(self, state_saver: SequenceQueueingStateSaver):
        self._state_saver = state_saver
        self._received = state_saver._take()

    @property
    def total_length(self) -> Any:
        """The lengths of the whole sequences."""
        return self._received.own["total_length"]

    @property
    def length(self) -> Any:
        """How much of each segment belongs to its sequence; the rest fills it up."""
        return self._received.own["length"]

    @property
    def batch_size(self) -> Any:
        """The number of segments, less than asked for where small batches are allowed."""
        return tf.squeeze(tf.shape(self.length))

    @property
    def insertion_index(self) -> Any:
        """When the examples of the segments came, in rising order."""
        return self._received.indices

    @property
    def key(self) -> Any:
        """The keys of the segments, `00000_of_00003:key` for the first of three."""
        return self._received.keys

    @property
    def next_key(self) -> Any:
        """The keys of the segments behind these, `STOP:key` for the last ones."""
        return self._received.own["next_key"]

    @property
    def sequence(self) -> Any:
        """The numbers of the segments within their sequences."""
        return self._received.own["sequence"]

    @property
    def sequence_count(self) -> Any:
        """How many segments the sequences have."""
        return self._received.own["sequence_count"]

    @property
    def context(self) -> dict[str, Any]:
        return self._received.parts.context

    @property
    def sequences(self) -> dict[str, Any]:
        return self._received.parts.sequences

    def state(self, state_name: str) -> Any:
        """The state before these segments: a tensor of one row for each."""
        return self._received.parts.states[state_name]

    def save_state(self, state_name: str, value: Any, name: str | None = None) -> Any:
        """An operation that gives the segments behind these their state."""
        if state_name not in self._received.parts.states:
            raise KeyError(f"state was not declared: {state_name}")
        with tf.name_scope(name, "InputQueueingStateSaver_SaveState", values=[value]):
            return self._state_saver._save_state(self._received, state_name, value)


class SequenceQueueingStateSaver:
    """Cuts examples into segments of `num_unroll` steps, and hands the state on between them.

    Args:
      batch_size: How many segments `next_batch` has.
      num_unroll: The length of a segment.
      input_length: The length of the example's sequences, a scalar of type int32.
      input_key: A string that no other example has.
      input_sequences: Tensors by name, whose first dimension is the time, a multiple of
        `num_unroll`.
      input_context: Tensors by name that belong to the whole example.
      initial_states: By name, the states before the first segment.
      capacity: How many examples may be under way; `prefetch_op` waits where there are more.
      allow_small_batch: Whether a batch may be smaller once no more examples come.
    """

    def __init__(
        self,
        batch_size: Any,
        num_unroll: Any,
        input_length: Any,
        input_key: Any,
        input_sequences: dict[str, Any],
        input_context: dict[str, Any],
        initial_states: dict[str, Any],
        capacity: Any = None,
        allow_small_batch: bool = False,
        name: str | None = None,
    ):
        input_key = _checked_capacity(capacity, batch_size, input_key)
        self._places = tf.FIFOQueue(capacity, [tf.int32], shapes=[[]])
        with tf.colocate_with(self._places.queue_ref):
            _check_names(initial_states, "state", "initial_states must be a dictionary")
            if not initial_states:
                raise ValueError(
                    "initial_states may not be empty: at least one state variable is required to "
                    "properly enqueue split sequences to run in separate iterations"
                )
            values = [input_length, input_key, *input_sequences.values(), *input_context.values()]
            with tf.name_scope(name, "InputQueueingStateSaver", values) as scope:
                self._name = scope
                self._batch_size, self._num_unroll = batch_size, num_unroll
                self._allow_small_batch = allow_small_batch
                self._read_example(input_length, input_key, input_sequences, input_context)
                self._convert_states(initial_states)
                self._barrier = self._make_barrier()
        self._prefetch_op: Any = None
        self._next_batch: NextQueuedSequenceBatch | None = None

    def _read_example(
        self, length: Any, key: Any, sequences: dict[str, Any], context: dict[str, Any]
    ) -> None:
        length, key = tf.convert_to_tensor(length, name="length"), tf.convert_to_tensor(key)
        _check_names(sequences, "sequence", "sequences must be a dict")
        _check_names(context, "context", "context must be a dict")
        if not sequences:
            raise ValueError("must have at least one sequence tensor")
        self._sequences = _tensors(sequences, "sequence")
        self._context = _tensors(context, "context")
        _check_shapes("context", self._context)
        _check_shapes("sequence", self._sequences, first=1)
        length, self._key = checks.rank_is(length, 0), checks.rank_is(key, 0)
        if length.dtype != tf.int32:
            raise TypeError(f"length dtype must be int32, but received: {length.dtype}")
        if self._key.dtype != tf.string:
            raise TypeError(f"key dtype must be string, but received: {self._key.dtype}")
        first = next(iter(self._sequences.values()))
        padded = tf.identity(tf.shape(first)[0], name="padded_length")
        self._padded_length = checks.multiple_of(padded, self._num_unroll)
        self._sequences = {
            name: checks.dimensions_are(
                value, [0], [self._padded_length], f"sorted_sequences_{name}"
            )
            for name, value in self._sequences.items()
        }
        told = [
            "Input length should be <= than length from sequences:",
            length,
            " vs. ",
            self._padded_length,
        ]
        with tf.control_dependencies([tf.Assert(tf.less_equal(length, self._padded_length), told)]):
            self._length = tf.identity(length)

    def _convert_states(self, initial_states: dict[str, Any]) -> None:
        self._states = _tensors(initial_states, "state")
        _check_shapes("state", self._states)

    def _make_barrier(self) -> Barrier:
        unrolled = [[self._num_unroll, *v.shape.as_list()[1:]] for v in self._sequences.values()]
        others = [*self._context.values(), *self._states.values()]
        self._index = {
            name: index
            for index, name in enumerate(
                [
                    *((name,) for name, _ in _OWN),
                    *(("sequence", name) for name in self._sequences),
                    *(("context", name) for name in self._context),
                    *(("state", name) for name in self._states),
                ]
            )
        }
        return Barrier(
            types=[
                *(dtype for _, dtype in _OWN),
                *(value.dtype for value in (*self._sequences.values(), *others)),
            ],
            shapes=[*[()] * len(_OWN), *unrolled, *(value.shape.as_list() for value in others)],
        )

    @property
    def name(self) -> str:
        return self._name

    @property
    def barrier(self) -> Barrier:
        return self._barrier

    @property
    def batch_size(self) -> Any:
        return self._batch_size

    @property
    def num_unroll(self) -> Any:
        return self._num_unroll

    @property
    def prefetch_op(self) -> Any:
        """The operation that reads an example; a queue runner runs it over and over."""
        if self._prefetch_op is None:
            with self._own_scope():
                self._prefetch_op = self._make_prefetch_op()
        return self._prefetch_op

    @property
    def next_batch(self) -> NextQueuedSequenceBatch:
        """The segments that each step takes."""
        if self._next_batch is None:
            with self._own_scope():
                self._next_batch = NextQueuedSequenceBatch(self)
        return self._next_batch

    @contextmanager
    def _own_scope(self) -> Iterator[None]:
        """Where nodes have the saver's name, and the place of its queue."""
        with (
            tf.name_scope(None),
            tf.name_scope(self._name),
            tf.colocate_with(self._places.queue_ref),
        ):
            yield

    def close(self, cancel_pending_enqueues: bool = False, name: str | None = None) -> Any:
        """The operation after which no more examples are read."""
        with tf.name_scope(name, "SQSSClose", [self._prefetch_op]) as scope:
            barrier = self._barrier.close(cancel_pending_enqueues)
            places = self._places.close(cancel_pending_enqueues)
            return tf.group(barrier, places, name=scope)

    def _insert(self, component: tuple[str, ...], keys: Any, values: Any, name: str) -> Any:
        return self._barrier.insert_many(self._index[component], keys, values, name=name)

    def _make_prefetch_op(self) -> Any:
        count = tf.div(self._padded_length, self._num_unroll)
        number = tf.range(count)
        ones = tf.ones(tf.expand_dims(count, 0), dtype=tf.int32)
        rest = tf.maximum(0, self._length - self._num_unroll * number)
        keys, next_keys = self._keys(number, count)
        own = {
            "length": tf.minimum(self._num_unroll, rest),
            "total_length": self._length * ones,
            "next_key": next_keys,
            "sequence": number,
            "sequence_count": count * ones,
        }
        inserted = {
            name: self._insert((name,), keys, value, f"BarrierInsert_{name}")
            for name, value in own.items()
        }
        parts = [
            self._insert(("sequence", name), keys, value, f"BarrierInsertSequences_{name}")
            for name, value in self._segments(count).items()
        ]
        parts += [
            self._insert(("context", name), keys, value, f"BarrierInsertContext_{name}")
            for name, value in self._repeated_context(count).items()
        ]
        place = self._places.enqueue((_TOKEN,))
        # All segments at first, in one insertion: so they have one and the same index.
        with tf.control_dependencies([inserted["sequence"], place]):
            states = [
                self._insert(
                    ("state", name),
                    tf.stack([keys[0]]),
                    tf.stack([value]),
                    f"BarrierInitialInsertState_{name}",
                )
                for name, value in self._states.items()
            ]
        everything = [place, *inserted.values(), *states, *parts]
        return tf.group(*everything, name="StateSaverPrefetchGroup")

    def _keys(self, number: Any, count: Any) -> tuple[Any, Any]:
        """The keys of all segments, and those of the segments behind each."""
        texts = [tf.as_string(each, width=5, fill="0") for each in (number, count)]
        keys = tf.string_join(
            [texts[0], "_of_", texts[1], ":", self._key], name="StringJoinCurrentKeys"
        )
        last = tf.string_join(["STOP:", self._key], name="StringJoinStop")
        behind = tf.concat([tf.slice(keys, [1], [-1]), tf.expand_dims(last, 0)], 0)
        return keys, behind

    def _segments(self, count: Any) -> dict[str, Any]:
        found = {}
        for name, value in self._sequences.items():
            inner = value.shape.as_list()[1:]
            rows = tf.reshape(value, tf.stack([count, self._num_unroll, *inner]))
            dimensions = list(range(len(inner) + 2))
            found[name] = checks.dimensions_are(
                rows, dimensions, [count, self._num_unroll, *inner], f"reshaped_sequences_{name}"
            )
        return found

    def _repeated_context(self, count: Any) -> dict[str, Any]:
        found = {}
        for name, value in self._context.items():
            sizes = value.shape.as_list()
            times = tf.stack([count, *[1] * len(sizes)])
            rows = tf.tile(tf.expand_dims(value, 0), times, name=f"tile_context_{name}")
            found[name] = checks.dimensions_are(
                rows, list(range(len(sizes) + 1)), [count, *sizes], f"expanded_context_{name}"
            )
        return found

    def _take(self) -> _Received:
        indices, keys, values = self._barrier.take_many(
            self._batch_size, self._allow_small_batch, name="BarrierTakeMany"
        )
        own = {name: values[self._index[(name,)]] for name, _ in _OWN}
        is_last = own["sequence"] + 1 >= own["sequence_count"]
        done = tf.reduce_sum(tf.cast(is_last, tf.int32))
        # Their places are free again as soon as somebody asks for a state.
        with tf.control_dependencies([self._places.dequeue_many(done)]):
            states = {
                name: tf.identity(values[self._index["state", name]]) for name in self._states
            }
        sequences = {name: values[self._index["sequence", name]] for name in self._sequences}
        context = {name: values[self._index["context", name]] for name in self._context}
        return _Received(indices, keys, own, is_last, _Example(sequences, context, states))

    def _save_state(self, received: _Received, state_name: str, value: Any) -> Any:
        with tf.colocate_with(self._places.queue_ref):
            going_on = tf.reshape(tf.where(tf.logical_not(received.is_last)), [-1])
            keys = tf.gather(received.own["next_key"], going_on)
            value = tf.identity(value, name=f"convert_{state_name}")
            checked = checks.shape_is(value, tf.shape(received.parts.states[state_name]))
            return self._insert(
                ("state", state_name),
                keys,
                tf.gather(checked, going_on),
                f"BarrierInsertState_{state_name}",
            )


def _checked_capacity(capacity: Any, batch_size: Any, key: Any) -> Any:
    """The key, where there is room for the examples of a batch."""
    if capacity is None:
        return key
    if isinstance(batch_size, tf.Tensor):
        check = tf.assert_greater_equal(
            tf.cast(capacity, tf.int64),
            tf.cast(batch_size, tf.int64),
            message="capacity needs to be >= batch_size.",
        )
        with tf.control_dependencies([check]):
            return tf.identity(key)
    if capacity < batch_size:
        raise ValueError(f"capacity {capacity} needs to be >= batch_size {batch_size}")
    return key


def _check_names(values: Any, kind: str, message: str) -> None:
    if not isinstance(values, dict):
        raise TypeError(message)
    what = "state name" if kind == "state" else f"{kind} key"
    for name in values:
        if not isinstance(name, str):
            raise TypeError(f"{what} must be {'a ' if kind == 'state' else ''}string: {name}")
        if ":" in name:
            raise ValueError(f"{what} may not have a colon: '{name}'")


def _tensors(values: dict[str, Any], kind: str) -> dict[str, Any]:
    return {
        name: tf.convert_to_tensor(values[name], name=f"{kind}_{name}") for name in sorted(values)
    }


def _check_shapes(kind: str, values: dict[str, Any], first: int = 0) -> None:
    for name, value in values.items():
        if not value.shape[first:].is_fully_defined():
            ignoring = "(ignoring first dimension)" if first else ""
            raise ValueError(
                f"Shape for {kind} {name} is not fully defined {ignoring}: {value.shape}"
            )


def batch_sequences_with_states(
    input_key: Any,
    input_sequences: dict[str, Any],
    input_context: dict[str, Any],
    input_length: Any,
    initial_states: dict[str, Any],
    num_unroll: int,
    batch_size: Any,
    num_threads: int = 3,
    capacity: int = 1000,
    allow_small_batch: bool = True,
    pad: bool = True,
    make_keys_unique: bool = False,
    make_keys_unique_seed: int | None = None,
    name: str | None = None,
) -> NextQueuedSequenceBatch:
    """Batches of segments of examples that queue runners read; see `SequenceQueueingStateSaver`.

    Args:
      input_sequences: Tensors or sparse tensors by name.
      input_context: Tensors or sparse tensors by name.
      pad: Whether sequences are filled up to a multiple of `num_unroll`.
      make_keys_unique: Whether a random number is put behind each key.
    """
    given = [*input_sequences.values(), *input_context.values(), *initial_states.values()]
    with tf.name_scope(name, "batch_sequences_with_states", given):
        if pad:
            length, sequences = _padding(input_sequences, num_unroll)
            input_length = length if input_length is None else input_length
        else:
            sequences = checked_sequences(input_sequences, num_unroll)
        context = dict(input_context)
        _move_sparse_tensor_out_context(context, sequences, num_unroll)
        dense, sparse_keys, stores = _deconstruct_sparse_tensor_seq(sequences)
        if make_keys_unique:
            number = tf.random_uniform((), 0, 100000000, tf.int32, seed=make_keys_unique_seed)
            input_key = tf.string_join([input_key, tf.as_string(number)])
        saver = SequenceQueueingStateSaver(
            batch_size,
            num_unroll,
            input_length=input_length,
            input_key=input_key,
            input_sequences=dense,
            input_context=context,
            initial_states=initial_states,
            capacity=capacity,
            allow_small_batch=allow_small_batch,
        )
        ready = tf.cast(saver.barrier.ready_size(), tf.float32)
        tf.summary.scalar(f"queue/{saver.barrier.name}/ready_segment_batches_", ready)
        closed = (tf.errors.OutOfRangeError, tf.errors.CancelledError)
        tf.train.add_queue_runner(
            tf.train.QueueRunner(
                saver, [saver.prefetch_op] * num_threads, queue_closed_exception_types=closed
            )
        )
        batch = saver.next_batch
        _reconstruct_sparse_tensor_seq(batch.sequences, sparse_keys, stores, batch_size, num_unroll)
        _move_sparse_tensor_in_context(batch.context, batch.sequences)
        return batch
