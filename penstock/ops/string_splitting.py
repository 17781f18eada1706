"""Strings split into words, into bytes, and into n-grams of words."""

from __future__ import annotations

from typing import Any

from penstock import dtypes
from penstock.ir.composite import SparseTensor
from penstock.ir.convert import to_tensor
from penstock.ir.operation import Operation
from penstock.ir.registry import attr, not_differentiable, op, types
from penstock.ir.type_sets import INDEX
from penstock.ops.shape_checks import with_rank
from penstock.ops.shaping import renamed_argument
from penstock.shapes import Shape

__all__: list[str] = []  # the public functions are those of tf.ragged

StringSplit = op(
    "StringSplit(input: string, delimiter: string) -> indices: int64, values: string, shape: int64",
    skip_empty=True,
)
StringSplitV2 = op(
    "StringSplitV2(input: string, sep: string) -> indices: int64, values: string, shape: int64",
    maxsplit=-1,
)
StringNGrams = op(
    "StringNGrams(data: string, data_splits: Tsplits) -> ngrams: string, ngrams_splits: Tsplits",
    separator=attr("string"),
    ngram_widths=attr("list(int)", minimum=0),
    left_pad=attr("string"),
    right_pad=attr("string"),
    pad_width=attr("int"),
    preserve_short_sequences=attr("bool"),
    Tsplits=types(INDEX, default=dtypes.int64),
)
not_differentiable(StringSplit)


@StringSplit.shape
@StringSplitV2.shape
def _(op: Operation, input: Shape, separator: Shape) -> list[Shape]:
    with_rank(input, 1)
    with_rank(separator, 0)
    return [(None, 2), (None,), (2,)]


@StringNGrams.shape
def _(op: Operation, data: Shape, splits: Shape) -> list[Shape]:
    with_rank(data, 1)
    return [(None,), with_rank(splits, 1)]


def string_split(
    source: Any, sep: Any = None, skip_empty: bool = True, delimiter: Any = None
) -> SparseTensor:
    """`tf.string_split` of a vector, without a name scope of its own."""
    separators = renamed_argument("sep", sep, "delimiter", delimiter)
    separators = to_tensor(" " if separators is None else separators, dtypes.string)
    strings = to_tensor(source, dtypes.string)
    return SparseTensor(*StringSplit(strings, separators, skip_empty=skip_empty))


def string_split_v2(source: Any, sep: Any = None, maxsplit: int = -1) -> SparseTensor:
    """`tf.strings.split` of a vector, without a name scope of its own."""
    separator = to_tensor("" if sep is None else sep, dtypes.string)
    strings = to_tensor(source, dtypes.string)
    return SparseTensor(*StringSplitV2(strings, separator, maxsplit=maxsplit))
