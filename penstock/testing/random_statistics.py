"""Statistical tests of random numbers, as tests of samplers use them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

Samples = np.ndarray[Any, Any]


def moment_scores(samples: Samples, number_moments: int, dist: Any, stride: int = 0) -> list[float]:
    """How many standard deviations the first moments of samples are from a distribution's.

    Args:
      samples: the numbers drawn.
      number_moments: how many moments to compare.
      dist: gives them by `moment(i)`, as SciPy's distributions do.
      stride: the distance of the samples that are used for higher moments; 0 for all of them.
    """
    limits = np.finfo(samples.dtype)
    scores = []
    for i in range(1, number_moments + 1):
        chosen = samples.flat[:: (i - 1) * stride + 1]
        expected = dist.moment(i)
        variance = (dist.moment(2 * i) - expected**2) / len(chosen)
        variance = max(variance + i * limits.eps, limits.tiny)
        scores.append(abs((np.mean(chosen**i) - expected) / np.sqrt(variance)))
    return scores


def chi_squared(x: Samples, bins: int) -> float:
    """Pearson's statistic of numbers from 0 to 1."""
    counts, _ = np.histogram(np.ravel(x), bins=bins, range=(0, 1))
    expected = np.size(x) / float(bins)
    return float(np.sum(np.square(counts - expected) / expected))


def normal_cdf(x: Samples) -> Samples:
    """The share of standard normal numbers below each x."""
    found: Samples = 0.5 + 0.5 * np.vectorize(math.erf)(np.asarray(x) / math.sqrt(2))
    return found


def anderson_darling(x: Samples) -> float:
    """Anderson and Darling's statistic of standard normal numbers."""
    ordered = normal_cdf(np.sort(np.ravel(x)))
    n = len(ordered)
    i = np.arange(1, n + 1)
    total = np.sum((2 * i - 1) * np.log(ordered) + (2 * (n - i) + 1) * np.log(1 - ordered))
    return float(-n - total / n)


def check_truncated_normal(
    assert_equal: Callable[..., None],
    assert_all_close: Callable[..., None],
    n: int,
    y: Samples,
    mean_atol: float = 5e-4,
    median_atol: float = 8e-4,
    variance_rtol: float = 1e-3,
) -> None:
    """Asserts that n numbers have the bounds, mean, median and variance of a truncated normal."""
    assert_equal((y >= -2.0).sum(), n)
    assert_equal((y <= 2.0).sum(), n)
    density = math.exp(-2.0) / math.sqrt(2 * math.pi)  # at either bound
    inside = math.erf(math.sqrt(2.0))
    y = y.astype(float)
    assert_all_close(np.mean(y), 0.0, atol=mean_atol)
    assert_all_close(np.median(y), 0.0, atol=median_atol)
    assert_all_close(np.var(y), 1 - 4.0 * density / inside, rtol=variance_rtol)


test_moment_matching = moment_scores
test_truncated_normal = check_truncated_normal
