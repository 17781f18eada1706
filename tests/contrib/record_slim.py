"""Records what TensorFlow makes of the scenarios and networks, with tf_slim.

Run it with a Python that has tensorflow, tf_keras and tf_slim:
    python tests/contrib/record_slim.py
"""

from __future__ import annotations

import json
import os
import pathlib
import sys
from typing import Any

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from networks import NETWORKS, variables_of
from slim_results import results
from slim_scenarios import SCENARIOS

FOLDER = pathlib.Path(__file__).resolve().parent / "recorded"


def tensorflow_with_slim() -> tuple[Any, Any]:
    """TensorFlow and tf_slim, which was written for names that TensorFlow has moved since."""
    os.environ["TF_USE_LEGACY_KERAS"] = "1"
    import tensorflow.compat.v1 as tf

    tf.disable_v2_behavior()
    import tf_keras.src.legacy_tf_layers.normalization as normalization
    from tensorflow.python.framework import ops

    ops.Tensor, ops.IndexedSlices = tf.Tensor, tf.IndexedSlices
    sys.modules["tf_keras.legacy_tf_layers"] = sys.modules["tf_keras.src.legacy_tf_layers"]
    sys.modules["tf_keras.legacy_tf_layers.normalization"] = normalization
    import tf_slim as slim
    from tf_slim.layers import layers

    for name in ("maxout", "spatial_softmax"):
        setattr(slim, name, getattr(layers, name))
    return tf, slim


def main() -> None:
    tf, slim = tensorflow_with_slim()
    import tf_slim.nets

    scenarios = {name: results(tf, slim, build) for name, build in SCENARIOS.items()}
    networks = {name: variables_of(tf, slim, tf_slim.nets, name) for name in NETWORKS}
    FOLDER.mkdir(exist_ok=True)
    for name, found in (("slim", scenarios), ("networks", networks)):
        (FOLDER / f"{name}.json").write_text(json.dumps(found, indent=0) + "\n")


if __name__ == "__main__":
    main()
