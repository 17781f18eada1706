"""Hashes of strings, and fingerprints of any data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.ir.constants import constant_value
from penstock.ir.dispatch import dispatched
from penstock.ir.operation import Operation
from penstock.ir.registry import attr, not_differentiable, op
from penstock.ir.tensor import Tensor
from penstock.ops.shape_checks import with_rank, with_rank_at_least
from penstock.ops.shaping import renamed_argument
from penstock.shapes import Shape

__all__ = [
    "fingerprint",
    "string_to_hash_bucket",
    "string_to_hash_bucket_fast",
    "string_to_hash_bucket_strong",
]

StringToHashBucket = op(
    "StringToHashBucket(string_tensor: string) -> output: int64", num_buckets=attr("int", minimum=1)
)
StringToHashBucketFast = op(
    "StringToHashBucketFast(input: string) -> output: int64", num_buckets=attr("int", minimum=1)
)
StringToHashBucketStrong = op(
    "StringToHashBucketStrong(input: string) -> output: int64",
    num_buckets=attr("int", minimum=1),
    key=attr("list(int)"),
)
Fingerprint = op("Fingerprint(data: T, method: string) -> fingerprint: uint8")
not_differentiable(StringToHashBucket, StringToHashBucketFast, StringToHashBucketStrong)

FINGERPRINT_SIZE = {b"farmhash64": 8}  # bytes, by method


@StringToHashBucket.shape
@StringToHashBucketFast.shape
@StringToHashBucketStrong.shape
def _(op: Operation, input: Shape) -> Shape:
    return input


@Fingerprint.shape
def _(op: Operation, data: Shape, method: Shape) -> Shape:
    data = with_rank_at_least(data, 1)
    with_rank(method, 0)
    known = constant_value(op.inputs[1])
    size = None
    if known is not None:
        size = FINGERPRINT_SIZE.get(known.item())
        if size is None:
            raise ValueError(f"Unsupported method: {known.item().decode()}")
    return (None if data is None else data[0], size)


@dispatched
def string_to_hash_bucket(
    string_tensor: Any = None,
    num_buckets: int | None = None,
    name: str | None = None,
    input: Any = None,
) -> Tensor:
    """A number below `num_buckets` for each string, from a hash that TensorFlow no longer advises.

    Use `string_to_hash_bucket_fast` or `string_to_hash_bucket_strong` where no old model decides.
    """
    strings = renamed_argument("input", input, "string_tensor", string_tensor)
    return StringToHashBucket(strings, num_buckets=num_buckets, name=name)


@dispatched
def string_to_hash_bucket_fast(input: Any, num_buckets: int, name: str | None = None) -> Tensor:
    """A number below `num_buckets` for each string, from its FarmHash fingerprint.

    >>> tf.string_to_hash_bucket_fast(["a", "b"], 10)
    """
    return StringToHashBucketFast(input, num_buckets=num_buckets, name=name)


@dispatched
def string_to_hash_bucket_strong(
    input: Any, num_buckets: int, key: Sequence[int], name: str | None = None
) -> Tensor:
    """A number below `num_buckets` for each string, from SipHash with two secret numbers as `key`.

    Who doesn't know the key can't make strings that all fall into one bucket.
    """
    return StringToHashBucketStrong(input, num_buckets=num_buckets, key=key, name=name)


def fingerprint(data: Any, method: Any = "farmhash64", name: str | None = None) -> Tensor:
    """Eight bytes for each row of `data`, equal for equal rows and hardly ever for others."""
    return Fingerprint(data, method, name=name)
