"""Op types for tests of graphs: an import of `tensorflow.python.framework.test_ops` has them."""

import subprocess
import sys

PROGRAM = """
import penstock as tf
from penstock.ir import registry
assert registry.find("IntOutput") is None
from penstock.python.framework import test_ops
assert registry.find("IntOutput") is not None
with tf.Graph().as_default():
    a, b = test_ops.int_output_float_output()
    assert (a.dtype, b.dtype) == (tf.int32, tf.float32)
    op = test_ops.two_int_inputs(a, 3)
    assert [t.name for t in op.inputs] == [a.name, "TwoIntInputs/b:0"]
    assert test_ops.none(name="x").name == "x"
    assert [t.dtype for t in test_ops.list_output([tf.int32, tf.bool])] == [tf.int32, tf.bool]
    assert tf.get_default_graph().create_op("RefOutput", []).outputs[0].dtype == tf.int32._as_ref
    try:
        test_ops.attr_min(a=3)
    except ValueError as error:
        assert "less than minimum 5" in str(error)
"""


def test_they_are_there_when_asked_for():
    """In a process of its own: the registry is one for all tests."""
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


SIGNATURES = """
import penstock
from penstock.ir import registry
from penstock.testing import test_ops
from tests.ops.opdefs import differences, table
compared = [name for name in test_ops._OP_TYPES.values() if name in table()]
assert len(compared) > 50, compared
for name in compared:
    for found in differences(registry.find(name), table()[name]):
        # The table has no way to write a list of tensors down.
        assert "tensor_list_val" in found, (name, found)
"""


def test_signatures_are_tensorflows():
    done = subprocess.run([sys.executable, "-c", SIGNATURES], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
