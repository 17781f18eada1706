"""Statistics of random numbers tell right samples from wrong ones."""

from __future__ import annotations

import numpy as np
import pytest

from penstock.testing import random_statistics as statistics


class Uniform:
    """The moments of numbers from 0 to 1."""

    def moment(self, n: int) -> float:
        return 1.0 / (n + 1)


@pytest.mark.parametrize("stride", [0, 1, 4])
def test_moments(stride: int) -> None:
    samples = np.random.RandomState(1).uniform(size=20_000)
    assert max(statistics.test_moment_matching(samples, 4, Uniform(), stride)) < 6.0
    assert max(statistics.test_moment_matching(samples**1.1, 4, Uniform(), stride)) > 6.0


def test_chi_squared() -> None:
    samples = np.random.RandomState(1).uniform(size=10_000)
    assert statistics.chi_squared(samples, 10) < 30.0
    assert statistics.chi_squared(samples**1.2, 10) > 100.0


def test_anderson_darling() -> None:
    samples = np.random.RandomState(1).randn(5_000)
    assert statistics.anderson_darling(samples) < 2.5
    assert statistics.anderson_darling(samples + 0.1) > 10.0


def test_truncated_normal() -> None:
    samples = np.random.RandomState(1).randn(200_000)
    inside = samples[np.abs(samples) <= 2.0]
    options = {"mean_atol": 0.01, "median_atol": 0.01, "variance_rtol": 0.02}
    check = statistics.test_truncated_normal
    equal, close = np.testing.assert_equal, np.testing.assert_allclose
    check(equal, close, len(inside), inside, **options)
    with pytest.raises(AssertionError):
        check(equal, close, len(inside), inside * 0.9, **options)
