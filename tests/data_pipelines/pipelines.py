"""Pipelines that real TensorFlow and Penstock both run: `recorded.json` has what TensorFlow gave.

Each function takes the module (`tf`) and a folder with the files of `write_files`, and returns a
dataset.
"""

from __future__ import annotations

import collections
import gzip
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

PIPELINES: dict[str, Callable[[Any, Path], Any]] = {}
Point = collections.namedtuple("Point", ["x", "y"])


def pipeline(function: Callable[[Any, Path], Any]) -> Callable[[Any, Path], Any]:
    PIPELINES[function.__name__] = function
    return function


def write_files(tf: Any, folder: Path) -> None:
    """The files that pipelines read."""
    (folder / "a.txt").write_bytes(b"first\nsecond\r\n\nlast")
    (folder / "b.txt").write_bytes(b"one line\n")
    (folder / "c.txt.gz").write_bytes(gzip.compress(b"packed\nlines\n"))
    (folder / "d.txt.z").write_bytes(zlib.compress(b"other\npacking\n"))
    (folder / "fixed.bin").write_bytes(b"HHaaabbbcccF")
    (folder / "odd.bin").write_bytes(b"aaabb")
    (folder / "table.csv").write_text('n,x,s\n1,2.5,a\n2,,"b ""q"" c"\n3,4.5,d\n')
    (folder / "bad.csv").write_text("1,2\n3,x\n5,6\n")
    for number in range(3):
        with tf.python_io.TFRecordWriter(str(folder / f"{number}.tfrecord")) as writer:
            for record in range(4 if number != 1 else 2):
                example = tf.train.Example()
                example.features.feature["id"].int64_list.value.append(10 * number + record)
                values = [record + 0.5] * record
                example.features.feature["values"].float_list.value.extend(values)
                writer.write(example.SerializeToString())
    data = (folder / "0.tfrecord").read_bytes()
    (folder / "damaged.records").write_bytes(data[:-3])


# Sources ------------------------------------------------------------------------------------------


@pipeline
def from_tensors(tf, folder):
    return tf.data.Dataset.from_tensors((np.array([1, 2, 3]), {"a": 4.0, "b": [b"x", b"y"]}))


@pipeline
def slices_of_a_structure(tf, folder):
    return tf.data.Dataset.from_tensor_slices(
        (np.arange(6).reshape(3, 2), {"b": ["p", "q", "r"], "a": np.float32([1, 2, 3])})
    )


@pipeline
def slices_of_a_named_tuple(tf, folder):
    return tf.data.Dataset.from_tensor_slices(Point([1, 2], [[3.0], [4.0]])).map(
        lambda point: Point(point.y, point.x)
    )


@pipeline
def slices_of_a_list(tf, folder):
    return tf.data.Dataset.from_tensor_slices([[1, 2], [3, 4]])


@pipeline
def slices_of_a_sparse_tensor(tf, folder):
    sparse = tf.SparseTensor([[0, 0], [2, 1], [2, 2]], [1, 2, 3], [3, 4])
    return tf.data.Dataset.from_sparse_tensor_slices(sparse)


@pipeline
def ranges(tf, folder):
    return tf.data.Dataset.range(2, 11, 4).concatenate(tf.data.Dataset.range(5, 0, -2))


@pipeline
def generator(tf, folder):
    def yields(limit):
        for number in range(limit):
            yield number, [float(number)] * number, f"n{number}"

    types = (tf.int64, tf.float32, tf.string)
    return tf.data.Dataset.from_generator(yields, types, ([], [None], []), args=(3,)).repeat(2)


@pipeline
def generator_of_wrong_shapes(tf, folder):
    def yields():
        yield [1, 2]
        yield [1, 2, 3]
        yield [3, 4]

    return tf.data.Dataset.from_generator(yields, tf.int32, [2])


@pipeline
def text_lines(tf, folder):
    return tf.data.TextLineDataset([str(folder / "a.txt"), str(folder / "b.txt")])


@pipeline
def text_lines_of_a_missing_file(tf, folder):
    return tf.data.TextLineDataset([str(folder / "no.txt"), str(folder / "b.txt")])


