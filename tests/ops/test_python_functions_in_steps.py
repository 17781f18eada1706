"""`tf.py_func` and `tf.py_function`: results, errors, several at once, ops and gradients inside."""

import gc
import queue

import numpy as np
import pytest

import penstock as tf
from penstock.eager.context import eager_mode
from penstock.internal_paths.script_functions import _py_funcs


@pytest.fixture(autouse=True)
def _graph():
    with tf.Graph().as_default():
        yield


def _run(fetches, feed_dict=None):
    with tf.Session() as session:
        return session.run(fetches, feed_dict)


def test_functions_of_a_step_may_wait_for_each_other():
    meeting = queue.Queue(1)

    def give():
        meeting.put(42)
        meeting.join()
        return 1

    def take():
        value = meeting.get(timeout=20)
        meeting.task_done()
        return value

    given, taken = (tf.py_func(function, [], tf.int64) for function in (give, take))
    assert _run([given, taken]) == [1, 42]


def test_a_stateless_function_of_constants_is_called_once():
    counter = iter(range(9))
    value = tf.py_func(lambda: next(counter), [], tf.int64, stateful=False)
    with tf.Session() as session:
        assert [session.run(value) for _ in range(3)] == [0, 0, 0]


def test_without_outputs():
    assert _run(tf.py_func(lambda x: None, [1], [])) is None
    assert tf.py_func(lambda x: None, [1], [], stateful=False) == []


def test_an_error_tells_where_in_the_function_it_was_raised():
    def innermost():
        raise KeyError("lost")

    def outer():
        innermost()

    with pytest.raises(tf.errors.UnknownError, match="(?s)lost.*in outer.*in innermost.*lost"):
        _run(tf.py_func(outer, [], []))


@pytest.mark.parametrize(
    ("result", "message"),
    [
        ({"a": 1}, "Unsupported object type dict"),
        (np.zeros(1, [("a", np.float32)]), "Unsupported numpy data type"),
        (np.array([1], "M8[s]"), "Unsupported numpy type"),
    ],
)
def test_results_that_no_tensor_can_hold(result, message):
    with pytest.raises(tf.errors.InternalError, match=message):
        _run(tf.py_func(lambda: result, [], tf.int64))


def test_no_result_where_one_is_expected():
    with pytest.raises(tf.errors.InvalidArgumentError, match="returns 0 values"):
        _run(tf.py_func(lambda: None, [], tf.int64))


def test_functions_go_with_their_graphs():
    gc.collect()
    before = _py_funcs.size()
    for _ in range(20):
        with tf.Graph().as_default():
            tf.py_func(lambda x: x, [tf.constant(1.0)], tf.float32)
    gc.collect()
    assert _py_funcs.size() < before + 20


def _log_huber(x, m):
    if tf.abs(x) <= m:
        return x**2
    return m**2 * (1 - 2 * tf.log(m) + tf.log(x**2))


@pytest.mark.parametrize(("x", "slope"), [(1.0, 2.0), (4.0, 2.0)])
def test_ops_inside_are_computed_as_they_are_called(x, slope):
    point, m = tf.placeholder(tf.float32), tf.constant(2.0)
    y = tf.py_function(_log_huber, [point, m], tf.float32)
    (by_point,) = tf.gradients(y, point)
    nodes = len(tf.get_default_graph().get_operations())
    assert _run(by_point, {point: x}) == pytest.approx(slope)
    assert len(tf.get_default_graph().get_operations()) == nodes


def test_gradients_of_several_outputs():
    x = tf.constant([1.0, 2.0])
    double, power = tf.py_function(lambda x: (x * 2.0, tf.exp(x)), [x], [tf.float32] * 2)
    (gradient,) = tf.gradients([double, power], x)
    assert gradient.shape.as_list() == [2]
    np.testing.assert_allclose(_run(gradient), 2 + np.exp([1.0, 2.0]), rtol=1e-6)


def test_values_of_ops_are_at_hand_inside_alone():
    x = tf.constant(3.0)
    y = tf.py_function(lambda x: tf.square(x).numpy() + np.sqrt(tf.identity(x)), [x], tf.float32)
    assert _run(y) == pytest.approx(9 + 3**0.5)
    assert not hasattr(x, "numpy")
    with pytest.raises(TypeError, match="bool"):
        bool(x)


def test_what_does_not_compute_with_its_input_has_no_slope():
    x = tf.constant(3.0)
    y = tf.py_function(lambda x: np.float32(7), [x], tf.float32)
    assert _run(tf.gradients(y, x)) == [0.0]


@pytest.mark.parametrize(
    ("value", "dtype", "expected"),
    [
        (np.array([1.5, 2.5]), tf.float32, [1.5, 2.5]),
        (np.float64(2.5), tf.int32, 2),
        (3, tf.float64, 3.0),
        (True, tf.int32, 1),
    ],
)
def test_results_of_py_function_are_converted(value, dtype, expected):
    result = _run(tf.py_function(lambda: value, [], dtype))
    np.testing.assert_array_equal(result, expected)
    assert result.dtype == dtype.as_numpy_dtype


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda: 1.5, "Cannot convert 1.5 to EagerTensor of dtype int32"),
        (lambda: tf.constant(1.5), "Tensor conversion requested dtype int32"),
        (lambda: None, "returns 0 values, but expects to see 1 values"),
    ],
)
def test_results_that_py_function_can_not_convert(function, message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        _run(tf.py_function(function, [], tf.int32))


def test_py_function_takes_as_many_results_as_it_has_types():
    assert _run(tf.py_function(lambda: (1, 2, 3), [], [tf.int32, tf.int64])) == [1, 2]


def test_py_function_has_eager_tensors_and_variables():
    def told(x):
        variable = tf.Variable(x, use_resource=True)
        variable.assign_add(1.0)
        return f"{type(x).__name__} {variable.numpy()}"

    assert _run(tf.py_function(told, [2.0], tf.string)) == b"EagerTensor 3.0"
    with pytest.raises(tf.errors.UnknownError, match="Attempting to return a variable"):
        _run(tf.py_function(lambda x: tf.Variable(x, use_resource=True), [2.0], tf.float32))


@pytest.mark.parametrize(
    ("value", "given"), [(1, "int64"), (1.5, "double"), (True, "bool"), ([1.5], "double")]
)
def test_results_of_py_func_have_their_own_types(value, given):
    message = f"0-th value returned by pyfunc_\\d+ is {given}, but expects float"
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        _run(tf.py_func(lambda: value, [], tf.float32))


def test_a_result_where_none_is_expected():
    with pytest.raises(tf.errors.InvalidArgumentError, match="returns 1 values, but expects to"):
        _run(tf.py_func(lambda: 3, [], []))


def test_errors_of_steps_inside_are_unknown_to_the_step_outside():
    def fail():
        raise tf.errors.NotFoundError(None, None, "lost")

    with pytest.raises(tf.errors.UnknownError, match="NotFoundError: lost"):
        _run(tf.py_func(fail, [], []))


def test_errors_in_eager_mode_are_those_of_steps():
    def fail():
        raise StopIteration("no more")

    with eager_mode():
        with pytest.raises(tf.errors.OutOfRangeError, match="(?s)no more.*in fail"):
            tf.py_function(fail, [], [])
        assert tf.py_function(lambda: None, [], []) == []
        with pytest.raises(tf.errors.InvalidArgumentError, match="returns 0 values"):
            tf.py_function(lambda: None, [], tf.float32)
