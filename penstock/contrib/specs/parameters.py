"""Numbers for specs: constants of `math`, and random choices."""

from __future__ import annotations

import math
import random
from math import *  # noqa: F403  (specs of parameters are expressions of them)


def Uf(lo: float = 0.0, hi: float = 1.0) -> float:
    """A number between two, uniformly distributed."""
    return random.uniform(lo, hi)


def Ui(lo: int, hi: int) -> int:
    """An integer between two, uniformly distributed, ends included."""
    return random.randint(lo, hi)


def Lf(lo: float, hi: float) -> float:
    """A number between two whose logarithm is uniformly distributed."""
    return math.exp(random.uniform(math.log(lo), math.log(hi)))


def Li(lo: int, hi: int) -> int:
    """An integer between two, ends included, whose logarithm is uniformly distributed."""
    return math.floor(Lf(lo, hi + 1 - 1e-5))


def Nt(mu: float, sigma: float, limit: float = 3.0) -> float:
    """A normally distributed number, kept within some standard deviations of the mean."""
    return min(max(random.gauss(mu, sigma), mu - limit * sigma), mu + limit * sigma)
