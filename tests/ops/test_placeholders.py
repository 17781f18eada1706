"""PlaceholderV2, of which TensorFlow makes no more nodes but which old GraphDefs hold."""

from __future__ import annotations

import numpy as np
import pytest

import penstock as tf
from penstock.ir import registry


def test_placeholder_v2() -> None:
    spec = registry.find("PlaceholderV2")
    assert spec is not None
    with tf.Graph().as_default() as graph:
        x = spec(dtype=tf.float32, shape=[None, 2])
    assert x.shape.as_list() == [None, 2]
    with tf.Session(graph=graph) as session:
        np.testing.assert_array_equal(session.run(x, {x: [[1.0, 2.0]]}), [[1.0, 2.0]])
        with pytest.raises(tf.errors.InvalidArgumentError, match="must feed a value"):
            session.run(x)
