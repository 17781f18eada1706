"""`context.Context`, `execute` and tapes, as code of TensorFlow's own asks for them."""

import threading

import numpy as np
import pytest
from penstock.python.eager import context as internal_context

import penstock as tf
from penstock.internal_paths import eager_context, eager_execute, monitoring
from penstock.internal_paths.cancellation import CancellationManager
from penstock.internal_paths.graph_mode import eager_mode

FULL = "/job:localhost/replica:0/task:0/device:"


@pytest.fixture(autouse=True)
def _eagerly():
    with eager_mode():
        yield


def test_a_new_context_has_scopes_of_its_own():
    context = eager_context.Context()
    context.scope_name = "foo"
    with context.device("GPU:0"):
        assert context.device_name == context.device_spec.to_string() == f"{FULL}GPU:0"
        with context.device(None):
            assert context.device_name == ""
    assert (context.scope_name, context.device_name) == ("foo", "")
    assert eager_context.context().scope_name == ""
    found = []
    thread = threading.Thread(target=lambda: found.append(context.scope_name))
    thread.start()
    thread.join()
    assert found == [""]
    with pytest.raises(ValueError, match="Execution mode"):
        context.execution_mode = 7


def test_device_scopes_are_left_in_order():
    outer, inner = eager_context.device("cpu:0"), eager_context.device("cpu:0")
    outer.__enter__(), inner.__enter__()
    with pytest.raises(RuntimeError, match="without proper scope nesting"):
        outer.__exit__()
    inner.__exit__(), outer.__exit__()


def test_operations_by_name():
    three, five = tf.constant(3), tf.constant(5)
    attrs = ("T", tf.int32.as_datatype_enum)
    (product,) = eager_execute.execute(b"Mul", 1, [three, five], attrs)
    assert int(product) == 15
    pair = ("num_split", 2, *attrs)
    rows = eager_execute.execute("Split", 2, [tf.constant(0), tf.constant([[1], [2]])], pair)
    assert [row.numpy().tolist() for row in rows] == [[[1]], [[2]]]


@pytest.mark.parametrize(
    ("name", "values", "attrs"),
    [
        ("CheckNumerics", [1.0], ("message", 1)),
        ("AddN", [1, 2], ("N", "2")),
        ("Bucketize", [1.0], ("boundaries", 4.0)),
        ("Bucketize", [1.0], ("boundaries", ["4.0"])),
        ("VarHandleOp", [], ("shape", [object()], "dtype", 1)),
        ("Add", [1.0, 2], ("T", 1)),
    ],
)
def test_attrs_and_inputs_of_another_kind(name, values, attrs):
    with pytest.raises(tf.errors.InvalidArgumentError):
        eager_execute.execute(name, 1, [tf.constant(value) for value in values], attrs)


def test_kinds_of_attrs():
    assert eager_execute.op_attr_type("Add", "T") == eager_execute.TF_ATTR_TYPE
    assert eager_execute.op_attr_type("MaxPool", "ksize") == [eager_execute.TF_ATTR_INT]
    assert eager_execute.make_attr([eager_execute.TF_ATTR_TYPE], [1]) == [tf.float32]
    assert eager_execute.make_attr(eager_execute.TF_ATTR_SHAPE, [1, None]).dim[1].size == -1
    with pytest.raises(tf.errors.NotFoundError):
        eager_execute.execute("NoSuchOp", 1, [], ())


def test_what_is_given_twice_is_two_arguments():
    v = tf.Variable(1.0)
    differentiate = tf.contrib.eager.gradients_function(lambda x, y: x * y)
    for value in (tf.constant(1.0), 1.0, v):
        assert [float(each) for each in differentiate(value, value)] == [1.0, 1.0]


