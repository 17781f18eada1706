"""Strings: n characters in words of ten, or n / 10 numbers."""

import base64
import json
import zlib
from typing import Any

import numpy as np

from benchmarks.ops.trial import Family, Trial, alike, takes
from tests.ops.case import array, f32, i32, string, strings
from tests.ops.example_messages import example, sequence_example

_LETTERS = np.frombuffer(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ ", "uint8")


def _words(n: int) -> np.ndarray:
    drawn = _LETTERS[np.random.RandomState(0).randint(0, len(_LETTERS), (n // 10, 10))]
    return _objects([row.tobytes() for row in drawn])


def _objects(values: list[bytes]) -> np.ndarray:
    result = np.empty(len(values), object)
    result[:] = values
    return result


def _sentences(n: int) -> np.ndarray:
    """Sentences of ten words."""
    words = _words(n)
    return _objects([b" ".join(words[i : i + 10]) for i in range(0, len(words), 10)])


def _numerals(n: int) -> np.ndarray:
    return _objects([b"%d.5" % i for i in range(n // 10)])


def _lines(n: int) -> np.ndarray:
    return _objects([b"%d,%d.5,word" % (i, i) for i in range(n // 10)])


def _examples(n: int) -> np.ndarray:
    """Records of eight floats and a number."""
    record = example({"x": [float(i) for i in range(8)], "n": [3]})
    return _objects([record] * (n // 10))


def _sequences(n: int) -> np.ndarray:
    record = sequence_example({"c": [1.0]}, {"f": [[1.0, 2.0]] * 5})
    return _objects([record] * max(1, n // 20))


def _required() -> list[np.ndarray]:
    return [array([], "int64"), array([], "float32")]


def _long(content: bytes) -> np.ndarray:
    return string(content)


def _batch(n: int) -> tuple[np.ndarray, np.ndarray]:
    return _examples(n), np.zeros(0, object)


_DENSE = {"sparse_types": [], "dense_shapes": [[], [8]]}
_NO_RAGGED = {"num_sparse": 0, "ragged_value_types": [], "ragged_split_types": []}
_LISTS = {
    "context_sparse_types": [],
    "context_dense_shapes": [[]],
    "feature_list_sparse_types": [],
    "feature_list_dense_types": ["float32"],
    "feature_list_dense_shapes": [[2]],
}
_NO_SPARSE = {"Ncontext_sparse": 0, "Nfeature_list_sparse": 0, "Nfeature_list_dense": 1}
_NO_RAGGED_LISTS = dict.fromkeys(
    (
        "context_ragged_value_types",
        "context_ragged_split_types",
        "feature_list_ragged_value_types",
        "feature_list_ragged_split_types",
    ),
    (),
)
_CONTEXT_DEFAULT = [array([], "float32")]
_ENCODING = {"input_encoding": "UTF-8"}


def _single_sequence(n: int) -> Trial:
    """One record with a list of n / 10 pairs."""
    record = sequence_example({"c": [1.0]}, {"f": [[1.0, 2.0]] * (n // 10)})
    keys: tuple[list[Any], ...] = ([], [string("c")], [], [string("f")])
    return takes(_long(record), strings(), *keys, _CONTEXT_DEFAULT, string(""), **_LISTS)


def _encoded(n: int) -> np.ndarray:
    return _objects([base64.urlsafe_b64encode(word).rstrip(b"=") for word in _words(n)])


def _json(n: int) -> np.ndarray:
    record = {"features": {"feature": {"n": {"int64List": {"value": ["1", "2"]}}}}}
    return _objects([json.dumps(record).encode()] * (n // 100))


def _tensor(n: int) -> np.ndarray:
    """A TensorProto of n floats: type, shape, content."""
    content = f32(n).tobytes()
    size = _varint(n)
    dim = b"\x08" + size
    shape = b"\x12" + bytes([len(dim)]) + dim
    return _long(b"\x08\x01\x12" + bytes([len(shape)]) + shape + b"\x22" + _varint(4 * n) + content)


def _varint(value: int) -> bytes:
    parts = []
    while value > 0x7F:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*parts, value])


FAMILY: Family = {
    **alike(
        "StringLength StringLower StringStrip StringUpper EncodeBase64",
        lambda n: takes(_words(n)),
    ),
    "DecodeBase64": lambda n: takes(_encoded(n)),
    "Substr": lambda n: takes(_words(n), array(2, "int32"), array(5, "int32")),
    **alike(
        "StringToHashBucket StringToHashBucketFast", lambda n: takes(_words(n), num_buckets=1000)
    ),
    "StringToHashBucketStrong": lambda n: takes(_words(n), num_buckets=1000, key=[1, 2]),
    "StringJoin": lambda n: takes([_words(n), _words(n)]),
    "ReduceJoin": lambda n: takes(_words(n).reshape(-1, 10), array([1], "int32")),
    "UnsortedSegmentJoin": lambda n: takes(
        _words(n), i32(0, n // 100, n // 10), array(n // 100, "int32")
    ),
    "AsString": lambda n: takes(i32(0, 10**6, n // 10)),
    "StringFormat": lambda n: takes([f32(n // 10)]),
    "StringToNumber": lambda n: takes(_numerals(n)),
    "StringSplit": lambda n: takes(_sentences(n), string(" ")),
    "StringSplitV2": lambda n: takes(_sentences(n), string(" ")),
    "StringNGrams": lambda n: takes(
        _words(n),
        np.arange(0, n // 10 + 1, 10, dtype="int64"),
        separator=" ",
        ngram_widths=[2],
        left_pad="",
        right_pad="",
        pad_width=0,
        preserve_short_sequences=False,
    ),
    "RegexFullMatch": lambda n: takes(_words(n), string("[a-f].*[a-z]")),
    "RegexReplace": lambda n: takes(_words(n), string("[a-f]+"), string("-")),
    "StaticRegexFullMatch": lambda n: takes(_words(n), pattern="[a-f].*[a-z]"),
    "StaticRegexReplace": lambda n: takes(_words(n), pattern="[a-f]+", rewrite="-"),
    **alike("UnicodeDecode UnicodeDecodeWithOffsets", lambda n: takes(_words(n), **_ENCODING)),
    "UnicodeEncode": lambda n: takes(
        i32(97, 1000, n), np.arange(0, n + 1, 10, dtype="int64"), output_encoding="UTF-8"
    ),
    "UnicodeScript": lambda n: takes(i32(97, 1000, n)),
    "UnicodeTranscode": lambda n: takes(_words(n), **_ENCODING, output_encoding="UTF-16-BE"),
    "DecodeCSV": lambda n: takes(
        _lines(n), [array([0], "int32"), array([0], "float32"), strings("")]
    ),
    "DecodeRaw": lambda n: takes(_objects([bytes(400)] * (n // 100)), out_type="float32"),
    "DecodePaddedRaw": lambda n: takes(
        _objects([bytes(400)] * (n // 100)), array(400, "int32"), out_type="float32"
    ),
    "DecodeCompressed": lambda n: takes(
        _objects([zlib.compress(b"".join(_words(n)))]), compression_type="ZLIB"
    ),
    "DecodeJSONExample": lambda n: takes(_json(n)),
    "ParseTensor": lambda n: takes(_tensor(n), out_type="float32"),
    "ParseExample": lambda n: takes(
        *_batch(n), [], [string("n"), string("x")], _required(), **_DENSE
    ),
    "ParseExampleV2": lambda n: takes(
        *_batch(n), strings(), strings("n", "x"), strings(), _required(), **_DENSE, **_NO_RAGGED
    ),
    "ParseSingleExample": lambda n: takes(
        _long(example({"x": [float(i) for i in range(n // 10)], "n": [3]})),
        _required(),
        num_sparse=0,
        sparse_keys=[],
        dense_keys=["n", "x"],
        sparse_types=[],
        dense_shapes=[[], [n // 10]],
    ),
    "ParseSequenceExample": lambda n: takes(
        _sequences(n),
        np.zeros(0, object),
        _CONTEXT_DEFAULT,
        **_LISTS,
        **_NO_SPARSE,
        Ncontext_dense=1,
        context_sparse_keys=[],
        context_dense_keys=["c"],
        feature_list_sparse_keys=[],
        feature_list_dense_keys=["f"],
        feature_list_dense_missing_assumed_empty=[],
    ),
    "ParseSequenceExampleV2": lambda n: takes(
        _sequences(n),
        np.zeros(0, object),
        strings(),
        strings("c"),
        strings(),
        strings(),
        strings("f"),
        strings(),
        array([False], "bool"),
        _CONTEXT_DEFAULT,
        **_LISTS,
        **_NO_SPARSE,
        **{key: list(value) for key, value in _NO_RAGGED_LISTS.items()},
    ),
    "ParseSingleSequenceExample": _single_sequence,
    "MergeSummary": lambda n: takes([string(b""), string(b"")]),
    "ScalarSummary": lambda n: takes(_objects([b"tag"] * (n // 100)), f32(n // 100)),
    "HistogramSummary": lambda n: takes(string("tag"), f32(n)),
    "TensorSummary": lambda n: takes(f32(n)),
    "TensorSummaryV2": lambda n: takes(string("tag"), f32(n), string("")),
    "AudioSummaryV2": lambda n: takes(
        string("tag"), f32(1, n, 1, lo=-1, hi=1), array(8000, "float32")
    ),
}
