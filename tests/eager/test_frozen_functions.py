"""`convert_variables_to_constants_v2`: variables of a concrete function become constants."""

import numpy as np
import pytest

import penstock as tf
from penstock.internal_paths.frozen_functions import convert_variables_to_constants_v2
from penstock.internal_paths.graph_mode import eager_mode


@pytest.fixture(autouse=True)
def _eagerly():
    with eager_mode():
        yield


def test_variables_and_captured_values_become_constants():
    scale, table = tf.contrib.eager.Variable(3.0), tf.contrib.eager.Variable([[1.0], [2.0]])
    offset = tf.constant(10.0)

    @tf.function
    def f(x, rows):
        return scale * x + offset, tf.gather(table, rows)

    x, rows = tf.constant([1.0, 2.0]), tf.constant([1])
    concrete = f.get_concrete_function(x, rows)
    frozen = convert_variables_to_constants_v2(concrete)
    scale.assign(100.0)
    assert frozen.captured_inputs == []
    assert [tensor.shape.as_list() for tensor in frozen.inputs] == [[2], [1]]
    types = {node.op for node in frozen.graph.as_graph_def().node}
    assert "ReadVariableOp" not in types
    assert "ResourceGather" not in types
    product, row = frozen(x, rows)
    np.testing.assert_array_equal(product, [13.0, 16.0])
    np.testing.assert_array_equal(row, [[2.0]])


def test_a_variable_inside_of_a_branch_is_refused():
    scale = tf.contrib.eager.Variable(3.0)

    @tf.function
    def f(x):
        return tf.cond(x > 0.0, lambda: x * scale, lambda: x)

    concrete = f.get_concrete_function(tf.constant(1.0))
    with pytest.raises(NotImplementedError, match="takes a variable"):
        convert_variables_to_constants_v2(concrete)
