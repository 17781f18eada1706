"""Tensors of eager mode: they have values, and none of what only a graph's tensors have."""

import copy

import numpy as np
import pytest

import penstock as tf
from penstock.internal_paths.graph_mode import eager_mode, graph_mode


@pytest.fixture(autouse=True)
def _eagerly():
    with eager_mode():
        yield


def test_the_spec_of_a_tensor_without_a_node():
    assert tf.TensorSpec.from_tensor(tf.constant([1, 2])) == tf.TensorSpec([2], tf.int32)
    assert tf.TensorSpec.from_tensor(tf.constant(1.0), "x").name == "x"


def test_values():
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    np.testing.assert_array_equal((tf.matmul(x, x) + 1).numpy(), [[8, 11], [16, 23]])
    assert tf.executing_eagerly() and isinstance(x, tf.Tensor)
    assert isinstance(tf.constant(3.0).numpy(), np.float32)
    assert tf.constant("ab").numpy() == b"ab"
    assert x.device == "/job:localhost/replica:0/task:0/device:CPU:0"
    assert (x.ndim, len(x), x.shape.as_list()) == (2, 2, [2, 2])
    assert [row.numpy().tolist() for row in x] == [[1, 2], [3, 4]]
    assert copy.deepcopy(x) is x


def test_a_value_is_not_the_program_s_array():
    array = np.zeros(2)
    x = tf.constant(array)
    array[0] = 5
    x.numpy()[1] = 7
    np.testing.assert_array_equal(x.numpy(), [0, 0])


def test_python_conversions():
    assert bool(tf.constant(1)) and not tf.constant(False)
    assert int(tf.constant(3.7)) == 3 and float(tf.constant(3)) == 3.0
    assert ["a", "b"][tf.constant(1)] == "b"
    assert f"{tf.constant(1.5):.2f}" == "1.50"
    with pytest.raises(ValueError, match="ambiguous"):
        bool(tf.constant([1, 2]))
    with pytest.raises(TypeError, match="Scalar tensor has no"):
        len(tf.constant(1))
    with pytest.raises(TypeError, match="Cannot iterate over a scalar tensor"):
        list(tf.constant(1))


def test_text():
    x = tf.constant([1, 2])
    assert str(x) == "tf.Tensor([1 2], shape=(2,), dtype=int32)"
    assert repr(x) == (
        f"<tf.Tensor: id={x._id}, shape=(2,), dtype=int32, numpy=array([1, 2], dtype=int32)>"
    )
    assert repr(tf.constant(3.0)).endswith("shape=(), dtype=float32, numpy=3.0>")


@pytest.mark.parametrize("name", ["name", "op", "graph", "value_index"])
def test_what_it_has_not(name):
    with pytest.raises(AttributeError, match=f"Tensor.{name} is meaningless"):
        getattr(tf.constant(1), name)
    with pytest.raises(NotImplementedError, match="is .numpy"):
        tf.constant(1).eval()


def test_the_first_tensor_decides_the_type():
    x = tf.constant([1.0, 2.0])
    np.testing.assert_array_equal(tf.multiply(2, x).numpy(), [2, 4])
    with pytest.raises(tf.errors.InvalidArgumentError, match="input #1.*expected to be a float"):
        tf.add(x, tf.constant(1))


def test_errors_name_the_op():
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"In\[0\].*\[Op:MatMul\]") as failed:
        tf.matmul(tf.ones([2, 2]), tf.ones([3, 3]))
    assert failed.value.op is None
    with pytest.raises(tf.errors.InvalidArgumentError, match="Incompatible shapes"):
        tf.ones([2, 3]) + tf.ones([4, 5])


def test_what_runs_once_returns_nothing():
    assert tf.no_op() is None
    assert tf.group(tf.constant(1)) is None
    assert tf.assert_equal(1, 1) is None
    with pytest.raises(tf.errors.InvalidArgumentError, match="Condition x == y did not hold"):
        tf.assert_equal([1, 2], [1, 3])
    with pytest.raises(tf.errors.InvalidArgumentError, match="Expected 'False' to be true"):
        tf.Assert(False, ["why"])


