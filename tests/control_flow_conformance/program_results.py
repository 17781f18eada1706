"""What a program of `loop_programs` computes: its value, and its gradients as dense arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def results(tf: Any, build: Callable[[Any], tuple[Any, list[Any]]], **options: Any) -> list[Any]:
    with tf.Graph().as_default():
        y, xs = build(tf)
        gradients = [
            tf.zeros_like(x) if g is None else tf.convert_to_tensor(g)
            for x, g in zip(xs, tf.gradients(y, xs))  # noqa: B905 - for older Pythons, too
        ]
        with tf.Session(**options) as session:
            return [np.asarray(value).tolist() for value in session.run([y, *gradients])]
