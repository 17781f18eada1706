"""Hashes and fingerprints."""

from __future__ import annotations

import numpy as np

from tests.ops.case import Case, array, f32, string, strings

# Every length at which FarmHash changes its way, one byte beside it, and several blocks.
LENGTHS = (0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 200, 300)
TEXTS = strings(*(bytes((7 * i + n) % 256 for i in range(n)) for n in LENGTHS))
# Enough strings of one length to be hashed at once.
MANY = strings(*(bytes((i * k) % 256 for i in range(n)) for n in (3, 9, 40, 90) for k in range(20)))
LARGE = 2**62 - 57

CASES = [
    Case(op, (value,), {"num_buckets": buckets, **attrs}, label=label)
    for op, attrs in (
        ("StringToHashBucket", {}),
        ("StringToHashBucketFast", {}),
        ("StringToHashBucketStrong", {"key": [123, -456]}),
    )
    for label, value, buckets in (
        ("lengths", TEXTS, LARGE),
        ("many", MANY, LARGE),
        ("few buckets", strings(["a", "b"], ["c", "d"]), 10),
        ("one bucket", strings("a"), 1),
        ("empty", np.zeros((0,), object), 5),
    )
]
CASES += [
    Case(
        "StringToHashBucketStrong",
        (strings("a"),),
        {"num_buckets": 5, "key": [1]},
        label="short key",
        fails=True,
    ),
    Case("StringToHashBucketFast", (strings("a"),), {"num_buckets": 0}, label="zero", fails=True),
    Case("Fingerprint", (f32(3, 2), string("farmhash64")), label="float32"),
    Case("Fingerprint", (f32(20, 5, 4), string("farmhash64")), label="many rows"),
    Case("Fingerprint", (strings("a", "bc", ""), string("farmhash64")), label="strings"),
    Case(
        "Fingerprint",
        (strings(["a", "b"], ["c", "dd"]), string("farmhash64")),
        label="rows of strings",
    ),
    Case("Fingerprint", (f32(2, 0), string("farmhash64")), label="empty rows"),
    Case("Fingerprint", (f32(0, 2), string("farmhash64")), label="no rows"),
    Case("Fingerprint", (array([1, 2], "int64"), string("md5")), label="method", fails=True),
    Case("Fingerprint", (array(1, "int64"), string("farmhash64")), label="scalar", fails=True),
]
