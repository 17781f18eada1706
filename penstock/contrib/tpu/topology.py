"""Where the cores of a TPU lie: a program can name the type, but there is no TPU to describe."""

from __future__ import annotations

from typing import Any

from penstock import absent


class Topology:
    """RuntimeError: there are no TPUs here."""

    def __init__(
        self, serialized: Any = None, mesh_shape: Any = None, device_coordinates: Any = None
    ):
        absent.met.add("tf.contrib.tpu.Topology")
        raise RuntimeError(
            "tf.contrib.tpu.Topology: there are no TPUs here. TPUEstimator runs with use_tpu=False."
        )
