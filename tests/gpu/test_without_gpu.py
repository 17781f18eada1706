"""Programs that ask for a GPU on a machine without one."""

from __future__ import annotations

from typing import Any

import pytest

import penstock as tf
from tests.gpu.programs import ON_HOST


@pytest.fixture
def product() -> Any:
    with tf.Graph().as_default(), tf.device("/gpu:0"):
        x = tf.placeholder_with_default([[2.0]], [1, 1])
        yield tf.matmul(x, x, name="product")


def test_the_error_names_the_node_and_the_devices(product: Any) -> None:
    with (
        tf.Session(graph=product.graph, config=ON_HOST) as session,
        pytest.raises(tf.errors.InvalidArgumentError) as caught,
    ):
        session.run(product)
    assert "/device:GPU:0" in caught.value.message
    assert "/job:localhost/replica:0/task:0/device:CPU:0" in caught.value.message


def test_soft_placement_takes_the_host(product: Any) -> None:
    config = tf.ConfigProto(allow_soft_placement=True, device_count={"GPU": 0})
    with tf.Session(graph=product.graph, config=config) as session:
        assert session.run(product).tolist() == [[4]]
