"""Kernels of special functions."""

import torch

from penstock.kernels.host_loops import fill_at_zeros
from penstock.kernels.registry import direct, kernel

_NAN = float("nan")

direct(
    {
        "Erf": torch.erf,
        "Erfc": torch.erfc,
        "Erfinv": torch.erfinv,
        "Ndtri": torch.special.ndtri,
        "Lgamma": torch.lgamma,
        "BesselI0": torch.special.i0,
        "BesselI1": torch.special.i1,
        "BesselI0e": torch.special.i0e,
        "BesselI1e": torch.special.i1e,
        "NextAfter": torch.nextafter,
        "Zeta": torch.special.zeta,
    }
)


@kernel("Digamma", fresh=True)
def _(node):
    return lambda x: fill_at_zeros(torch.digamma(x), x, _NAN)


@kernel("Igamma", fresh=True)
def _(node):
    return lambda a, x: fill_at_zeros(torch.special.gammainc(a, x), a, _NAN)


@kernel("Igammac", fresh=True)
def _(node):
    return lambda a, x: fill_at_zeros(torch.special.gammaincc(a, x), a, _NAN)


@kernel("Polygamma", fresh=True)
def _(node):
    def run(n, x):
        order = n + 1
        value = torch.lgamma(order).exp_() * torch.special.zeta(order, x)
        value = torch.where(n % 2 == 0, -value, value)
        value = torch.where(n == 0, torch.digamma(x), value)
        return value.masked_fill_((n < 0) | (n != torch.floor(n)), _NAN)

    return run


def _times(x, own):
    """A product in the memory of its second factor, if that has the shape."""
    return own.mul_(x) if own.shape == x.shape else torch.mul(x, own)


@kernel("Xlogy", fresh=True)
def _(node):
    return lambda x, y: fill_at_zeros(_times(x, torch.log(y)), x, 0)


@kernel("Xlog1py", fresh=True)
def _(node):
    return lambda x, y: fill_at_zeros(_times(x, torch.log1p(y)), x, 0)


@kernel("Xdivy", fresh=True)
def _(node):
    return lambda x, y: fill_at_zeros(torch.div(x, y), x, 0)


# The derivative of the incomplete gamma function -------------------------------------------------


@kernel("IgammaGradA", fresh=True)
def _(node):
    def run(a, x):
        wide_a, wide_x = torch.broadcast_tensors(a.double(), x.double())
        return _igamma_slope(wide_a, wide_x).to(a.dtype)

    return run


_LONGEST_SERIES = 200.0  # the largest x for which the series below is summed


def _igamma_slope(a, x):
    """dP(a, x) / da; 0 where P is not defined."""
    valid = (a > 0) & (x > 0)
    a, x = torch.where(valid, a, 1.0), torch.where(valid, x, 1.0)
    near = x <= _LONGEST_SERIES
    slope = _slope_by_series(a, torch.where(near, x, 1.0))
    if not bool(near.all()):
        slope = torch.where(near, slope, _slope_by_difference(a, x))
    return torch.where(valid, slope, 0.0)


def _slope_by_series(a, x):
    """P is the sum of x**(a+n) exp(-x) / gamma(a+n+1) over n.

    Each term t changes with a by t * (log x - digamma(a + n + 1)). All terms are positive, and
    they fall faster than a geometric series once n exceeds x.
    """
    log_x = torch.log(x)
    term = torch.exp(a * log_x - x - torch.lgamma(a + 1))
    psi = torch.digamma(a + 1)
    slope = term * (log_x - psi)
    largest = float(x.max()) if x.numel() else 0.0
    for n in range(1, int(largest + 12 * largest**0.5) + 60):
        term = term * (x / (a + n))
        psi = psi + 1 / (a + n)
        slope = slope + term * (log_x - psi)
    return slope


def _slope_by_difference(a, x):
    """P changes on the scale of the root of x: steps of a ten thousandth are exact to 1e-8."""
    step = 1e-4 * torch.minimum(torch.sqrt(x), a)
    upper, lower = torch.special.gammainc(a + step, x), torch.special.gammainc(a - step, x)
    return (upper - lower) / (2 * step)


@kernel("Betainc", fresh=True)
def _(node):
    def run(a, b, x):
        return _betainc(*torch.broadcast_tensors(a.double(), b.double(), x.double())).to(a.dtype)

    return run


def _betainc(a, b, x):
    """I_x(a, b) by its continued fraction, on the side of the mean where it converges fast."""
    valid = (a > 0) & (b > 0) & (x >= 0) & (x <= 1)
    a, b = torch.where(valid, a, 1.0), torch.where(valid, b, 1.0)
    inside = torch.where(valid, x, 0.5).clamp(1e-300, 1 - 1e-16)
    mirrored = inside > (a + 1) / (a + b + 2)
    p, q = torch.where(mirrored, b, a), torch.where(mirrored, a, b)
    z = torch.where(mirrored, 1 - inside, inside)
    log_front = p * torch.log(z) + q * torch.log1p(-z) - torch.log(p)
    log_front = log_front - torch.lgamma(p) - torch.lgamma(q) + torch.lgamma(p + q)
    value = torch.exp(log_front) * _beta_fraction(p, q, z)
    value = torch.where(mirrored, 1 - value, value)
    value = torch.where(x == 0, 0.0, torch.where(x == 1, 1.0, value))
    return value.masked_fill_(~valid, _NAN)


def _beta_fraction(a, b, x, terms=200):
    """Lentz's way through the continued fraction of the incomplete beta function."""
    tiny = 1e-300

    def not_zero(value):
        return torch.where(value.abs() < tiny, tiny, value)

    c = torch.ones_like(x)
    d = 1 / not_zero(1 - (a + b) * x / (a + 1))
    result = d
    for m in range(1, terms):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        d = 1 / not_zero(1 + even * d)
        c = not_zero(1 + even / c)
        result = result * d * c
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        d = 1 / not_zero(1 + odd * d)
        c = not_zero(1 + odd / c)
        factor = d * c
        result = result * factor
        if bool((factor - 1).abs().max() < 1e-15):
            break
    return result
