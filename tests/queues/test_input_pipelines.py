"""Input pipelines made of queues: producers, batches, shuffled and joined ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.train import batching


@contextmanager
def _running() -> Iterator[Callable[..., Any]]:
    """A session with initialized variables and running queue runners; gives its `run`."""
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess, coord)
        yield sess.run
        coord.request_stop()
        coord.join(threads)


def _to_the_end(run: Callable[..., Any], fetch: Any) -> list[Any]:
    found = []
    try:
        while True:
            found.append(run(fetch))
    except tf.errors.OutOfRangeError:
        return found


def test_strings_in_order() -> None:
    queue = tf.train.string_input_producer(["to", "be"], num_epochs=2, shuffle=False)
    take, several = queue.dequeue(), queue.dequeue_many(2)
    with _running() as run:
        assert run(several).tolist() == [b"to", b"be"]
        assert _to_the_end(run, take) == [b"to", b"be"]


def test_strings_shuffled_in_each_epoch() -> None:
    names = [f"{i}".encode() for i in range(6)]
    queue = tf.train.string_input_producer(names, num_epochs=3, seed=1)
    with _running() as run:
        got = _to_the_end(run, queue.dequeue())
    epochs = [got[i : i + 6] for i in (0, 6, 12)]
    assert [sorted(epoch) for epoch in epochs] == [names] * 3
    assert len({tuple(epoch) for epoch in epochs}) > 1


def test_no_strings() -> None:
    with pytest.raises(ValueError, match="requires a non-null input tensor"):
        tf.train.string_input_producer([])
    queue = tf.train.string_input_producer(tf.constant([], dtype=tf.string))
    with tf.Session() as sess:
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess, coord)
        with pytest.raises(tf.errors.OutOfRangeError, match="is closed"):
            sess.run(queue.dequeue())
        with pytest.raises(tf.errors.InvalidArgumentError, match="non-null input tensor"):
            coord.join(threads)


def test_numbers_and_rows() -> None:
    numbers = tf.train.range_input_producer(3, num_epochs=2, shuffle=False)
    rows = tf.train.slice_input_producer(
        [tf.constant([[1, 2], [3, 4]]), ["a", "b"]], num_epochs=1, shuffle=False
    )
    cells = tf.train.input_producer([[1.0, 2.0]], num_epochs=1)
    with _running() as run:
        assert _to_the_end(run, numbers.dequeue()) == [0, 1, 2, 0, 1, 2]
        got = _to_the_end(run, rows)
        assert [(row.tolist(), name) for row, name in got] == [([1, 2], b"a"), ([3, 4], b"b")]
        assert [row.tolist() for row in _to_the_end(run, cells.dequeue())] == [[1.0, 2.0]]
    with pytest.raises(ValueError, match="fully defined shape"):
        tf.train.input_producer(tf.placeholder(tf.float32, [None, None]))
    with pytest.raises(ValueError, match="num_epochs must be > 0 not 0"):
        tf.train.limit_epochs(1.0, num_epochs=0)


def test_names_of_files_are_matched_once(tmp_path: Path) -> None:
    for name in ("b", "a"):
        (tmp_path / name).write_text(name)
    names = tf.train.match_filenames_once(str(tmp_path / "*"))
    with tf.Session() as sess:
        sess.run(tf.local_variables_initializer())
        (tmp_path / "c").write_text("c")
        expected = [str(tmp_path / name).encode() for name in "ab"]
        assert sess.run(names).tolist() == expected


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("as_dict", [False, True])
def test_batches(threads: int, as_dict: bool) -> None:
    number = tf.Variable(0).count_up_to(12)
    sparse = tf.SparseTensor(
        tf.reshape(tf.cast(number % 3, tf.int64), [1, 1]), tf.reshape(number, [1]), [3]
    )
    parts = {"number": number, "sparse": sparse, "text": tf.as_string(number)}
    given: Any = parts if as_dict else list(parts.values())
    batch = tf.train.batch(given, 4, num_threads=threads)
    numbers, sparse_batch, texts = [batch[k] for k in parts] if as_dict else batch
    assert numbers.shape.as_list() == [4]
    seen: list[int] = []
    with _running() as run:
        for _ in range(3):
            got, rows, text = run([numbers, sparse_batch, texts])
            assert rows.values.tolist() == got.tolist()
            assert rows.indices.tolist() == [[i, n % 3] for i, n in enumerate(got)]
            assert rows.dense_shape.tolist() == [4, 3]
            assert text.tolist() == [b"%d" % n for n in got]
            seen += got.tolist()
        with pytest.raises(tf.errors.OutOfRangeError):
            run(numbers)
    assert sorted(seen) == list(range(12))
    assert threads > 1 or seen == list(range(12))


def test_batches_of_rows_with_a_smaller_last_one() -> None:
    start = tf.Variable(0).count_up_to(3) * 3
    batch = tf.train.batch([tf.range(start, start + 3)], 4, enqueue_many=True, shapes=[[]])
    smaller = tf.train.batch([tf.Variable(0).count_up_to(5)], 3, allow_smaller_final_batch=True)
    with _running() as run:
        assert [part.tolist() for part in _to_the_end(run, batch)] == [[0, 1, 2, 3], [4, 5, 6, 7]]
        assert [part.tolist() for part in _to_the_end(run, smaller)] == [[0, 1, 2], [3, 4]]


def test_padded_batches() -> None:
    count = tf.Variable(0).count_up_to(3)
    batch = tf.train.batch([tf.fill([count], count)], 3, dynamic_pad=True)
    with _running() as run:
        assert run(batch).tolist() == [[0, 0], [1, 0], [2, 2]]


def test_shuffled_batches() -> None:
    number = tf.Variable(0).count_up_to(40)
    batch = tf.train.shuffle_batch([number, tf.as_string(number)], 8, 32, 16, seed=1)
    with _running() as run:
        got = [run(batch) for _ in range(5)]
    numbers = [int(n) for part, _ in got for n in part]
    assert sorted(numbers) == list(range(40))
    assert numbers != sorted(numbers)
    for part, texts in got:
        assert texts.tolist() == [b"%d" % n for n in part]
    with pytest.raises(ValueError, match="must be bigger than min_after_dequeue"):
        tf.train.shuffle_batch([number], 8, 16, 16)


@pytest.mark.parametrize("shuffle", [False, True])
def test_joined_sources(shuffle: bool) -> None:
    sources = [
        [tf.Variable(0).count_up_to(limit), tf.constant(name)]
        for name, limit in (("a", 6), ("b", 10))
    ]
    if shuffle:
        batch = tf.train.shuffle_batch_join(sources, 4, 16, 4, seed=3)
    else:
        batch = tf.train.batch_join(sources, 4)
    with _running() as run:
        got = _to_the_end(run, batch)
    assert Counter(name for _, names in got for name in names) == {b"a": 6, b"b": 10}


@pytest.mark.parametrize("shuffle", [False, True])
def test_only_what_is_kept(shuffle: bool) -> None:
    number = tf.Variable(0).count_up_to(20)
    if shuffle:
        one = tf.train.maybe_shuffle_batch([number], 5, 16, 4, number % 2 < 1, seed=1)
    else:
        one = tf.train.maybe_batch([number], number % 2 < 1, 5)
    other = tf.Variable(0).count_up_to(20)
    rows = other * 2 + tf.constant([0, 1])
    some = tf.train.maybe_batch([rows], rows % 4 < 1, 5, enqueue_many=True)
    with _running() as run:
        kept = [int(n) for part in _to_the_end(run, one) for n in part]
        assert sorted(kept) == list(range(0, 20, 2))
        kept = [int(n) for part in _to_the_end(run, some) for n in part]
        assert kept == list(range(0, 40, 4))


def test_keep_input_is_checked() -> None:
    rows = tf.zeros([5])
    with pytest.raises(ValueError, match="cannot be a vector when `enqueue_many=False`"):
        tf.train.maybe_batch([rows], [True] * 5, 1)
    with pytest.raises(ValueError, match="must be 0 or 1 dimensions"):
        tf.train.maybe_batch([rows], [[True], [False]], 1, enqueue_many=True)
    with pytest.raises(ValueError, match="must be known at graph construction"):
        tf.train.maybe_batch([rows], tf.placeholder(tf.bool), 1, enqueue_many=True)
    with pytest.raises(ValueError, match="Cannot infer Tensor's rank"):
        tf.train.batch([tf.placeholder(tf.float32)], 2)
    with pytest.raises(TypeError, match="Expected types to be consistent"):
        tf.train.batch_join([[1.0], [1]], 2)


def test_examples_may_be_dictionaries() -> None:
    assert batching._as_tensor_list({"b": 2, "a": 1}) == [1, 2]
    assert batching._as_tensor_list_list([{"b": 2, "a": 1}, {"a": 3, "b": 4}]) == [[1, 2], [3, 4]]
    assert batching._as_original_type({"b": 2, "a": 1}, [5, 6]) == {"a": 5, "b": 6}
    assert batching._as_original_type({"a": 1}, 5) == {"a": 5}
    with pytest.raises(ValueError, match="same keys"):
        batching._as_tensor_list_list([{"a": 1}, {"b": 2}])


def test_how_full_the_queue_is() -> None:
    tf.train.batch([tf.constant(1)], 2, capacity=10, name="b")
    (summary,) = tf.get_collection(tf.GraphKeys.SUMMARIES)
    assert summary.name == "b/fraction_of_10_full:0"
    with tf.Session() as sess:
        message = tf.Summary.FromString(sess.run(summary))
    assert np.isclose(message.value[0].simple_value, 0.0)
