"""`tf.config`: settings count for the sessions that are made after them."""

from __future__ import annotations

import importlib
from collections.abc import Iterator

import pytest

import penstock as tf
from penstock.client.session_defaults import fix_settings, session_defaults
from penstock.internal_paths import eager_context


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
    for refused in (
        lambda: tf.config.experimental_connect_to_host("localhost:1"),
        lambda: tf.config.experimental_connect_to_cluster({}),
    ):
        with pytest.raises(RuntimeError, match="eager execution"):
            refused()


def test_modes_of_eager_execution() -> None:
    experimental, context = tf.config.experimental, eager_context.context()
    assert experimental.get_synchronous_execution()
    experimental.set_synchronous_execution(False)
    assert not experimental.get_synchronous_execution() and context.execution_mode == 1
    experimental.set_synchronous_execution(None)
    assert experimental.get_synchronous_execution()
    experimental.set_device_policy("warn")
    assert experimental.get_device_policy() == "warn" and context.device_policy == 1
    experimental.set_device_policy(None)
    assert experimental.get_device_policy() == "silent"
    with pytest.raises(ValueError, match="Not a valid device policy: 'loud'"):
        experimental.set_device_policy("loud")


def test_settings_are_fixed_until_there_is_another_context() -> None:
    path = importlib.import_module("penstock.python.eager.context")
    context = eager_context.context()
    context.intra_op_parallelism_threads = 10
    context.set_optimizer_experimental_options({"remapping": False})
    assert context.config.intra_op_parallelism_threads == 10
    fix_settings()
    try:
        tf.config.threading.set_intra_op_parallelism_threads(10)
        with pytest.raises(RuntimeError, match="Intra op parallelism cannot be modified"):
            tf.config.threading.set_intra_op_parallelism_threads(1)
        with pytest.raises(RuntimeError, match="must be set at program startup"):
            tf.debugging.set_log_device_placement(True)
        (cpu,) = tf.config.experimental.list_physical_devices("CPU")
        two = [tf.config.experimental.VirtualDeviceConfiguration()] * 2
        with pytest.raises(RuntimeError, match="Virtual devices cannot be modified"):
            tf.config.experimental.set_virtual_device_configuration(cpu, two)
    finally:
        path._context = path.Context()  # type: ignore[attr-defined]
    assert tf.config.threading.get_intra_op_parallelism_threads() == 0
    assert "remapping" not in context.get_optimizer_experimental_options()
    tf.config.threading.set_intra_op_parallelism_threads(0)
