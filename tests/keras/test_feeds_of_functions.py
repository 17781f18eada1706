"""What `K.function` and the callables of a session take, whatever static shapes say."""

import numpy as np
import pytest

import penstock as tf
from penstock import proto


def test_values_of_other_shapes():
    matrix = tf.keras.backend.placeholder(ndim=2)
    call = tf.keras.backend.function([matrix], [2 * matrix, tf.shape(matrix)])
    doubled, shape = call([np.ones([2, 3, 4])])
    np.testing.assert_array_equal(doubled, np.full([2, 3, 4], 2))
    assert shape.tolist() == [2, 3, 4]
    assert call([np.ones([2, 1])])[1].tolist() == [2, 1]


def test_callables_of_options_do_not_ask_for_shapes_those_of_sessions_do():
    x = tf.placeholder(tf.float32, [3])
    options = proto.CallableOptions(feed=[x.name], fetch=[(x + 1).name])
    with tf.Session() as sess:
        call = sess._make_callable_from_options(options)
        np.testing.assert_array_equal(call(np.ones(2))[0], [2, 2])
        with pytest.raises(ValueError, match="Cannot feed value of shape"):
            sess.make_callable(2 * x, [x])(np.ones(2))
