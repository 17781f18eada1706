"""The nodes that the functions of strings, hashes and files make."""

from __future__ import annotations

from typing import Any

from tests.ops.graphs.snapshot import error_of


def _strings(tf: Any, *shape: Any) -> Any:
    return tf.placeholder(tf.string, list(shape))


def joining(tf: Any) -> Any:
    x, y = _strings(tf, 2, 3), _strings(tf, 2, None)
    unknown = tf.placeholder(tf.string)
    return [
        tf.string_join([x, y, "z"], separator="-"),
        tf.strings.join(["a", "b"], name="joined"),
        tf.reduce_join(x, 0),
        tf.reduce_join(x, axis=[1, 0], keep_dims=True, separator=","),
        tf.reduce_join(x, reduction_indices=-1, name="r"),
        tf.reduce_join(x),
        tf.strings.reduce_join(unknown),
        tf.reduce_join(unknown, tf.placeholder(tf.int32)),
        tf.strings.unsorted_segment_join(x, [0, 1], 3, separator=":"),
        error_of(lambda: tf.string_join([x, _strings(tf, 3)])),
        error_of(lambda: tf.reduce_join(x, 2)),
        error_of(lambda: tf.reduce_join(x, 0, reduction_indices=1)),
    ]


def splitting(tf: Any) -> Any:
    x = _strings(tf, None)
    found = [
        tf.string_split(x),
        tf.string_split(x, ",", name="s"),
        tf.string_split(["a b"], delimiter=tf.placeholder(tf.string, []), skip_empty=False),
        tf.strings.split(x, result_type="SparseTensor"),
        tf.strings.split(x, sep=",", maxsplit=2, name="t"),
        tf.strings.split(source=["a"], sep="a"),
    ]
    parts = [[sparse.indices, sparse.values, sparse.dense_shape] for sparse in found]
    return [
        *parts,
        error_of(lambda: tf.string_split(_strings(tf, 2, 2))),
        error_of(lambda: tf.string_split(x, sep=",", delimiter=",")),
    ]


def parts(tf: Any) -> Any:
    x = _strings(tf, 2, None)
    return [
        tf.substr(x, 1, 2),
        tf.strings.substr(x, [1], [2], unit="UTF8_CHAR", name="s"),
        tf.strings.length(x),
        tf.strings.length(x, "n", "UTF8_CHAR"),
        tf.string_strip(x),
        tf.strings.strip("a"),
        tf.strings.lower(x),
        tf.strings.upper(x, encoding="utf-8"),
        tf.encode_base64(x),
        tf.io.encode_base64(x, pad=True),
        tf.decode_base64(x),
        tf.strings.unicode_script([1, 2]),
        tf.strings.unicode_transcode(x, "latin1", "UTF-16-BE", errors="ignore"),
        error_of(lambda: tf.substr(x, [1, 2, 3], [1, 2])),
    ]


def numbers(tf: Any) -> Any:
    x = tf.placeholder(tf.float32, [2])
    return [
        tf.as_string(x),
        tf.strings.as_string(x, precision=2, scientific=True, width=9, fill="0", name="a"),
        tf.string_to_number(["1"]),
        tf.string_to_number(string_tensor=["1"], out_type=tf.int64, name="n"),
        tf.strings.to_number(input=["1"], out_type=tf.float64),
        tf.strings.format("x {}", x),
        tf.strings.format("{} and {}", (x, x), summarize=5),
        tf.strings.format("%% %%", [x, x], placeholder="%%", name="f"),
        error_of(lambda: tf.strings.format("{}", [x, x])),
        error_of(lambda: tf.string_to_number("1", input="1")),
        error_of(lambda: tf.string_to_number(["1"], tf.half)),
    ]


def hashes(tf: Any) -> Any:
    x = _strings(tf, None, 2)
    return [
        tf.string_to_hash_bucket(x, 10),
        tf.strings.to_hash_bucket(input=x, num_buckets=10, name="h"),
        tf.string_to_hash_bucket_fast(x, 10),
        tf.string_to_hash_bucket_strong(x, 10, key=[1, 2]),
        tf.fingerprint(x),
        tf.fingerprint(tf.placeholder(tf.float32, [3, 4]), name="f"),
        error_of(lambda: tf.string_to_hash_bucket_fast(x, 0)),
        error_of(lambda: tf.fingerprint(1.0)),
        error_of(lambda: tf.fingerprint(x, method="md5")),
    ]


def regular_expressions(tf: Any) -> Any:
    x = _strings(tf, 2)
    return [
        tf.regex_replace(x, "a(.)", r"\1"),
        tf.strings.regex_replace(x, tf.placeholder(tf.string, []), "b", replace_global=False),
        tf.regex_replace(x, "a", tf.constant("b"), name="r"),
        tf.strings.regex_full_match(x, "a.*"),
        tf.strings.regex_full_match(x, tf.constant("a.*")),
        error_of(lambda: tf.regex_replace(x, tf.constant(["a"]), "b")),
    ]


def files(tf: Any) -> Any:
    return [
        tf.read_file("a"),
        tf.io.read_file(_strings(tf), name="r"),
        tf.write_file("a", tf.constant("b")),
        tf.matching_files("a*"),
        tf.io.matching_files(_strings(tf, 2)),
        error_of(lambda: tf.read_file(["a"])),
        error_of(lambda: tf.write_file("a", ["b"])),
    ]