@pipeline
def gzipped_text_lines(tf, folder):
    return tf.data.TextLineDataset(str(folder / "c.txt.gz"), "GZIP")


@pipeline
def zlib_text_lines(tf, folder):
    return tf.data.TextLineDataset(str(folder / "d.txt.z"), "ZLIB")


@pipeline
def fixed_length_records(tf, folder):
    return tf.data.FixedLengthRecordDataset(str(folder / "fixed.bin"), 3, 2, 1)


@pipeline
def fixed_length_records_that_do_not_fit(tf, folder):
    return tf.data.FixedLengthRecordDataset(str(folder / "odd.bin"), 3)


@pipeline
def parsed_records(tf, folder):
    names = [str(folder / f"{number}.tfrecord") for number in range(3)]
    features = {
        "id": tf.FixedLenFeature([], tf.int64),
        "values": tf.FixedLenSequenceFeature([], tf.float32, allow_missing=True),
    }
    parsed = tf.data.TFRecordDataset(names).map(lambda one: tf.parse_single_example(one, features))
    return parsed.map(lambda f: (f["id"], f["values"])).padded_batch(4, ([], [None]))


@pipeline
def sparse_features(tf, folder):
    features = {"values": tf.VarLenFeature(tf.float32)}
    records = tf.data.TFRecordDataset(str(folder / "0.tfrecord"))
    parsed = records.map(lambda one: tf.parse_single_example(one, features)["values"])
    return parsed.batch(3).map(tf.sparse_tensor_to_dense)


@pipeline
def damaged_records(tf, folder):
    return tf.data.TFRecordDataset(str(folder / "damaged.records")).map(tf.strings.length)


@pipeline
def parallel_reads(tf, folder):
    names = [str(folder / f"{number}.tfrecord") for number in range(3)]
    features = {"id": tf.FixedLenFeature([], tf.int64)}
    records = tf.data.TFRecordDataset(names, num_parallel_reads=2)
    return records.map(lambda one: tf.parse_single_example(one, features)["id"])


@pipeline
def listed_files(tf, folder):
    files = tf.data.Dataset.list_files(str(folder / "*.txt"), shuffle=False)
    return files.map(lambda name: tf.strings.substr(name, -5, 5))


@pipeline
def listed_files_in_random_order(tf, folder):
    files = tf.data.Dataset.list_files(str(folder / "*.tfrecord"), seed=5).repeat(2)
    return files.map(lambda name: tf.strings.substr(name, -10, 1))


@pipeline
def no_files(tf, folder):
    return tf.data.Dataset.list_files(str(folder / "*.nothing"))


# Rearrangements -----------------------------------------------------------------------------------


@pipeline
def zipped(tf, folder):
    first = tf.data.Dataset.range(3)
    second = tf.data.Dataset.from_tensor_slices({"a": ["x", "y"]})
    return tf.data.Dataset.zip((first, (second, first)))


@pipeline
def taken(tf, folder):
    return tf.data.Dataset.range(10).skip(3).take(4).concatenate(tf.data.Dataset.range(2).take(-1))


@pipeline
def skipped_to_the_end(tf, folder):
    return tf.data.Dataset.range(5).skip(-1)


@pipeline
def sharded(tf, folder):
    return tf.data.Dataset.range(10).shard(3, 1)


@pipeline
def sharded_wrongly(tf, folder):
    return tf.data.Dataset.range(10).shard(3, 3)


@pipeline
def repeated(tf, folder):
    return (
        tf.data.Dataset.range(3).repeat(3).repeat(0).concatenate(tf.data.Dataset.range(2).repeat(2))
    )


@pipeline
def nothing_repeated_for_ever(tf, folder):
    return tf.data.Dataset.range(0).repeat()


@pipeline
def batched(tf, folder):
    return tf.data.Dataset.from_tensor_slices((np.arange(14).reshape(7, 2), list("abcdefg"))).batch(
        3
    )


@pipeline
def full_batches(tf, folder):
    return tf.data.Dataset.range(7).batch(3, drop_remainder=True)


@pipeline
def batch_of_different_shapes(tf, folder):
    return tf.data.Dataset.range(1, 5).map(lambda n: tf.fill([n], n)).batch(2)


