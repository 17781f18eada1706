"""What code inside TensorFlow's framework folder, and its tests, ask of graphs and their parts."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.contrib.util import constant_value
from penstock.devices import DeviceSpec, DeviceSpecV2
from penstock.internal_paths import effect_order, initializers_v2, kernel_lists
from penstock.ir.conversion_status import ControlStatusCtx, Status, control_status_ctx
from penstock.ops.embedding import _embedding_lookup_and_transform
from penstock.ops.save_slices import PartitionInfo
from penstock.testing import test_ops


@pytest.fixture(autouse=True)
def _graph() -> Any:
    with tf.Graph().as_default():
        yield


# Effects in order ---------------------------------------------------------------------------------

Effect = Callable[[Any], Any]


def _values_after(
    feeds: list[bool],
    if_true: Effect,
    if_false: Effect,
    before: Effect = lambda v: None,
    after: Effect = lambda v: None,
) -> list[float]:
    """What a variable is after each run of a block with a conditional in it."""
    variable = tf.Variable(1.0, use_resource=True)
    condition = tf.placeholder(tf.bool, [])
    with effect_order.AutomaticControlDependencies() as block:
        before(variable)
        tf.cond(condition, lambda: _one(if_true(variable)), lambda: _one(if_false(variable)))
        after(variable)
        value = block.mark_as_return(variable.read_value())
    with tf.Session() as session:
        session.run(variable.initializer)
        return [float(session.run(value, {condition: each})) for each in feeds]


def _one(_: Any) -> tf.Tensor:
    return tf.constant(1.0)


def test_effects_happen_in_the_order_of_the_program() -> None:
    variable: Any = tf.Variable(1.0, use_resource=True)

    @effect_order.automatic_control_dependencies
    def changed() -> Any:
        variable.assign(variable + 1.0)
        variable.assign(2.0 * variable)
        return variable.read_value()

    value = changed()
    with tf.Session() as session:
        session.run(variable.initializer)
        assert session.run(value) == 4.0


def test_effects_in_branches() -> None:
    def add(amount: float) -> Effect:
        return lambda v: v.assign(v + amount)

    def nothing(_: Any) -> None: ...

    def double(v: Any) -> Any:
        return v.assign(v * 2.0)

    assert _values_after([False, True], add(1.0), add(4.0)) == [5.0, 6.0]
    assert _values_after([False, True], nothing, add(4.0)) == [5.0, 5.0]
    assert _values_after([False, True], nothing, add(4.0), before=double) == [6.0, 12.0]
    assert _values_after([False, True], nothing, add(4.0), after=double) == [10.0, 20.0]


def test_effects_of_another_graph_are_not_ordered() -> None:
    block = effect_order.AutomaticControlDependencies()
    with block, tf.Graph().as_default(), pytest.raises(RuntimeError, match="Graph changed"):
        block.__exit__(None, None, None)


# Graphs and nodes ---------------------------------------------------------------------------------


def test_what_a_tensor_says_depends_on_the_conversion() -> None:
    tensor = tf.constant([True])
    for status, reason in (
        (Status.UNSPECIFIED, "not allowed in Graph"),
        (Status.ENABLED, "AutoGraph did not convert"),
        (Status.DISABLED, "AutoGraph is disabled"),
    ):
        with ControlStatusCtx(status):
            with pytest.raises(TypeError, match=f"iterating over .*{reason}"):
                iter(tensor)
            with pytest.raises(TypeError, match=f"using a .* as a Python `bool`.*{reason}"):
                bool(tensor)
    assert control_status_ctx().status is Status.UNSPECIFIED


def test_labels_choose_kernels() -> None:
    graph = tf.get_default_graph()
    plain = test_ops.kernel_label()
    with graph._kernel_label_map({"KernelLabel": "overload_1"}):
        labelled = test_ops.kernel_label()
        with graph._kernel_label_map({"KernelLabel": ""}):
            again = test_ops.kernel_label()
    with tf.Session() as session:
        labels = [text.rpartition(b" ")[2] for text in session.run([plain, labelled, again])]
    assert labels == [b"default", b"overload_1", b"default"]
    wrong: Any = {"KernelLabel": 1}
    with pytest.raises(TypeError), graph._kernel_label_map(wrong):
        pass


def test_resources_for_tests() -> None:
    handle = test_ops.stub_resource_handle_op(shared_name="stub")
    created, made = test_ops.resource_create_op(handle), test_ops.resource_initialized_op(handle)
    with tf.Session() as session:
        assert not session.run(made)
        session.run(created)
        assert session.run(made)


def test_several_inputs_are_a_list() -> None:
    joined = tf.concat([[1.0], [2.0]], 0)
    several: Any = joined.op.inputs[:1]
    assert several + [joined] == [joined.op.inputs[0], joined]


def test_inputs_cannot_be_changed_in_place() -> None:
    total = tf.add(tf.constant(1.0), 2.0)
    with pytest.raises(AttributeError, match="'_InputList' object has no attribute 'append'"):
        total.op.inputs.append(None)  # type: ignore[attr-defined]
    with pytest.raises(
        tf.errors.InvalidArgumentError, match=r"incompatible shapes: \[2\] and \[\]"
    ):
        total.op._update_input(0, tf.constant([1.0, 2.0]))


def test_kernels_are_listed() -> None:
    found = kernel_lists.get_registered_kernels_for_op("MatMul")
    assert {(each.op, each.device_type) for each in found.kernel} >= {("MatMul", "CPU")}
    assert len(kernel_lists.get_all_registered_kernels().kernel) > 1000


def test_device_specs_that_do_not_change() -> None:
    spec = DeviceSpecV2.from_string("/job:ps/task:1")
    with pytest.raises(AttributeError):
        spec.job = "worker"
    assert spec.replace(task=2).to_string() == "/job:ps/task:2" and spec.task == 1
    merged = spec.make_merged_spec(DeviceSpec(task=3, device_type="GPU", device_index=0))
    assert isinstance(merged, DeviceSpecV2)
    assert merged.to_string() == "/job:ps/task:3/device:GPU:0"
    assert spec == DeviceSpec(job="ps", task=1)


# Values -------------------------------------------------------------------------------------------


def test_static_values_are_those_that_tensorflow_knows() -> None:
    tensor_util = importlib.import_module("penstock.python.framework.tensor_util")
    rows = [np.ones(2), np.zeros(2)]
    assert tensor_util.constant_value(tf.stack(rows)).shape == (2, 2)
    assert tensor_util.constant_value(tf.stack(rows, axis=1)) is None
    assert constant_value(tf.constant(1) + 1) is None
    assert tensor_util.constant_value(tf.Variable(1.0)) is None
    sizes = tf.stack([tf.constant(16), 37, tf.placeholder(tf.int32)])
    assert tensor_util.constant_value_as_shape(sizes).as_list() == [16, 37, None]
    whole = tf.constant([10, 20])[...]
    assert tensor_util.constant_value_as_shape(whole).as_list() == [None, None]


def test_quantized_constants_are_tuples_or_arrays() -> None:
    with tf.Session() as session:
        for value in ([(3,), (4,)], np.array([3, 4])):
            integers = tf.bitcast(tf.constant(value, tf.qint8), tf.int8)
            assert session.run(integers).tolist() == [3, 4]
    assert tf.make_tensor_proto(np.array([3]), tf.qint8).int_val == [3]
    for wrong in (3, [3], 3.5):
        with pytest.raises(TypeError, match="Expected qint8, got 3"):
            tf.constant(wrong, tf.qint8)


def test_rows_are_changed_where_they_are() -> None:
    table = np.arange(12.0).reshape(6, 2)
    parts = [table[0::2], table[1::2]]
    ids = [[1, 4], [5, 0]]

    def norm(rows: tf.Tensor) -> tf.Tensor:
        return tf.reduce_sum(rows, axis=1, keepdims=True)

    with tf.Session() as session:
        for given in ([table], parts):
            found = _embedding_lookup_and_transform(given, ids, transform_fn=norm)
            assert found.shape.as_list()[:2] == [2, 2]
            wanted = table[np.array(ids)].sum(-1, keepdims=True)
            np.testing.assert_allclose(session.run(found), wanted)
        vector = _embedding_lookup_and_transform(table, [2, 3], transform_fn=norm)
        assert session.run(vector).tolist() == [[9.0], [13.0]]


def test_where_a_part_lies() -> None:
    info = PartitionInfo([9, 3], [4, 0])
    assert info.single_offset([1, 3]) == 4 and info.single_slice_dim([1, 3]) == 0
    for wrong in (None, "foo"):
        with pytest.raises(TypeError, match="must be a sequence"):
            PartitionInfo(wrong, [0, 1])
    with pytest.raises(ValueError, match="offset"):
        PartitionInfo([1, 1], [0, 1])


@pytest.mark.parametrize(
    "initializer",
    [
        initializers_v2.RandomUniform(-1.0, 1.0, seed=3),
        initializers_v2.TruncatedNormal(seed=3),
        initializers_v2.VarianceScaling(mode="fan_out", seed=3),
        initializers_v2.GlorotUniform(seed=3),
        initializers_v2.Orthogonal(seed=3),
    ],
)
def test_initializers_with_a_seed_repeat_themselves(initializer: Any) -> None:
    again = type(initializer).from_config(initializer.get_config())
    with tf.Session() as session:
        first, second, third = session.run(
            [initializer([3, 4]), initializer([3, 4]), again([3, 4], tf.float32)]
        )
    np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(first, third)
    with pytest.raises((TypeError, ValueError)):
        initializer([3, 4], tf.string)


def test_initializers_of_fixed_values() -> None:
    with tf.Session() as session:
        assert session.run(initializers_v2.Constant([1, 2])([2])).tolist() == [1, 2]
        assert session.run(initializers_v2.Identity(2.0)([2, 2])).tolist() == [[2, 0], [0, 2]]
    with pytest.raises(TypeError):
        initializers_v2.Constant([1, 2, 3])([2, 2], tf.float32)
    with pytest.raises(TypeError, match="Invalid type for initial value"):
        initializers_v2.Constant({})
    with pytest.raises(ValueError, match="numeric or boolean"):
        initializers_v2.Ones()([2], tf.string)
