"""What TensorFlow's tests ask of the parts under eager operations."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import penstock as tf
from penstock.internal_paths import eager_context, eager_primitives
from penstock.internal_paths.graph_mode import ASYNC, SYNC, eager_mode
from penstock.summary.op_writers import create_file_writer_v2


@pytest.fixture(autouse=True)
def _eagerly() -> Iterator[None]:
    with eager_mode():
        yield


def _fast(op_name: str, *rest: object) -> object:
    context = eager_context.context()
    return eager_primitives.TFE_Py_FastPathExecute(
        context._handle, context.device_name, op_name, None, None, *rest
    )


def test_operations_by_name_are_recorded() -> None:
    variable = tf.Variable(tf.ones([2, 2]), use_resource=True)
    with tf.GradientTape() as tape:
        product = _fast("MatMul", variable, variable, "transpose_b", True)
        total = _fast("AddN", [product, product])
    np.testing.assert_array_equal(tape.gradient(total, variable).numpy(), np.full([2, 2], 8.0))
    parts = _fast("Split", tf.constant(0), tf.constant([1.0, 2.0]), "num_split", 2)
    assert [part.numpy().tolist() for part in parts] == [[1.0], [2.0]]  # type: ignore[attr-defined]


def test_what_the_fast_way_refuses() -> None:
    with pytest.raises(ValueError, match="at least 5 items in the input tuple"):
        eager_primitives.TFE_Py_FastPathExecute(None, "", "Identity")
    with pytest.raises(ValueError, match="Expected to be at least 6, was 5"):
        _fast("Identity")
    with pytest.raises(TypeError, match="expected a string for op_name"):
        _fast(3, 1.0)  # type: ignore[arg-type]
    with pytest.raises(eager_primitives._FallbackException, match="already EagerTensors"):
        _fast("Identity", 1.0)
    with pytest.raises(eager_primitives._FallbackException, match="less than 0"):
        _fast("Split", tf.constant(0), tf.constant([1.0]), "num_split", -1)
    with pytest.raises(eager_primitives._NotOkStatusException) as raised:
        _fast("NoSuchOp")
    assert str(raised.value).startswith("NotFoundError: Op type not registered 'NoSuchOp'")
    with tf.Graph().as_default():
        in_graph = tf.Variable(1.0, use_resource=True)
    with pytest.raises(eager_primitives._FallbackException):
        _fast("Identity", in_graph)
    with pytest.raises(TypeError, match="should be subclass of Exception"):
        eager_primitives.TFE_Py_RegisterExceptionClass(str)


def test_attrs_below_their_minimum() -> None:
    message = "Value for attr 'num_split' of -1 must be at least minimum 1"
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        tf.split([1, 2, 3], -1)
    with tf.Graph().as_default(), pytest.raises(ValueError, match="less than minimum 1"):
        tf.split([1, 2, 3], -1)


def test_arguments_become_tensors() -> None:
    kind, tensors = eager_primitives.args_to_matching_eager([1, tf.constant(2.0)], None)
    assert kind == tf.float32 and [each.dtype for each in tensors] == [tf.float32] * 2
    assert eager_primitives.args_to_matching_eager([1], None, tf.float64)[0] == tf.float64
    variable = tf.Variable(1.0, use_resource=True)
    kinds, tensors = eager_primitives.convert_to_mixed_eager_tensors(["a", variable], None)
    assert kinds == [tf.string, tf.float32] and len(tensors) == 2
    assert eager_primitives.make_shape([2, None], "x") == [2, None]
    assert eager_primitives.make_type("int32", "x") == tf.int32
    for make, value, kind_name in [
        (eager_primitives.make_float, "a", "float"),
        (eager_primitives.make_int, "1", "int"),
        (eager_primitives.make_bool, 1, "bool"),
        (eager_primitives.make_str, 1, "string"),
        (eager_primitives.make_type, "a", "DataType"),
    ]:
        with pytest.raises(TypeError, match=f"Expected {kind_name} for argument 'x' not"):
            make(value, "x")


def test_a_context_keeps_its_settings_by_thread() -> None:
    context = eager_context.Context()
    context.execution_mode, context.summary_step = ASYNC, 3
    seen: list[object] = []
    thread = threading.Thread(
        target=lambda: seen.extend([context.execution_mode, context.summary_step])
    )
    thread.start()
    thread.join()
    assert seen == [SYNC, None]
    assert (context.execution_mode, context.summary_step) == (ASYNC, 3)


def test_the_context_knows_how_operations_run() -> None:
    context = eager_context.context()
    with eager_context.execution_mode(ASYNC):
        assert context.execution_mode == ASYNC
        assert not tf.config.experimental.get_synchronous_execution()
    assert context.execution_mode == SYNC


def test_the_context_knows_what_summaries_are_written_with(tmp_path: Path) -> None:
    context = eager_context.context()
    with create_file_writer_v2(str(tmp_path)).as_default() as writer:
        assert context.summary_writer is writer
    assert context.summary_writer is None


def test_functions_that_were_made_are_known() -> None:
    @tf.function
    def one() -> float:
        return 1.0

    known = eager_context.context().has_function
    assert known(one.get_concrete_function().name) and not known("no_such_function")


def test_python_functions_take_handles() -> None:
    variable = tf.Variable([2.0, 3.0], use_resource=True)

    @tf.function
    def of_handle() -> object:
        return tf.py_function(lambda handle: 1.0, [variable.handle], tf.float32)

    assert of_handle().numpy() == 1.0


def test_small_tensors_are_kept() -> None:
    kept = eager_primitives._EagerTensorCache(max_items=1, max_tensor_size=3)
    kept.put("large", tf.zeros([2, 2]))
    assert kept.get("large") is None
    kept.put("first", tf.zeros([2]))
    kept.put("second", tf.zeros([2]))
    assert kept.get("first") is None and kept.get("second") is not None