@pipeline
def batch_of_nothing(tf, folder):
    return tf.data.Dataset.range(4).batch(0)


@pipeline
def padded(tf, folder):
    numbers = tf.data.Dataset.range(5).map(
        lambda n: (tf.fill([n], n), tf.fill([2, n], "s"), tf.cast(n, tf.float32))
    )
    return numbers.padded_batch(2, ([None], [3, None], []), (np.int64(-1), "-", 0.0))


@pipeline
def padded_to_fixed_shapes(tf, folder):
    numbers = tf.data.Dataset.range(5).map(lambda n: tf.fill([n], n))
    return numbers.padded_batch(2, [4], drop_remainder=True)


@pipeline
def padded_to_too_small_shapes(tf, folder):
    return tf.data.Dataset.range(5).map(lambda n: tf.fill([n], n)).padded_batch(2, [2])


@pipeline
def unbatched(tf, folder):
    whole = tf.data.Dataset.from_tensors((np.arange(6).reshape(3, 2), ["x", "y", "z"]))
    return whole.repeat(2).apply(tf.data.experimental.unbatch())


@pipeline
def unbatched_sparse(tf, folder):
    sparse = tf.SparseTensor([[0, 0], [2, 1]], [5, 6], [3, 2])
    return tf.data.Dataset.from_tensors((sparse, [1, 2, 3])).apply(tf.data.experimental.unbatch())


@pipeline
def sparse_slices(tf, folder):
    sparse = tf.SparseTensor([[0, 0], [2, 1]], [5, 6], [3, 2])
    return tf.data.Dataset.from_tensor_slices({"s": sparse}).repeat(2).batch(2)


@pipeline
def windows(tf, folder):
    windows = tf.data.Dataset.range(9).window(3, shift=2, stride=2, drop_remainder=False)
    return windows.flat_map(lambda window: window.batch(3))


@pipeline
def full_windows(tf, folder):
    pairs = tf.data.Dataset.zip((tf.data.Dataset.range(7), tf.data.Dataset.range(10, 17)))
    windows = pairs.window(3, shift=5, drop_remainder=True)
    return windows.flat_map(lambda a, b: tf.data.Dataset.zip((a.batch(3), b.batch(3))))


@pipeline
def spaced_windows(tf, folder):
    return tf.data.Dataset.range(12).window(2, shift=5).flat_map(lambda window: window.batch(2))


@pipeline
def shuffled(tf, folder):
    return tf.data.Dataset.range(12).shuffle(5, seed=3).repeat(2)


@pipeline
def shuffled_alike_each_time(tf, folder):
    return tf.data.Dataset.range(12).shuffle(5, 3, reshuffle_each_iteration=False).repeat(2)


@pipeline
def shuffled_by_the_graph_seed(tf, folder):
    tf.set_random_seed(11)
    return tf.data.Dataset.range(30).shuffle(100)


@pipeline
def shuffled_batches(tf, folder):
    return tf.data.Dataset.range(20).shuffle(8, seed=1).batch(4).repeat(2).shuffle(3, seed=2)


@pipeline
def shuffled_and_repeated(tf, folder):
    return tf.data.Dataset.range(6).apply(tf.data.experimental.shuffle_and_repeat(4, 3, seed=9))


@pipeline
def shuffled_and_repeated_in_a_large_buffer(tf, folder):
    return tf.data.Dataset.range(3).apply(tf.data.experimental.shuffle_and_repeat(20, 6, seed=9))


@pipeline
def shuffled_without_a_buffer(tf, folder):
    return tf.data.Dataset.range(3).shuffle(0, seed=1)


@pipeline
def cached(tf, folder):
    return tf.data.Dataset.range(6).shuffle(6, seed=4).cache().repeat(2)


@pipeline
def cached_in_a_file(tf, folder):
    pairs = tf.data.Dataset.from_tensor_slices(([1, 2, 3], ["a", "b", "c"]))
    return pairs.cache(str(folder / "cache")).repeat(2)


@pipeline
def prefetched(tf, folder):
    return tf.data.Dataset.range(10).prefetch(2).map(lambda n: n * n).prefetch(-1)


