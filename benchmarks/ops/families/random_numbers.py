"""Random numbers."""

import numpy as np

from benchmarks.ops.trial import Family, alike, takes
from tests.ops.case import array, f32

_SEED = array([1, 2], "int32")
_KEY = array([3], "uint64"), array([4, 5], "uint64"), array(1, "int32")


def _shape(n: int) -> np.ndarray:
    return array([n], "int32")


def _bounds() -> tuple[np.ndarray, np.ndarray]:
    return array(0, "int32"), array(100, "int32")


FAMILY: Family = {
    **alike(
        "RandomStandardNormal RandomUniform TruncatedNormal",
        lambda n: takes(_shape(n), dtype="float32"),
    ),
    "RandomUniformInt": lambda n: takes(_shape(n), *_bounds()),
    "RandomGamma": lambda n: takes(_shape(n), array([2.5], "float32")),
    "RandomPoissonV2": lambda n: takes(_shape(n), array([2.5], "float32")),
    "ParameterizedTruncatedNormal": lambda n: takes(
        _shape(n), *(array(value, "float32") for value in (0, 1, -2, 2))
    ),
    "Multinomial": lambda n: takes(f32(10, 100), array(n // 10, "int32")),
    "StatelessMultinomial": lambda n: takes(f32(10, 100), array(n // 10, "int32"), _SEED),
    **alike(
        "StatelessRandomNormal StatelessRandomUniform StatelessTruncatedNormal",
        lambda n: takes(_shape(n), _SEED),
    ),
    "StatelessRandomUniformFullInt": lambda n: takes(_shape(n), _SEED, dtype="int32"),
    "StatelessRandomUniformInt": lambda n: takes(_shape(n), _SEED, *_bounds()),
    **alike(
        "StatelessRandomNormalV2 StatelessRandomUniformV2 StatelessTruncatedNormalV2",
        lambda n: takes(_shape(n), *_KEY),
    ),
    "StatelessRandomUniformFullIntV2": lambda n: takes(_shape(n), *_KEY, dtype="int32"),
    "StatelessRandomUniformIntV2": lambda n: takes(_shape(n), *_KEY, *_bounds()),
    "StatelessRandomGetKeyCounter": lambda n: takes(_SEED),
}
