"""Programs on the imitated GPU: values stay in their memory, and nothing waits for the device."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import penstock as tf
from tests.gpu.imitation import imitated_gpu
from tests.gpu.programs import ON_HOST, PROGRAMS, learned

OPTIMIZERS = {
    "gradient descent": lambda: tf.train.GradientDescentOptimizer(0.1),
    "Adam": lambda: tf.train.AdamOptimizer(0.1),
}


@pytest.fixture
def waits() -> Iterator[list[str]]:
    """What has waited for the device since the last time that it was cleared."""
    with imitated_gpu() as found:
        yield found


@pytest.fixture
def session(waits: list[str]) -> Iterator[Any]:
    with tf.Graph().as_default(), tf.Session() as made:
        yield made


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("program", PROGRAMS)
def test_training_is_that_of_the_host(program: str, optimizer: str, waits: list[str]) -> None:
    ours = learned(PROGRAMS[program], OPTIMIZERS[optimizer])
    theirs = learned(PROGRAMS[program], OPTIMIZERS[optimizer], ON_HOST)
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_step_waits_for_nothing(program: str, session: Any, waits: list[str]) -> None:
    train = tf.train.GradientDescentOptimizer(0.1).minimize(PROGRAMS[program]())
    session.run(tf.global_variables_initializer())
    session.run(train)
    waits.clear()
    session.run(train)
    assert waits == []


def test_nodes_are_on_the_gpu_and_sizes_on_the_host(
    session: Any, waits: list[str], capfd: Any
) -> None:
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    rows = tf.shape(x)[0]
    y = tf.reshape(tf.nn.relu(x), [rows * 3])
    with tf.Session(config=tf.ConfigProto(log_device_placement=True)) as logged:
        np.testing.assert_array_equal(
            logged.run(y, {x: [[1, -1, 2], [0, 1, -3]]}), [1, 0, 2, 0, 1, 0]
        )
    assert "Relu: (Relu): /job:localhost/replica:0/task:0/device:GPU:0" in capfd.readouterr().err
    assert waits == []


class TestOutOfRange:
    """What TensorFlow's kernels for GPUs do: bad indices read zeros, and write nothing."""

    @pytest.mark.parametrize("indices", [[1, 3, -1], [[2, 7], [-5, 0]]])
    def test_gather(self, session: Any, indices: list[Any]) -> None:
        params = np.arange(1, 7, dtype=np.float32).reshape(3, 2)
        flat = np.asarray(indices)
        inside = (flat >= 0) & (flat < 3)
        expected = np.where(inside[..., None], params[np.clip(flat, 0, 2)], 0)
        fed = tf.placeholder(tf.int32)
        variable = tf.Variable(params, use_resource=True)
        session.run(variable.initializer)
        for found in (
            tf.gather(tf.constant(params), fed),
            variable.sparse_read(fed),
            tf.gather_nd(tf.constant(params), fed[..., None]),
        ):
            np.testing.assert_array_equal(session.run(found, {fed: indices}), expected)

    def test_gather_in_batches(self, session: Any) -> None:
        params = tf.constant([[1.0, 2.0], [3.0, 4.0]])
        fed = tf.placeholder(tf.int32, [2, 2])
        found = session.run(tf.batch_gather(params, fed), {fed: [[1, 2], [-1, 0]]})
        np.testing.assert_array_equal(found, [[2, 0], [0, 3]])

    @pytest.mark.parametrize("use_resource", [False, True])
    def test_scatter(self, session: Any, use_resource: bool) -> None:
        indices, updates = tf.constant([3, 0, -1, 0]), tf.constant([9.0, 2.0, 9.0, 3.0])
        expected = {
            tf.scatter_update: [3, 1],
            tf.scatter_add: [6, 1],
            tf.scatter_sub: [-4, 1],
            tf.scatter_mul: [6, 1],
            tf.scatter_min: [1, 1],
            tf.scatter_max: [3, 1],
        }
        for update, value in expected.items():
            variable = tf.Variable([1.0, 1.0], use_resource=use_resource)
            session.run(variable.initializer)
            session.run(update(variable, indices, updates))
            np.testing.assert_array_equal(session.run(variable), value, err_msg=update.__name__)

    def test_scatter_nd(self, session: Any) -> None:
        fed = tf.placeholder(tf.int32, [3, 2])
        made = tf.scatter_nd(fed, tf.constant([1.0, 2.0, 4.0]), [2, 2])
        found = session.run(made, {fed: [[0, 1], [0, 2], [-1, 0]]})
        np.testing.assert_array_equal(found, [[0, 1], [0, 0]])

    def test_segments(self, session: Any) -> None:
        ids, data = tf.placeholder(tf.int32, [4]), tf.constant([1.0, 2.0, 3.0, 4.0])
        fed = {ids: [1, -1, 5, 1]}
        found = session.run(
            [tf.unsorted_segment_sum(data, ids, 2), tf.unsorted_segment_prod(data, ids, 2)], fed
        )
        np.testing.assert_array_equal(found, [[0, 5], [1, 4]])
        found = session.run(
            [tf.segment_sum(data, ids), tf.segment_max(data, ids), tf.segment_mean(data, ids)], fed
        )
        np.testing.assert_array_equal(found, [[0, 5], [0, 4], [0, 2.5]])

    def test_labels(self, session: Any) -> None:
        labels, logits = tf.placeholder(tf.int32, [2]), tf.zeros([2, 3])
        loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
        found = session.run([loss, tf.gradients(loss, logits)[0]], {labels: [3, 1]})
        np.testing.assert_array_equal(np.isnan(found[0]), [True, False])
        np.testing.assert_array_equal(np.isnan(found[1]).all(1), [True, False])

    def test_one_hot(self, session: Any) -> None:
        indices = tf.placeholder(tf.int32, [3])
        found = session.run(tf.one_hot(indices, 2), {indices: [1, 2, -1]})
        np.testing.assert_array_equal(found, [[0, 1], [0, 0], [0, 0]])


def test_types_without_gpu_kernels_are_computed_on_the_host(session: Any) -> None:
    x = tf.placeholder(tf.float32, [2, 2])
    for dtype in (tf.uint16, tf.int32, tf.int64):
        cast = tf.cast(x, dtype)
        product = tf.matmul(cast, cast) if dtype != tf.uint16 else tf.where(x > 1, cast, cast)
        expected = [[7, 10], [15, 22]] if dtype != tf.uint16 else [[1, 2], [3, 4]]
        np.testing.assert_array_equal(session.run(product, {x: [[1, 2], [3, 4]]}), expected)


def test_later_rows_of_a_stitch_count(session: Any) -> None:
    data = [tf.constant([[1.0], [2.0]]), tf.constant([[3.0], [4.0]])]
    found = session.run(tf.dynamic_stitch([[0, 1], [1, 3]], data))
    np.testing.assert_array_equal(found, [[1], [3], [0], [4]])


def test_devices_are_described(session: Any) -> None:
    gpu = next(device for device in session.list_devices() if device.device_type == "GPU")
    assert gpu.memory_limit_bytes == 4 << 30
    described = {
        entry.device_type: entry.physical_device_desc
        for entry in tf.python.client.device_lib.list_local_devices()
    }
    assert described["GPU"] == (
        "device: 0, name: Imitation, pci bus id: 0000:1a:00.0, compute capability: 9.0"
    )
    assert tf.test.gpu_device_name() == "/device:GPU:0"
    assert tf.test.is_gpu_available(min_cuda_compute_capability=(8, 0))
    assert not tf.test.is_gpu_available(min_cuda_compute_capability=(10, 0))
