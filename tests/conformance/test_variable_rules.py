"""What TensorFlow's own tests ask of variables and their store."""

import numpy as np
import pytest

import penstock as tf
from penstock.internal_paths import state_functions, variable_functions
from penstock.ops.partitioned_variables import PartitionedVariable
from penstock.ops.resource_variables import VarHandleOp, variable_shape


class TestStore:
    def test_variables_by_full_name(self):
        store = variable_functions._get_default_variable_store()
        v = store.get_variable("v", [1])
        assert store.get_variable("v", [1]) is v
        assert store.get_variable("v", [1], reuse=True) is v
        with pytest.raises(ValueError, match="already exists"):
            store.get_variable("v", [1], reuse=False)
        with pytest.raises(ValueError, match="does not exist"):
            store.get_variable("u", [1], reuse=True)
        assert "ResourceVariable" in type(store.get_variable("r", [1], use_resource=True)).__name__

    def test_the_default_kind(self):
        assert variable_functions._DEFAULT_USE_RESOURCE is False


class TestArguments:
    @pytest.mark.parametrize("argument", ["synchronization", "aggregation"])
    @pytest.mark.parametrize("use_resource", [False, True])
    def test_settings_of_replicas(self, argument, use_resource):
        with pytest.raises(ValueError, match=f"Invalid variable {argument} mode: bogus"):
            tf.Variable(1.0, use_resource=use_resource, **{argument: "bogus"})

    @pytest.mark.parametrize("use_resource", [False, True])
    def test_initial_values_of_a_loop(self, use_resource):
        def body(i):
            tf.Variable(tf.zeros([]) + 1.0, use_resource=use_resource)
            return i + 1

        with pytest.raises(ValueError, match="inside a control-flow construct"):
            tf.while_loop(lambda i: i < 3, body, [0])

    def test_parts_must_be_of_the_whole(self):
        part = tf.Variable([0.0])
        part._set_save_slice_info(tf.Variable.SaveSliceInfo("other", [2], [0], [1]))
        whole = PartitionedVariable("whole", [2], part.dtype, [part], [1])
        assert whole.name == "whole"
        with pytest.raises(ValueError, match="full shapes must match"):
            PartitionedVariable("whole", [3], part.dtype, [part], [1])
        with pytest.raises(ValueError, match=r"len\(shape\) != len\(partitions\)"):
            PartitionedVariable("whole", [2], part.dtype, [part], [1, 1])


class TestSteps:
    def test_a_handle_takes_values_of_other_shapes(self, session):
        v = tf.get_variable("v", [1, 1], use_resource=True)
        value = tf.placeholder(tf.float32)
        assert session.run(v.assign(value), {value: np.zeros([2, 2])}).shape == (2, 2)

    def test_reading_what_has_no_value(self, session):
        v = tf.Variable(1.0, use_resource=True, name="v")
        words = "reading resource variable v from Container: localhost.*uninitialized"
        with pytest.raises(tf.errors.FailedPreconditionError, match=words):
            session.run(v)

    def test_temporary_variables_have_names_of_the_step(self, session):
        def temporary(name):
            buffer = tf.raw_ops.TemporaryVariable(shape=[2], dtype=tf.float32, var_name=name)
            return tf.assign(buffer, [1.0, 2.0])

        def destroyed(buffer, name):
            return tf.raw_ops.DestroyTemporaryVariable(ref=buffer, var_name=name)

        assert session.run(destroyed(temporary("t"), "t")).tolist() == [1.0, 2.0]
        with pytest.raises(tf.errors.NotFoundError):
            session.run(destroyed(temporary("t"), "other"))
        with pytest.raises(tf.errors.AlreadyExistsError):
            session.run(temporary("t") + temporary("t"))


def test_shapes_of_handles_that_were_passed_on():
    handle = VarHandleOp(shape=[20], dtype=tf.float32)
    passed, _ = tf.raw_ops.IdentityN(input=[handle, handle])
    assert tf.contrib.util.constant_value(variable_shape(passed)).tolist() == [20]


def test_nodes_of_variables():
    assert state_functions.variable_op([1, 2], tf.float32).shape.as_list() == [1, 2]
    assert state_functions.variable_op([1, 2], tf.float32, set_shape=False).shape.ndims is None
    assert state_functions.variable_op_v2([2], tf.float32).op.type == "VariableV2"
