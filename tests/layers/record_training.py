"""Records tests/layers/training.npz: run with TensorFlow 1.15's Python, in this folder."""

import sys

import numpy as np
import tensorflow as tf
import training_scenarios as scenarios

assert tf.__version__.startswith("1.15"), tf.__version__
arrays = {}
for name, network in scenarios.NETWORKS.items():
    with tf.Graph().as_default():
        found = scenarios.trained(tf, network)
    arrays.update((f"network/{name}/{key}", value) for key, value in found.items())
for kind in ("losses", "metrics"):
    with tf.Graph().as_default():
        found = getattr(scenarios, kind)(tf)
    arrays.update((f"{kind}/{key}", value) for key, value in found.items())
np.savez_compressed(sys.argv[1] if len(sys.argv) > 1 else "training.npz", **arrays)