@pipeline
def enumerated(tf, folder):
    return tf.data.Dataset.from_tensor_slices(["a", "b"]).apply(
        tf.data.experimental.enumerate_dataset(start=5)
    )


# Functions ----------------------------------------------------------------------------------------


@pipeline
def mapped(tf, folder):
    factor = tf.constant(3, tf.int64)
    pairs = tf.data.Dataset.range(4).map(
        lambda n: (n * factor, {"half": tf.cast(n, tf.float32) / 2})
    )
    return pairs.map(lambda n, d: [d["half"], n])


@pipeline
def mapped_in_parallel(tf, folder):
    return tf.data.Dataset.range(20).map(lambda n: n * 2, num_parallel_calls=4)


@pipeline
def failing_elements(tf, folder):
    values = tf.data.Dataset.from_tensor_slices(np.float32([1, np.nan, 2, np.inf, 3]))
    return values.map(lambda x: tf.check_numerics(x, "bad"))


@pipeline
def failing_elements_in_parallel(tf, folder):
    values = tf.data.Dataset.from_tensor_slices(np.float32([1, np.nan, 2, np.inf, 3]))
    return values.map(lambda x: tf.check_numerics(x, "bad"), num_parallel_calls=2).prefetch(2)


@pipeline
def failing_elements_in_batches(tf, folder):
    values = tf.data.Dataset.from_tensor_slices(np.float32([1, 2, np.nan, 3, 4, 5]))
    return values.map(lambda x: tf.check_numerics(x, "bad")).batch(2)


@pipeline
def without_failing_elements(tf, folder):
    values = tf.data.Dataset.from_tensor_slices(np.float32([1, np.nan, 2, np.inf, 3]))
    checked = values.map(lambda x: tf.check_numerics(x, "bad"))
    return checked.apply(tf.data.experimental.ignore_errors())


@pipeline
def python_functions(tf, folder):
    def square(n):
        return n * n

    return tf.data.Dataset.range(4).map(lambda n: tf.py_func(square, [n], tf.int64))


@pipeline
def python_function_that_stops(tf, folder):
    def three(n):
        if n == 3:
            raise StopIteration
        return n

    return tf.data.Dataset.range(6).map(lambda n: tf.py_func(three, [n], tf.int64))