def test_a_failed_jacobian_leaves_no_tape_behind():
    x = tf.constant([[1.0, 2.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
    with pytest.raises(ValueError, match="Need first dimension"):
        tape.batch_jacobian(tf.zeros([3, 2]), x)
    with tf.Graph().as_default():
        tf.get_variable("v", [], use_resource=True).read_value()  # no tape is told of it


def test_what_tapes_refuse():
    with pytest.raises(ValueError, match="ndarray"):
        tf.GradientTape().watch(np.ones([]))
    x = tf.constant(1.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
    with pytest.raises(ValueError, match="Unknown value for unconnected_gradients: 'other'"):
        tape.gradient(x, x, unconnected_gradients="other")
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [])
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.cond(x > 0.0, lambda: x * x, lambda: x)
        with pytest.raises(NotImplementedError, match=r"tf\.gradients"):
            tape.gradient(y, x)


# Callbacks, metrics, cancellation -----------------------------------------------------------------

tfe = tf.contrib.eager


def test_callbacks_are_told_of_operations():
    told = []

    def callback(op_type, inputs, attrs, outputs, op_name):
        told.append((op_type, len(inputs), dict(zip(attrs[::2], attrs[1::2], strict=True))["T"]))
        assert float(outputs[0] * 1.0) == 3.0  # what it computes itself is not told

    tfe.add_execution_callback(callback)
    try:
        tf.add(1.0, 2.0)
    finally:
        tfe.clear_execution_callbacks()
    tf.add(1.0, 2.0)
    assert told == [("Add", 2, tf.float32)]


def test_infinite_values_raise_where_it_is_asked_for(capsys):
    with (
        tfe.errstate(inf_or_nan="raise"),
        pytest.raises(Exception, match=r"RealDiv .* contains 1 inf\(s\) out of a total of 2"),
    ):
        tf.constant([1.0, 2.0]) / tf.constant([0.0, 1.0])
    with tfe.errstate(inf_or_nan=tfe.ExecutionCallback.PRINT):
        tf.log(tf.constant(-1.0))
        assert tfe.seterr() == {"inf_or_nan": tfe.ExecutionCallback.PRINT}
    assert "1 nan(s)" in capsys.readouterr().out
    assert tfe.seterr() == {"inf_or_nan": tfe.ExecutionCallback.IGNORE}
    with pytest.raises(ValueError, match="not a valid ExecutionCallback"):
        tfe.seterr(inf_or_nan="something")


def test_metrics_have_cells_by_labels():
    counter = monitoring.Counter("test/counter", "how often", "kind")
    counter.get_cell("a").increase_by(3)
    assert (counter.get_cell("a").value(), counter.get_cell("b").value()) == (3, 0)
    with pytest.raises(tf.errors.AlreadyExistsError, match="test/counter"):
        monitoring.Counter("test/counter", "again")
    with pytest.raises(ValueError, match="expects taking 1 labels"):
        counter.get_cell()
    sampler = monitoring.Sampler("test/s", monitoring.ExponentialBuckets(1.0, 2.0, 2), "sizes")
    for value in (1.0, 5.0):
        sampler.get_cell().add(value)
    found = sampler.get_cell().value()
    assert (found.num, found.sum, list(found.bucket)) == (2.0, 6.0, [0.0, 1.0, 1.0])


def test_a_waiting_function_is_cancelled():
    queue = tf.FIFOQueue(1, tf.float32)
    manager = CancellationManager()
    waiting = manager.get_cancelable_function(tf.function(queue.dequeue).get_concrete_function())
    timer = threading.Timer(0.05, manager.start_cancel)
    timer.start()
    with pytest.raises(tf.errors.CancelledError):
        waiting()
    timer.join()
    assert manager.is_cancelled
    with pytest.raises(tf.errors.CancelledError):
        waiting()


def test_graphs_of_called_functions_are_collected():
    @tf.function
    def shifted(x):
        return x * 2.0 + 1.0

    internal_context.enable_run_metadata()
    shifted(tf.constant(1.0))
    (graphs,) = internal_context.export_run_metadata().function_graphs
    assert "AddV2" in [node.op for node in graphs.pre_optimization_graph.node]
    internal_context.disable_run_metadata()
    shifted(tf.constant(1.0))
    assert not internal_context.export_run_metadata().function_graphs


def test_the_first_input_tells_the_type_whatever_the_attr_says():
    attrs = ("transpose_a", False, "transpose_b", False, "T", tf.int32.as_datatype_enum)
    three, five = tf.constant([[3.0]]), tf.constant([[5.0]])
    (product,) = eager_execute.execute(b"MatMul", 1, [three, five], attrs)
    assert product.numpy().tolist() == [[15.0]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="input #1.*expected to be a float"):
        eager_execute.execute(b"MatMul", 1, [three, tf.constant([[5]])], attrs)
