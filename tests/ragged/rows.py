"""Values of ragged tensors as nested lists, for comparison."""

from __future__ import annotations

from typing import Any

import numpy as np

import penstock as tf


def rows(fetches: Any, feed_dict: Any = None) -> Any:
    """The value of a tensor, ragged tensor or list of them, as nested lists."""
    with tf.Session() as session:
        return as_list(session.run(fetches, feed_dict))


def as_list(value: Any) -> Any:
    if isinstance(value, tf.ragged.RaggedTensorValue):
        return value.to_list()
    if isinstance(value, (list, tuple)):
        return [as_list(each) for each in value]
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value
