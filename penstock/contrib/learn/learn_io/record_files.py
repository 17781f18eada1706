"""Batches of the records of files, read by threads, with or without their keys."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import penstock as tf
from penstock import gfile
from penstock.contrib.input_pipeline import seek_next
from penstock.ir.tensor import Tensor

_KEY = "__key__"


def read_batch_examples(
    file_pattern: Any,
    batch_size: Any,
    reader: Callable[[], Any],
    randomize_input: bool = True,
    num_epochs: int | None = None,
    queue_capacity: int = 10000,
    num_threads: int = 1,
    read_batch_size: int = 1,
    parse_fn: Callable[[Any], Any] | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> Any:
    """Batches of records; see `read_keyed_batch_examples`."""
    _, examples = read_keyed_batch_examples(
        file_pattern,
        batch_size,
        reader,
        randomize_input,
        num_epochs,
        queue_capacity,
        num_threads,
        read_batch_size,
        parse_fn,
        name,
        seed,
    )
    return examples


def read_keyed_batch_examples(
    file_pattern: Any,
    batch_size: Any,
    reader: Callable[[], Any],
    randomize_input: bool = True,
    num_epochs: int | None = None,
    queue_capacity: int = 10000,
    num_threads: int = 1,
    read_batch_size: int = 1,
    parse_fn: Callable[[Any], Any] | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> Any:
    """Keys and records of files in batches, as strings or as `parse_fn` makes them.

    Args:
      file_pattern: a pattern of paths, or a list of such.
      reader: makes the readers, `tf.TFRecordReader` for example.
      randomize_input: shuffles files and records.
      num_epochs: how often the files are read; the last batch may be smaller then.
      num_threads: how many readers there are.
      read_batch_size: how many records a reader takes at once.
    """
    _check_sizes(batch_size, num_epochs, queue_capacity, num_threads, read_batch_size)
    paths = _paths(file_pattern, randomize_input)
    with tf.name_scope(name, "read_batch_examples", [file_pattern]) as scope:
        with tf.name_scope("file_name_queue") as queue_scope:
            files = tf.train.string_input_producer(
                tf.constant(paths, name="input"),
                shuffle=randomize_input,
                num_epochs=num_epochs,
                name=queue_scope,
                seed=seed,
            )
        sources = _read(files, reader, num_threads, read_batch_size, parse_fn)
        many = read_batch_size > 1
        return _batched(
            sources, batch_size, queue_capacity, many, randomize_input, num_epochs, seed, scope
        )


def read_keyed_batch_examples_shared_queue(
    file_pattern: Any,
    batch_size: Any,
    reader: Callable[[], Any],
    randomize_input: bool = True,
    num_epochs: int | None = None,
    queue_capacity: int = 10000,
    num_threads: int = 1,
    read_batch_size: int = 1,
    parse_fn: Callable[[Any], Any] | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> Any:
    """As `read_keyed_batch_examples`, with the place in the list of files in a variable."""
    _check_sizes(batch_size, num_epochs, queue_capacity, num_threads, read_batch_size)
    paths = _paths(file_pattern, randomize_input)
    with tf.name_scope(name, "read_batch_examples", [file_pattern]) as scope:
        with tf.name_scope("file_name_queue"):
            files = tf.FIFOQueue(capacity=1, dtypes=[tf.string], shapes=[[]])
            following = seek_next(paths, shuffle=randomize_input, num_epochs=num_epochs, seed=seed)
            tf.train.add_queue_runner(tf.train.QueueRunner(files, [files.enqueue(following)]))
        sources = _read(files, reader, num_threads, read_batch_size, parse_fn)
        many = read_batch_size > 1
        return _batched(
            sources, batch_size, queue_capacity, many, randomize_input, num_epochs, seed, scope
        )


def read_keyed_batch_features(
    file_pattern: Any,
    batch_size: Any,
    features: dict[str, Any],
    reader: Callable[[], Any],
    randomize_input: bool = True,
    num_epochs: int | None = None,
    queue_capacity: int = 10000,
    reader_num_threads: int = 1,
    feature_queue_capacity: int = 100,
    num_enqueue_threads: int = 2,
    parse_fn: Callable[[Any], Any] | None = None,
    name: str | None = None,
    read_batch_size: int | None = None,
) -> Any:
    """Keys and parsed Examples of files in batches; see `tf.parse_example` for `features`."""
    with tf.name_scope(name, "read_batch_features", [file_pattern]) as scope:
        keys, examples = read_keyed_batch_examples(
            file_pattern,
            batch_size,
            reader,
            randomize_input,
            num_epochs,
            queue_capacity,
            reader_num_threads,
            batch_size if read_batch_size is None else read_batch_size,
            parse_fn,
            scope,
        )
        parsed = tf.parse_example(examples, features)
        return queue_parsed_features(
            parsed, keys, feature_queue_capacity, num_enqueue_threads, scope
        )


def read_keyed_batch_features_shared_queue(
    file_pattern: Any,
    batch_size: Any,
    features: dict[str, Any],
    reader: Callable[[], Any],
    randomize_input: bool = True,
    num_epochs: int | None = None,
    queue_capacity: int = 10000,
    reader_num_threads: int = 1,
    feature_queue_capacity: int = 100,
    num_queue_runners: int = 2,
    parse_fn: Callable[[Any], Any] | None = None,
    name: str | None = None,
) -> Any:
    """As `read_keyed_batch_features`, with the place in the list of files in a variable."""
    with tf.name_scope(name, "read_batch_features", [file_pattern]) as scope:
        keys, examples = read_keyed_batch_examples_shared_queue(
            file_pattern,
            batch_size,
            reader,
            randomize_input,
            num_epochs,
            queue_capacity,
            reader_num_threads,
            batch_size,
            parse_fn,
            scope,
        )
        parsed = tf.parse_example(examples, features)
        return queue_parsed_features(parsed, keys, feature_queue_capacity, num_queue_runners, scope)


def read_batch_features(
    file_pattern: Any,
    batch_size: Any,
    features: dict[str, Any],
    reader: Callable[[], Any],
    randomize_input: bool = True,
    num_epochs: int | None = None,
    queue_capacity: int = 10000,
    feature_queue_capacity: int = 100,
    reader_num_threads: int = 1,
    num_enqueue_threads: int = 2,
    parse_fn: Callable[[Any], Any] | None = None,
    name: str | None = None,
    read_batch_size: int | None = None,
) -> Any:
    """Parsed Examples of files in batches; see `read_keyed_batch_features`."""
    _, parsed = read_keyed_batch_features(
        file_pattern,
        batch_size,
        features,
        reader,
        randomize_input,
        num_epochs,
        queue_capacity,
        reader_num_threads,
        feature_queue_capacity,
        num_enqueue_threads,
        parse_fn,
        name,
        read_batch_size,
    )
    return parsed


def read_batch_record_features(
    file_pattern: Any,
    batch_size: Any,
    features: dict[str, Any],
    randomize_input: bool = True,
    num_epochs: int | None = None,
    queue_capacity: int = 10000,
    reader_num_threads: int = 1,
    name: str = "dequeue_record_examples",
) -> Any:
    """Parsed Examples of TFRecord files in batches."""
    return read_batch_features(
        file_pattern,
        batch_size,
        features,
        tf.TFRecordReader,
        randomize_input,
        num_epochs,
        queue_capacity,
        reader_num_threads=reader_num_threads,
        name=name,
    )


def queue_parsed_features(
    parsed_features: dict[str, Any],
    keys: Any = None,
    feature_queue_capacity: int = 100,
    num_enqueue_threads: int = 2,
    name: str | None = None,
) -> tuple[Any, dict[str, Any]]:
    """Keys and features behind a queue that threads fill, so that parsing runs ahead."""
    values = [*parsed_features.values(), *([] if keys is None else [keys])]
    with tf.name_scope(name, "queue_parsed_features", values):
        ordered = {key: parsed_features[key] for key in sorted(parsed_features)}
        given = [part for value in ordered.values() for part in _parts(value)]
        given += [] if keys is None else [keys]
        queue = tf.FIFOQueue(feature_queue_capacity, [part.dtype for part in given])
        tf.summary.scalar(
            f"queue/parsed_features/{queue.name}/fraction_of_{feature_queue_capacity}_full",
            tf.cast(queue.size(), tf.float32) * (1.0 / feature_queue_capacity),
        )
        ends = (tf.errors.OutOfRangeError, tf.errors.CancelledError)
        fill = [queue.enqueue(given) for _ in range(num_enqueue_threads)]
        runner = tf.train.QueueRunner(queue, fill, queue_closed_exception_types=ends)
        tf.train.add_queue_runner(runner)
        taken = queue.dequeue()
        taken = taken if isinstance(taken, list) else [taken]
        for before, after in zip(given, taken, strict=True):
            after.set_shape(before.get_shape())
        rest = iter(taken)
        features = {
            key: tf.SparseTensor(next(rest), next(rest), next(rest))
            if isinstance(value, tf.SparseTensor)
            else next(rest)
            for key, value in ordered.items()
        }
        return next(rest, None), features


def _parts(value: Any) -> list[Any]:
    if isinstance(value, tf.SparseTensor):
        return [value.indices, value.values, value.dense_shape]
    return [value]


def _paths(file_pattern: Any, randomize_input: bool) -> list[str]:
    if isinstance(file_pattern, list) and not file_pattern:
        raise ValueError("No files given to dequeue_examples.")
    patterns = file_pattern if isinstance(file_pattern, list) else [file_pattern]
    found = [path for pattern in patterns for path in gfile.Glob(pattern)]
    if not found:
        raise ValueError(f"No files match {file_pattern}.")
    return found if randomize_input else sorted(found)


def _check_sizes(
    batch_size: Any, num_epochs: Any, queue_capacity: Any, num_threads: Any, read_batch_size: Any
) -> None:
    if not queue_capacity or queue_capacity <= 0:
        raise ValueError(f"Invalid queue_capacity {queue_capacity}.")
    if not isinstance(batch_size, Tensor) and not 0 < (batch_size or 0) < queue_capacity:
        raise ValueError(f"Invalid batch_size {batch_size}, with queue_capacity {queue_capacity}.")
    if not isinstance(read_batch_size, Tensor) and (read_batch_size or 0) <= 0:
        raise ValueError(f"Invalid read_batch_size {read_batch_size}.")
    if not num_threads or num_threads <= 0:
        raise ValueError(f"Invalid num_threads {num_threads}.")
    if num_epochs is not None and num_epochs <= 0:
        raise ValueError(f"Invalid num_epochs {num_epochs}.")


def _read(
    files: Any,
    reader: Callable[[], Any],
    num_threads: int,
    read_batch_size: int,
    parse_fn: Callable[[Any], Any] | None,
) -> list[Any]:
    """What each reader gives: a pair of key and record, or a dictionary with the key in it."""
    sources: list[Any] = []
    with tf.name_scope("read"):
        for _ in range(num_threads):
            if read_batch_size > 1:
                keys, records = reader().read_up_to(files, read_batch_size)
            else:
                keys, records = reader().read(files)
            parsed = records if parse_fn is None else parse_fn(records)
            if isinstance(parsed, dict):
                sources.append({**parsed, _KEY: keys})
            else:
                sources.append((keys, parsed))
    return sources


def _batched(
    sources: list[Any],
    batch_size: Any,
    capacity: int,
    many: bool,
    shuffle: bool,
    num_epochs: int | None,
    seed: int | None,
    scope: str,
) -> Any:
    """Keys, and batches of what the readers give."""
    options: dict[str, Any] = {
        "capacity": capacity,
        "enqueue_many": many,
        "allow_smaller_final_batch": num_epochs is not None,
        "name": scope,
    }
    if shuffle:
        of_unknown_size = isinstance(batch_size, Tensor)
        kept = (
            int(capacity * 0.4) if of_unknown_size else max(capacity - 3 * batch_size, batch_size)
        )
        batch = tf.train.shuffle_batch_join(
            sources, batch_size, min_after_dequeue=kept, seed=seed, **options
        )
    else:
        batch = tf.train.batch_join(sources, batch_size, **options)
    return (batch.pop(_KEY), batch) if isinstance(batch, dict) else batch
