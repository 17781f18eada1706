"""Functions of strings that give or take ragged tensors: characters, words and n-grams."""

from __future__ import annotations

import functools
from typing import Any

import penstock as tf
from penstock.ops.shaping import renamed_argument
from penstock.ops.string_joining import reduce_join as dense_reduce_join
from penstock.ops.string_joining import unsorted_segment_join
from penstock.ops.string_splitting import StringNGrams, StringSplit
from penstock.ops.string_splitting import string_split as sparse_string_split
from penstock.ops.string_splitting import string_split_v2 as sparse_split
from penstock.ops.unicode import UnicodeDecode, UnicodeDecodeWithOffsets, UnicodeEncode
from penstock.ragged.arrays import expand_dims
from penstock.ragged.conversion import convert_to_tensor_or_ragged_tensor, is_ragged
from penstock.ragged.reductions import ragged_reduce_aggregate
from penstock.ragged.tensor import RaggedTensor

_REPLACEMENT = 0xFFFD


# Splitting ------------------------------------------------------------------------------------


def bytes_split(input: Any, name: str | None = None) -> Any:
    """Each string as the row of its bytes.

    >>> tf.strings.bytes_split(["ab", "c"])  # [[a, b], [c]]
    """
    with tf.name_scope(name, "StringsByteSplit", [input]):
        value = convert_to_tensor_or_ragged_tensor(input, name="input")
        if is_ragged(value):
            return value.with_flat_values(bytes_split(value.flat_values))
        rank = value.shape.ndims
        if rank is None:
            raise ValueError("input must have a statically-known rank.")
        if rank == 0:
            return bytes_split(tf.stack([value]))[0]
        if rank > 1:
            return bytes_split(RaggedTensor.from_tensor(value))
        return _rows_of(tf.SparseTensor(*StringSplit(value, "", skip_empty=False)))


def _rows_of(sparse: Any) -> RaggedTensor:
    """The rows of the words of strings."""
    return RaggedTensor.from_value_rowids(
        sparse.values, sparse.indices[:, 0], sparse.dense_shape[0], validate=False
    )


def string_split_v2(
    input: Any, sep: Any = None, maxsplit: int = -1, name: str | None = None
) -> Any:
    """Each string as the row of its words, as Python's `str.split` gives them."""
    with tf.name_scope(name, "StringSplit", [input]):
        value = convert_to_tensor_or_ragged_tensor(input, dtype=tf.string, name="input")
        if is_ragged(value):
            return value.with_flat_values(string_split_v2(value.flat_values, sep, maxsplit))
        rank = value.shape.ndims
        if rank == 0:
            return string_split_v2(tf.stack([value]), sep, maxsplit)[0]
        if rank is None or rank == 1:
            return _rows_of(sparse_split(value, sep, maxsplit))
        return string_split_v2(RaggedTensor.from_tensor(value), sep, maxsplit)


def split(
    input: Any = None,
    sep: Any = None,
    maxsplit: int = -1,
    result_type: str = "SparseTensor",
    source: Any = None,
    name: str | None = None,
) -> Any:
    """Splits each string at the text `sep`, as Python's `str.split` does.

    Without `sep` it splits at white space. The words of string number i are row i of the result, a
    sparse or ragged tensor; with `maxsplit` the rest of a string is its last word.
    """
    input = renamed_argument("input", input, "source", source)
    with tf.name_scope(name, "StringSplit", [input]):
        value = convert_to_tensor_or_ragged_tensor(input, dtype=tf.string, name="input")
        if result_type == "SparseTensor" and value.shape.ndims == 1:
            return sparse_split(value, sep, maxsplit)
        ragged = string_split_v2(value, sep, maxsplit)
        return _as_result_type(ragged, result_type)


strings_split_v1 = split


def _as_result_type(ragged: Any, result_type: str) -> Any:
    if result_type == "RaggedTensor":
        return ragged
    if result_type != "SparseTensor":
        raise ValueError("result_type must be 'RaggedTensor' or 'SparseTensor'.")
    return ragged.to_sparse()


def string_split(
    source: Any,
    sep: Any = None,
    skip_empty: bool = True,
    delimiter: Any = None,
    result_type: str = "SparseTensor",
    name: str | None = None,
) -> Any:
    """Splits each string of a vector at any byte of `sep` (" "), or into bytes if it is empty.

    The words of string number i are row i of the result, a sparse or ragged tensor.
    """
    with tf.name_scope(name, "StringSplit", [source]):
        sparse = sparse_string_split(source, sep, skip_empty, delimiter)
        if result_type == "SparseTensor":
            return sparse
        return _as_result_type(_rows_of(sparse), result_type)