@pipeline
def loops_and_conditions(tf, folder):
    def collatz(n):
        def step(value, count):
            halved = tf.cond(tf.equal(value % 2, 0), lambda: value // 2, lambda: 3 * value + 1)
            return halved, count + 1

        return tf.while_loop(lambda value, count: value > 1, step, [n, tf.constant(0, tf.int64)])[1]

    return tf.data.Dataset.range(1, 10).map(collatz, num_parallel_calls=2)


@pipeline
def filtered(tf, folder):
    pairs = tf.data.Dataset.from_tensor_slices(([1, 2, 3, 4], ["a", "b", "c", "d"]))
    return pairs.filter(lambda n, s: tf.equal(n % 2, 0))


@pipeline
def flat_mapped(tf, folder):
    def upto(n):
        return tf.data.Dataset.range(n).map(lambda m: m + 10 * n)

    return tf.data.Dataset.range(4).flat_map(upto)


@pipeline
def interleaved(tf, folder):
    def copies(n):
        return tf.data.Dataset.from_tensors(n).repeat(n)

    return tf.data.Dataset.range(1, 6).interleave(copies, cycle_length=2, block_length=3)


@pipeline
def interleaved_in_parallel(tf, folder):
    def copies(n):
        return tf.data.Dataset.from_tensors(n).repeat(n)

    numbers = tf.data.Dataset.range(1, 6)
    return numbers.interleave(copies, cycle_length=3, block_length=1, num_parallel_calls=2)


@pipeline
def interleaved_by_the_old_function(tf, folder):
    def copies(n):
        return tf.data.Dataset.from_tensors(n).repeat(n)

    interleave = tf.data.experimental.parallel_interleave(copies, cycle_length=2, block_length=2)
    return tf.data.Dataset.range(1, 6).apply(interleave)


@pipeline
def mapped_and_batched(tf, folder):
    batches = tf.data.experimental.map_and_batch(lambda n: (n, n * 2), 3, num_parallel_calls=2)
    return tf.data.Dataset.range(8).apply(batches)


@pipeline
def scanned(tf, folder):
    sums = tf.data.experimental.scan(tf.constant(0, tf.int64), lambda s, n: (s + n, s * 10 + n))
    return tf.data.Dataset.range(5).apply(sums)


@pipeline
def taken_while(tf, folder):
    return (
        tf.data.Dataset.range(9).apply(tf.data.experimental.take_while(lambda n: n < 4)).repeat(2)
    )


@pipeline
def unique(tf, folder):
    words = tf.data.Dataset.from_tensor_slices(["a", "b", "a", "c", "b"])
    return words.apply(tf.data.experimental.unique())


@pipeline
def counted(tf, folder):
    return tf.data.experimental.Counter(3, 2, tf.int32).take(4)


@pipeline
def random_numbers(tf, folder):
    return tf.data.experimental.RandomDataset(seed=8).take(6)


@pipeline
def grouped(tf, folder):
    group = tf.data.experimental.group_by_window(
        lambda n: n % 3, lambda key, group: group.map(lambda n: n * 10 + key).batch(4), 2
    )
    return tf.data.Dataset.range(11).apply(group)


@pipeline
def bucketed(tf, folder):
    lengths = tf.data.Dataset.from_tensor_slices(np.int64([1, 5, 2, 8, 3, 6, 2, 9]))
    rows = lengths.map(lambda n: tf.fill([n], n))
    return rows.apply(
        tf.data.experimental.bucket_by_sequence_length(lambda row: tf.size(row), [3, 6], [2, 2, 2])
    )


@pipeline
def reduced_by_key(tf, folder):
    reducer = tf.data.experimental.Reducer(
        lambda key: (tf.constant(0, tf.int64), key),
        lambda state, n: (state[0] + n, state[1]),
        lambda total, key: (key, total),
    )
    return tf.data.Dataset.range(10).apply(
        tf.data.experimental.group_by_reducer(lambda n: n % 3, reducer)
    )


@pipeline
def chosen(tf, folder):
    datasets = [tf.data.Dataset.from_tensors(name).repeat(3) for name in "abc"]
    choice = tf.data.Dataset.from_tensor_slices(np.int64([0, 2, 1, 1, 1, 1, 0, 2]))
    return tf.data.experimental.choose_from_datasets(datasets, choice)


@pipeline
def sampled(tf, folder):
    datasets = [tf.data.Dataset.range(10 * n, 10 * n + 5) for n in range(3)]
    return tf.data.experimental.sample_from_datasets(datasets, [0.2, 0.5, 0.3], seed=12)


@pipeline
def sparse_batches(tf, folder):
    rows = tf.data.Dataset.range(4).map(lambda n: tf.fill([n], n + 1))
    batches = rows.apply(tf.data.experimental.dense_to_sparse_batch(2, [None]))
    return batches.map(tf.sparse_tensor_to_dense)


# Files --------------------------------------------------------------------------------------------


@pipeline
def csv(tf, folder):
    defaults = [tf.int32, [-1.0], tf.string]
    return tf.data.experimental.CsvDataset(str(folder / "table.csv"), defaults, header=True)


@pipeline
def csv_of_some_columns(tf, folder):
    return tf.data.experimental.CsvDataset(
        str(folder / "table.csv"), [tf.int64, tf.string], header=True, select_cols=[0, 2]
    )


@pipeline
def csv_with_bad_fields(tf, folder):
    return tf.data.experimental.CsvDataset(str(folder / "bad.csv"), [tf.int32, tf.int32])


@pipeline
def csv_batches(tf, folder):
    return tf.data.experimental.make_csv_dataset(
        str(folder / "table.csv"), 2, label_name="n", num_epochs=1, shuffle=False
    )


@pipeline
def feature_batches(tf, folder):
    return tf.data.experimental.make_batched_features_dataset(
        str(folder / "*.tfrecord"),
        3,
        {"id": tf.FixedLenFeature([], tf.int64)},
        num_epochs=1,
        shuffle_seed=6,
    )
