"""The table of TensorFlow's internal paths: every source that it names is there."""

import importlib

import numpy as np
import pytest

from penstock.internal_paths import table

EXPLICIT, PATTERNS = table._lines()


def _sources():
    named = {source for found in EXPLICIT.values() for source in found}
    named |= {source for _, found in PATTERNS for source in found}
    return sorted(source for source in named if source and "*" not in source)


@pytest.mark.parametrize("source", _sources())
def test_sources_exist(source):
    importlib.import_module(f"penstock.{source}")


@pytest.mark.parametrize("path", sorted(EXPLICIT))
def test_paths_can_be_imported(path):
    importlib.import_module(f"penstock.{path}")


def test_a_debugger_of_the_network_says_what_to_use_instead():
    from penstock.python import debug

    import penstock as tf

    assert debug.has_inf_or_nan(None, np.array([1.0, np.nan]))
    assert not debug.has_inf_or_nan(None, np.array([1.0]))
    assert not debug.has_inf_or_nan(None, np.array([b"inf"]))
    with tf.Session() as session, pytest.raises(RuntimeError, match="penstock debug"):
        debug.TensorBoardDebugWrapperSession(session, "localhost:6064")


def test_types_registered_as_tensors():
    from penstock.python.framework import ops

    class Named:
        name = property(lambda self: "it")
        dtype = property(lambda self: None)

    class Unnamed:
        dtype = property(lambda self: None)

    assert not ops.is_dense_tensor_like(Named())
    ops.register_dense_tensor_like_type(Named)
    assert ops.is_dense_tensor_like(Named())
    with pytest.raises(TypeError, match="Unnamed does not define a `name` property"):
        ops.register_dense_tensor_like_type(Unnamed)


def test_functions_that_are_never_converted():
    import penstock as tf

    def double(x):
        return 2 * x

    marked = tf.autograph.experimental.do_not_convert
    assert marked(double)(2) == marked()(double)(2) == 4


def test_inner_functions_of_recurrent_networks():
    from penstock.contrib.seq2seq.python.ops import decoder, helper
    from penstock.python.ops import rnn, rnn_cell_impl

    import penstock as tf

    with tf.Graph().as_default():
        x = tf.zeros([2, 3, 4])
        for module in (rnn, decoder, helper):
            assert module._transpose_batch_time(x).shape.as_list() == [3, 2, 4]
        assert rnn._best_effort_input_batch_size([x]) == 3
        assert rnn._infer_state_dtype(None, (x, x)) is tf.float32
        assert rnn_cell_impl._concat(2, [3], static=True) == [2, 3]
        assert rnn_cell_impl._zero_state_tensors(5, 2, tf.float32).shape.as_list() == [2, 5]
        assert rnn_cell_impl._like_rnncell(tf.nn.rnn_cell.GRUCell(2))
        assert not rnn_cell_impl._like_rnncell(x)


def test_the_path_of_lookup_tables():
    from penstock.python.ops import lookup_ops

    assert callable(lookup_ops.index_table_from_file)