string_bytes_split = bytes_split


# Characters -----------------------------------------------------------------------------------


def unicode_encode(
    input: Any,
    output_encoding: str,
    errors: str = "replace",
    replacement_char: int = _REPLACEMENT,
    name: str | None = None,
) -> Any:
    """Strings of code points: those of the last dimension become one string.

    `output_encoding` is "UTF-8", "UTF-16-BE" or "UTF-32-BE".
    """
    with tf.name_scope(name, "UnicodeEncode", [input]):
        value = convert_to_tensor_or_ragged_tensor(input)
        rank = value.shape.ndims
        if rank is None:
            raise ValueError("Rank of input_tensor must be statically known.")

        def encode(inner: Any) -> Any:
            return unicode_encode(inner, output_encoding, errors, replacement_char)

        if is_ragged(value):
            if value.flat_values.shape.ndims > 1:
                return value.with_flat_values(encode(value.flat_values))
            if value.ragged_rank > 1:
                return value.with_values(encode(value.values))
            return UnicodeEncode(
                value.values,
                value.row_splits,
                output_encoding=output_encoding,
                errors=errors,
                replacement_char=replacement_char,
            )
        if rank == 0:
            raise ValueError("input_tensor's rank must be at least 1.")
        return _encoded_dense(value, encode)


def _encoded_dense(value: Any, encode: Any) -> Any:
    rank = value.shape.ndims
    if rank == 1:
        bounds = tf.stack([0, tf.shape(value, out_type=tf.int32)[0]])
        row = RaggedTensor.from_row_splits(value, bounds, validate=False)
        return tf.reshape(encode(row), [])
    if rank == 2:
        return encode(RaggedTensor.from_tensor(value))
    rows = tf.reshape(value, tf.stack([-1, tf.shape(value)[-1]]))
    return tf.reshape(encode(rows), tf.shape(value)[:-1])


def unicode_decode(
    input: Any,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = _REPLACEMENT,
    replace_control_characters: bool = False,
    name: str | None = None,
) -> Any:
    """Each string as the row of its code points."""
    with tf.name_scope(name, "UnicodeDecode", [input]):
        points, _ = _decoded(
            input, input_encoding, errors, replacement_char, replace_control_characters, False
        )
        return points


def unicode_decode_with_offsets(
    input: Any,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = _REPLACEMENT,
    replace_control_characters: bool = False,
    name: str | None = None,
) -> tuple[Any, Any]:
    """Each string as the row of its code points, and where in its bytes each begins."""
    with tf.name_scope(name, "UnicodeDecodeWithOffsets", [input]):
        return _decoded(
            input, input_encoding, errors, replacement_char, replace_control_characters, True
        )


def unicode_split(
    input: Any,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = _REPLACEMENT,
    name: str | None = None,
) -> Any:
    """Each string as the row of its characters, as strings."""
    with tf.name_scope(name, "UnicodeSplit", [input]):
        points, _ = _decoded(input, input_encoding, errors, replacement_char, False, False)
        single = expand_dims(points, -1)
        return unicode_encode(single, input_encoding, errors, replacement_char)


def unicode_split_with_offsets(
    input: Any,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = _REPLACEMENT,
    name: str | None = None,
) -> tuple[Any, Any]:
    """Each string as the row of its characters, and where in its bytes each begins."""
    with tf.name_scope(name, "UnicodeSplitWithOffsets", [input]):
        points, offsets = _decoded(input, input_encoding, errors, replacement_char, False, True)
        single = expand_dims(points, -1)
        return unicode_encode(single, input_encoding, errors, replacement_char), offsets


def _decoded(
    input: Any,
    input_encoding: str,
    errors: str,
    replacement_char: int,
    replace_control_characters: bool,
    with_offsets: bool,
) -> tuple[Any, Any]:
    """Code points, and offsets where they are asked for (else None)."""
    value = convert_to_tensor_or_ragged_tensor(input, name="input")
    rank = value.shape.ndims
    if rank is None:
        raise ValueError("Rank of `input` must be statically known.")
    value = _ragged_down_to_strings(value)
    strings = tf.reshape(value.flat_values if is_ragged(value) else value, [-1])
    spec = UnicodeDecodeWithOffsets if with_offsets else UnicodeDecode
    splits, *found = spec(
        strings,
        input_encoding=input_encoding,
        errors=errors,
        replacement_char=replacement_char,
        replace_control_characters=replace_control_characters,
    )
    if rank > 0:
        found = [RaggedTensor.from_row_splits(each, splits, validate=False) for each in found]
    if rank > 1:
        found = [value.with_flat_values(each) for each in found]
    return (found[0], found[1]) if with_offsets else (found[0], None)


