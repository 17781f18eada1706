"""What is compared of a scenario: variables, collections, and values of a few steps."""

from __future__ import annotations

from typing import Any

import numpy as np

STEPS = 3


def results(tf: Any, slim: Any, build: Any) -> dict[str, Any]:
    with tf.Graph().as_default():
        tf.set_random_seed(7)
        outputs = build(tf, slim)
        found = {
            "variables": [[each.name, each.shape.as_list()] for each in tf.global_variables()],
            "trainable": [each.name for each in tf.trainable_variables()],
            "model": [each.name for each in tf.get_collection("model_variables")],
            "updates": sorted(each.name for each in tf.get_collection("update_ops")),
            "regularization": [each.name for each in tf.get_collection("regularization_losses")],
            "outputs": {
                name: [tensor.name, tensor.shape.as_list()] for name, tensor in outputs.items()
            },
        }
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            found["initial"] = [_digest(each) for each in session.run(tf.global_variables())]
            found["values"] = [_digests(session.run(outputs)) for _ in range(STEPS)]
            session.run(tf.get_collection("update_ops"))
            found["final"] = [_digest(each) for each in session.run(tf.global_variables())]
        return found


def _digest(value: Any) -> list[float]:
    """Enough of an array to tell it from another: its sum, and a sum weighted by position."""
    flat = np.asarray(value, np.float64).ravel()
    return [float(flat.sum()), float(flat @ np.cos(np.arange(flat.size)))]


def _digests(values: dict[str, Any]) -> dict[str, list[float]]:
    return {name: _digest(value) for name, value in values.items()}
