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


def test_a_debugger_can_be_imported_but_not_started():
    from penstock.python import debug

    import penstock as tf

    assert debug.has_inf_or_nan(None, np.array([1.0, np.nan]))
    assert not debug.has_inf_or_nan(None, np.array([1.0]))
    assert not debug.has_inf_or_nan(None, np.array([b"inf"]))
    with tf.Session() as session, pytest.raises(RuntimeError, match="add_check_numerics_ops"):
        debug.LocalCLIDebugWrapperSession(session)


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
    with pytest.raises(AttributeError, match="tf.while_loop"):
        tf.autograph.to_graph(double)