def _ragged_down_to_strings(value: Any) -> Any:
    """The value with all dimensions but the first ragged, if it has several."""
    rank = value.shape.ndims
    if rank < 2:
        return value
    if not is_ragged(value):
        return RaggedTensor.from_tensor(value, ragged_rank=rank - 1)
    missing = rank - 1 - value.ragged_rank
    if missing == 0:
        return value
    return value.with_flat_values(RaggedTensor.from_tensor(value.flat_values, ragged_rank=missing))


# Joining --------------------------------------------------------------------------------------


def reduce_join(
    inputs: Any,
    axis: Any = None,
    keepdims: bool | None = None,
    separator: str = "",
    name: str | None = None,
) -> Any:
    """`tf.reduce_join` for a ragged tensor."""
    return ragged_reduce_aggregate(
        functools.partial(dense_reduce_join, separator=separator),
        functools.partial(unsorted_segment_join, separator=separator),
        inputs,
        axis,
        keepdims,
        name or "RaggedSegmentJoin",
    )


def ngrams(
    data: Any,
    ngram_width: Any,
    separator: str = " ",
    pad_values: Any = None,
    padding_width: int | None = None,
    preserve_short_sequences: bool = False,
    name: str | None = None,
) -> Any:
    """The n-grams of each row of words, joined by the separator.

    `ngram_width` is one width or several; `pad_values` (one string, or one for each side) stands
    before and after each row, `padding_width` times at most.

    >>> tf.strings.ngrams(tf.ragged.constant([["a", "b", "c"], ["d"]]), 2)  # [[a b, b c], []]
    """
    with tf.name_scope(name, "StringNGrams", [data]):
        left, right = _pads(pad_values)
        _check_padding(pad_values, padding_width)
        widths = list(ngram_width) if isinstance(ngram_width, (list, tuple)) else [ngram_width]
        value = convert_to_tensor_or_ragged_tensor(data, name="data", dtype=tf.string)
        if is_ragged(value):
            ragged = value
        else:
            if value.shape.ndims is None:
                raise ValueError("Rank of data must be known.")
            if value.shape.ndims == 0:
                raise ValueError("Data must have rank>0")
            if value.shape.ndims == 1:
                row = RaggedTensor.from_row_starts(value, [0], validate=False)
                options = (separator, pad_values, padding_width, preserve_short_sequences)
                return ngrams(row, ngram_width, *options, name)[0]
            ragged = RaggedTensor.from_tensor(value, ragged_rank=value.shape.ndims - 1)
        if any(width < 1 for width in widths):
            raise ValueError(f"All ngram_widths must be greater than 0. Got {ngram_width}")
        pad_width = 0 if pad_values is None else -1 if padding_width is None else padding_width
        result = _ngrams_of_rows(
            ragged,
            separator=separator,
            ngram_widths=widths,
            left_pad=left,
            right_pad=right,
            pad_width=pad_width,
            preserve_short_sequences=preserve_short_sequences,
        )
        if is_ragged(value):
            return result
        return tf.reshape(result.flat_values, tf.concat([tf.shape(value)[:-1], [-1]], axis=0))


def _ngrams_of_rows(ragged: Any, **attrs: Any) -> Any:
    if ragged.ragged_rank > 1:
        return ragged.with_values(_ngrams_of_rows(ragged.values, **attrs))
    values, splits = StringNGrams(ragged.flat_values, ragged.row_splits, **attrs)
    return RaggedTensor.from_row_splits(values, splits, validate=False)


def _pads(pad_values: Any) -> tuple[Any, Any]:
    if pad_values is None:
        return "", ""
    pads = pad_values if isinstance(pad_values, (list, tuple)) else (pad_values, pad_values)
    if not all(isinstance(pad, (str, bytes)) for pad in pads[:2]):
        raise TypeError("pad_values must be a string, tuple of strings, or None.")
    return pads[0], pads[1]


def _check_padding(pad_values: Any, padding_width: int | None) -> None:
    if padding_width is None:
        return
    if padding_width < 1:
        raise ValueError("padding_width must be greater than 0.")
    if pad_values is None:
        raise ValueError("pad_values must be provided if padding_width is set.")
