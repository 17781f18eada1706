"""A program with objects of every kind, for Penstock and for real TensorFlow."""

from __future__ import annotations

from typing import Any


def build(tf: Any) -> tuple[Any, dict[str, Any]]:
    """The checkpoint of a small program, and its variables by key."""
    weights = tf.get_variable("scope/weights", initializer=[1.0, 2.0], use_resource=True)
    bias = tf.get_variable("scope/bias", initializer=[0.5], use_resource=True)
    other = tf.get_variable("other.name", initializer=[7, 8], use_resource=True)
    adam = tf.train.AdamOptimizer(0.125)
    momentum = tf.train.MomentumOptimizer(0.25, 0.5)
    loss = tf.reduce_sum(weights * 3.0) + tf.reduce_sum(bias * weights)
    train = tf.group(
        adam.minimize(loss, var_list=[weights]), momentum.minimize(loss, var_list=[bias])
    )
    checkpoint = tf.train.Checkpoint(adam=adam, weights=weights)
    checkpoint.momentum = momentum
    checkpoint.parts = [bias, {"a/b.c": other}]
    return checkpoint, {"train": train, "variables": [weights, bias, other]}


def state(checkpoint: Any, made: dict[str, Any]) -> list[Any]:
    """All variables that the checkpoint keeps, but for the counter."""
    weights, bias, other = made["variables"]
    adam, momentum = checkpoint.adam, checkpoint.momentum
    slots = [adam.get_slot(weights, "m"), adam.get_slot(weights, "v")]
    slots.append(momentum.get_slot(bias, "momentum"))
    return [weights, bias, other, *slots, *adam._get_beta_accumulators()]
