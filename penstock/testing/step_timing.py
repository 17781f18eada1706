"""`tensorflow.contrib.rnn.python.kernel_tests.benchmarking`: how long steps take."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import penstock as tf

_WARM_UP = 2


def device(use_gpu: bool = False) -> Any:
    """A context whose ops run on the first GPU, or on the CPU."""
    return tf.device("/gpu:0" if use_gpu else "/cpu:0")


def seconds_per_run(op: Any, sess: Any, num_runs: int = 50) -> float:
    """The mean time of `sess.run(op)`, behind runs that compile the step."""
    for _ in range(_WARM_UP):
        sess.run(op)
    start = time.perf_counter()
    for _ in range(num_runs):
        sess.run(op)
    return (time.perf_counter() - start) / num_runs


def dict_product(dicts: Mapping[str, Sequence[Any]]) -> Iterator[dict[str, Any]]:
    """Every choice of one value per key."""
    for values in itertools.product(*dicts.values()):
        yield dict(zip(dicts, values, strict=True))
