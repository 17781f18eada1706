"""Eager operations on several CPU devices, and what devices send each other."""

from collections.abc import Iterator

import pytest

import penstock as tf
from penstock.client.session_defaults import start_afresh
from penstock.eager.settings import eager_settings
from penstock.internal_paths import eager_context, eager_execute

FULL = "/job:localhost/replica:0/task:0/device:"


@pytest.fixture(autouse=True)
def _eagerly() -> Iterator[None]:
    start_afresh()
    tf.reset_default_graph()
    tf.enable_eager_execution()
    yield
    tf.disable_eager_execution()
    start_afresh()


def _divide(count: int) -> None:
    (cpu,) = tf.config.experimental.list_physical_devices("CPU")
    parts = [tf.config.experimental.VirtualDeviceConfiguration()] * count
    tf.config.experimental.set_virtual_device_configuration(cpu, parts)


def test_operations_run_on_parts_of_the_cpu():
    _divide(2)
    with tf.device("CPU:1"):
        value = tf.constant(1.0)
        assert (value + 1).device == value.device == f"{FULL}CPU:1"
    assert (value + 1).device == f"{FULL}CPU:0"
    assert eager_context.context().devices() == [f"{FULL}CPU:0", f"{FULL}CPU:1"]
    with pytest.raises(RuntimeError, match="unknown device"), tf.device("CPU:2"):
        tf.constant(1.0)


def test_the_first_operation_settles_the_devices():
    _divide(2)
    tf.constant(1.0)
    _divide(2)
    with pytest.raises(RuntimeError, match="cannot be modified"):
        _divide(3)
    eager_context._context = eager_context.Context()
    assert len(eager_context.context().devices()) == 1


def test_operations_run_where_their_variable_is():
    _divide(2)
    with tf.device("CPU:1"):
        variable = tf.Variable(3.0)

    @tf.function
    def doubled():
        return 2 * variable

    assert variable.device == variable.assign_add(1.0).device == f"{FULL}CPU:1"
    assert doubled().device == f"{FULL}CPU:0"
    assert float(doubled()) == 8.0


def test_options_of_eager_execution():
    tf.disable_eager_execution()
    start_afresh()
    config = tf.ConfigProto(device_count={"CPU": 3})
    tf.enable_eager_execution(config, tf.contrib.eager.DEVICE_PLACEMENT_WARN)
    assert len(eager_context.context().devices()) == 3
    assert tf.config.experimental.get_device_policy() == "warn"
    assert eager_context.context().device_policy == eager_settings.device_policy == 1
    tf.enable_eager_execution(config)
    with pytest.raises(ValueError, match="change the options of an active eager execution"):
        tf.enable_eager_execution(device_policy=tf.contrib.eager.DEVICE_PLACEMENT_SILENT)


def test_what_is_sent_is_received():
    place = ("send_device", f"{FULL}CPU:0", "send_device_incarnation", 0)
    place += ("recv_device", f"{FULL}CPU:0")
    for name, value in (("one", 1.0), ("two", 2.0)):
        attrs = ("T", tf.float32.as_datatype_enum, "tensor_name", name, *place)
        eager_execute.execute(b"_Send", 0, [tf.constant(value)], attrs)
    for name, value in (("two", 2.0), ("one", 1.0)):
        attrs = ("tensor_type", tf.float32.as_datatype_enum, "tensor_name", name, *place)
        (received,) = eager_execute.execute(b"_Recv", 1, [], attrs)
        assert float(received) == value


def test_replicas_on_parts_of_the_cpu():
    _divide(2)
    strategy = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
    with strategy.scope():
        variable = tf.Variable(1.0)
    assert [each.device for each in variable.values] == [f"{FULL}CPU:0", f"{FULL}CPU:1"]
    dataset = tf.data.Dataset.range(6).batch(4)
    batches = list(strategy.experimental_distribute_dataset(dataset))
    assert [[part.numpy().tolist() for part in batch.values] for batch in batches] == [
        [[0, 1], [2, 3]],
        [[4], [5]],
    ]

    def doubled(rows):
        return tf.cast(2 * rows, tf.float32) * variable

    results = strategy.experimental_run_v2(doubled, (batches[0],))
    assert [part.numpy().tolist() for part in results.values] == [[0.0, 2.0], [4.0, 6.0]]


def test_what_belongs_to_something_is_where_that_is():
    _divide(2)
    with tf.device("CPU:1"):
        variable = tf.Variable(1.0)
    with tf.GradientTape() as tape:
        loss = variable * 3.0
    optimizer = tf.train.MomentumOptimizer(0.1, 0.9)
    optimizer.apply_gradients([(tape.gradient(loss, variable), variable)])
    assert [slot.device for slot in optimizer.variables()] == [f"{FULL}CPU:1"]
    dataset = tf.data.Dataset.range(2).apply(tf.data.experimental.copy_to_device("/cpu:1"))
    assert [element.device for element in dataset] == [f"{FULL}CPU:1"] * 2
