"""The ops that are measured, one file per family; each has a table `FAMILY`."""

from benchmarks.ops.families import (
    arrays,
    elementwise,
    images,
    linear_algebra,
    neural_networks,
    quantized,
    random_numbers,
    reductions,
    sparse,
    state,
    texts,
    training,
)
from benchmarks.ops.trial import Family

FAMILIES: dict[str, Family] = {
    "elementwise": elementwise.FAMILY,
    "reductions": reductions.FAMILY,
    "arrays": arrays.FAMILY,
    "linear_algebra": linear_algebra.FAMILY,
    "neural_networks": neural_networks.FAMILY,
    "quantized": quantized.FAMILY,
    "images": images.FAMILY,
    "random_numbers": random_numbers.FAMILY,
    "sparse": sparse.FAMILY,
    "texts": texts.FAMILY,
    "state": state.FAMILY,
    "training": training.FAMILY,
}
