"""Kullback-Leibler divergences, registered for pairs of kinds of distributions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import penstock as tf

__all__ = ["RegisterKL", "cross_entropy", "kl_divergence"]

_DIVERGENCES: dict[tuple[type, type], Callable[..., Any]] = {}


def _registered_kl(type_a: type, type_b: type) -> Callable[..., Any] | None:
    """The function for the nearest pair of kinds that the two types are of."""
    found = [
        (steps_a + steps_b, steps_a, _DIVERGENCES[kind_a, kind_b])
        for steps_a, kind_a in enumerate(type_a.__mro__)
        for steps_b, kind_b in enumerate(type_b.__mro__)
        if (kind_a, kind_b) in _DIVERGENCES
    ]
    return min(found, key=lambda entry: entry[:2])[2] if found else None


def kl_divergence(
    distribution_a: Any, distribution_b: Any, allow_nan_stats: bool = True, name: str | None = None
) -> Any:
    """KL(a || b), the mean of `log a(x) - log b(x)` over draws of a.

    Args:
      allow_nan_stats: Whether NaN is a result, and not an error.
    """
    divergence = _registered_kl(type(distribution_a), type(distribution_b))
    if divergence is None:
        raise NotImplementedError(
            "No KL(distribution_a || distribution_b) registered for distribution_a type "
            f"{type(distribution_a).__name__} and distribution_b type "
            f"{type(distribution_b).__name__}"
        )
    with tf.name_scope("KullbackLeibler"):
        result = divergence(distribution_a, distribution_b, name=name)
        if allow_nan_stats:
            return result
        result = tf.identity(result, name="kl")
        defined = tf.Assert(
            tf.logical_not(tf.reduce_any(tf.is_nan(result))),
            [
                f"KL calculation between {distribution_a.name} and {distribution_b.name} returned "
                "NaN values (and was called with allow_nan_stats=False). Values:",
                result,
            ],
        )
        with tf.control_dependencies([defined]):
            return tf.identity(result, name="checked_kl")


def cross_entropy(
    ref: Any, other: Any, allow_nan_stats: bool = True, name: str | None = None
) -> Any:
    """The cross entropy of `other` under `ref`: entropy plus divergence."""
    with tf.name_scope(name, "cross_entropy"):
        return ref.entropy() + kl_divergence(ref, other, allow_nan_stats=allow_nan_stats)


class RegisterKL:
    """Registers a function `f(a, b, name=None)` for a pair of kinds.

    >>> @tf.distributions.RegisterKL(MyNormal, MyNormal)
    ... def kl(a, b, name=None): ...
    """

    def __init__(self, dist_cls_a: type, dist_cls_b: type):
        self._key = (dist_cls_a, dist_cls_b)

    def __call__(self, kl_fn: Callable[..., Any]) -> Callable[..., Any]:
        if not callable(kl_fn):
            raise TypeError(f"kl_fn must be callable, received: {kl_fn}")
        if self._key in _DIVERGENCES:
            a, b = self._key
            raise ValueError(
                f"KL({a.__name__} || {b.__name__}) has already been registered to: "
                f"{_DIVERGENCES[self._key]}"
            )
        _DIVERGENCES[self._key] = kl_fn
        return kl_fn