def test_what_only_graphs_can_do():
    with pytest.raises(RuntimeError, match=r"tf.placeholder\(\) is not compatible with eager"):
        tf.placeholder(tf.float32)
    with pytest.raises(RuntimeError, match="tf.gradients is not supported when eager"):
        tf.gradients(tf.constant(1.0), [])
    with pytest.raises(RuntimeError, match="Session graph is empty"), tf.Session() as sess:
        sess.run(tf.constant(1))
    with pytest.raises(RuntimeError, match="does not support functions"), tf.device(lambda op: ""):
        pass
    with pytest.raises(RuntimeError, match="GPU:7 unknown device"), tf.device("gpu:7"):
        tf.zeros([1])


def test_graphs_inside():
    x = tf.constant(1.0)
    with tf.Graph().as_default() as graph:
        assert not tf.executing_eagerly()
        y = tf.placeholder(tf.float32) + 1
        with tf.Session() as sess:
            assert sess.run(y, {y.op.inputs[0]: 2.0}) == 3.0
        with pytest.raises(RuntimeError, match="Attempting to capture an EagerTensor"):
            tf.convert_to_tensor(x)
        with graph_mode():
            assert tf.get_default_graph() is graph


def test_names_are_not_made_unique():
    with tf.name_scope("a") as outer, tf.name_scope("a") as inner:
        assert (outer, inner) == ("a/", "a/a/")
        assert tf.Variable(1.0).name == tf.Variable(1.0).name == "a/a/Variable:0"


def test_random_numbers_follow_the_seed():
    tf.set_random_seed(3)
    first, second = tf.random_uniform([4]), tf.random_uniform([4])
    tf.set_random_seed(3)
    np.testing.assert_array_equal(tf.random_uniform([4]).numpy(), first.numpy())
    assert not np.allclose(first.numpy(), second.numpy())
    goes_on = [tf.random_uniform([], seed=5).numpy() for _ in range(2)]
    assert goes_on[0] != goes_on[1]


def test_control_flow_is_python_s():
    taken = []
    tf.cond(tf.constant(True), lambda: taken.append("then"), lambda: taken.append("else"))
    assert taken == ["then"]
    assert tf.case([(tf.constant(False), lambda: 1)], default=lambda: 2) == 2
    assert tf.while_loop(lambda i: i < 3, lambda i: i + 1, [0]).numpy() == 3
    i, total = tf.while_loop(lambda i, t: i < 4, lambda i, t: (i + 1, t + i), [0, 0])
    assert (i.numpy(), total.numpy()) == (4, 6)
    stopped = tf.while_loop(lambda i: True, lambda i: i + 1, [0], maximum_iterations=2)
    assert stopped.numpy() == 2
    np.testing.assert_array_equal(tf.map_fn(lambda v: v * 2, tf.range(3)).numpy(), [0, 2, 4])
    np.testing.assert_array_equal(tf.scan(lambda a, v: a + v, tf.range(4)).numpy(), [0, 1, 3, 6])


def test_tensor_arrays():
    array = tf.TensorArray(tf.float32, 0, dynamic_size=True)
    for number in range(3):
        array = array.write(number, [float(number)])
    np.testing.assert_array_equal(array.stack().numpy(), [[0], [1], [2]])
    with pytest.raises(tf.errors.InvalidArgumentError, match="Could not read index 0 twice"):
        array.read(0)
    with pytest.raises(tf.errors.OutOfRangeError, match="not resizeable and size is: 1"):
        tf.TensorArray(tf.float32, 1).write(2, 1.0)


def test_datasets_are_iterated():
    dataset = tf.data.Dataset.range(4).map(lambda x: x * 2).batch(3)
    assert [batch.numpy().tolist() for batch in dataset] == [[0, 2, 4], [6]]
    iterator = tf.data.Dataset.range(1).make_one_shot_iterator()
    assert iterator.get_next().numpy() == 0
    with pytest.raises(tf.errors.OutOfRangeError):
        iterator.get_next()
    assert [x.numpy() for x in tf.contrib.eager.Iterator(tf.data.Dataset.range(2))] == [0, 1]
    with pytest.raises(RuntimeError, match="make_initializable_iterator is not supported"):
        dataset.make_initializable_iterator()


def test_python_functions_are_called():
    doubled = tf.py_func(lambda a: a * 2, [tf.constant([1, 2])], tf.int32)
    np.testing.assert_array_equal(doubled.numpy(), [2, 4])
