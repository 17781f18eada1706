"""Functions that are told of each operation as it is made."""

import threading

import pytest

import penstock as tf
from penstock.internal_paths.graph_mode import eager_mode
from penstock.ir.op_callbacks import op_callback


class Told:
    """Keeps what it is told."""

    def __init__(self):
        self.types, self.names, self.attrs, self.graphs, self.inputs = [], [], [], [], []

    def __call__(self, op_type, inputs, attrs, outputs, op_name=None, graph=None):
        self.types.append(op_type)
        self.names.append(op_name)
        self.attrs.append(attrs)
        self.graphs.append(graph)
        self.inputs.append(inputs)


def test_nodes_are_told_while_a_block_is_open():
    told = Told()
    x = tf.placeholder(tf.float32, [2, 2])
    with op_callback(told):
        y = tf.matmul(x, tf.constant([[1.0, 0.0], [0.0, 1.0]]), transpose_a=True)
    tf.square(y)
    assert told.types == ["MatMul"]
    assert told.names == [y.op.name]
    assert told.graphs == [tf.get_default_graph()]
    assert told.inputs == [(x, y.op.inputs[1])]
    attrs = dict(zip(told.attrs[0][::2], told.attrs[0][1::2], strict=True))
    assert attrs["transpose_a"].b


def test_a_callback_puts_other_tensors_in_the_place_of_outputs():
    def doubled(op_type, inputs, attrs, outputs, op_name=None, graph=None):
        return [2 * output for output in outputs]

    with op_callback(doubled):
        result = tf.negative(tf.constant(3.0))
    with tf.Session() as session:
        assert session.run(result) == -6.0
    with op_callback(lambda *args, **kwargs: []), pytest.raises(ValueError, match="0 tensors"):
        tf.negative(tf.constant(3.0))


def test_eager_operations_and_calls_are_told():
    told = Told()

    @tf.function
    def f(x):
        return tf.square(x)

    with eager_mode():
        x = tf.constant(2.0)
        f(x)
        with op_callback(told):
            tf.log(x)
            f(x)
        assert told.types == ["Log", f.get_concrete_function(x).name]
    assert told.names == told.graphs == [None, None]
    assert told.inputs[0] == (x,)


def test_a_block_is_of_one_thread():
    told = Told()
    with op_callback(told):
        thread = threading.Thread(target=lambda: tf.negative(tf.constant(1.0)))
        thread.start()
        thread.join()
    assert told.types == []


@pytest.mark.parametrize("value", [None, 3])
def test_only_what_can_be_called_is_a_callback(value):
    with pytest.raises(ValueError, match="allback function"):
        op_callback(value)
