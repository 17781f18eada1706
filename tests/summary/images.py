"""Images of all types and numbers of channels; nothing here needs TensorFlow or Penstock."""

from __future__ import annotations

import numpy as np


def _images() -> dict[str, np.ndarray]:
    draw = np.random.RandomState(0)
    found = {}
    for channels in (1, 3, 4):
        numbers = draw.rand(3, 4, 5, channels) * 200
        found[f"bytes_{channels}"] = numbers.astype(np.uint8)
        for dtype in ("float16", "float32", "float64"):
            found[f"positive_{dtype}_{channels}"] = numbers.astype(dtype)
            found[f"negative_{dtype}_{channels}"] = (numbers - 100).astype(dtype)
        holes = (numbers - 50).astype(np.float32)
        holes[0, 1, 1, 0], holes[1, 2, 2, 0] = np.nan, np.inf
        found[f"holes_{channels}"] = holes
    found["zeros"] = np.zeros((2, 3, 3, 1), np.float32)
    found["nothing_finite"] = np.full((1, 3, 3, 1), np.nan, np.float32)
    return found


IMAGES = _images()
