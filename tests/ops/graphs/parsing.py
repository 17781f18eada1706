"""The nodes that parsing and decoding make."""

from __future__ import annotations

from typing import Any

from tests.ops.graphs.snapshot import error_of


def _described(parsed: dict[str, Any]) -> dict[str, Any]:
    """The tensors that features are parsed to."""
    return {
        key: [value.indices, value.values, value.dense_shape]
        if hasattr(value, "indices")
        else value
        for key, value in parsed.items()
    }


def _features(tf: Any) -> dict[str, Any]:
    return {
        "image": tf.FixedLenFeature([], tf.string),
        "label/of it": tf.FixedLenFeature([1], tf.int64, default_value=-1),
        "box": tf.FixedLenFeature((2, 2), tf.float32, default_value=[[0.0, 1.0], [2.0, 3.0]]),
        "words": tf.VarLenFeature(tf.string),
        "rows": tf.FixedLenSequenceFeature([3], tf.float32, allow_missing=True),
        "ids": tf.FixedLenSequenceFeature([], tf.int64, True, default_value=7),
    }


def examples(tf: Any) -> Any:
    return _described(tf.parse_example(tf.placeholder(tf.string, [None]), _features(tf)))


def examples_of_a_known_batch(tf: Any) -> Any:
    names = tf.placeholder(tf.string, [2])
    parsed = tf.parse_example(["", ""], _features(tf), name="parse", example_names=names)
    return _described(parsed)


def examples_of_unknown_rank(tf: Any) -> Any:
    return _described(tf.io.parse_example(tf.placeholder(tf.string), _features(tf)))


def sparse_features(tf: Any) -> Any:
    features = {
        "one": tf.SparseFeature("i", "v", tf.float32, 10),
        "two": tf.SparseFeature(["i", "j"], "v", tf.float32, [10, 20], already_sorted=True),
        "i": tf.VarLenFeature(tf.int64),
    }
    return _described(tf.parse_example(tf.placeholder(tf.string, [2]), features))


def single_example(tf: Any) -> Any:
    return [
        _described(tf.parse_single_example(tf.placeholder(tf.string, []), _features(tf))),
        _described(tf.parse_single_example("", _features(tf), name="one", example_names="name")),
    ]


def single_example_of_unknown_rank(tf: Any) -> Any:
    return _described(tf.io.parse_single_example(tf.placeholder(tf.string), _features(tf)))


def sequence_examples(tf: Any) -> Any:
    context = {
        "length": tf.FixedLenFeature([], tf.int64),
        "id": tf.FixedLenFeature([1], tf.string, default_value="none"),
        "words": tf.VarLenFeature(tf.string),
    }
    lists = {
        "frames": tf.FixedLenSequenceFeature([2], tf.float32),
        "maybe": tf.FixedLenSequenceFeature([], tf.int64, allow_missing=True),
        "tokens": tf.VarLenFeature(tf.int64),
    }
    batch = tf.io.parse_sequence_example(tf.placeholder(tf.string, [None]), context, lists)
    single = tf.parse_single_sequence_example(tf.placeholder(tf.string), context, lists, name="one")
    named = tf.parse_single_sequence_example("", {"length": context["length"]}, example_name="name")
    return [_described(part) for part in (*batch, *single, *named)]


def refused_features(tf: Any) -> Any:
    x = tf.placeholder(tf.string, [2])

    def parse(feature: Any) -> str:
        return error_of(lambda: tf.parse_example(x, {"a": feature}))

    both = {
        "a": tf.SparseFeature("i", "v", tf.float32, 10),
        "v": tf.FixedLenFeature([], tf.float32),
    }
    return [
        parse(tf.FixedLenFeature(None, tf.float32)),
        parse(tf.FixedLenFeature([None], tf.float32)),
        parse(tf.FixedLenFeature([2, None], tf.float32)),
        parse(tf.FixedLenFeature([], None)),
        parse(tf.VarLenFeature(None)),
        parse(tf.FixedLenSequenceFeature([], tf.float32)),
        parse(tf.SparseFeature("", "v", tf.float32, 10)),
        parse(tf.SparseFeature("i", "", tf.float32, 10)),
        parse(tf.FixedLenFeature([], tf.float64)),
        parse(3),
        error_of(lambda: tf.parse_example(x, {})),
        error_of(lambda: tf.parse_example(x, both)),
        error_of(lambda: tf.parse_single_example(x, {"a": tf.VarLenFeature(tf.int64)})),
        error_of(
            lambda: tf.parse_single_sequence_example(
                "", {"a": tf.FixedLenSequenceFeature([], tf.int64)}
            )
        ),
        error_of(lambda: tf.parse_single_sequence_example("")),
    ]


def decoding(tf: Any) -> Any:
    x = tf.placeholder(tf.string, [None])
    return [
        tf.decode_raw(x, tf.uint8),
        tf.decode_raw(bytes=x, out_type=tf.int16, little_endian=False, name="raw"),
        tf.decode_csv(x, [[1], [2.0], ["a"]]),
        tf.decode_csv(x, [[1], tf.constant([], tf.float32)], ";", False, "csv", "NA", [0, 2]),
        tf.decode_json_example(x),
        tf.decode_compressed(x, "GZIP"),
        tf.parse_tensor("", tf.float32),
        tf.serialize_tensor(tf.placeholder(tf.float32, [2])),
        tf.io.decode_raw(x, tf.float32),
        error_of(lambda: tf.decode_raw(x)),
        error_of(lambda: tf.decode_raw(x, tf.string)),
        error_of(lambda: tf.decode_csv(x, [[1]], select_cols=[1, 0])),
        error_of(lambda: tf.decode_csv(x, [[1], [1]], select_cols=[1, 0])),
        error_of(lambda: tf.decode_csv(x, [[1, 2]])),
    ]
