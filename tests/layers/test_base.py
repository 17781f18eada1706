"""`tf.layers.Layer`: scopes, names, variables, losses, updates, checks of inputs, copies."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.layers import base


@pytest.fixture(autouse=True)
def _own_graph() -> Iterator[None]:
    with tf.Graph().as_default():
        yield


class Passing(base.Layer):
    def call(self, inputs: Any) -> Any:
        return inputs


class WithVariable(base.Layer):
    def build(self, input_shape: Any) -> None:
        self.my_var = self.add_variable("my_var", [2, 2], initializer=tf.zeros_initializer())

    def call(self, inputs: Any) -> Any:
        return inputs * 2


def names(variables: Any) -> list[str]:
    return [variable.name for variable in variables]


# Names and scopes


def test_scopes_are_unique_and_follow_variable_scopes() -> None:
    x = tf.random_uniform((5,))
    scopes = []
    for name in (None, None, "my_layer", "my_layer"):
        layer = Passing(name=name)
        layer.apply(x)
        scopes.append(layer.scope_name)
    with tf.name_scope("names_only"):
        layer = Passing()
        layer.apply(x)
        scopes.append(layer.scope_name)
    with tf.variable_scope("scope"):
        layer = Passing()
        layer.apply(x)
        scopes.append(layer.scope_name)
    assert scopes == [
        "passing",
        "passing_1",
        "my_layer",
        "my_layer_1",
        "passing_2",
        "scope/passing",
    ]


def test_a_layers_own_name_is_numbered_from_one_in_each_graph() -> None:
    assert [Passing().name, Passing().name] == ["passing_1", "passing_2"]
    with tf.Graph().as_default():
        assert Passing().name == "passing_1"


def test_the_scope_is_unknown_before_the_first_call() -> None:
    with pytest.raises(ValueError, match="has not been used yet"):
        _ = Passing().scope_name


def test_nodes_of_all_calls_share_the_layers_name_scope() -> None:
    layer = WithVariable(name="mine")
    x = tf.ones([2, 2])
    assert [layer(x).name, layer.apply(x).name] == ["mine/mul:0", "mine/mul_1:0"]
    assert names(layer.variables) == ["mine/my_var:0"]


def test_reusing_layers_take_the_variables_of_their_scope() -> None:
    x = tf.ones([2, 2])
    lazy, told = WithVariable(_reuse=True), WithVariable(_reuse=True)
    with tf.variable_scope("new"):
        with tf.variable_scope("with_variable"):
            existing = tf.get_variable("my_var", [2, 2])
        lazy.apply(x)
    with tf.variable_scope("other") as scope:
        other = tf.get_variable("my_var", [2, 2])
        told.apply(x, scope=scope)
    assert lazy.my_var is existing and lazy.scope_name == "new/with_variable"
    assert told.my_var is other and told.scope_name == "other"


def test_call_gets_the_scope_if_it_asks_for_it() -> None:
    seen = []

    class Asking(base.Layer):
        def call(self, inputs: Any, scope: Any = None) -> Any:
            seen.append(scope.name)
            return inputs

    Asking(name="asking").apply(tf.ones([2]))
    assert seen == ["asking"]


def test_a_built_layer_makes_no_more_variables() -> None:
    class Growing(base.Layer):
        def call(self, inputs: Any) -> Any:
            return inputs + self.add_variable("too_late", [2, 2])

    with pytest.raises(ValueError, match="Variable growing/too_late does not exist"):
        Growing(name="growing").apply(tf.ones([2]))


def test_get_variable_makes_variables_in_the_first_call() -> None:
    class Growing(base.Layer):
        def call(self, inputs: Any) -> Any:
            return inputs + tf.get_variable("inside", [2])

    layer = Growing(name="growing")
    for _ in range(2):
        layer(tf.ones([2]))
    assert names(tf.global_variables()) == ["growing/inside:0"]


def test_parts_are_shared_with_their_regularization() -> None:
    for reuse in (False, True):
        with tf.variable_scope(
            tf.get_variable_scope(), partitioner=tf.fixed_size_partitioner(3), reuse=reuse
        ):
            layer = base.Layer(name="my_layer")
            layer.add_weight("w", [4, 4], regularizer=tf.reduce_sum)
    assert len(tf.losses.get_regularization_losses()) == 3


def test_a_layer_may_be_named_by_a_scope() -> None:
    with tf.variable_scope("scope") as scope:
        tf.layers.dense(tf.ones([2, 3]), 2, name=scope)
    assert names(tf.global_variables()) == ["scope/kernel:0", "scope/bias:0"]


# Variables


def test_weights_are_sorted_by_whether_they_are_trained() -> None:
    layer = base.Layer(name="mine")
    trained = layer.add_weight("trained", [2])
    fixed = layer.add_weight("fixed", [2], trainable=False)
    on_read = layer.add_weight("on_read", [2], synchronization=tf.VariableSynchronization.ON_READ)
    assert layer.trainable_weights == [trained]
    assert layer.non_trainable_variables == [fixed, on_read]
    assert layer.variables == layer.weights == [trained, fixed, on_read]
    assert tf.trainable_variables() == [trained]
    layer.trainable = False
    assert layer.trainable_variables == []
    assert layer.non_trainable_weights == [trained, fixed, on_read]
    with pytest.raises(ValueError, match="only for non-trainable variables"):
        layer.add_weight(
            "wrong", [2], trainable=True, synchronization=tf.VariableSynchronization.ON_READ
        )


def test_weights_of_a_frozen_layer_are_not_trained() -> None:
    layer = base.Layer(trainable=False)
    layer.add_weight("w", [2])
    assert layer.trainable is False
    assert tf.trainable_variables() == []


def test_a_custom_getter_may_keep_weights_from_training() -> None:
    def untrained(getter: Any, *args: Any, **kwargs: Any) -> Any:
        return getter(*args, **{**kwargs, "trainable": False})

    with tf.variable_scope("scope", custom_getter=untrained):
        layer = tf.layers.Dense(3)
        layer(tf.ones([2, 4]))
    assert layer.trainable_variables == []
    assert len(layer.non_trainable_variables) == 2


def test_the_default_initializer_depends_on_the_type() -> None:
    layer = base.Layer()
    counts = layer.add_weight("counts", [2], dtype=tf.int32)
    assert counts.initializer.inputs[1].op.type == "Const"
    with pytest.raises(ValueError, match="An initializer for variable names"):
        layer.add_weight("names", [2], dtype=tf.string)
    with pytest.raises(TypeError, match="Unknown keyword argument"):
        layer.add_weight("other", [2], other=True)


def test_types_of_weights_follow_the_first_input() -> None:
    layer = tf.layers.Dense(3)
    layer(tf.ones([2, 4], tf.float64))
    assert layer.dtype == "float64"
    assert layer.kernel.dtype.base_dtype is tf.float64


def test_a_partitioned_weight_has_a_loss_per_part() -> None:
    with tf.variable_scope("scope"):
        layer = base.Layer(name="parts")
        layer.add_weight(
            "w", [4, 2], regularizer=tf.reduce_sum, partitioner=tf.fixed_size_partitioner(2)
        )
    assert len(layer.losses) == len(tf.losses.get_regularization_losses()) == 2


def test_weights_as_arrays() -> None:
    layer = tf.layers.Dense(2)
    layer(tf.ones([1, 3]))
    with tf.Session():
        tf.global_variables_initializer().run()
        layer.set_weights([np.full([3, 2], 2.0), np.ones([2])])
        kernel, bias = layer.get_weights()
        assert kernel.tolist() == [[2.0, 2.0]] * 3
        assert bias.tolist() == [1.0, 1.0]
        with pytest.raises(ValueError, match="not compatible with provided weight shape"):
            layer.set_weights([np.ones([2, 3]), np.ones([2])])
        with pytest.raises(ValueError, match="weight list of length 1"):
            layer.set_weights([np.ones([3, 2])])


def test_parameters_are_counted_once_built() -> None:
    layer = tf.layers.Dense(16)
    with pytest.raises(ValueError, match="the layer isn't built"):
        layer.count_params()
    layer.build((None, 4))
    assert layer.count_params() == 16 * 4 + 16


# Losses and updates


class Counting(base.Layer):
    def build(self, input_shape: Any) -> None:
        self.a = self.add_variable("a", (), tf.float32, trainable=False)
        self.add_update(tf.assign_add(self.a, 1.0))
        self.add_loss(self.a)
        self.built = True

    def call(self, inputs: Any) -> Any:
        self.add_update(tf.assign_add(self.a, inputs), inputs=True)
        self.add_loss(inputs, inputs=True)
        return inputs + 1


def test_losses_and_updates_are_found_by_inputs() -> None:
    layer = Counting()
    for calls in (1, 2):
        x = tf.placeholder(tf.float32, ())
        between = x + 1
        out = layer.apply(between)
        for found, of in (
            (layer.updates, layer.get_updates_for),
            (layer.losses, layer.get_losses_for),
        ):
            assert len(found) == calls + 1
            assert [len(of(inputs)) for inputs in (None, [x], [between], [out])] == [1, 1, 1, 0]
    assert tf.get_collection(tf.GraphKeys.UPDATE_OPS) == layer.updates


def test_a_frozen_layer_has_no_updates() -> None:
    layer = Counting(trainable=False)
    layer.apply(tf.placeholder(tf.float32, ()))
    assert layer.updates == []
    assert tf.get_collection(tf.GraphKeys.UPDATE_OPS) == []


def test_updates_may_be_made_by_functions() -> None:
    layer = base.Layer()
    variable = layer.add_weight("w", [])
    layer.add_update(lambda: tf.assign(variable, 1.0))
    assert [update.type for update in layer.updates] == ["Assign"]


def test_the_regularization_of_outputs_depends_on_them() -> None:
    layer = base.Layer(activity_regularizer=tf.reduce_sum)
    x = tf.placeholder(tf.int32)
    layer.apply(x)
    assert len(layer.get_losses_for(x)) == 1
    assert layer.get_losses_for(None) == []


def test_shared_weights_are_regularized_once() -> None:
    x = tf.ones([2, 4])
    for reuse in (None, True):
        tf.layers.dense(x, 3, kernel_regularizer=tf.reduce_sum, name="dense", reuse=reuse)
    assert len(tf.losses.get_regularization_losses()) == 1


# Inputs


@pytest.mark.parametrize(
    ("spec", "shape", "fault"),
    [
        ({"ndim": 2}, None, "requires a defined rank"),
        ({"ndim": 2}, [1], "expected ndim=2"),
        ({"min_ndim": 2}, [1], "expected min_ndim=2"),
        ({"max_ndim": 2}, [1, 1, 1], "expected max_ndim=2"),
        ({"dtype": "int32"}, [1], "expected dtype=int32"),
        ({"axes": {-1: 2}}, [3], "expected axis -1"),
        ({"shape": (None, 3)}, [1, 2], "expected shape"),
    ],
)
def test_inputs_are_checked(spec: Any, shape: Any, fault: str) -> None:
    layer = Passing()
    layer.input_spec = tf.layers.InputSpec(**spec)
    with pytest.raises(ValueError, match=fault):
        layer.apply(tf.placeholder(tf.float32, shape))


def test_inputs_that_meet_the_specification_pass() -> None:
    layer = Passing()
    layer.input_spec = [tf.layers.InputSpec(ndim=2, axes={1: 3}), None]
    layer.apply([tf.placeholder(tf.float32, [None, 3]), tf.placeholder(tf.float32)])
    with pytest.raises(ValueError, match="expects 2 inputs"):
        layer.apply([tf.ones([1, 3])])


def test_specifications_are_checked() -> None:
    with pytest.raises(TypeError, match="must be an instance of InputSpec"):
        Passing().input_spec = "rank 2"
    with pytest.raises(TypeError, match="keys in axes must be integers"):
        tf.layers.InputSpec(axes={"last": 3})
    with pytest.raises(ValueError, match="greater than the maximum allowed value"):
        tf.layers.InputSpec(ndim=2, axes={2: 3})
    assert repr(tf.layers.InputSpec(ndim=2, axes={1: 3})) == "InputSpec(ndim=2, axes={1: 3})"
    spec = tf.layers.InputSpec(shape=(None, 3), dtype=tf.float32)
    assert tf.layers.InputSpec.from_config(spec.get_config()).ndim == 2


def test_inputs_and_outputs_may_be_nested() -> None:
    class Renaming(base.Layer):
        def call(self, inputs: Any) -> Any:
            return {f"l{key}": value for key, value in inputs.items()}

    given = {"abel": tf.placeholder(tf.int32), "ogits": tf.placeholder(tf.float32)}
    assert set(Renaming().apply(given)) == {"label", "logits"}


def test_arrays_and_variables_are_inputs() -> None:
    with tf.Session():
        dense = tf.layers.Dense(1, kernel_initializer=tf.ones_initializer())
        from_array = dense(np.ones([2, 3], np.float32))
        from_variable = dense(tf.Variable(tf.ones([2, 3])))
        tf.global_variables_initializer().run()
        assert from_array.eval().tolist() == from_variable.eval().tolist() == [[3.0], [3.0]]


def test_a_layer_must_return_something() -> None:
    class Silent(base.Layer):
        def call(self, inputs: Any) -> Any:
            return None

    with pytest.raises(ValueError, match="not None"):
        Silent().apply(tf.ones([2]))


def test_unknown_arguments_are_refused() -> None:
    with pytest.raises(TypeError, match="Keyword argument not understood"):
        Passing(wrong=True)


def test_training_is_handed_down_to_layers_inside() -> None:
    inner = tf.layers.Dropout(0.5, seed=1)

    class Outer(base.Layer):
        def call(self, inputs: Any, training: bool = False) -> Any:
            return inner(inputs)

    outer = Outer()
    x = tf.ones([100])
    with tf.Session() as session:
        kept, dropped = session.run([outer(x), outer(x, training=True)])
    assert kept.tolist() == [1.0] * 100
    assert set(dropped.tolist()) == {0.0, 2.0}


# Copies, and Keras's style


def test_a_copy_shares_tensors_and_has_its_own_scope_object() -> None:
    layer = WithVariable(name="mine")
    layer.tensor = tf.ones([])
    layer.apply(tf.ones([2, 2]))
    copied = copy.deepcopy(layer)
    assert copied.name == "mine"
    assert copied.scope_name == layer.scope_name
    assert copied._scope is not layer._scope
    assert copied.tensor is layer.tensor
    assert copied.variables == layer.variables
    assert copied.variables is not layer.variables


def test_layers_in_keras_style_own_their_variables() -> None:
    x = tf.ones([2, 2])
    with tf.layers.experimental.keras_style_scope():
        layers = [WithVariable(name="same"), WithVariable(name="same")]
        for layer in layers:
            layer(x)
        with pytest.raises(ValueError, match="reuse argument not allowed"):
            WithVariable(_reuse=True)
        with pytest.raises(ValueError, match="scope argument not allowed"):
            layers[0](x, scope="scope")
    assert layers[0].my_var is not layers[1].my_var
    assert names(tf.global_variables()) == ["same/my_var:0", "same_1/my_var:0"]
