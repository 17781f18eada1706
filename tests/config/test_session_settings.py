"""`tf.config`: settings count for the sessions that are made after them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import penstock as tf
from penstock.client.session_defaults import session_defaults


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    before = session_defaults().SerializeToString()
    tf.config.experimental._parts.clear()
    yield
    session_defaults().ParseFromString(before)
    tf.config.experimental._parts.clear()


def _made() -> tf.ConfigProto:
    with tf.Session(graph=tf.Graph()) as session:
        return session._config


def test_new_sessions_have_the_settings() -> None:
    older = tf.Session(graph=tf.Graph())
    tf.config.set_soft_device_placement(True)
    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(3)
    tf.config.optimizer.set_jit(True)
    tf.debugging.set_log_device_placement(True)
    config = _made()
    assert config.allow_soft_placement and config.log_device_placement
    assert config.intra_op_parallelism_threads == 1
    assert config.inter_op_parallelism_threads == 3
    assert tf.config.get_soft_device_placement() and tf.config.optimizer.get_jit()
    assert tf.config.threading.get_intra_op_parallelism_threads() == 1
    assert tf.config.threading.get_inter_op_parallelism_threads() == 3
    assert tf.debugging.get_log_device_placement()
    assert not older._config.allow_soft_placement
    older.close()
    with tf.Session(graph=tf.Graph(), config=tf.ConfigProto()) as session:
        assert not session._config.allow_soft_placement


def test_soft_placement_changes_where_operations_run() -> None:
    with tf.Graph().as_default(), tf.device("/gpu:7"):
        value = tf.constant(1.0) + 1.0
        with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError):
            session.run(value)
        tf.config.set_soft_device_placement(True)
        with tf.Session() as session:
            assert session.run(value) == 2.0


def test_single_optimizations() -> None:
    tf.config.optimizer.set_experimental_options(
        {"constant_folding": False, "remapping": True, "min_graph_nodes": -1}
    )
    assert tf.config.optimizer.get_experimental_options() == {
        "constant_folding": False,
        "remapping": True,
        "min_graph_nodes": -1,
        "disable_model_pruning": False,
        "disable_meta_optimizer": False,
    }


def test_devices() -> None:
    experimental = tf.config.experimental
    (cpu,) = experimental.list_physical_devices("CPU")
    assert cpu == ("/physical_device:CPU:0", "CPU")
    assert cpu in experimental.get_visible_devices()
    assert experimental.get_virtual_device_configuration(cpu) is None
    parts = [experimental.VirtualDeviceConfiguration()] * 2
    experimental.set_virtual_device_configuration(cpu, parts)
    assert experimental.get_virtual_device_configuration(cpu) == parts
    names = [device.name for device in experimental.list_logical_devices("CPU")]
    assert names == [f"/job:localhost/replica:0/task:0/device:CPU:{n}" for n in range(2)]
    assert set(names) <= set(tf.config.experimental_list_devices())
    assert len(experimental.list_physical_devices("CPU")) == 1
    with pytest.raises(ValueError, match="non-GPU"):
        experimental.set_memory_growth(cpu, True)
    with pytest.raises(ValueError, match="Unrecognized device"):
        experimental.set_visible_devices([cpu], "GPU")
    experimental.set_visible_devices([cpu])


def test_what_needs_eager_execution_says_so() -> None:
    tf.config.experimental.set_synchronous_execution(True)
    assert tf.config.experimental.get_synchronous_execution()
    assert tf.config.experimental.get_device_policy() == "silent"
    for refused in (
        lambda: tf.config.experimental_connect_to_host("localhost:1"),
        lambda: tf.config.experimental_connect_to_cluster({}),
        lambda: tf.config.experimental.set_synchronous_execution(False),
        lambda: tf.config.experimental.set_device_policy("warn"),
    ):
        with pytest.raises(RuntimeError, match="eager execution"):
            refused()
