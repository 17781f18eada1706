"""Kernels of hashes and fingerprints."""

import numpy as np
import torch

from penstock import errors, shapes
from penstock.kernels.hashes import farmhash, hash_rows, hash_strings, murmurhash, siphash
from penstock.kernels.registry import HOST, kernel
from penstock.kernels.values import to_array


def _invalid(message):
    return errors.InvalidArgumentError(None, None, message)


def _bucketing(function, num_buckets):
    """A kernel: the hash of each string modulo the number of buckets."""
    modulus = np.uint64(num_buckets)

    def run(strings):
        buckets = hash_strings(function, strings.ravel().tolist()) % modulus
        return torch.from_numpy(buckets.astype(np.int64).reshape(strings.shape))

    return run


@kernel("StringToHashBucket", devices=HOST)
def _(node):
    return _bucketing(murmurhash, node.attrs["num_buckets"])


@kernel("StringToHashBucketFast", devices=HOST)
def _(node):
    return _bucketing(farmhash, node.attrs["num_buckets"])


@kernel("StringToHashBucketStrong", devices=HOST)
def _(node):
    key = node.attrs["key"]
    if len(key) != 2:
        raise _invalid("Key must have 2 elements")
    return _bucketing(siphash(key), node.attrs["num_buckets"])


@kernel("Fingerprint", devices=HOST)
def _(node):
    def run(data, method):
        data = to_array(data)
        if method.ndim:
            raise _invalid(f"`method` should be a scalar string: {shapes.text(method.shape)}")
        if method.item() != b"farmhash64":
            raise _invalid(f"Unsupported fingerprint method: {method.item().decode()}")
        if data.ndim == 0:
            raise _invalid("`data` should have at least one dimension: []")
        if data.dtype == object:
            hashes = _of_rows_of_strings(data)
        else:
            content = np.frombuffer(data.tobytes(), np.uint8)
            hashes = hash_rows(farmhash, content.reshape(len(data), data[:1].nbytes))
        return torch.from_numpy(hashes.astype("<u8").view(np.uint8).reshape(len(data), 8))

    return run


def _of_rows_of_strings(data):
    """The hash of a string, or of the hashes of a row of strings."""
    hashes = hash_strings(farmhash, data.ravel().tolist())
    if data.size == len(data):
        return hashes
    rows = hashes.astype("<u8").view(np.uint8).reshape(len(data), -1)
    return hash_rows(farmhash, rows)
